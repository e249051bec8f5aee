/**
 * Where pages of lists ended, for whoever reads on: so a walk through all pages reads each row once, and not for each page all
 * that stands before it. An end is good only as long as nothing at all is written to the database.
 */

import type { Transaction } from './database.ts';

export interface PageEnd {
  /** Of the last row of the page, in the order of the list. */
  readonly createdAt: string;
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

/** Has a transaction read on where pages of others ended. */
export function keepPageEnds(tx: Transaction, keeping: Keeping): void {
  keepings.set(tx, keeping);
}

export interface KnownEnds {
  /** Of the page that ended with so many rows of the list read. */
  readonly find: (rowCount: number) => PageEnd | undefined;
  readonly keep: (rowCount: number, end: PageEnd) => void;
}

/** Of the list that is called `list`, which says all that chooses its rows; undefined where none are kept. */
export async function pageEndsOf(tx: Transaction, list: string): Promise<KnownEnds | undefined> {
  const keeping = keepings.get(tx);
  const state = await keeping?.state();
  if (keeping === undefined || state === undefined) return undefined;
  const { ends } = keeping;
  return {
    find(rowCount) {
      const kept = ends.get(`${rowCount} ${list}`);
      return kept?.state === state ? kept.end : undefined;
    },
    keep(rowCount, end) {
      const key = `${rowCount} ${list}`;
      ends.delete(key);
      ends.set(key, { state, end });
      if (ends.size > mostEnds) ends.delete(ends.keys().next().value ?? key);
    },
  };
}
