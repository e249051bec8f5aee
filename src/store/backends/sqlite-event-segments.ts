/**
 * What is derived from events for reading: a tail of the newest, and segments by customer and day that the tail is absorbed
 * into once it is long. A day's totals for the rules of a meter are kept beside its segment, and hold for one revision of it.
 * All of it changes in the transaction that changes the events, so that it always says what they say.
 */

import type { EventAggregation } from '../event-aggregation.ts';
import { decodeSegment, encodeSegment } from '../event-segment-bytes.ts';
import {
  appendEvents,
  emptySegment,
  millisecondsPerDay,
  removeEvents,
  type Segment,
  type SegmentEvent,
} from '../event-segment.ts';
import type { EpochInterval } from '../event-store.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { RecentRows, TailRow } from './sqlite-event-recent.ts';
import { plainRows } from './sqlite-event-rows.ts';
import { type EventPlace, eventRows, leaveTail, readTail, replaceTail, unpackRuns } from './sqlite-event-tail.ts';

/** When derived data is made; no number of theirs changes what is read. */
export interface UpkeepThresholds {
  /** After so many new events the tail is looked through; of a customer readers look at no more than these. */
  readonly longestTail: number;
  /** Folding fewer events costs no more than reading what was kept of them. */
  readonly leastKept: number;
}

export const usualThresholds: UpkeepThresholds = { longestTail: 16_384, leastKept: 192 };

const absorbedAtOnce = 65_536;
/** How many times the tail's length may wait in it, of customers with few events each. */
const mostWaiting = 8;
/** A segment of so many events is not grown any more. */
const fullSegment = 16_384;

export const dayOf = (timestampEpochMs: number): number => Math.floor(timestampEpochMs / millisecondsPerDay);

const tailColumns = `"event"."customerSeq", "event"."timestampEpochMs", "event"."seq", "event"."contractSeq",
  "event"."nameId", "event"."isLate", "event"."propertiesJson"`;

/**
 * Moves into segments what is worth it: the events of customers that have many in the tail, or all of them where the tail
 * has grown far beyond: by `tailCount` since this was done before. Who has few waits, since a segment is written as a whole.
 * Belongs into a transaction for writing.
 */
export function absorbTail(
  connection: SqliteConnection,
  { longestTail }: UpkeepThresholds,
  { tailCount, recent }: { readonly tailCount: number; readonly recent: RecentRows },
): void {
  const most = mostWaiting * longestTail;
  const least = 2 * Math.ceil(longestTail / 256);
  // After an upgrade all events may stand in it, which are too many to hold.
  const tail = tailCount > most ? undefined : readTail(connection);
  const few = tail?.values().reduce((sum, { length }) => (length < least ? sum + length / 2 : sum), 0) ?? Infinity;
  if (tail === undefined || few > most) {
    absorbWholeTail(connection);
    return;
  }
  const revision = nextRevision(connection);
  for (const [customerSeq, pairs] of tail) {
    if (pairs.length < least) continue;
    absorbRows(connection, rowsOfTail(connection, pairs, recent), revision);
    tail.delete(customerSeq);
  }
  replaceTail(connection, tail);
  connection.execute('UPDATE "eventUpkeep" SET "tailCount" = 0');
}

/** The rows of a customer's events in the tail, by time. */
function rowsOfTail(connection: SqliteConnection, pairs: readonly number[], recent: RecentRows): readonly TailRow[] {
  const rows: TailRow[] = [];
  const others: number[] = [];
  for (let place = 1; place < pairs.length; place += 2) {
    const eventSeq = pairs[place] ?? 0;
    const row = recent.find(eventSeq);
    if (row === undefined) others.push(eventSeq);
    else rows.push(row);
  }
  if (others.length > 0) rows.push(...(eventRows(connection, others, tailColumns) as readonly TailRow[]));
  return rows.sort((one, other) => one[1] - other[1] || one[2] - other[2]);
}

/** Moves the whole tail into segments. */
export function absorbWholeTail(connection: SqliteConnection): void {
  const revision = nextRevision(connection);
  unpackRuns(connection);
  const select = plainRows(
    connection,
    `SELECT ${tailColumns} FROM "eventTail" AS "tail" CROSS JOIN "events" AS "event" ON "event"."seq" = "tail"."eventSeq"
     ORDER BY "tail"."customerSeq", "tail"."timestampEpochMs", "tail"."eventSeq" LIMIT ${absorbedAtOnce}`,
  );
  for (;;) {
    const rows = select.all() as unknown as readonly TailRow[];
    absorbRows(connection, rows, revision);
    const last = rows.at(-1);
    if (last === undefined || rows.length < absorbedAtOnce) break;
    connection
      .prepare('DELETE FROM "eventTail" WHERE ("customerSeq", "timestampEpochMs", "eventSeq") <= (?, ?, ?)')
      .run(last[0], last[1], last[2]);
  }
  replaceTail(connection, new Map());
  connection.execute('UPDATE "eventUpkeep" SET "tailCount" = 0');
}

function absorbRows(connection: SqliteConnection, rows: readonly TailRow[], revision: bigint): void {
  let place: Day | undefined;
  let events: SegmentEvent[] = [];
  const flush = () => {
    if (place !== undefined) growDay(connection, place, { events, revision });
    events = [];
  };
  for (const [customerSeq, timestampEpochMs, eventSeq, contractSeq, nameId, isLate, propertiesJson] of rows) {
    const day = dayOf(timestampEpochMs);
    if (place?.customerSeq !== customerSeq || place.day !== day || events.length === fullSegment) {
      flush();
      place = { customerSeq, day };
    }
    const millisecond = timestampEpochMs - day * millisecondsPerDay;
    events.push({ eventSeq, millisecond, nameId, contractSeq: contractSeq ?? 0, isLate: isLate === 1, propertiesJson });
  }
  flush();
}

interface Day {
  readonly customerSeq: number;
  readonly day: number;
}

function growDay(
  connection: SqliteConnection,
  { customerSeq, day }: Day,
  { events, revision }: { readonly events: readonly SegmentEvent[]; readonly revision: bigint },
): void {
  const last = connection
    .prepare(`SELECT "id", "part", "rowCount", "data" FROM "eventSegments"
      WHERE "customerSeq" = ? AND "day" = ? ORDER BY "part" DESC LIMIT 1`)
    .get(customerSeq, day);
  if (last !== undefined && Number(last['rowCount']) < fullSegment) {
    const grown = appendEvents(decodeSegment(last['data'] as Uint8Array), events);
    saveSegment(connection, { id: last['id'] as bigint, segment: grown, revision });
    return;
  }
  const segment = appendEvents(emptySegment, events);
  connection
    .prepare(`INSERT INTO "eventSegments" ("customerSeq", "day", "part", "revision", "rowCount", "data")
      VALUES (?, ?, ?, ?, ?, ?)`)
    .run(customerSeq, day, Number(last?.['part'] ?? -1n) + 1, revision, segment.rowCount, encodeSegment(segment));
}

function saveSegment(
  connection: SqliteConnection,
  { id, segment, revision }: { readonly id: bigint; readonly segment: Segment; readonly revision: bigint },
): void {
  connection
    .prepare('UPDATE "eventSegments" SET "rowCount" = ?, "revision" = ?, "data" = ? WHERE "id" = ?')
    .run(segment.rowCount, revision, encodeSegment(segment), id);
}

function nextRevision(connection: SqliteConnection): bigint {
  const row = connection.prepare('UPDATE "eventUpkeep" SET "revision" = "revision" + 1 RETURNING "revision"').get();
  return row?.['revision'] as bigint;
}

/** Takes superseded versions out of what readers see; where they stand in segments, each segment is written once. */
export function forget(connection: SqliteConnection, places: readonly EventPlace[]): void {
  if (places.length === 0) return;
  const absorbed = leaveTail(connection, places);
  if (absorbed.length === 0) return;
  const revision = nextRevision(connection);
  const days = Map.groupBy(
    absorbed,
    ({ customerSeq, timestampEpochMs }) => `${customerSeq} ${dayOf(timestampEpochMs)}`,
  );
  for (const group of days.values()) forgetOfDay(connection, group, revision);
}

function forgetOfDay(connection: SqliteConnection, group: readonly EventPlace[], revision: bigint): void {
  const [first] = group;
  if (first === undefined) return;
  const gone = new Set(group.map(({ eventSeq }) => eventSeq));
  const parts = connection
    .prepare('SELECT "id", "data" FROM "eventSegments" WHERE "customerSeq" = ? AND "day" = ?')
    .all(first.customerSeq, dayOf(first.timestampEpochMs));
  for (const { id, data } of parts) {
    const segment = decodeSegment(data as Uint8Array);
    const rest = removeEvents(segment, gone);
    if (rest.rowCount < segment.rowCount) saveSegment(connection, { id: id as bigint, segment: rest, revision });
  }
}

/** The names of events by their ids, read once for each id that is asked for. */
export function nameReader(connection: SqliteConnection): (nameId: number) => string {
  const names = new Map<number, string>();
  return (nameId) => {
    let name = names.get(nameId);
    if (name === undefined) {
      name = String(connection.prepare('SELECT "name" FROM "eventNames" WHERE "id" = ?').get(nameId)?.['name']);
      names.set(nameId, name);
    }
    return name;
  };
}

export function findCustomerSeq(connection: SqliteConnection, orgId: string, id: string): number | undefined {
  const row = connection.prepare('SELECT "seq" FROM "customers" WHERE "orgId" = ? AND "id" = ?').get(orgId, id);
  return row === undefined ? undefined : Number(row['seq']);
}

/** Of the customers among these that the organization has. */
export function findCustomerSeqs(
  connection: SqliteConnection,
  orgId: string,
  ids: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const rows = plainRows(
    connection,
    'SELECT "id", "seq" FROM "customers" WHERE "orgId" = ? AND "id" IN (SELECT "value" FROM json_each(?))',
  ).all(orgId, JSON.stringify([...ids]));
  return new Map(rows as unknown as readonly (readonly [string, number])[]);
}

export function findContractSeq(connection: SqliteConnection, orgId: string, id: string): number | undefined {
  const row = connection.prepare('SELECT "seq" FROM "contracts" WHERE "orgId" = ? AND "id" = ?').get(orgId, id);
  return row === undefined ? undefined : Number(row['seq']);
}

/** Which rows of a day are of the contract that is asked for: by its seq, and by time where they name none. */
export interface Attribution {
  readonly contractSeq: number;
  readonly elsewhere: readonly EpochInterval[];
}

export function attributionOf(
  connection: SqliteConnection,
  orgId: string,
  contract: EventAggregation['contract'],
): Attribution | undefined {
  if (contract === undefined) return undefined;
  const contractSeq = findContractSeq(connection, orgId, contract.contractId) ?? -1;
  return { contractSeq, elsewhere: contract.unassignedOutside };
}

export function isAttributed(
  { contractSeq, elsewhere }: Attribution,
  rowContractSeq: number,
  timestampEpochMs: number,
): boolean {
  if (rowContractSeq !== 0) return rowContractSeq === contractSeq;
  return !elsewhere.some(
    ({ fromEpochMs, toEpochMs }) => timestampEpochMs >= fromEpochMs && timestampEpochMs < toEpochMs,
  );
}
