/**
 * Where pages of lists ended, for whoever reads on: so a walk through all pages reads each row once, and not for each page all
 * that stands before it. An end is good only as long as nothing at all is written to the database.
 */

import { keepNewest, once } from '../once.ts';
import type { Transaction } from './database.ts';

/** Where a page ended. */
export interface PageEnd {
  /** Of the last row of the page, in the order of the list; left out where that is the order of `seq` alone. */
  readonly createdAt?: string | undefined;
  readonly seq: bigint;
  /** How many rows the list has. */
  readonly total: number;
}

/** What readings of one database have found out: by list, with the state of the database that they saw. */
export type PageEnds = Map<string, { readonly state: string; readonly end: PageEnd }>;

interface Keeping {
  readonly ends: PageEnds;
  /** The same in two transactions only where nothing was committed in between; undefined in one that writes. */
  readonly state: () => Promise<string | undefined>;
}

/** More readers at a time than so many may read a page from the beginning of its list. */
const mostEnds = 64;

const keepings = new WeakMap<Transaction, Keeping>();

/** Has a transaction, which sees one state all along, read on where pages of others ended. */
export function keepPageEnds(tx: Transaction, { ends, state }: Keeping): void {
  keepings.set(tx, { ends, state: once(state) });
}

/** A page of a list, by what chooses the rows of the list and how many of them it ends behind. */
export interface EndedPage {
  readonly list: string;
  readonly rowCount: number;
}

const keyOf = ({ list, rowCount }: EndedPage): string => `${rowCount} ${list}`;

/** Undefined where none is kept, or something was written since. */
export async function findPageEnd(tx: Transaction, page: EndedPage): Promise<PageEnd | undefined> {
  const keeping = keepings.get(tx);
  const kept = keeping?.ends.get(keyOf(page));
  return kept !== undefined && kept.state === (await keeping?.state()) ? kept.end : undefined;
}

/** Does nothing in a transaction that writes: what it has written may be undone. */
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
