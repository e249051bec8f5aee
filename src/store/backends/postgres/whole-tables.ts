/** Tables of a server as a whole: what reads all rows of one, and what follows when all have been written. */

import type { Transaction } from '../../database.ts';
import { type RawRow, rowsOfText } from '../../raw-query.ts';

/** Lets the server's counter of a table go on behind the rows that brought their numbers. */
export async function goOnCounting(tx: Transaction, table: string): Promise<void> {
  await rowsOfText(
    tx,
    `SELECT setval(pg_get_serial_sequence('"${table}"', 'seq'), max("seq")) FROM "${table}" HAVING max("seq") IS NOT NULL`,
  );
}

/** So many rows are in memory at a time: one with an event, or with the prices of a contract, may be a megabyte. */
export const fetchedAtOnce = 200;

/** Gives the rows of a query some at a time, in one order that it finds once. One is read after another. */
export async function* rowsByCursor(tx: Transaction, query: string): AsyncGenerator<readonly RawRow[]> {
  await rowsOfText(tx, `DECLARE "rowsByCursor" NO SCROLL CURSOR FOR ${query}`);
  for (;;) {
    const rows = await rowsOfText(tx, `FETCH ${fetchedAtOnce} FROM "rowsByCursor"`);
    if (rows.length > 0) yield rows;
    if (rows.length < fetchedAtOnce) break;
  }
  await rowsOfText(tx, 'CLOSE "rowsByCursor"');
}
