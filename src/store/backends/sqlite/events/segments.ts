/**
 * Data derived from events for reading: a tail of the newest events, and segments by customer and day that absorb the tail once
 * it is long. Days with few events share a segment. The totals of a segment for a meter's rules are kept beside it, and hold
 * for one revision of the segment. All of this changes in the same transaction as the events, so the two always agree.
 */

import { decodeSegment, encodeSegment } from './segment-bytes.ts';
import { appendEvents, emptySegment, millisecondsPerDay, removeEvents, type SegmentEvent } from './segment.ts';
import type { SqliteConnection } from '../connection.ts';
import type { RecentRows, TailRow } from './recent.ts';
import { plainRows } from './rows.ts';
import { type EventPlace, eventRows, leaveTail, readTail, replaceTail, unpackRuns } from './tail.ts';

/** When derived data is made; the numbers change nothing that is read. */
export interface UpkeepThresholds {
  /** After this many new events the tail is examined; it is also the most that readers look at per customer. */
  readonly longestTail: number;
  /** Folding fewer events than this costs no more than reading kept totals. */
  readonly leastKept: number;
}

export const usualThresholds: UpkeepThresholds = { longestTail: 16_384, leastKept: 192 };

const absorbedAtOnce = 65_536;
/** The tail of customers with few events each may grow to this many times `longestTail`. */
const mostWaiting = 8;
/** A segment with this many events does not grow any more. */
const fullSegment = 16_384;
/** The most days of a segment: one that begins up to so many less one before the first requested day may reach into it. */
export const mostDays = 8;

export const dayOf = (timestampEpochMs: number): number => Math.floor(timestampEpochMs / millisecondsPerDay);

/** Selects a `TailRow`. */
export const tailColumns = `"event"."customerSeq", "event"."timestampEpochMs", "event"."seq", "event"."contractSeq",
  "event"."nameId", "event"."isLate", "event"."propertiesJson"`;

/**
 * Moves events into segments where that pays: those of customers with many events in the tail, or all of them if the tail has
 * grown far beyond its length. `tailCount` is its growth since the last time. Customers with few events wait, because a segment
 * is written as a whole. Belongs in a transaction for writing.
 */
export function absorbTail(
  connection: SqliteConnection,
  thresholds: UpkeepThresholds,
  { tailCount, recent }: { readonly tailCount: number; readonly recent: RecentRows },
): void {
  const { longestTail } = thresholds;
  const most = mostWaiting * longestTail;
  const least = 2 * Math.ceil(longestTail / 256);
  // After an upgrade the tail may hold all events, which are too many for memory.
  const tail = tailCount > most ? undefined : readTail(connection);
  const few = tail?.values().reduce((sum, { length }) => (length < least ? sum + length / 2 : sum), 0) ?? Infinity;
  if (tail === undefined || few > most) {
    absorbWholeTail(connection, thresholds);
    return;
  }
  const upkeep = { revision: nextRevision(connection), thresholds };
  for (const [customerSeq, pairs] of tail) {
    if (pairs.length < least) continue;
    absorbRows(connection, rowsOfTail(connection, pairs, recent), upkeep);
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
  const read = others.length === 0 ? [] : (eventRows(connection, others, tailColumns) as readonly TailRow[]);
  for (const row of read) rows.push(row);
  return rows.sort((one, other) => one[1] - other[1] || one[2] - other[2]);
}

/** Moves the whole tail into segments. */
export function absorbWholeTail(connection: SqliteConnection, thresholds: UpkeepThresholds): void {
  const upkeep = { revision: nextRevision(connection), thresholds };
  unpackRuns(connection);
  const select = plainRows(
    connection,
    `SELECT ${tailColumns} FROM "eventTail" AS "tail" CROSS JOIN "events" AS "event" ON "event"."seq" = "tail"."eventSeq"
     ORDER BY "tail"."customerSeq", "tail"."timestampEpochMs", "tail"."eventSeq" LIMIT ${absorbedAtOnce}`,
  );
  for (;;) {
    const rows = select.all() as unknown as readonly TailRow[];
    absorbRows(connection, rows, upkeep);
    const last = rows.at(-1);
    if (last === undefined || rows.length < absorbedAtOnce) break;
    connection
      .prepare('DELETE FROM "eventTail" WHERE ("customerSeq", "timestampEpochMs", "eventSeq") <= (?, ?, ?)')
      .run(last[0], last[1], last[2]);
  }
  replaceTail(connection, new Map());
  connection.execute('UPDATE "eventUpkeep" SET "tailCount" = 0');
}

interface Upkeep {
  readonly revision: bigint;
  readonly thresholds: UpkeepThresholds;
}

/** `rows` are ordered by customer, then by time. */
function absorbRows(connection: SqliteConnection, rows: readonly TailRow[], upkeep: Upkeep): void {
  let growing: GrowingSegment | undefined;
  for (let first = 0; first < rows.length;) {
    const { place, end } = daysRows(rows, first);
    if (growing === undefined || !hasRoom(growing, place, upkeep.thresholds)) {
      if (growing !== undefined) saveGrown(connection, growing, upkeep);
      growing = findGrowing(connection, place, upkeep.thresholds);
    }
    addRows(growing, place.day, rows.slice(first, end));
    first = end;
  }
  if (growing !== undefined) saveGrown(connection, growing, upkeep);
}

/** Events of one customer and day that are to be absorbed. */
interface DayPlace {
  readonly customerSeq: number;
  readonly day: number;
  readonly count: number;
}

/** The rows of one day that begin at index `first`, and where they end. */
function daysRows(rows: readonly TailRow[], first: number): { readonly place: DayPlace; readonly end: number } {
  const [customerSeq = 0, timestampEpochMs = 0] = rows[first] ?? [];
  const day = dayOf(timestampEpochMs);
  let end = first;
  for (; end < rows.length && end - first < fullSegment; end += 1) {
    const [owner, time = 0] = rows[end] ?? [];
    if (owner !== customerSeq || dayOf(time) !== day) break;
  }
  return { place: { customerSeq, day, count: end - first }, end };
}

/** A segment that is about to be written, as it will be. */
interface GrowingSegment {
  readonly customerSeq: number;
  /** The first of its days. */
  readonly day: number;
  days: number;
  readonly part: number;
  rowCount: number;
  /** The day on which the customer's next segment begins. */
  readonly nextDay: number;
  /** Absent if the segment is new. */
  readonly stored?: { readonly id: bigint; readonly data: Uint8Array };
  readonly events: SegmentEvent[];
}

/** Days share a segment as long as it has too few events for totals. */
function hasRoom(segment: GrowingSegment, place: DayPlace, { leastKept }: UpkeepThresholds): boolean {
  if (segment.customerSeq !== place.customerSeq || place.day >= segment.nextDay) return false;
  const days = place.day - segment.day + 1;
  if (days <= segment.days) return segment.rowCount < fullSegment;
  return days <= mostDays && segment.rowCount + place.count < leastKept;
}

/** The last segment that begins by that day, if it has room, otherwise a new one. */
function findGrowing(connection: SqliteConnection, place: DayPlace, thresholds: UpkeepThresholds): GrowingSegment {
  const { customerSeq, day } = place;
  const next = connection
    .prepare('SELECT min("day") AS "day" FROM "eventSegments" WHERE "customerSeq" = ? AND "day" > ?')
    .get(customerSeq, day);
  const common = { customerSeq, nextDay: Number(next?.['day'] ?? Infinity), events: [] };
  const fresh = { ...common, day, days: 1, part: 0, rowCount: 0 };
  const last = connection
    .prepare(`SELECT "id", "day", "days", "part", "rowCount", "data" FROM "eventSegments"
      WHERE "customerSeq" = ? AND "day" <= ? ORDER BY "day" DESC, "part" DESC LIMIT 1`)
    .get(customerSeq, day);
  if (last === undefined) return fresh;
  const [first, days, part] = [Number(last['day']), Number(last['days']), Number(last['part'])];
  const stored = { id: last['id'] as bigint, data: last['data'] as Uint8Array };
  const known = { ...common, day: first, days, part, rowCount: Number(last['rowCount']), stored };
  if (hasRoom(known, place, thresholds)) return known;
  return day >= first + days ? fresh : { ...fresh, day: first, days: day - first + 1, part: part + 1 };
}

function addRows(segment: GrowingSegment, day: number, rows: readonly TailRow[]): void {
  const start = segment.day * millisecondsPerDay;
  for (const row of rows) segment.events.push(segmentEventOf(row, start));
  segment.days = Math.max(segment.days, day - segment.day + 1);
  segment.rowCount += rows.length;
}

/** The event of a row, for a segment whose days begin at `start`. */
export function segmentEventOf(
  [, timestampEpochMs, eventSeq, contractSeq, nameId, isLate, propertiesJson]: TailRow,
  start: number,
): SegmentEvent {
  const millisecond = timestampEpochMs - start;
  return { eventSeq, millisecond, nameId, contractSeq: contractSeq ?? 0, isLate: isLate === 1, propertiesJson };
}

function saveGrown(connection: SqliteConnection, growing: GrowingSegment, { revision }: Upkeep): void {
  const { customerSeq, day, days, part, stored, events } = growing;
  const segment = appendEvents(stored === undefined ? emptySegment : decodeSegment(stored.data), events);
  if (stored !== undefined) {
    connection
      .prepare('UPDATE "eventSegments" SET "days" = ?, "rowCount" = ?, "revision" = ?, "data" = ? WHERE "id" = ?')
      .run(days, segment.rowCount, revision, encodeSegment(segment), stored.id);
    return;
  }
  connection
    .prepare(`INSERT INTO "eventSegments" ("customerSeq", "day", "days", "part", "revision", "rowCount", "data")
      VALUES (?, ?, ?, ?, ?, ?, ?)`)
    .run(customerSeq, day, days, part, revision, segment.rowCount, encodeSegment(segment));
}

function nextRevision(connection: SqliteConnection): bigint {
  const row = connection.prepare('UPDATE "eventUpkeep" SET "revision" = "revision" + 1 RETURNING "revision"').get();
  return row?.['revision'] as bigint;
}

/** Removes superseded versions from what readers see; each segment that holds some is written once. */
export function forget(connection: SqliteConnection, places: readonly EventPlace[]): void {
  if (places.length === 0) return;
  const absorbed = leaveTail(connection, places);
  if (absorbed.length === 0) return;
  const revision = nextRevision(connection);
  for (const [customerSeq, group] of Map.groupBy(absorbed, (place) => place.customerSeq)) {
    forgetOfCustomer(connection, { customerSeq, group, revision });
  }
}

function forgetOfCustomer(
  connection: SqliteConnection,
  {
    customerSeq,
    group,
    revision,
  }: { readonly customerSeq: number; readonly group: readonly EventPlace[]; readonly revision: bigint },
): void {
  const gone = new Set(group.map(({ eventSeq }) => eventSeq));
  const days = new Set(group.map(({ timestampEpochMs }) => dayOf(timestampEpochMs)));
  const find = connection.prepare(`SELECT "id" FROM "eventSegments" WHERE ${ofDays}`);
  const ids = new Set([...days].flatMap((day) => find.all(customerSeq, ...boundsOf(day, day)).map(({ id }) => id)));
  for (const id of ids) {
    const row = connection.prepare('SELECT "data" FROM "eventSegments" WHERE "id" = ?').get(id as bigint);
    const segment = decodeSegment(row?.['data'] as Uint8Array);
    const rest = removeEvents(segment, gone);
    if (rest.rowCount === segment.rowCount) continue;
    connection
      .prepare('UPDATE "eventSegments" SET "rowCount" = ?, "revision" = ?, "data" = ? WHERE "id" = ?')
      .run(rest.rowCount, revision, encodeSegment(rest), id as bigint);
  }
}

/** Selects a customer's segments that hold any of the requested days; takes the customer and `boundsOf`. */
export const ofDays = `"customerSeq" = ? AND "day" BETWEEN ? AND ? AND "day" + "days" > ?`;

/** The values for `ofDays` after the customer, for the days from `first` to `last`. */
export function boundsOf(first: number, last: number): readonly [number, number, number] {
  return [first - mostDays + 1, last, first];
}
