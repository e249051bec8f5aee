/**
 * Keeps the tail of customers that have many events in it, as columns, for a process that reads it again and again: a budget is
 * read for every event that it counts. What was committed stays true as long as events, of any process, only arrive.
 */

import { keepNewest } from '../../../../once.ts';
import type { EpochInterval } from '../../../event-store.ts';
import type { SqliteConnection } from '../connection.ts';
import { type EventState, hasOnlyGrown, stateOf } from './memory.ts';
import type { TailRow } from './recent.ts';
import { plainRows } from './rows.ts';
import { appendEvents, emptySegment, type Segment } from './segment.ts';
import { segmentEventOf, tailColumns, type UpkeepThresholds } from './segments.ts';
import { tailRows } from './tail.ts';

interface CustomerRange extends EpochInterval {
  readonly customerSeq: number;
}

/** Events of the tail, each once. */
export interface TailEvents {
  /** Of any time, and late ones too; the days of the segment begin at 0. */
  readonly columns: Segment;
  /** Those in the range, by time. */
  readonly rows: readonly TailRow[];
}

export interface KnownTail {
  /** The customer's tail. What is read `isOnce` is not kept. */
  readonly read: (range: CustomerRange, isOnce?: boolean) => TailEvents;
  /** Called before the running transaction changes events: it may be undone. */
  readonly noteChange: () => void;
  readonly forget: () => void;
}

/** For all customers together: events in columns, some 100 bytes each, and the characters of the other rows by the hundred. */
const mostWeight = 200_000;
const mostTails = 1_000;

interface Kept {
  readonly state: EventState;
  readonly columns: Segment;
  readonly rows: readonly TailRow[];
  readonly weight: number;
}

/** For the database on `connection`; used inside a transaction. */
export function createKnownTail(connection: SqliteConnection, { longestTail }: UpkeepThresholds): KnownTail {
  /** A tail with fewer events is read anew. */
  const leastKept = Math.ceil(longestTail / 32);
  /** Of those that came since the columns were made: adding to columns costs as much as reading so many rows. */
  const mostRows = Math.ceil(longestTail / 64);
  /** Undefined once a customer's tail was found to be long. */
  const tails = new Map<number, Kept | undefined>();
  let begun = { transaction: -1, state: undefined as EventState | undefined };

  /** The state before the running transaction, which may be undone. */
  function committedState(now: EventState): EventState {
    return begun.transaction === connection.transactionCount ? (begun.state ?? now) : now;
  }

  /** Undefined if nothing of the customer can be kept. */
  function recall(customerSeq: number): { readonly kept: Kept; readonly rest: readonly TailRow[] } | undefined {
    const now = stateOf(connection);
    const state = committedState(now);
    if (!hasOnlyGrown(state, now)) return undefined;
    const known = tails.get(customerSeq);
    const isKnown = known !== undefined && hasOnlyGrown(known.state, state);
    const found = isKnown
      ? rowsSince(connection, customerSeq, known.state.lastSeq)
      : (tailRows(connection, { customerSeq }, tailColumns) as readonly TailRow[]);
    const isCommitted = ([, , eventSeq]: TailRow): boolean => eventSeq <= state.lastSeq;
    const rows = [...(isKnown ? known.rows : []), ...found.filter(isCommitted)];
    const columns = isKnown ? known.columns : emptySegment;
    if (columns.rowCount + rows.length < leastKept) return undefined;
    const rest = found.filter((row) => !isCommitted(row));
    if (rows.length <= mostRows) {
      const characters = rows.reduce((sum, [, , , , , , { length }]) => sum + length, 0);
      return { kept: { state, columns, rows, weight: columns.rowCount + characters / 100 }, rest };
    }
    const grown = appendEvents(
      columns,
      rows.map((row) => segmentEventOf(row, 0)),
    );
    return { kept: { state, columns: grown, rows: [], weight: grown.rowCount }, rest };
  }

  function keep(customerSeq: number, kept: Kept): void {
    tails.delete(customerSeq);
    tails.set(customerSeq, kept);
    let weight = tails.values().reduce((sum, each) => sum + (each?.weight ?? 0), 0);
    for (const [oldest, each] of tails) {
      if (weight <= mostWeight) break;
      tails.delete(oldest);
      weight -= each?.weight ?? 0;
    }
  }

  return {
    read({ customerSeq, ...interval }, isOnce) {
      const recalled = tails.has(customerSeq) ? recall(customerSeq) : undefined;
      if (recalled !== undefined) {
        const { kept, rest } = recalled;
        keep(customerSeq, kept);
        return { columns: kept.columns, rows: inInterval([...kept.rows, ...rest], interval) };
      }
      const rows = tailRows(connection, { customerSeq, ...interval }, tailColumns) as readonly TailRow[];
      tails.delete(customerSeq);
      if (rows.length >= leastKept && isOnce !== true) tails.set(customerSeq, undefined);
      keepNewest(tails, mostTails);
      return { columns: emptySegment, rows };
    },
    noteChange() {
      const { transactionCount: transaction } = connection;
      if (begun.transaction !== transaction) begun = { transaction, state: stateOf(connection) };
    },
    forget: () => tails.clear(),
  };
}

function inInterval(rows: readonly TailRow[], { fromEpochMs, toEpochMs }: EpochInterval): readonly TailRow[] {
  return rows.filter(([, time]) => time >= fromEpochMs && time < toEpochMs).toSorted(([, a], [, b]) => a - b);
}

function rowsSince(connection: SqliteConnection, customerSeq: number, since: number): readonly TailRow[] {
  return plainRows(
    connection,
    `SELECT ${tailColumns} FROM "events" AS "event" WHERE "event"."seq" > ? AND "event"."customerSeq" = ?`,
  ).all(since, customerSeq) as unknown as readonly TailRow[];
}
