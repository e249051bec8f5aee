/** Pages of lists, which are newest first; rows of one instant are in the order in which they came. */

import type { SelectQueryBuilder } from 'kysely';

import type { Database, Transaction } from '../database.ts';
import { findPageEnd, keepPageEnd, type PageEnd } from '../page-ends.ts';

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

/** A page of a part of a list; of the whole list where nothing more is given. */
export interface PageStart extends Page {
  /** Made at this instant. */
  readonly atInstant?: string | undefined;
  /** Behind the row with this `seq`, among those of one instant. */
  readonly afterSeq?: bigint | undefined;
  /** Made before this instant. */
  readonly beforeInstant?: string | undefined;
}

/** The query for a page of the rows of `table` that `query` chooses. */
export function pageOf<Table extends keyof Database, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  table: Table,
  { limit, offset, atInstant, afterSeq, beforeInstant }: PageStart,
): SelectQueryBuilder<Database, Table, Row> {
  // Every list has these two columns, which the types do not say of tables in general.
  let list = query as unknown as SelectQueryBuilder<Database, 'invoices', Row>;
  const createdAt = `${table}.createdAt` as 'invoices.createdAt';
  const seq = `${table}.seq` as 'invoices.seq';
  if (atInstant !== undefined) list = list.where(createdAt, '=', atInstant);
  if (afterSeq !== undefined) list = list.where(seq, '<', afterSeq);
  if (beforeInstant !== undefined) list = list.where(createdAt, '<', beforeInstant);
  const page = list.orderBy(createdAt, 'desc').orderBy(seq, 'desc').limit(limit).offset(offset);
  return page as unknown as SelectQueryBuilder<Database, Table, Row>;
}

/** The query for how many rows another one chooses, which selects nothing yet. */
export function countOf<Table extends keyof Database>(query: SelectQueryBuilder<Database, Table, object>) {
  return query.select((row) => row.fn.countAll<bigint>().as('total'));
}

/** For queries that are declared ahead. */
export const firstPage: PageStart = {
  limit: 1,
  offset: 0,
  atInstant: undefined,
  afterSeq: undefined,
  beforeInstant: undefined,
};

interface LongList<Row> {
  /** Says all that chooses its rows. */
  readonly name: string;
  readonly page: Page;
  readonly read: (start: PageStart) => Promise<readonly Row[]>;
  readonly count: () => Promise<bigint>;
}

/**
 * A page of a list that may have very many rows: from where the page before it ended, as far as that is known. Rows of a list
 * in the order of `seq` alone need not say when they were made.
 */
export async function readPage<Row extends { readonly createdAt?: string; readonly seq: bigint }>(
  tx: Transaction,
  { name, page: { limit, offset }, read, count }: LongList<Row>,
): Promise<Rows<Row>> {
  const before = offset === 0 ? undefined : await findPageEnd(tx, { list: name, rowCount: offset });
  const rows =
    before === undefined ? await read({ ...firstPage, limit, offset }) : await rowsBehind(before, limit, read);
  const total = before?.total ?? Number(await count());
  const last = rows.at(-1);
  const rowCount = offset + rows.length;
  if (last !== undefined && rowCount < total) {
    await keepPageEnd(tx, { list: name, rowCount }, { createdAt: last.createdAt, seq: last.seq, total });
  }
  return { rows, total };
}

/**
 * First those of the same instant, then those of before. In one question SQLite looks for the instant alone and passes over
 * all that it had before the row: everything, where a clock stands still.
 */
async function rowsBehind<Row>(
  { createdAt, seq }: PageEnd,
  limit: number,
  read: LongList<Row>['read'],
): Promise<readonly Row[]> {
  const start = { ...firstPage, limit, atInstant: createdAt, afterSeq: seq };
  const alike = await read(start);
  if (createdAt === undefined || alike.length === limit) return alike;
  const earlier = await read({ ...firstPage, limit: limit - alike.length, beforeInstant: createdAt });
  return [...alike, ...earlier];
}
