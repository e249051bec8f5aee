/**
 * The tail: events that are in no segment yet, by customer and time. A few that come at once are rows of a small table; many
 * are a run of their own with one row for each customer, written one behind the other, since rows in the order of customers
 * would change a page for nearly each event.
 */

import type { SqliteConnection } from '../connection.ts';
import { plainRows } from './rows.ts';

/** Where an event stands for readers: whose it is, and when. */
export interface EventPlace {
  readonly eventSeq: number;
  readonly customerSeq: number;
  readonly timestampEpochMs: number;
}

/** Of each customer the times and seqs of its events, in pairs. */
export type Tail = Map<number, number[]>;

/** `leastRun` places and more are a run. Belongs into a transaction for writing, like all that changes the tail. */
export function enterTail(connection: SqliteConnection, places: readonly EventPlace[], leastRun: number): void {
  if (places.length >= leastRun) {
    const tail: Tail = new Map();
    for (const { customerSeq, timestampEpochMs, eventSeq } of places) {
      pairsIn(tail, customerSeq).push(timestampEpochMs, eventSeq);
    }
    addRun(connection, tail);
    return;
  }
  const enter = connection.prepare(insertRow);
  for (const { customerSeq, timestampEpochMs, eventSeq } of places) enter.run(customerSeq, timestampEpochMs, eventSeq);
}

const insertRow = 'INSERT INTO "eventTail" VALUES (?, ?, ?)';

function pairsIn(tail: Tail, customerSeq: number): number[] {
  let pairs = tail.get(customerSeq);
  if (pairs === undefined) {
    pairs = [];
    tail.set(customerSeq, pairs);
  }
  return pairs;
}

function addRun(connection: SqliteConnection, tail: Tail): void {
  const run = lastRun(connection) + 1n;
  const insert = connection.prepare('INSERT INTO "eventTailRuns" VALUES (?, ?, ?, ?)');
  for (const customerSeq of [...tail.keys()].sort((a, b) => a - b)) {
    const pairs = new Float64Array(tail.get(customerSeq) ?? []);
    insert.run(run, customerSeq, pairs.length / 2, pairs);
  }
}

/** -1 where there are none. */
function lastRun(connection: SqliteConnection): bigint {
  const last = connection.prepare('SELECT max("run") AS "run" FROM "eventTailRuns"').get()?.['run'] as bigint | null;
  return last ?? -1n;
}

/** Takes events out; gives those that do not stand in the tail. */
export function leaveTail(connection: SqliteConnection, places: readonly EventPlace[]): EventPlace[] {
  const leave = connection.prepare(
    'DELETE FROM "eventTail" WHERE "customerSeq" = ? AND "timestampEpochMs" = ? AND "eventSeq" = ?',
  );
  const noRows = places.filter(({ customerSeq, timestampEpochMs, eventSeq }) => {
    const { changes } = leave.run(customerSeq, timestampEpochMs, eventSeq);
    return Number(changes) === 0;
  });
  const left = new Set<number>();
  for (const [customerSeq, group] of Map.groupBy(noRows, (place) => place.customerSeq)) {
    const gone = new Set(group.map(({ eventSeq }) => eventSeq));
    for (const eventSeq of leaveRuns(connection, customerSeq, gone)) left.add(eventSeq);
  }
  return noRows.filter(({ eventSeq }) => !left.has(eventSeq));
}

/** Which of these events of a customer stood there. */
function leaveRuns(connection: SqliteConnection, customerSeq: number, gone: ReadonlySet<number>): number[] {
  const left: number[] = [];
  for (const row of runsOf(connection, customerSeq)) {
    const pairs = pairsOf(row);
    const rest: number[] = [];
    for (let place = 0; place < pairs.length; place += 2) {
      const [timestampEpochMs = 0, eventSeq = 0] = pairs.subarray(place, place + 2);
      if (gone.has(eventSeq)) left.push(eventSeq);
      else rest.push(timestampEpochMs, eventSeq);
    }
    if (rest.length === pairs.length) continue;
    connection
      .prepare('UPDATE "eventTailRuns" SET "rowCount" = ?, "data" = ? WHERE "run" = ? AND "customerSeq" = ?')
      .run(rest.length / 2, new Float64Array(rest), row['run'] as bigint, customerSeq);
  }
  return left;
}

/** What the runs hold of a customer: there are few, and they are numbered from 0. */
function runsOf(connection: SqliteConnection, customerSeq: number): Record<string, unknown>[] {
  const last = lastRun(connection);
  const select = connection.prepare(
    'SELECT "run", "rowCount", "data" FROM "eventTailRuns" WHERE "run" = ? AND "customerSeq" = ?',
  );
  const found: Record<string, unknown>[] = [];
  // One query that counts them takes several times as long as these.
  for (let run = 0n; run <= last; run += 1n) {
    const row = select.get(run, customerSeq);
    if (row !== undefined) found.push(row);
  }
  return found;
}

/** Throws where a row is not what was written. */
function pairsOf({ rowCount, data }: Record<string, unknown>): Float64Array {
  const pairs = new Float64Array((data as Uint8Array).slice().buffer);
  if (pairs.length !== 2 * Number(rowCount)) throw new Error('a run of new events is damaged');
  return pairs;
}

interface TailRange {
  readonly customerSeq: number;
  /** Everything of the customer where no bounds are given. */
  readonly fromEpochMs?: number;
  readonly toEpochMs?: number;
}

/** Events of a customer in the tail, in no order. */
export function placesInTail(connection: SqliteConnection, range: TailRange): Omit<EventPlace, 'customerSeq'>[] {
  const { customerSeq, fromEpochMs = -Infinity, toEpochMs = Infinity } = range;
  const rows = plainRows(
    connection,
    `SELECT "timestampEpochMs", "eventSeq" FROM "eventTail"
     WHERE "customerSeq" = ? AND "timestampEpochMs" >= ? AND "timestampEpochMs" < ?`,
  ).all(customerSeq, fromEpochMs, toEpochMs) as unknown as readonly (readonly [number, number])[];
  const places = rows.map(([timestampEpochMs, eventSeq]) => ({ timestampEpochMs, eventSeq }));
  for (const row of runsOf(connection, customerSeq)) {
    const pairs = pairsOf(row);
    for (let place = 0; place < pairs.length; place += 2) {
      const timestampEpochMs = pairs[place] ?? 0;
      if (timestampEpochMs < fromEpochMs || timestampEpochMs >= toEpochMs) continue;
      places.push({ timestampEpochMs, eventSeq: pairs[place + 1] ?? 0 });
    }
  }
  return places;
}

/** Columns of these events as plain rows, `"event"` the table, by time. */
export function tailRows(connection: SqliteConnection, range: TailRange, columns: string): readonly unknown[] {
  const seqs = placesInTail(connection, range).map(({ eventSeq }) => eventSeq);
  return seqs.length === 0 ? [] : eventRows(connection, seqs, columns);
}

/** The same of events by their seqs. */
export function eventRows(connection: SqliteConnection, seqs: readonly number[], columns: string): readonly unknown[] {
  return plainRows(
    connection,
    `SELECT ${columns} FROM json_each(?) AS "place" CROSS JOIN "events" AS "event" ON "event"."seq" = "place"."value"
     ORDER BY "event"."timestampEpochMs", "event"."seq"`,
  ).all(JSON.stringify(seqs));
}

/** The tail of all customers, which has to have a length that is worth holding. */
export function readTail(connection: SqliteConnection): Tail {
  const tail = readRuns(connection);
  const rows = plainRows(connection, 'SELECT "customerSeq", "timestampEpochMs", "eventSeq" FROM "eventTail"').iterate();
  for (const row of rows as Iterable<unknown>) {
    const [customerSeq, timestampEpochMs, eventSeq] = row as readonly [number, number, number];
    pairsIn(tail, customerSeq).push(timestampEpochMs, eventSeq);
  }
  return tail;
}

function readRuns(connection: SqliteConnection): Tail {
  const tail: Tail = new Map();
  for (const row of connection.prepare('SELECT "customerSeq", "rowCount", "data" FROM "eventTailRuns"').all()) {
    const into = pairsIn(tail, Number(row['customerSeq']));
    for (const number of pairsOf(row)) into.push(number);
  }
  return tail;
}

/** Makes it the whole tail, in one run. */
export function replaceTail(connection: SqliteConnection, tail: Tail): void {
  connection.execute('DELETE FROM "eventTail"; DELETE FROM "eventTailRuns"');
  addRun(connection, tail);
}

/** Makes rows of the runs. */
export function unpackRuns(connection: SqliteConnection): void {
  const insert = connection.prepare(insertRow);
  for (const [customerSeq, pairs] of readRuns(connection)) {
    for (let place = 0; place < pairs.length; place += 2) {
      insert.run(customerSeq, pairs[place] ?? 0, pairs[place + 1] ?? 0);
    }
  }
  connection.execute('DELETE FROM "eventTailRuns"');
}
