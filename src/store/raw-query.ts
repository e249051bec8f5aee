/** Hand-written statements, for where the query builder would only be in the way. */

import { CompiledQuery } from 'kysely';

import type { Transaction } from './database.ts';

/** A row as its backend gives it: integers as bigint, all else as text, unless a statement says otherwise. */
export type RawRow = Readonly<Record<string, unknown>>;

/** The rows that a statement gives; `values` are its parameters in order. */
export async function rowsOfText(
  tx: Transaction,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly RawRow[]> {
  return (await tx.executeQuery(CompiledQuery.raw(text, [...values]))).rows as readonly RawRow[];
}
