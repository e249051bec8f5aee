/**
 * The newest events as runs, one for each large batch. Rows ordered by customer change a page for nearly every event of a batch,
 * and were most of what a commit wrote.
 */

import type { Migration } from './migration.ts';

/** The times and seqs of one customer's events in a run: pairs of 64-bit floating-point numbers. */
const eventTailRuns = `CREATE TABLE "eventTailRuns" ("run" INTEGER NOT NULL, "customerSeq" INTEGER NOT NULL,
  "rowCount" INTEGER NOT NULL, "data" BLOB NOT NULL, PRIMARY KEY ("run", "customerSeq")) STRICT, WITHOUT ROWID`;

export const eventTail: Migration = { version: 10, statements: [eventTailRuns] };
