/** What meters read: totals where a whole day is asked for, columns where a part of it is, rows for the newest events. */

import { createUsageFold, mergeReadings } from '../../calculation/usage-fold.ts';
import { type EventAggregation, type EventReadings, inOrder } from '../event-aggregation.ts';
import { addCell, type Cell, type Cells, readingsOfCells } from '../event-cells.ts';
import { ReusedEvent } from '../event-content.ts';
import {
  createSegmentQuery,
  foldSegment,
  hasWantedName,
  lacksColumn,
  millisecondsPerDay,
  type SegmentQuery,
} from '../event-segment-fold.ts';
import { isAlike, readHeader, segmentOf, type SegmentPart } from '../event-segment-bytes.ts';
import type { Segment } from '../event-segment.ts';
import type { EpochInterval } from '../event-store.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { plainRows } from './sqlite-event-rows.ts';
import type { ReadingCache } from './sqlite-event-cache.ts';
import {
  type Attribution,
  dayOf,
  findContractSeq,
  findCustomerSeq,
  isAttributed,
  nameReader,
} from './sqlite-event-segments.ts';
import { tailRows } from './sqlite-event-tail.ts';
import { computeTotals, type FoundTotals, textOfRules, type Totals } from './sqlite-event-totals.ts';

type HeaderRow = readonly [id: number, day: number, revision: number, rowCount: number, small: Uint8Array | null];
type TailRow = readonly [
  timestampEpochMs: number,
  contractSeq: number | null,
  nameId: number,
  propertiesJson: string,
  isLate: number,
];
const tailColumns = `"event"."timestampEpochMs", "event"."contractSeq", "event"."nameId", "event"."propertiesJson",
  "event"."isLate"`;

/** What there is of a customer in the days that are asked for, whatever is counted. */
interface Owned {
  readonly contractSeq: number;
  readonly nameOf: (nameId: number) => string;
  /** Of segments that are read each for itself, by day. */
  readonly headers: readonly HeaderRow[];
  /** All others, which are small and lie in one interval each. */
  readonly joined: readonly JoinedSegment[];
  /** By time. */
  readonly tail: readonly TailRow[];
  /** Of events in `joined` and `tail`. */
  readonly nameIds: readonly number[];
}

interface JoinedSegment {
  readonly interval: number;
  /** The beginning of its first day. */
  readonly start: number;
  readonly segment: Segment;
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
  readonly cache: ReadingCache;
}

/** What a meter reads, and totals that it was worth finding out. */
export function readSegments(
  connection: SqliteConnection,
  request: EventAggregation,
  { leastKept, cache }: { readonly leastKept: number; readonly cache: ReadingCache },
): { readonly readings: EventReadings; readonly found: readonly FoundTotals[] } {
  const { orgId, rules, dimensions, boundsEpochMs } = request;
  const intervals = boundsEpochMs.slice(1);
  const contractId = request.contract?.contractId ?? null;
  const subject = JSON.stringify([orgId, request.customerId, contractId, request.isOnce, boundsEpochMs]);
  const owned = cache.latest(subject, () => readOwned(connection, request, leastKept));
  const nothing = { readings: intervals.map(() => []), found: [] };
  if (owned === undefined || intervals.length === 0) return nothing;
  const query = createSegmentQuery(request, owned.nameOf);
  if (isWithoutWanted(owned, query)) return nothing;
  const reading: Reading = {
    connection,
    request,
    query,
    attribution: request.contract && {
      contractSeq: owned.contractSeq,
      elsewhere: request.contract.unassignedOutside,
    },
    cells: intervals.map(() => new Map()),
    fold: createUsageFold(rules, dimensions),
    rulesText: request.isStanding && owned.headers.length > 0 ? textOfRules(request) : '',
    found: [],
    leastKept,
    cache,
  };
  readDays(reading, owned.headers);
  for (const { segment, start, interval } of owned.joined) {
    if (hasWantedName(segment, query)) foldRows(reading, segment, { start, from: 0, to: Infinity, interval });
  }
  readTail(reading, owned.tail);
  const readings = intervals.map((_, index) => {
    const columns = readingsOfCells(reading.cells[index] ?? new Map(), rules, dimensions);
    const rows = reading.fold.readings(index, index + 1);
    return inOrder(rows.length === 0 ? columns : mergeReadings(rules.aggregationType, [...columns, ...rows]));
  });
  return { readings, found: reading.found };
}

/** Most meters count one name of event, and most customers send few. */
function isWithoutWanted({ headers, nameIds }: Owned, { wantsName }: SegmentQuery): boolean {
  return headers.length === 0 && !nameIds.some((nameId) => wantsName?.(nameId) ?? true);
}

/** Totals of so many events pay at once. */
const largeSegment = 4_096;
/** Those of fewer pay when they are read again: what is read once is folded as it is, many days as one. */
const foldedOnce = `"rowCount" < ? OR
  "rowCount" < ${largeSegment} AND NOT EXISTS (SELECT 1 FROM "eventTotals" WHERE "segmentId" = "eventSegments"."id")`;

function readOwned(
  connection: SqliteConnection,
  { orgId, customerId, contract, boundsEpochMs, isOnce }: EventAggregation,
  leastKept: number,
): Owned | undefined {
  const customerSeq = findCustomerSeq(connection, orgId, customerId);
  if (customerSeq === undefined) return undefined;
  const [from = 0] = boundsEpochMs;
  const to = boundsEpochMs.at(-1) ?? from;
  const segments = plainRows(
    connection,
    `SELECT "id", "day", "revision", "rowCount", CASE WHEN ${isOnce === true ? foldedOnce : '"rowCount" < ?'} THEN "data" END
     FROM "eventSegments" WHERE "customerSeq" = ? AND "day" BETWEEN ? AND ? ORDER BY "day", "part"`,
  );
  const rows = segments.all(leastKept, customerSeq, dayOf(from), dayOf(to - 1)) as unknown as readonly HeaderRow[];
  const range = { customerSeq, fromEpochMs: from, toEpochMs: to };
  const tail = tailRows(connection, range, tailColumns) as readonly TailRow[];
  const { headers, joined } = joinedWithinIntervals(rows, boundsEpochMs);
  const nameIds = new Set(tail.map(([, , nameId]) => nameId));
  for (const { segment } of joined) for (const nameId of segment.fixed.nameId) nameIds.add(nameId);
  return {
    contractSeq: (contract && findContractSeq(connection, orgId, contract.contractId)) ?? -1,
    nameOf: nameReader(connection),
    headers,
    joined,
    tail,
    nameIds: [...nameIds],
  };
}

/** Reads small segments of one interval as one as long as they are alike; those that a bound cuts stay by themselves. */
function joinedWithinIntervals(
  rows: readonly HeaderRow[],
  boundsEpochMs: readonly number[],
): Pick<Owned, 'headers' | 'joined'> {
  const headers: HeaderRow[] = [];
  const groups: (Omit<JoinedSegment, 'segment'> & { readonly parts: SegmentPart[] })[] = [];
  let interval = 0;
  for (const row of rows) {
    const [, day, , , small] = row;
    const start = day * millisecondsPerDay;
    while ((boundsEpochMs[interval + 1] ?? Infinity) <= start) interval += 1;
    if (small === null || !isWithinInterval(boundsEpochMs, interval, start)) {
      headers.push(row);
      continue;
    }
    const packed = readHeader(small);
    const group = groups.at(-1);
    const last = group?.parts.at(-1);
    if (group === undefined || last === undefined || group.interval !== interval || !isAlike(last.packed, packed)) {
      groups.push({ interval, start, parts: [{ packed, offset: 0 }] });
    } else group.parts.push({ packed, offset: start - group.start });
  }
  const joined = groups.map(({ parts, ...group }) => ({ ...group, segment: segmentOf(parts) }));
  return { headers, joined };
}

function isWithinInterval(boundsEpochMs: readonly number[], interval: number, start: number): boolean {
  const end = start + millisecondsPerDay;
  return (boundsEpochMs[interval] ?? Infinity) <= start && end <= (boundsEpochMs[interval + 1] ?? -Infinity);
}

function readDays(reading: Reading, headers: readonly HeaderRow[]): void {
  const { connection, request, rulesText, leastKept } = reading;
  const { boundsEpochMs } = request;
  const mayHaveTotals = headers.some(([, , , rowCount]) => rowCount >= leastKept);
  const rule = mayHaveTotals
    ? connection.prepare('SELECT "id" FROM "eventRules" WHERE "rules" = ?').get(rulesText)
    : undefined;
  let interval = 0;
  for (const header of headers) {
    const start = header[1] * millisecondsPerDay;
    while ((boundsEpochMs[interval + 1] ?? Infinity) <= start) interval += 1;
    readSegment(reading, header, { interval, ruleId: rule?.['id'] as bigint | undefined });
  }
}

/** `interval` is the first that may share an instant with the segment's day. */
function readSegment(
  reading: Reading,
  header: HeaderRow,
  { interval, ruleId }: { readonly interval: number; readonly ruleId: bigint | undefined },
): void {
  const { boundsEpochMs } = reading.request;
  const start = header[1] * millisecondsPerDay;
  const end = start + millisecondsPerDay;
  const isWhole = isWithinInterval(boundsEpochMs, interval, start);
  const share = unassignedShare(reading.attribution, { fromEpochMs: start, toEpochMs: end });
  if (isWhole && reading.request.isStanding && share !== 'part') {
    const totals = totalsOf(reading, header, ruleId);
    if (totals !== undefined) {
      addTotals(reading, totals, { interval, takesUnassigned: share === 'all' });
      return;
    }
  }
  const segment = reading.cache.segment({ id: header[0], revision: header[2] });
  if (!hasWantedName(segment, reading.query)) return;
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

function totalsOf(
  reading: Reading,
  [id, , revision, rowCount]: HeaderRow,
  ruleId: bigint | undefined,
): Totals | undefined {
  if (rowCount < reading.leastKept) return undefined;
  const kept = reading.cache.totals({ id, revision }, ruleId);
  if (kept !== undefined) return kept;
  const segment = reading.cache.segment({ id, revision });
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

function addTotals(
  { cells, attribution, request }: Reading,
  totals: Totals,
  { interval, takesUnassigned }: { readonly interval: number; readonly takesUnassigned: boolean },
): void {
  const into = cells[interval] ?? new Map();
  const { aggregationType } = request.rules;
  const cell: Cell = { coefficient: 0, scale: 0, count: 0 };
  for (const [contractSeq, scales, keys, coefficients, counts] of totals) {
    const isWanted = contractSeq === 0 ? takesUnassigned : contractSeq === attribution?.contractSeq;
    if (attribution !== undefined && !isWanted) continue;
    for (const [index, key] of keys.entries()) {
      const stored = coefficients[index] ?? 0;
      cell.coefficient = typeof stored === 'number' ? stored : BigInt(stored);
      cell.scale = scales[index] ?? 0;
      cell.count = counts[index] ?? 0;
      addCell(into, key, cell, aggregationType);
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
  const takes = attribution && rowTest(attribution, segment, start);
  if (!lacksColumn(segment, query)) {
    foldSegment(segment, query, { from, to, takes }, cells[interval] ?? new Map());
    return;
  }
  const { eventSeq, millisecond, isLate, nameId } = segment.fixed;
  const event = new ReusedEvent();
  for (let row = 0; row < segment.rowCount; row += 1) {
    const at = millisecond[row] ?? 0;
    if (isLate[row] !== 0 || at < from || at >= to || takes?.(row) === false) continue;
    event.eventName = query.nameOf(nameId[row] ?? 0);
    event.propertiesJson = propertiesOf(connection, eventSeq[row] ?? 0);
    event.forgetProperties();
    fold.add(event, interval);
  }
}

function rowTest(attribution: Attribution, { fixed }: Segment, start: number): (row: number) => boolean {
  const { contractSeq } = fixed;
  // Columns are unpacked when they are looked at, and times decide only where there are other contracts.
  const millisecond = attribution.elsewhere.length === 0 ? undefined : fixed.millisecond;
  return (row) => isAttributed(attribution, contractSeq[row] ?? 0, start + (millisecond?.[row] ?? 0));
}

function propertiesOf(connection: SqliteConnection, eventSeq: number): string {
  return String(
    connection.prepare('SELECT "propertiesJson" FROM "events" WHERE "seq" = ?').get(eventSeq)?.['propertiesJson'],
  );
}

function readTail(reading: Reading, rows: readonly TailRow[]): void {
  const { request, attribution, query, fold } = reading;
  const { boundsEpochMs } = request;
  const event = new ReusedEvent();
  let interval = 0;
  for (const [timestampEpochMs, contractSeq, nameId, propertiesJson, isLate] of rows) {
    if (isLate === 1 || query.wantsName?.(nameId) === false) continue;
    while (timestampEpochMs >= (boundsEpochMs[interval + 1] ?? Infinity)) interval += 1;
    if (attribution !== undefined && !isAttributed(attribution, contractSeq ?? 0, timestampEpochMs)) continue;
    event.eventName = query.nameOf(nameId);
    event.propertiesJson = propertiesJson;
    event.forgetProperties();
    fold.add(event, interval);
  }
}
