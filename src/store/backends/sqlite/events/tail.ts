/**
 * The tail: events that are in no segment yet, by customer and time. A few that arrive together are rows of a small table. Many
 * become a run, sorted by customer and cut into pieces: rows ordered by customer would change another page for nearly each
 * event.
 */

import type { EpochInterval } from '../../../event-store.ts';
import type { SqliteConnection } from '../connection.ts';
import { plainRows } from './rows.ts';

/** Where readers find an event: by its customer and time. */
export interface EventPlace {
  readonly eventSeq: number;
  readonly customerSeq: number;
  readonly timestampEpochMs: number;
}

/** Per customer, the times and seqs of its events, in pairs. */
export type Tail = Map<number, number[]>;

/** `leastRun` or more places become a run. Like every change of the tail, belongs in a transaction for writing. */
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

/** How many numbers an event has in a piece: customer, time and seq. */
const width = 3;
/** Lets a piece fit in one page, unless one customer has more events: a customer's events are in one piece of a run. */
const pieceEvents = 160;

function addRun(connection: SqliteConnection, tail: Tail): void {
  const run = lastRun(connection) + 1n;
  const insert = connection.prepare(
    'INSERT INTO "eventTailPieces" ("run", "firstCustomerSeq", "rowCount", "data") VALUES (?, ?, ?, ?)',
  );
  let piece: number[] = [];
  const write = (): void => {
    if (piece.length > 0) insert.run(run, piece[0] ?? 0, piece.length / width, new Float64Array(piece));
    piece = [];
  };
  for (const customerSeq of [...tail.keys()].sort((a, b) => a - b)) {
    const pairs = tail.get(customerSeq) ?? [];
    if (piece.length / width + pairs.length / 2 > pieceEvents) write();
    for (let place = 0; place < pairs.length; place += 2) {
      piece.push(customerSeq, pairs[place] ?? 0, pairs[place + 1] ?? 0);
    }
  }
  write();
}

/** -1 if there are no runs. */
function lastRun(connection: SqliteConnection): bigint {
  const last = connection.prepare('SELECT max("run") AS "run" FROM "eventTailPieces"').get()?.['run'] as bigint | null;
  return last ?? -1n;
}

/** Removes events from the tail; gives those that were not in it. */
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

/** Removes these events of a customer from the runs; gives those that were there. */
function leaveRuns(connection: SqliteConnection, customerSeq: number, gone: ReadonlySet<number>): number[] {
  const left: number[] = [];
  for (const row of piecesWith(connection, customerSeq)) {
    const numbers = numbersOf(row);
    const rest: number[] = [];
    for (let place = 0; place < numbers.length; place += width) {
      const eventSeq = numbers[place + 2] ?? 0;
      if (gone.has(eventSeq)) left.push(eventSeq);
      else rest.push(...numbers.subarray(place, place + width));
    }
    if (rest.length === numbers.length) continue;
    connection
      .prepare('UPDATE "eventTailPieces" SET "rowCount" = ?, "data" = ? WHERE "id" = ?')
      .run(rest.length / width, new Float64Array(rest), row['id'] as bigint);
  }
  return left;
}

/** Per run, the piece that would hold the customer: there are few runs, and they are numbered from 0. */
function piecesWith(connection: SqliteConnection, customerSeq: number): Record<string, unknown>[] {
  const last = lastRun(connection);
  const select = connection.prepare(
    `SELECT "id", "rowCount", "data" FROM "eventTailPieces" WHERE "run" = ? AND "firstCustomerSeq" <= ?
     ORDER BY "firstCustomerSeq" DESC LIMIT 1`,
  );
  const found: Record<string, unknown>[] = [];
  // A single query over all runs takes several times as long as these.
  for (let run = 0n; run <= last; run += 1n) {
    const row = select.get(run, customerSeq);
    if (row !== undefined) found.push(row);
  }
  return found;
}

/** Throws if a piece is not as it was written. */
function numbersOf({ rowCount, data }: Record<string, unknown>): Float64Array {
  const numbers = new Float64Array((data as Uint8Array).slice().buffer);
  if (numbers.length !== width * Number(rowCount)) throw new Error('a run of new events is damaged');
  return numbers;
}

/** Without bounds, all events of the customer. */
type TailRange = Pick<EventPlace, 'customerSeq'> & Partial<EpochInterval>;

/** Events of a customer in the tail, in no particular order. */
export function placesInTail(connection: SqliteConnection, range: TailRange): Omit<EventPlace, 'customerSeq'>[] {
  const { customerSeq, fromEpochMs = -Infinity, toEpochMs = Infinity } = range;
  const rows = plainRows(
    connection,
    `SELECT "timestampEpochMs", "eventSeq" FROM "eventTail"
     WHERE "customerSeq" = ? AND "timestampEpochMs" >= ? AND "timestampEpochMs" < ?`,
  ).all(customerSeq, fromEpochMs, toEpochMs) as unknown as readonly (readonly [number, number])[];
  const places = rows.map(([timestampEpochMs, eventSeq]) => ({ timestampEpochMs, eventSeq }));
  for (const row of piecesWith(connection, customerSeq)) {
    const numbers = numbersOf(row);
    for (let place = 0; place < numbers.length; place += width) {
      const timestampEpochMs = numbers[place + 1] ?? 0;
      if (numbers[place] !== customerSeq || timestampEpochMs < fromEpochMs || timestampEpochMs >= toEpochMs) continue;
      places.push({ timestampEpochMs, eventSeq: numbers[place + 2] ?? 0 });
    }
  }
  return places;
}

/** Columns of these events as plain rows, by time; `columns` call the table `"event"`. */
export function tailRows(connection: SqliteConnection, range: TailRange, columns: string): readonly unknown[] {
  const seqs = placesInTail(connection, range).map(({ eventSeq }) => eventSeq);
  return seqs.length === 0 ? [] : eventRows(connection, seqs, columns);
}

/** The same for events by seq. */
export function eventRows(connection: SqliteConnection, seqs: readonly number[], columns: string): readonly unknown[] {
  return plainRows(
    connection,
    `SELECT ${columns} FROM json_each(?) AS "place" CROSS JOIN "events" AS "event" ON "event"."seq" = "place"."value"
     ORDER BY "event"."timestampEpochMs", "event"."seq"`,
  ).all(JSON.stringify(seqs));
}

/** The tail of all customers; it must be short enough to hold in memory. */
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
  for (const row of connection.prepare('SELECT "rowCount", "data" FROM "eventTailPieces"').iterate()) {
    const numbers = numbersOf(row);
    let owner: number | undefined;
    let into: number[] = [];
    for (let place = 0; place < numbers.length; place += width) {
      const customerSeq = numbers[place] ?? 0;
      if (customerSeq !== owner) into = pairsIn(tail, customerSeq);
      owner = customerSeq;
      into.push(numbers[place + 1] ?? 0, numbers[place + 2] ?? 0);
    }
  }
  return tail;
}

/** Per customer, how many events the runs hold. */
export function countRuns(connection: SqliteConnection): ReadonlyMap<number, number> {
  return new Map(
    readRuns(connection)
      .entries()
      .map(([customerSeq, pairs]) => [customerSeq, pairs.length / 2]),
  );
}

/** Makes `tail` the whole tail, in one run. */
export function replaceTail(connection: SqliteConnection, tail: Tail): void {
  connection.execute('DELETE FROM "eventTail"; DELETE FROM "eventTailPieces"');
  addRun(connection, tail);
}

/** Turns the runs into rows. */
export function unpackRuns(connection: SqliteConnection): void {
  const insert = connection.prepare(insertRow);
  for (const [customerSeq, pairs] of readRuns(connection)) {
    for (let place = 0; place < pairs.length; place += 2) {
      insert.run(customerSeq, pairs[place] ?? 0, pairs[place + 1] ?? 0);
    }
  }
  connection.execute('DELETE FROM "eventTailPieces"');
}
