/** What meters read: totals where a whole day is asked for, columns where a part of it is, rows for the newest events. */

import { createUsageFold, type MeterRules, mergeReadings } from '../../../../calculation/usage-fold.ts';
import { inOrder } from '../../../event-aggregation.ts';
import { addCell, type Cell, type Cells, readingsOfCells } from './cells.ts';
import { ReusedEvent } from '../../../event-content.ts';
import { createSegmentQuery, foldSegment, lacksColumn, type SegmentQuery } from './segment-fold.ts';
import { segmentOf } from './segment-bytes.ts';
import {
  type CutSegment,
  type HeaderRow,
  inIntervals,
  isWithinInterval,
  joinedByInterval,
  type JoinedSegments,
  type PlacedSegment,
  rowsWithin,
} from './segment-intervals.ts';
import { chooseRows } from './segment-rows.ts';
import type { Segment } from './segment.ts';
import type { AggregatedEvents, EventReadings } from '../../../event-store.ts';
import type { SqliteConnection } from '../connection.ts';
import { type Attribution, attributionOf, isAttributed, rowTest, unassignedShare } from './attribution.ts';
import type { ReadingCache, SegmentVersion } from './cache.ts';
import { findCustomerSeq } from './ids.ts';
import { plainRows } from './rows.ts';
import { boundsOf, dayOf, ofDays } from './segments.ts';
import { tailRows } from './tail.ts';
import {
  computeTotals,
  type ContractRows,
  type FoundTotals,
  rowsOfContracts,
  textOfRules,
  type Totals,
} from './totals.ts';

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
  /** Of segments that are read each for itself, by day. */
  readonly headers: readonly HeaderRow[];
  /** All others, which are small. */
  readonly joined: readonly JoinedSegments[];
  /** By time. */
  readonly tail: readonly TailRow[];
}

/** What is asked. */
interface Question {
  readonly of: AggregatedEvents;
  readonly meters: readonly MeterRules[];
}

interface Reading {
  readonly connection: SqliteConnection;
  readonly of: AggregatedEvents;
  readonly attribution: Attribution | undefined;
  readonly meters: readonly MeterReading[];
  readonly found: FoundTotals[];
  readonly leastKept: number;
  readonly cache: ReadingCache;
}

interface MeterReading {
  readonly query: SegmentQuery;
  /** For each interval. */
  readonly cells: readonly Cells[];
  /** Takes what has to be read row by row. */
  readonly fold: ReturnType<typeof createUsageFold>;
  /** What totals are kept by, and its id where there are any; empty where none are looked for. */
  readonly rulesText: string;
  readonly ruleId: bigint | undefined;
}

/** What each meter reads, and totals that it was worth finding out. Segments are looked at once for all meters. */
export function readSegments(
  connection: SqliteConnection,
  { of, meters }: Question,
  { leastKept, cache }: { readonly leastKept: number; readonly cache: ReadingCache },
): { readonly readings: readonly EventReadings[]; readonly found: readonly FoundTotals[] } {
  const intervals = of.boundsEpochMs.slice(1);
  const customerSeq = findCustomerSeq(connection, of.orgId, of.customerId);
  if (customerSeq === undefined || intervals.length === 0) {
    return { readings: meters.map(() => intervals.map(() => [])), found: [] };
  }
  const { headers, joined, tail } = readOwned(connection, of, { customerSeq, leastKept });
  const mayHaveTotals = of.isStanding && headers.some(([, , , , rowCount]) => rowCount >= leastKept);
  const reading: Reading = {
    connection,
    of,
    attribution: attributionOf(connection, of.orgId, of.contract),
    meters: meters.map((rules): MeterReading => {
      const { dimensions } = of;
      const rulesText = mayHaveTotals ? textOfRules({ rules, dimensions }) : '';
      return {
        query: createSegmentQuery({ rules, dimensions }, cache.eventName),
        cells: intervals.map(() => new Map()),
        fold: createUsageFold(rules, dimensions),
        rulesText,
        ruleId: mayHaveTotals ? findRule(connection, rulesText) : undefined,
      };
    }),
    found: [],
    leastKept,
    cache,
  };
  for (const placed of inIntervals(headers, of.boundsEpochMs)) readSegment(reading, placed);
  for (const { parts, interval, ...span } of joined) {
    foldRows(reading, reading.meters, { segment: segmentOf(parts), ...rowsWithin(of, interval, span) });
  }
  readTail(reading, tail);
  return { readings: reading.meters.map((meter) => readingsOf(meter)), found: reading.found };
}

function findRule(connection: SqliteConnection, rulesText: string): bigint | undefined {
  const rule = connection.prepare('SELECT "id" FROM "eventRules" WHERE "rules" = ?').get(rulesText);
  return rule?.['id'] as bigint | undefined;
}

function readingsOf({ query: { rules, dimensions }, cells, fold }: MeterReading): EventReadings {
  return cells.map((each, interval) => {
    const columns = readingsOfCells(each, rules, dimensions);
    const rows = fold.readings(interval, interval + 1);
    return inOrder(rows.length === 0 ? columns : mergeReadings(rules.aggregationType, [...columns, ...rows]));
  });
}

/** Totals of so many events pay at once. */
const largeSegment = 4_096;
/** Those of fewer pay when they are read again: what is read once is folded as it is, many days as one. */
const foldedOnce = `"rowCount" < ? OR
  "rowCount" < ${largeSegment} AND NOT EXISTS (SELECT 1 FROM "eventTotals" WHERE "segmentId" = "eventSegments"."id")`;

function readOwned(
  connection: SqliteConnection,
  { boundsEpochMs, isOnce }: AggregatedEvents,
  { customerSeq, leastKept }: { readonly customerSeq: number; readonly leastKept: number },
): Owned {
  const [from = 0] = boundsEpochMs;
  const to = boundsEpochMs.at(-1) ?? from;
  const segments = plainRows(
    connection,
    `SELECT "id", "day", "days", "revision", "rowCount",
       CASE WHEN ${isOnce === true ? foldedOnce : '"rowCount" < ?'} THEN "data" END
     FROM "eventSegments" WHERE ${ofDays} ORDER BY "day", "part"`,
  );
  const bounds = boundsOf(dayOf(from), dayOf(to - 1));
  const rows = segments.all(leastKept, customerSeq, ...bounds) as unknown as readonly HeaderRow[];
  const range = { customerSeq, fromEpochMs: from, toEpochMs: to };
  const tail = tailRows(connection, range, tailColumns) as readonly TailRow[];
  return { ...joinedByInterval(rows, boundsEpochMs), tail };
}

function readSegment(reading: Reading, { row, start, end, firstInterval }: PlacedSegment): void {
  const { boundsEpochMs, isStanding, isOnce } = reading.of;
  const [id, , , revision, rowCount] = row;
  const share = unassignedShare(reading.attribution, { fromEpochMs: start, toEpochMs: end });
  const isWhole = isWithinInterval(boundsEpochMs, firstInterval, { start, end });
  const mayHaveTotals = isStanding && isWhole && share !== 'part' && rowCount >= reading.leastKept;
  let loaded: Segment | undefined;
  const load = (): Segment => (loaded ??= reading.cache.segment({ id, revision }, isOnce));
  let contracts: ContractRows | undefined;
  const loadContracts = (): ContractRows => (contracts ??= rowsOfContracts(load()));
  const folded = reading.meters.filter((meter) => {
    if (!mayHaveTotals) return true;
    const totals = totalsOf(reading, meter, { id, revision, load, loadContracts });
    if (totals !== undefined) {
      addTotals(reading, meter, { totals, interval: firstInterval, takesUnassigned: share === 'all' });
    }
    return totals === undefined;
  });
  if (folded.length === 0) return;
  for (let interval = firstInterval; interval + 1 < boundsEpochMs.length; interval += 1) {
    if ((boundsEpochMs[interval] ?? 0) >= end) break;
    foldRows(reading, folded, { segment: load(), ...rowsWithin(reading.of, interval, { start, end }) });
  }
}

function totalsOf(
  { cache, found }: Reading,
  { query, rulesText, ruleId }: MeterReading,
  {
    load,
    loadContracts,
    ...version
  }: SegmentVersion & { readonly load: () => Segment; readonly loadContracts: () => ContractRows },
): Totals | undefined {
  const kept = cache.totals(version, ruleId);
  if (kept !== undefined) return kept;
  const segment = load();
  if (lacksColumn(segment, query)) return undefined;
  const totals = computeTotals(segment, query, loadContracts());
  found.push({
    rules: rulesText,
    segmentId: BigInt(version.id),
    revision: BigInt(version.revision),
    cells: JSON.stringify(totals),
  });
  return totals;
}

interface WholeSegment {
  readonly totals: Totals;
  readonly interval: number;
  /** Whether events that name no contract are the one's that is asked for. */
  readonly takesUnassigned: boolean;
}

function addTotals(
  { attribution }: Reading,
  { cells, query }: MeterReading,
  { totals, interval, takesUnassigned }: WholeSegment,
): void {
  const into = cells[interval] ?? new Map();
  const { aggregationType } = query.rules;
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

interface Rows extends CutSegment {
  readonly segment: Segment;
}

function foldRows(
  { attribution, connection }: Reading,
  meters: readonly MeterReading[],
  { segment, start, from, to, interval }: Rows,
): void {
  const rows = chooseRows(segment, { from, to, takes: attribution && rowTest(attribution, segment, start) });
  for (const { query, cells, fold } of meters) {
    if (!lacksColumn(segment, query)) {
      foldSegment(segment, query, rows, cells[interval] ?? new Map());
      continue;
    }
    const { eventSeq, nameId } = segment.fixed;
    const event = new ReusedEvent();
    for (const row of rows.ofNames(query)) {
      event.eventName = query.nameOf(nameId[row] ?? 0);
      event.propertiesJson = propertiesOf(connection, eventSeq[row] ?? 0);
      fold.add(event, interval);
    }
  }
}

function propertiesOf(connection: SqliteConnection, eventSeq: number): string {
  return String(
    connection.prepare('SELECT "propertiesJson" FROM "events" WHERE "seq" = ?').get(eventSeq)?.['propertiesJson'],
  );
}

function readTail({ of, attribution, meters }: Reading, rows: readonly TailRow[]): void {
  const { boundsEpochMs } = of;
  const event = new ReusedEvent();
  let interval = 0;
  for (const [timestampEpochMs, contractSeq, nameId, propertiesJson, isLate] of rows) {
    while (timestampEpochMs >= (boundsEpochMs[interval + 1] ?? Infinity)) interval += 1;
    if (isLate === 1) continue;
    if (attribution !== undefined && !isAttributed(attribution, contractSeq ?? 0, timestampEpochMs)) continue;
    event.propertiesJson = propertiesJson;
    for (const { query, fold } of meters) {
      if (query.wantsName?.(nameId) === false) continue;
      event.eventName = query.nameOf(nameId);
      fold.add(event, interval);
    }
  }
}
