/** Statements that are written out, where the query builder would only be in the way. */

import { CompiledQuery } from 'kysely';

import type { Transaction } from './database.ts';

/** A row as its backend gives it: integers as bigint, all else as text, unless a statement says otherwise. */
export type RawRow = Readonly<Record<string, unknown>>;

/** The rows that a statement gives, its parameters in the order of their places. */
export async function rowsOfText(
  tx: Transaction,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly RawRow[]> {
  return (await tx.executeQuery(CompiledQuery.raw(text, [...values]))).rows as readonly RawRow[];
}

/** Has a server count what stands in these tables now: until it does by itself, it plans for empty ones. */
export async function analyze(tx: Transaction, tables: readonly string[]): Promise<void> {
  await rowsOfText(tx, `ANALYZE ${tables.map((table) => `"${table}"`).join(', ')}`);
}

/** Lets a PostgreSQL server's counter of a table go on behind the rows that brought their numbers. */
export async function goOnCounting(tx: Transaction, table: string): Promise<void> {
  await rowsOfText(
    tx,
    `SELECT setval(pg_get_serial_sequence('"${table}"', 'seq'), max("seq")) FROM "${table}" HAVING max("seq") IS NOT NULL`,
  );
}

/** Of a PostgreSQL server, so many rows are in memory at a time: one with an event may be a megabyte. */
const fetchedAtOnce = 200;

/** Gives the rows of a query on a PostgreSQL server some at a time, in one order that it finds once. One is read after another. */
export async function* rowsByCursor(tx: Transaction, query: string): AsyncGenerator<readonly RawRow[]> {
  await rowsOfText(tx, `DECLARE "rowsByCursor" NO SCROLL CURSOR FOR ${query}`);
  for (;;) {
    const rows = await rowsOfText(tx, `FETCH ${fetchedAtOnce} FROM "rowsByCursor"`);
    if (rows.length > 0) yield rows;
    if (rows.length < fetchedAtOnce) break;
  }
  await rowsOfText(tx, 'CLOSE "rowsByCursor"');
}
