/** Remembers what was found about lists of events, for whoever reads on; valid as long as events, of any process, only arrive. */

import type { SqliteConnection } from '../connection.ts';

export interface ListMemory<T> {
  /** What is known of a list: the kept value, grown by later arrivals, or else what `find` gives now. */
  readonly recall: (list: string, ways: { readonly find: () => T; readonly grow: Grow<T> }) => T;
  readonly forget: () => void;
}

/** Adds the events whose seq is above `since`. */
type Grow<T> = (known: T, since: number) => void;

interface Bounds<T> {
  readonly weightOf: (known: T) => number;
  /** For all lists together except the latest, which is kept whatever its weight. */
  readonly mostWeight: number;
}

const mostLists = 16;

/** For the database on `connection`; used inside a transaction. */
export function createListMemory<T>(
  connection: SqliteConnection,
  { weightOf, mostWeight }: Bounds<T> = { weightOf: () => 0, mostWeight: 0 },
): ListMemory<T> {
  const lists = new Map<string, { readonly state: EventState; readonly known: T }>();

  function keep(list: string, state: EventState, known: T): void {
    lists.set(list, { state, known });
    let weight = lists.values().reduce((sum, each) => sum + weightOf(each.known), 0);
    for (const [oldest, each] of lists) {
      if (oldest === list || (lists.size <= mostLists && weight <= mostWeight)) break;
      lists.delete(oldest);
      weight -= weightOf(each.known);
    }
  }

  return {
    recall(list, { find, grow }) {
      // What this transaction has written may be undone.
      if (connection.isWriting) return find();
      const state = stateOf(connection);
      const kept = lists.get(list);
      // Deleted first: it is added again as the latest, and is gone if an error interrupts growing.
      lists.delete(list);
      const isKnown = kept !== undefined && hasOnlyGrown(kept.state, state);
      const known = isKnown ? kept.known : find();
      if (isKnown && state.lastSeq > kept.state.lastSeq) grow(known, kept.state.lastSeq);
      keep(list, state, known);
      return known;
    },
    forget: () => lists.clear(),
  };
}

/**
 * Every change of events raises the revision or the length of the tail; the latter by one for each new event and each
 * replacement.
 */
export interface EventState {
  /** Another handle may belong to another file. */
  readonly handle: number;
  readonly revision: number;
  readonly tailCount: number;
  /** Rises by one with each new event. */
  readonly lastSeq: number;
}

export function stateOf(connection: SqliteConnection): EventState {
  const row = connection
    .prepare('SELECT "revision", "tailCount", (SELECT max("seq") FROM "events") AS "lastSeq" FROM "eventUpkeep"')
    .get();
  const { revision, tailCount, lastSeq } = row ?? {};
  return {
    handle: connection.handleCount,
    // NaN, and so unequal to any other, if the row is missing.
    revision: Number(revision),
    tailCount: Number(tailCount),
    lastSeq: Number(lastSeq ?? 0n),
  };
}

/** Whether all that happened between is that new events came. */
export function hasOnlyGrown(before: EventState, now: EventState): boolean {
  if (before.handle !== now.handle || before.revision !== now.revision) return false;
  return now.tailCount - before.tailCount === now.lastSeq - before.lastSeq;
}
