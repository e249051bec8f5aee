/** What was found out of lists of events, for whoever reads on: kept as long as events only arrive, in this process or another. */

import type { SqliteConnection } from '../connection.ts';

export interface ListMemory<T> {
  /** What is known of a list: as it was kept, with what has arrived since, or else as it is found now. */
  readonly recall: (list: string, ways: { readonly find: () => T; readonly grow: Grow<T> }) => T;
  readonly forget: () => void;
}

/** Takes in the events whose seq is above `since`. */
type Grow<T> = (known: T, since: number) => void;

interface Bounds<T> {
  readonly weightOf: (known: T) => number;
  /** Of all lists but the latest, which is kept whatever its weight. */
  readonly mostWeight: number;
}

const mostLists = 16;

/** Of the database that `connection` is open on; inside a transaction. */
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
      // What it has written may be undone, and then never was.
      if (connection.isWriting) return find();
      const state = stateOf(connection);
      const kept = lists.get(list);
      // Last in the order, and gone where an error cuts off the growing.
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
 * Whatever changes events raises one of these two: the length of the tail by one for each event that is new and for each that is
 * replaced, or the revision.
 */
interface EventState {
  /** Another handle may be of another file. */
  readonly handle: number;
  readonly revision: number;
  readonly tailCount: number;
  /** Rises by one with each new event. */
  readonly lastSeq: number;
}

function stateOf(connection: SqliteConnection): EventState {
  const row = connection
    .prepare('SELECT "revision", "tailCount", (SELECT max("seq") FROM "events") AS "lastSeq" FROM "eventUpkeep"')
    .get();
  const { revision, tailCount, lastSeq } = row ?? {};
  return {
    handle: connection.handleCount,
    // Not equal to any other where the row is gone.
    revision: Number(revision),
    tailCount: Number(tailCount),
    lastSeq: Number(lastSeq ?? 0n),
  };
}

function hasOnlyGrown(before: EventState, now: EventState): boolean {
  if (before.handle !== now.handle || before.revision !== now.revision) return false;
  return now.tailCount - before.tailCount === now.lastSeq - before.lastSeq;
}
