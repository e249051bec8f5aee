/** Pages of lists. Lists are newest first; among rows of one instant the highest `seq` comes first. */

import type { SelectQueryBuilder } from 'kysely';

import type { Database, Transaction } from '../database.ts';
import { findPageEnd, keepPageEnd, type PageEnd } from '../page-ends.ts';

/** At most `limit` rows after the first `offset`. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** The rows of one page. */
export interface Rows<T> {
  readonly rows: readonly T[];
  /** How many rows there are on all pages. */
  readonly total: number;
}

/** A page of a part of a list, or of the whole list if no other field is given. */
export interface PageStart extends Page {
  /** Only rows made at this instant. */
  readonly atInstant?: string | undefined;
  /** Only rows after the one with this `seq`, among those of one instant. */
  readonly afterSeq?: bigint | undefined;
  /** Only rows made before this instant. */
  readonly beforeInstant?: string | undefined;
}

/** The query for a page of the rows of `table` that `query` selects. */
export function pageOf<Table extends keyof Database, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  table: Table,
  { limit, offset, atInstant, afterSeq, beforeInstant }: PageStart,
): SelectQueryBuilder<Database, Table, Row> {
  // Every list has these two columns, but the types do not say so of tables in general.
  let list = query as unknown as SelectQueryBuilder<Database, 'invoices', Row>;
  const createdAt = `${table}.createdAt` as 'invoices.createdAt';
  const seq = `${table}.seq` as 'invoices.seq';
  if (atInstant !== undefined) list = list.where(createdAt, '=', atInstant);
  if (afterSeq !== undefined) list = list.where(seq, '<', afterSeq);
  if (beforeInstant !== undefined) list = list.where(createdAt, '<', beforeInstant);
  const page = list.orderBy(createdAt, 'desc').orderBy(seq, 'desc').limit(limit).offset(offset);
  return page as unknown as SelectQueryBuilder<Database, Table, Row>;
}

/** The query for the number of rows that `query` covers; `query` selects no columns yet. */
export function countOf<Table extends keyof Database>(query: SelectQueryBuilder<Database, Table, object>) {
  return query.select((row) => row.fn.countAll<bigint>().as('total'));
}

/** For queries that are compiled ahead. */
export const firstPage: PageStart = {
  limit: 1,
  offset: 0,
  atInstant: undefined,
  afterSeq: undefined,
  beforeInstant: undefined,
};

interface LongList<Row> {
  /** Identifies the list: everything that selects its rows. */
  readonly name: string;
  readonly page: Page;
  readonly read: (start: PageStart) => Promise<readonly Row[]>;
  /** Gives what `countOf` selects. */
  readonly count: () => Promise<readonly { readonly total: bigint }[]>;
}

/**
 * A page of a list that may have very many rows. Reads on from the end of the page before it, if that is known. The rows of a
 * list that is ordered by `seq` alone need no `createdAt`.
 */
export async function readPage<Row extends { readonly createdAt?: string; readonly seq: bigint }>(
  tx: Transaction,
  { name, page: { limit, offset }, read, count }: LongList<Row>,
): Promise<Rows<Row>> {
  const before = offset === 0 ? undefined : await findPageEnd(tx, { list: name, rowCount: offset });
  const rows =
    before === undefined ? await read({ ...firstPage, limit, offset }) : await rowsBehind(before, limit, read);
  const total = before?.total ?? Number((await count())[0]?.total ?? 0n);
  const last = rows.at(-1);
  const rowCount = offset + rows.length;
  if (last !== undefined && rowCount < total) {
    await keepPageEnd(tx, { list: name, rowCount }, { createdAt: last.createdAt, seq: last.seq, total });
  }
  return { rows, total };
}

/**
 * First the rows of the same instant, then the earlier ones. With a single query SQLite seeks the instant alone and passes
 * over all its rows before this one: over everything, if a clock stands still.
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
