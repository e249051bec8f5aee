/**
 * What is derived from events for reading: a tail of the newest, and segments by customer and day that the tail is absorbed
 * into once it is long. A day's totals for the rules of a meter are kept beside its segment, and hold for one revision of it.
 * All of it changes in the transaction that changes the events, so that it always says what they say.
 */

import { createUsageFold, mergeReadings, type MeterRules } from '../../calculation/usage-fold.ts';
import { type EventAggregation, type EventReadings, inOrder } from '../event-aggregation.ts';
import { addCell, type Cells, type Coefficient, readingsOfCells } from '../event-cells.ts';
import { ReusedEvent } from '../event-content.ts';
import { decodeSegment, encodeSegment } from '../event-segment-bytes.ts';
import { foldSegment, lacksColumn, millisecondsPerDay, type SegmentQuery } from '../event-segment-fold.ts';
import { appendEvents, emptySegment, removeEvents, type Segment, type SegmentEvent } from '../event-segment.ts';
import type { EpochInterval } from '../event-store.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

/** Where an event stands for readers: whose it is, and when. */
export interface EventPlace {
  readonly eventSeq: number;
  readonly customerSeq: number;
  readonly timestampEpochMs: number;
}

/** Totals that a reader found out, for whoever may write. */
export interface FoundTotals {
  readonly rules: string;
  readonly segmentId: bigint;
  readonly revision: bigint;
  readonly cells: string;
}

/** When derived data is made; no number of theirs changes what is read. */
export interface UpkeepThresholds {
  /** So many events in the tail are absorbed at once; readers look at each of them. */
  readonly longestTail: number;
  /** Folding fewer events costs no more than reading what was kept of them. */
  readonly leastKept: number;
}

export const usualThresholds: UpkeepThresholds = { longestTail: 16_384, leastKept: 192 };

const absorbedAtOnce = 65_536;
/** A segment of so many events is not grown any more. */
const fullSegment = 16_384;

const dayOf = (timestampEpochMs: number): number => Math.floor(timestampEpochMs / millisecondsPerDay);

type TailRow = readonly [number, number, number, number | null, number, number, string];

/** Moves the whole tail into segments. Belongs into a transaction for writing. */
export function absorbTail(connection: SqliteConnection): void {
  const revision = nextRevision(connection);
  const select = plainRows(
    connection,
    `SELECT "tail"."customerSeq", "tail"."timestampEpochMs", "tail"."eventSeq",
      "event"."contractSeq", "event"."nameId", "event"."isLate", "event"."propertiesJson"
    FROM "eventTail" AS "tail" CROSS JOIN "events" AS "event" ON "event"."seq" = "tail"."eventSeq"
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
  connection.execute('DELETE FROM "eventTail"; UPDATE "eventUpkeep" SET "tailCount" = 0');
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
  const leaveTail = connection.prepare(
    'DELETE FROM "eventTail" WHERE "customerSeq" = ? AND "timestampEpochMs" = ? AND "eventSeq" = ?',
  );
  const absorbed = places.filter(({ customerSeq, timestampEpochMs, eventSeq }) => {
    const { changes } = leaveTail.run(customerSeq, timestampEpochMs, eventSeq);
    return Number(changes) === 0;
  });
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

/** Prepared anew where integers are wanted as numbers and rows as arrays: the same statement must not be shared. */
export function plainRows(connection: SqliteConnection, sql: string) {
  const statement = connection.prepare(sql);
  statement.setReadBigInts(false);
  statement.setReturnArrays(true);
  return statement;
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

interface Reading {
  readonly connection: SqliteConnection;
  readonly request: EventAggregation;
  readonly query: SegmentQuery;
  readonly attribution: Attribution | undefined;
  /** For each interval. */
  readonly cells: readonly Cells[];
  /** Takes what has to be read row by row. */
  readonly fold: ReturnType<typeof createUsageFold>;
  readonly rulesText: string;
  readonly found: FoundTotals[];
  readonly leastKept: number;
}

/** What a meter reads, and totals that it was worth finding out. */
export function readSegments(
  connection: SqliteConnection,
  request: EventAggregation,
  { leastKept }: UpkeepThresholds,
): { readonly readings: EventReadings; readonly found: readonly FoundTotals[] } {
  const { orgId, rules, dimensions, boundsEpochMs } = request;
  const intervals = boundsEpochMs.slice(1);
  const customerSeq = findCustomerSeq(connection, orgId, request.customerId);
  if (customerSeq === undefined || intervals.length === 0) return { readings: intervals.map(() => []), found: [] };
  const reading: Reading = {
    connection,
    request,
    query: { rules, dimensions, nameOf: nameReader(connection) },
    attribution: attributionOf(connection, orgId, request.contract),
    cells: intervals.map(() => new Map()),
    fold: createUsageFold(rules, dimensions),
    rulesText: request.isStanding ? textOfRules(request) : '',
    found: [],
    leastKept,
  };
  readDays(reading, customerSeq);
  readTail(reading, customerSeq);
  const readings = intervals.map((_, index) =>
    inOrder(
      mergeReadings(rules.aggregationType, [
        ...readingsOfCells(reading.cells[index] ?? new Map(), rules, dimensions),
        ...reading.fold.readings(index, index + 1),
      ]),
    ),
  );
  return { readings, found: reading.found };
}

type TotalRules = Pick<EventAggregation, 'rules' | 'dimensions'>;

/** One text for what totals depend on. */
function textOfRules({ rules, dimensions }: TotalRules): string {
  const { aggregationType, aggregationKey = null, eventTypeFilter, propertyFilters, groupKeys } = rules;
  const { include, exclude } = eventTypeFilter;
  const filters = propertyFilters.map((filter) => [
    filter.name,
    filter.exists ?? null,
    filter.include ?? [],
    filter.exclude ?? [],
  ]);
  const { needsEventName, propertyKeys } = dimensions;
  return JSON.stringify([
    aggregationType,
    aggregationKey,
    include,
    exclude,
    filters,
    groupKeys,
    needsEventName,
    propertyKeys,
  ]);
}

type RulesText = [
  MeterRules['aggregationType'],
  string | null,
  string[],
  string[],
  [string, boolean | null, string[], string[]][],
  string[],
  boolean,
  string[],
];

export function rulesOfText(text: string): TotalRules {
  const [aggregationType, aggregationKey, include, exclude, filters, groupKeys, needsEventName, propertyKeys] =
    JSON.parse(text) as RulesText;
  const propertyFilters = filters.map(([name, exists, wanted, unwanted]) => ({
    name,
    exists: exists ?? undefined,
    include: wanted,
    exclude: unwanted,
  }));
  const eventTypeFilter = { include, exclude };
  return {
    rules: { aggregationType, aggregationKey, eventTypeFilter, propertyFilters, groupKeys },
    dimensions: { needsEventName, propertyKeys },
  };
}

type HeaderRow = readonly [id: number, day: number, revision: number, rowCount: number, cells: string | null];

function readDays(reading: Reading, customerSeq: number): void {
  const { connection, request, rulesText } = reading;
  const { boundsEpochMs } = request;
  const rule = connection.prepare('SELECT "id" FROM "eventRules" WHERE "rules" = ?').get(rulesText);
  const headers = plainRows(
    connection,
    `SELECT "segment"."id", "segment"."day", "segment"."revision",
      "segment"."rowCount", "total"."cells"
    FROM "eventSegments" AS "segment" LEFT JOIN "eventTotals" AS "total"
      ON "total"."segmentId" = "segment"."id" AND "total"."ruleId" = ? AND "total"."revision" = "segment"."revision"
    WHERE "segment"."customerSeq" = ? AND "segment"."day" BETWEEN ? AND ?
    ORDER BY "segment"."day", "segment"."part"`,
  );
  const [from = 0] = boundsEpochMs;
  const lastDay = dayOf((boundsEpochMs.at(-1) ?? from) - 1);
  const rows = headers.all((rule?.['id'] as bigint) ?? null, customerSeq, dayOf(from), lastDay);
  let interval = 0;
  for (const header of rows as unknown as readonly HeaderRow[]) {
    const start = header[1] * millisecondsPerDay;
    while ((boundsEpochMs[interval + 1] ?? Infinity) <= start) interval += 1;
    readSegment(reading, header, interval);
  }
}

/** `interval` is the first that may share an instant with the segment's day. */
function readSegment(reading: Reading, header: HeaderRow, interval: number): void {
  const { boundsEpochMs } = reading.request;
  const start = header[1] * millisecondsPerDay;
  const end = start + millisecondsPerDay;
  const isWhole = (boundsEpochMs[interval] ?? Infinity) <= start && end <= (boundsEpochMs[interval + 1] ?? -Infinity);
  const share = unassignedShare(reading.attribution, { fromEpochMs: start, toEpochMs: end });
  if (isWhole && reading.request.isStanding && share !== 'part') {
    const totals = totalsOf(reading, header);
    if (totals !== undefined) {
      addTotals(reading, totals, { interval, takesUnassigned: share === 'all' });
      return;
    }
  }
  const segment = loadSegment(reading.connection, header[0]);
  for (let each = interval; each + 1 < boundsEpochMs.length; each += 1) {
    const from = Math.max(0, (boundsEpochMs[each] ?? 0) - start);
    const to = Math.min(millisecondsPerDay, (boundsEpochMs[each + 1] ?? 0) - start);
    if (from >= millisecondsPerDay) break;
    foldRows(reading, segment, { start, from, to, interval: each });
  }
}

/** How much of a day's events that name no contract is the contract's that is asked for. */
function unassignedShare(attribution: Attribution | undefined, day: EpochInterval): 'all' | 'none' | 'part' {
  const touching = (attribution?.elsewhere ?? []).filter(
    ({ fromEpochMs, toEpochMs }) => fromEpochMs < day.toEpochMs && day.fromEpochMs < toEpochMs,
  );
  if (touching.length === 0) return 'all';
  const covers = touching.some(
    ({ fromEpochMs, toEpochMs }) => fromEpochMs <= day.fromEpochMs && day.toEpochMs <= toEpochMs,
  );
  return covers ? 'none' : 'part';
}

export function loadSegment(connection: SqliteConnection, id: number | bigint): Segment {
  const row = connection.prepare('SELECT "data" FROM "eventSegments" WHERE "id" = ?').get(id);
  return decodeSegment(row?.['data'] as Uint8Array);
}

/** Of each contract that the events name, 0 where they name none: keys, coefficients (texts beyond 2^53), and counts. */
export type Totals = readonly (readonly [
  contractSeq: number,
  scales: readonly number[],
  keys: readonly string[],
  coefficients: readonly (number | string)[],
  counts: readonly number[],
])[];

function totalsOf(reading: Reading, [id, , revision, rowCount, cells]: HeaderRow): Totals | undefined {
  if (cells !== null) return JSON.parse(cells) as Totals;
  if (rowCount < reading.leastKept) return undefined;
  const segment = loadSegment(reading.connection, id);
  if (lacksColumn(segment, reading.query)) return undefined;
  const totals = computeTotals(segment, reading.query);
  const { rulesText } = reading;
  reading.found.push({
    rules: rulesText,
    segmentId: BigInt(id),
    revision: BigInt(revision),
    cells: JSON.stringify(totals),
  });
  return totals;
}

export function computeTotals(segment: Segment, query: SegmentQuery): Totals {
  const contracts = [...new Set(segment.fixed.contractSeq)];
  return contracts.map((contractSeq) => {
    const cells: Cells = new Map();
    const takes = contracts.length === 1 ? undefined : (own: number) => own === contractSeq;
    foldSegment(segment, query, { from: 0, to: millisecondsPerDay, takes }, cells);
    const values = [...cells.values()];
    return [
      contractSeq,
      values.map(({ scale }) => scale),
      [...cells.keys()],
      values.map(({ coefficient }) => (typeof coefficient === 'number' ? coefficient : coefficient.toString())),
      values.map(({ count }) => count),
    ];
  });
}

function addTotals(
  { cells, attribution, request }: Reading,
  totals: Totals,
  { interval, takesUnassigned }: { readonly interval: number; readonly takesUnassigned: boolean },
): void {
  const into = cells[interval] ?? new Map();
  for (const [contractSeq, scales, keys, coefficients, counts] of totals) {
    const isWanted = contractSeq === 0 ? takesUnassigned : contractSeq === attribution?.contractSeq;
    if (attribution !== undefined && !isWanted) continue;
    for (const [index, key] of keys.entries()) {
      const stored = coefficients[index] ?? 0;
      const coefficient: Coefficient = typeof stored === 'number' ? stored : BigInt(stored);
      const cell = { coefficient, scale: scales[index] ?? 0, count: counts[index] ?? 0 };
      addCell(into, key, cell, request.rules.aggregationType);
    }
  }
}

interface Rows {
  /** The beginning of the segment's day. */
  readonly start: number;
  /** In the day's milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly interval: number;
}

function foldRows(reading: Reading, segment: Segment, { start, from, to, interval }: Rows): void {
  const { attribution, query, cells, connection, fold } = reading;
  const takes =
    attribution &&
    ((contractSeq: number, millisecond: number) => isAttributed(attribution, contractSeq, start + millisecond));
  if (!lacksColumn(segment, query)) {
    foldSegment(segment, query, { from, to, takes }, cells[interval] ?? new Map());
    return;
  }
  const { eventSeq, millisecond, contractSeq, isLate, nameId } = segment.fixed;
  const event = new ReusedEvent();
  for (let row = 0; row < segment.rowCount; row += 1) {
    const at = millisecond[row] ?? 0;
    if (isLate[row] !== 0 || at < from || at >= to || takes?.(contractSeq[row] ?? 0, at) === false) continue;
    event.eventName = query.nameOf(nameId[row] ?? 0);
    event.propertiesJson = propertiesOf(connection, eventSeq[row] ?? 0);
    event.forgetProperties();
    fold.add(event, interval);
  }
}

function propertiesOf(connection: SqliteConnection, eventSeq: number): string {
  return String(
    connection.prepare('SELECT "propertiesJson" FROM "events" WHERE "seq" = ?').get(eventSeq)?.['propertiesJson'],
  );
}

type TailEvent = readonly [number, number | null, number, string];

function readTail(reading: Reading, customerSeq: number): void {
  const { connection, request, attribution, query, fold } = reading;
  const { boundsEpochMs } = request;
  const rows = plainRows(
    connection,
    `SELECT "tail"."timestampEpochMs", "event"."contractSeq", "event"."nameId",
      "event"."propertiesJson"
    FROM "eventTail" AS "tail" CROSS JOIN "events" AS "event" ON "event"."seq" = "tail"."eventSeq"
    WHERE "tail"."customerSeq" = ? AND "tail"."timestampEpochMs" >= ? AND "tail"."timestampEpochMs" < ?
      AND "event"."isLate" = 0
    ORDER BY "tail"."timestampEpochMs"`,
  );
  const event = new ReusedEvent();
  let interval = 0;
  const found = rows.all(customerSeq, boundsEpochMs[0] ?? 0, boundsEpochMs.at(-1) ?? 0);
  for (const [timestampEpochMs, contractSeq, nameId, propertiesJson] of found as unknown as readonly TailEvent[]) {
    while (timestampEpochMs >= (boundsEpochMs[interval + 1] ?? Infinity)) interval += 1;
    if (attribution !== undefined && !isAttributed(attribution, contractSeq ?? 0, timestampEpochMs)) continue;
    event.eventName = query.nameOf(nameId);
    event.propertiesJson = propertiesJson;
    event.forgetProperties();
    fold.add(event, interval);
  }
}

/** Keeps totals for whose segments the revision is still the same. Belongs into a transaction for writing. */
export function keepTotals(connection: SqliteConnection, found: readonly FoundTotals[]): void {
  for (const { rules, segmentId, revision, cells } of found) {
    connection.prepare('INSERT INTO "eventRules" ("rules") VALUES (?) ON CONFLICT DO NOTHING').run(rules);
    connection
      .prepare(`INSERT INTO "eventTotals" ("segmentId", "ruleId", "revision", "cells")
        SELECT "segment"."id", "rule"."id", "segment"."revision", ? FROM "eventSegments" AS "segment", "eventRules" AS "rule"
        WHERE "segment"."id" = ? AND "segment"."revision" = ? AND "rule"."rules" = ?
        ON CONFLICT DO UPDATE SET "revision" = excluded."revision", "cells" = excluded."cells"`)
      .run(cells, segmentId, revision, rules);
  }
}
