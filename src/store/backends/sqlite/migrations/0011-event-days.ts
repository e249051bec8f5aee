/** Segments of several days: a customer with a few events a day had one for each, and most of it said which columns it has. */

import type { Migration } from './migration.ts';

/** How many days a segment is of, from its `day` on. A 1 takes no byte behind the data, so nothing is read of it. */
const days = `ALTER TABLE "eventSegments" ADD COLUMN "days" INTEGER NOT NULL DEFAULT 1`;

export const eventDays: Migration = { version: 11, statements: [days] };
