/** Segments of several days. A customer with a few events a day had a segment for each, which mostly listed its columns. */

import type { Migration } from './migration.ts';

/** The number of days in a segment, from its `day` on. A 1 takes no byte after the data, so nothing is read for it. */
const days = `ALTER TABLE "eventSegments" ADD COLUMN "days" INTEGER NOT NULL DEFAULT 1`;

export const eventDays: Migration = { version: 11, statements: [days] };
