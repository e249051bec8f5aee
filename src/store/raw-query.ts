/** Statements that are written out, where the query builder would only be in the way. */

import { CompiledQuery } from 'kysely';

import type { Transaction } from './database.ts';

export type RawRow = Readonly<Record<string, unknown>>;

/** The rows that a statement gives, its parameters in the order of their places. */
export async function rowsOfText(
  tx: Transaction,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly RawRow[]> {
  return (await tx.executeQuery(CompiledQuery.raw(text, [...values]))).rows as readonly RawRow[];
}

/** Lets a PostgreSQL server's counter of a table go on behind the rows that brought their numbers. */
export async function goOnCounting(tx: Transaction, table: string): Promise<void> {
  await rowsOfText(
    tx,
    `SELECT setval(pg_get_serial_sequence('"${table}"', 'seq'), max("seq")) FROM "${table}" HAVING max("seq") IS NOT NULL`,
  );
}
