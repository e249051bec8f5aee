/**
 * Remembers where pages of lists ended, for whoever reads on. A walk through all pages then reads each row once, instead of
 * rereading all earlier rows for each page. An end holds only until anything is written to the database.
 */

import { keepNewest, once } from '../once.ts';
import type { Transaction } from './database.ts';

/** Where a page ended. */
export interface PageEnd {
  /** `createdAt` of the page's last row; left out if the list is ordered by `seq` alone. */
  readonly createdAt?: string | undefined;
  readonly seq: bigint;
  /** How many rows the list has. */
  readonly total: number;
}

/** The known ends of one database: by list, each with the state of the database in which it was found. */
export type PageEnds = Map<string, { readonly state: string; readonly end: PageEnd }>;

interface Keeping {
  readonly ends: PageEnds;
  /**
   * Equal in two transactions only if nothing was committed in between; undefined in a transaction that writes, and where the
   * database cannot tell.
   */
  readonly state: () => Promise<string | undefined>;
}

/** With more concurrent readers than this, some read their page from the beginning of its list. */
const mostEnds = 64;

const keepings = new WeakMap<Transaction, Keeping>();

/** Lets a transaction, which sees one state throughout, read on where the pages of others ended. */
export function keepPageEnds(tx: Transaction, { ends, state }: Keeping): void {
  keepings.set(tx, { ends, state: once(state) });
}

/**
 * The state of all tables with lists: equal in two transactions only if nothing was committed to them in between; undefined in a
 * transaction that writes, and where the database cannot tell.
 */
export async function stateSeen(tx: Transaction): Promise<string | undefined> {
  return await keepings.get(tx)?.state();
}

/** A page, by the text that selects the rows of its list and the number of rows up to its end. */
export interface EndedPage {
  readonly list: string;
  readonly rowCount: number;
}

const keyOf = ({ list, rowCount }: EndedPage): string => `${rowCount} ${list}`;

/** Undefined if no end is kept, or anything was written since. */
export async function findPageEnd(tx: Transaction, page: EndedPage): Promise<PageEnd | undefined> {
  const kept = keepings.get(tx)?.ends.get(keyOf(page));
  return kept !== undefined && kept.state === (await stateSeen(tx)) ? kept.end : undefined;
}

/** Does nothing in a transaction that writes, because its writes may be undone. */
export async function keepPageEnd(tx: Transaction, page: EndedPage, end: PageEnd): Promise<void> {
  const keeping = keepings.get(tx);
  const state = await keeping?.state();
  if (keeping === undefined || state === undefined) return;
  const { ends } = keeping;
  const key = keyOf(page);
  ends.delete(key);
  ends.set(key, { state, end });
  keepNewest(ends, mostEnds);
}
