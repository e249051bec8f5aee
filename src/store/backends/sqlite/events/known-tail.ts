/**
 * Keeps the tail of customers that have many events in it, as columns, for a process that reads it again and again: a budget is
 * read for every event that it counts. What was committed stays true as long as events, of any process, only arrive.
 */

import type { EpochInterval } from '../../../event-store.ts';
import type { SqliteConnection } from '../connection.ts';
import { createHeld } from '../../held.ts';
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
/** Of a customer of whom nothing more is known than that its tail is long. */
const weightOfLong = 200;

interface Kept {
  readonly state: EventState;
  readonly columns: Segment;
  readonly rows: readonly TailRow[];
}

function weightOf({ columns, rows }: Kept): number {
  return columns.rowCount + rows.reduce((sum, [, , , , , , { length }]) => sum + length, 0) / 100;
}

/** For the database on `connection`; used inside a transaction. */
export function createKnownTail(connection: SqliteConnection, { longestTail }: UpkeepThresholds): KnownTail {
  /** A tail with fewer events is read anew each time. */
  const longTail = Math.ceil(longestTail / 32);
  /** Of those that came since the columns were made: adding to columns costs as much as reading so many rows. */
  const mostRows = Math.ceil(longestTail / 64);
  const tails = createHeld<number, Kept | 'long'>(mostWeight);
  let begun = { transaction: -1, state: undefined as EventState | undefined };

  /** The state before the running transaction, which may be undone. */
  function committedState(now: EventState): EventState {
    return begun.transaction === connection.transactionCount ? (begun.state ?? now) : now;
  }

  /** Undefined if nothing of the customer can be kept. */
  function recall(
    customerSeq: number,
    known: Kept | 'long',
  ): { readonly kept: Kept; readonly rest: readonly TailRow[] } | undefined {
    const now = stateOf(connection);
    const state = committedState(now);
    if (!hasOnlyGrown(state, now)) return undefined;
    const isKnown = known !== 'long' && hasOnlyGrown(known.state, state);
    const found = isKnown
      ? rowsSince(connection, customerSeq, known.state.lastSeq)
      : (tailRows(connection, { customerSeq }, tailColumns) as readonly TailRow[]);
    const isCommitted = ([, , eventSeq]: TailRow): boolean => eventSeq <= state.lastSeq;
    const rows = [...(isKnown ? known.rows : []), ...found.filter(isCommitted)];
    const columns = isKnown ? known.columns : emptySegment;
    if (columns.rowCount + rows.length < longTail) return undefined;
    const rest = found.filter((row) => !isCommitted(row));
    if (rows.length <= mostRows) return { kept: { state, columns, rows }, rest };
    const grown = appendEvents(
      columns,
      rows.map((row) => segmentEventOf(row, 0)),
    );
    return { kept: { state, columns: grown, rows: [] }, rest };
  }

  return {
    read({ customerSeq, ...interval }, isOnce) {
      const known = tails.get(customerSeq);
      const recalled = known === undefined ? undefined : recall(customerSeq, known);
      if (recalled !== undefined) {
        const { kept, rest } = recalled;
        tails.add(customerSeq, kept, weightOf(kept));
        return { columns: kept.columns, rows: inInterval([...kept.rows, ...rest], interval) };
      }
      const rows = tailRows(connection, { customerSeq, ...interval }, tailColumns) as readonly TailRow[];
      tails.delete(customerSeq);
      if (rows.length >= longTail && isOnce !== true) tails.add(customerSeq, 'long', weightOfLong);
      return { columns: emptySegment, rows };
    },
    noteChange() {
      const { transactionCount: transaction } = connection;
      if (begun.transaction !== transaction) begun = { transaction, state: stateOf(connection) };
    },
    forget: tails.clear,
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
