/** Pages of lists, which are newest first; rows of one instant are in the order in which they came. */

import type { SelectQueryBuilder } from 'kysely';

import type { Database, Transaction } from '../database.ts';
import { findPageEnd, keepPageEnd } from '../page-ends.ts';

/** At most `limit` rows behind the first `offset`. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** What is on one page. */
export interface Rows<T> {
  readonly rows: readonly T[];
  /** How many there are on all pages. */
  readonly total: number;
}

/** A page whose offset is counted from behind a row, where that is given. */
export interface PageStart extends Page {
  readonly afterCreatedAt?: string | undefined;
  readonly afterSeq?: bigint | undefined;
}

/** The query for a page of the rows of `table` that `query` chooses. */
export function pageOf<Table extends keyof Database, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  table: Table,
  { limit, offset, afterCreatedAt, afterSeq }: PageStart,
): SelectQueryBuilder<Database, Table, Row> {
  // Every list has these two columns, which the types do not say of tables in general.
  let list = query as unknown as SelectQueryBuilder<Database, 'invoices', Row>;
  const createdAt = `${table}.createdAt` as 'invoices.createdAt';
  const seq = `${table}.seq` as 'invoices.seq';
  if (afterCreatedAt !== undefined && afterSeq !== undefined) {
    list = list.where((row) => row.eb(row.refTuple(createdAt, seq), '<', row.tuple(afterCreatedAt, afterSeq)));
  }
  const page = list.orderBy(createdAt, 'desc').orderBy(seq, 'desc').limit(limit).offset(offset);
  return page as unknown as SelectQueryBuilder<Database, Table, Row>;
}

/** How many rows a query chooses that selects nothing yet. */
export async function countOf<Table extends keyof Database>(
  query: SelectQueryBuilder<Database, Table, object>,
): Promise<bigint> {
  const { total } = await query.select((row) => row.fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow();
  return total;
}

/** For queries that are declared ahead. */
export const firstPage: PageStart = { limit: 1, offset: 0, afterCreatedAt: undefined, afterSeq: undefined };

interface LongList<Row> {
  /** Says all that chooses its rows. */
  readonly name: string;
  readonly page: Page;
  readonly read: (start: PageStart) => Promise<readonly Row[]>;
  readonly count: () => Promise<bigint>;
}

/**
 * A page of a list that may have very many rows: from where the page before it ended, as far as that is known. Rows of a list in the
 * order of `seq` alone need not say when they were made.
 */
export async function readPage<Row extends { readonly createdAt?: string; readonly seq: bigint }>(
  tx: Transaction,
  { name, page: { limit, offset }, read, count }: LongList<Row>,
): Promise<Rows<Row>> {
  const before = offset === 0 ? undefined : await findPageEnd(tx, { list: name, rowCount: offset });
  const afterCreatedAt = before?.createdAt;
  const rows = await read({ limit, offset: before ? 0 : offset, afterCreatedAt, afterSeq: before?.seq });
  const total = before?.total ?? Number(await count());
  const last = rows.at(-1);
  const rowCount = offset + rows.length;
  if (last !== undefined && rowCount < total) {
    await keepPageEnd(tx, { list: name, rowCount }, { createdAt: last.createdAt, seq: last.seq, total });
  }
  return { rows, total };
}
