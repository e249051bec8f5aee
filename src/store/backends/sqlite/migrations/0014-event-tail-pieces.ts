/**
 * Cuts a run of the newest events into pieces of several customers. With a row for each customer, writing the rows and reading
 * them again took a tenth of an import.
 */

import type { Migration, MigrationConnection } from './migration.ts';

/** Customer, time and seq of each event as 64-bit floats, by customer; a customer is in one piece of a run. */
const eventTailPieces = `CREATE TABLE "eventTailPieces" ("id" INTEGER PRIMARY KEY, "run" INTEGER NOT NULL,
  "firstCustomerSeq" INTEGER NOT NULL, "rowCount" INTEGER NOT NULL, "data" BLOB NOT NULL,
  UNIQUE ("run", "firstCustomerSeq")) STRICT`;

export const eventTailInPieces: Migration = {
  version: 14,
  statements: [eventTailPieces],
  fill(connection) {
    moveRuns(connection);
    connection.execute('DROP TABLE "eventTailRuns"');
  },
};

/** Moves the runs into the small table, from which the tail is absorbed as before. */
function moveRuns(connection: MigrationConnection): void {
  const insert = connection.prepare('INSERT OR IGNORE INTO "eventTail" VALUES (?, ?, ?)');
  for (const { customerSeq = 0n, data } of connection
    .prepare('SELECT "customerSeq", "data" FROM "eventTailRuns"')
    .all()) {
    const bytes = data as Uint8Array;
    // Of a damaged row, takes as much as there is: `tally doctor` reports the missing events and rebuilds them.
    const pairs = new Float64Array(bytes.slice(0, bytes.length - (bytes.length % 16)).buffer);
    for (let place = 0; place < pairs.length; place += 2) {
      insert.run(customerSeq, pairs[place] ?? 0, pairs[place + 1] ?? 0);
    }
  }
}
