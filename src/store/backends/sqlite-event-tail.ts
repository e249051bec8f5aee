/**
 * The tail: events that are in no segment yet, by customer and time. A few that come at once are rows of a small table; many are a
 * run of their own with one row for each customer, written one behind the other, since rows in the order of customers would
 * change a page for nearly each event.
 */

import { plainRows, type SqliteConnection } from './sqlite-connection.ts';

/** Where an event stands for readers: whose it is, and when. */
export interface EventPlace {
  readonly eventSeq: number;
  readonly customerSeq: number;
  readonly timestampEpochMs: number;
}

/** `leastRun` places and more are a run. Belongs into a transaction for writing, like all that changes the tail. */
export function enterTail(connection: SqliteConnection, places: readonly EventPlace[], leastRun: number): void {
  if (places.length >= leastRun) {
    addRun(connection, places);
    return;
  }
  const enter = connection.prepare('INSERT INTO "eventTail" VALUES (?, ?, ?)');
  for (const { customerSeq, timestampEpochMs, eventSeq } of places) enter.run(customerSeq, timestampEpochMs, eventSeq);
}

function addRun(connection: SqliteConnection, places: readonly EventPlace[]): void {
  const ordered = places.toSorted((a, b) => a.customerSeq - b.customerSeq);
  const pairs = new Float64Array(2 * ordered.length);
  const last = connection.prepare('SELECT max("run") AS "run" FROM "eventTailRuns"').get()?.['run'] as bigint | null;
  const run = (last ?? -1n) + 1n;
  const insert = connection.prepare('INSERT INTO "eventTailRuns" VALUES (?, ?, ?, ?)');
  let start = 0;
  for (const [index, { customerSeq, timestampEpochMs, eventSeq }] of ordered.entries()) {
    pairs[2 * index] = timestampEpochMs;
    pairs[2 * index + 1] = eventSeq;
    const end = index + 1;
    if (ordered[end]?.customerSeq === customerSeq) continue;
    insert.run(run, customerSeq, end - start, pairs.subarray(2 * start, 2 * end));
    start = end;
  }
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
  return connection
    .prepare(selectRuns)
    .all(customerSeq)
    .flatMap((row) => {
      const places = placesOf(row);
      const rest = places.filter(({ eventSeq }) => !gone.has(eventSeq));
      if (rest.length === places.length) return [];
      const pairs = Float64Array.from(rest.flatMap(({ timestampEpochMs, eventSeq }) => [timestampEpochMs, eventSeq]));
      connection
        .prepare('UPDATE "eventTailRuns" SET "rowCount" = ?, "data" = ? WHERE "run" = ? AND "customerSeq" = ?')
        .run(rest.length, pairs, row['run'] as bigint, customerSeq);
      return places.map(({ eventSeq }) => eventSeq).filter((eventSeq) => gone.has(eventSeq));
    });
}

/** What the runs hold of a customer: there are few, and they are numbered from 0. */
const selectRuns = `WITH RECURSIVE "numbers"("run") AS (SELECT max("run") FROM "eventTailRuns"
    UNION ALL SELECT "run" - 1 FROM "numbers" WHERE "run" > 0)
  SELECT "run", "rowCount", "data" FROM "numbers" CROSS JOIN "eventTailRuns" USING ("run") WHERE "customerSeq" = ?`;

type RunPlace = Omit<EventPlace, 'customerSeq'>;

/** Throws where a row is not what was written. */
function placesOf({ rowCount, data }: Record<string, unknown>): RunPlace[] {
  const pairs = new Float64Array((data as Uint8Array).slice().buffer);
  if (pairs.length !== 2 * Number(rowCount)) throw new Error('a run of new events is damaged');
  return Array.from({ length: pairs.length / 2 }, (_, index) => ({
    timestampEpochMs: pairs[2 * index] ?? 0,
    eventSeq: pairs[2 * index + 1] ?? 0,
  }));
}

interface TailRange {
  readonly customerSeq: number;
  /** Everything of the customer where no bounds are given. */
  readonly fromEpochMs?: number;
  readonly toEpochMs?: number;
}

/** Events of a customer in the tail, in no order. */
export function placesInTail(connection: SqliteConnection, range: TailRange): RunPlace[] {
  const { customerSeq, fromEpochMs = -Infinity, toEpochMs = Infinity } = range;
  const rows = plainRows(
    connection,
    `SELECT "timestampEpochMs", "eventSeq" FROM "eventTail"
     WHERE "customerSeq" = ? AND "timestampEpochMs" >= ? AND "timestampEpochMs" < ?`,
  ).all(customerSeq, fromEpochMs, toEpochMs) as unknown as readonly (readonly [number, number])[];
  const places = rows.map(([timestampEpochMs, eventSeq]) => ({ timestampEpochMs, eventSeq }));
  for (const row of connection.prepare(selectRuns).all(customerSeq)) {
    for (const place of placesOf(row)) {
      if (place.timestampEpochMs >= fromEpochMs && place.timestampEpochMs < toEpochMs) places.push(place);
    }
  }
  return places;
}

/** Columns of these events as plain rows, `"event"` the table, by time. */
export function tailRows(connection: SqliteConnection, range: TailRange, columns: string): readonly unknown[] {
  const seqs = placesInTail(connection, range).map(({ eventSeq }) => eventSeq);
  if (seqs.length === 0) return [];
  return plainRows(
    connection,
    `SELECT ${columns} FROM json_each(?) AS "place" CROSS JOIN "events" AS "event" ON "event"."seq" = "place"."value"
     ORDER BY "event"."timestampEpochMs", "event"."seq"`,
  ).all(JSON.stringify(seqs));
}

/** How many events of each customer stand in the tail. */
export function countTail(connection: SqliteConnection): { readonly customerSeq: number; readonly count: number }[] {
  return connection
    .prepare(
      `SELECT "customerSeq", sum("rowCount") AS "count"
       FROM (SELECT "customerSeq", "rowCount" FROM "eventTailRuns" UNION ALL SELECT "customerSeq", 1 FROM "eventTail")
       GROUP BY "customerSeq"`,
    )
    .all()
    .map((row) => ({ customerSeq: Number(row['customerSeq']), count: Number(row['count']) }));
}

/** Leaves one run, of the events of customers that are not among these. */
export function shortenTail(connection: SqliteConnection, gone: ReadonlySet<number>): void {
  const rows = plainRows(connection, 'SELECT "customerSeq", "timestampEpochMs", "eventSeq" FROM "eventTail"').all();
  const places = (rows as unknown as readonly (readonly [number, number, number])[])
    .map(([customerSeq, timestampEpochMs, eventSeq]) => ({ customerSeq, timestampEpochMs, eventSeq }))
    .concat(placesInRuns(connection))
    .filter(({ customerSeq }) => !gone.has(customerSeq));
  clearTail(connection);
  addRun(connection, places);
}

/** Makes rows of the runs. */
export function unpackRuns(connection: SqliteConnection): void {
  enterTail(connection, placesInRuns(connection), Infinity);
  connection.execute('DELETE FROM "eventTailRuns"');
}

function placesInRuns(connection: SqliteConnection): EventPlace[] {
  return connection
    .prepare('SELECT "customerSeq", "rowCount", "data" FROM "eventTailRuns"')
    .all()
    .flatMap((row) => {
      const customerSeq = Number(row['customerSeq']);
      return placesOf(row).map((place) => ({ customerSeq, ...place }));
    });
}

export function clearTail(connection: SqliteConnection): void {
  connection.execute('DELETE FROM "eventTail"; DELETE FROM "eventTailRuns"');
}
