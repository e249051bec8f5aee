/** Tables of a server as a whole: reading all rows of one, and what follows once all are written. */

import type { Transaction } from '../../database.ts';
import { type RawRow, rowsOfText } from '../../raw-query.ts';
import { allTables, dumpedTables } from './tables.ts';

/** Makes the server's counters go on after the rows that brought their own numbers. */
export async function goOnCounting(tx: Transaction): Promise<void> {
  for (const [table, order] of Object.entries(dumpedTables)) {
    if (order !== 'seq') continue;
    await rowsOfText(
      tx,
      `SELECT setval(pg_get_serial_sequence('"${table}"', 'seq'), max("seq")) FROM "${table}" HAVING max("seq") IS NOT NULL`,
    );
  }
}

/** Makes the server gather statistics now; until it does so by itself, it plans as if the tables were empty. */
export async function analyze(tx: Transaction): Promise<void> {
  await rowsOfText(tx, `ANALYZE "${allTables.join('", "')}"`);
}

/** How many rows are in memory at a time: a row with an event, or with the prices of a contract, may be a megabyte. */
export const fetchedAtOnce = 200;

/** Gives the rows of a query, some at a time, in an order that the server finds once. Only one such query runs at a time. */
export async function* rowsByCursor(tx: Transaction, query: string): AsyncGenerator<readonly RawRow[]> {
  await rowsOfText(tx, `DECLARE "rowsByCursor" NO SCROLL CURSOR FOR ${query}`);
  for (;;) {
    const rows = await rowsOfText(tx, `FETCH ${fetchedAtOnce} FROM "rowsByCursor"`);
    if (rows.length > 0) yield rows;
    if (rows.length < fetchedAtOnce) break;
  }
  await rowsOfText(tx, 'CLOSE "rowsByCursor"');
}
