/** What meters read: from totals for a whole segment, from columns for a part of one, from rows for the newest events. */

import { createUsageFold, type MeterRules, mergeReadings } from '../../../../calculation/usage-fold.ts';
import { inOrder } from '../../../event-aggregation.ts';
import { addTo, type Cell, cellOf, type Cells, readingsOfCells } from './cells.ts';
import { ReusedEvent } from '../../../event-content.ts';
import { createSegmentQuery, foldSegment, lacksColumn, type SegmentQuery } from './segment-fold.ts';
import { segmentOf } from './segment-bytes.ts';
import {
  cutIntoHours,
  type CutIntoHours,
  type CutSegment,
  type HeaderRow,
  inIntervals,
  isWithinInterval,
  joinedByInterval,
  type JoinedSegments,
  type PlacedSegment,
  rowsWithin,
} from './segment-intervals.ts';
import { hourOf } from './segment-hours.ts';
import { emptySegment, type Segment } from './segment.ts';
import type { AggregatedEvents, EventReadings } from '../../../event-store.ts';
import type { SqliteConnection } from '../connection.ts';
import { attributionOf, namedTakers, oneTaker, type Takers } from './attribution.ts';
import type { ReadingCache, SegmentVersion } from './cache.ts';
import { findContractSeq, findCustomerSeq } from './ids.ts';
import type { KnownTail, TailEvents } from './known-tail.ts';
import type { TailRow } from './recent.ts';
import { plainRows } from './rows.ts';
import { boundsOf, dayOf, ofDays } from './segments.ts';
import {
  computeHourlyTotals,
  computeTotals,
  type ContractRows,
  type FoundTotals,
  rowsOfContracts,
  textOfRules,
  type Totals,
} from './totals.ts';

/** Everything of a customer in the requested days, whatever is counted. */
interface Owned {
  /** Of segments that are read one at a time, by day. */
  readonly headers: readonly HeaderRow[];
  /** All other segments, which are small. */
  readonly joined: readonly JoinedSegments[];
  readonly tail: TailEvents;
}

/** The events and meters of a request. */
interface Question {
  readonly of: AggregatedEvents;
  readonly meters: readonly MeterRules[];
}

interface Reading {
  readonly connection: SqliteConnection;
  readonly of: AggregatedEvents;
  readonly meters: readonly AskedMeter[];
  readonly takers: Takers<Taker>;
  readonly found: FoundTotals[];
  readonly leastKept: number;
  readonly cache: ReadingCache;
}

interface AskedMeter {
  readonly query: SegmentQuery;
  /** The text under which totals are kept, and its id if there are any; empty if no totals are looked for. */
  readonly rulesText: string;
  readonly ruleId: bigint | undefined;
}

/** What is counted of the events that one taker takes: a count per meter, in order. */
type Taker = readonly Count[];

interface Count {
  readonly meter: AskedMeter;
  /** Per interval. */
  readonly cells: readonly Cells[];
  /** Per interval, the cells of the lists of keys that totals have come with, in the order of the list. */
  readonly listed: readonly Map<readonly string[], readonly Cell[]>[];
  /** Folds the events that have to be read row by row. */
  readonly fold: ReturnType<typeof createUsageFold>;
}

interface Upkeep {
  readonly leastKept: number;
  readonly cache: ReadingCache;
  readonly knownTail: KnownTail;
}

interface Answer<Readings> {
  readonly readings: readonly Readings[];
  /** Newly computed totals that are worth keeping. */
  readonly found: readonly FoundTotals[];
}

/** What each meter reads. Each segment is looked at once for all meters. */
export function readSegments(connection: SqliteConnection, question: Question, upkeep: Upkeep): Answer<EventReadings> {
  const { orgId, contract } = question.of;
  const { readings, found } = readTaken(connection, question, {
    ...upkeep,
    takersOf: (taker) => oneTaker(attributionOf(connection, orgId, contract), taker()),
  });
  return { readings: readings[0] ?? [], found };
}

/** The same for each of these contracts, over the events that name it. Each segment is looked at once for all of them, too. */
export function readNamed(
  connection: SqliteConnection,
  { contractIds, ...question }: Question & { readonly contractIds: readonly string[] },
  upkeep: Upkeep,
): Answer<readonly EventReadings[]> {
  const { orgId } = question.of;
  // A contract that the organization does not have has no events: it gets a seq that no event names.
  const seqs = contractIds.map((id, place) => findContractSeq(connection, orgId, id) ?? -1 - place);
  return readTaken(connection, question, {
    ...upkeep,
    takersOf: (taker) => namedTakers(new Map(seqs.map((seq) => [seq, taker()]))),
  });
}

/** Per taker, what each meter reads. */
function readTaken(
  connection: SqliteConnection,
  { of, meters }: Question,
  { takersOf, leastKept, cache, knownTail }: Upkeep & { readonly takersOf: (newTaker: () => Taker) => Takers<Taker> },
): Answer<readonly EventReadings[]> {
  const intervals = of.boundsEpochMs.slice(1);
  const { dimensions } = of;
  const customerSeq = findCustomerSeq(connection, of.orgId, of.customerId);
  const isNothing = customerSeq === undefined || intervals.length === 0;
  const { headers, joined, tail } = isNothing
    ? nothing
    : readOwned(connection, of, { customerSeq, leastKept, knownTail });
  const mayHaveTotals = of.isStanding && headers.some(([, , , , rowCount]) => rowCount >= leastKept);
  const asked = meters.map((rules): AskedMeter => {
    const rulesText = mayHaveTotals ? textOfRules({ rules, dimensions }) : '';
    return {
      query: createSegmentQuery({ rules, dimensions }, cache.eventName),
      rulesText,
      ruleId: mayHaveTotals ? findRule(connection, rulesText) : undefined,
    };
  });
  const takers = takersOf(() =>
    asked.map((meter) => ({
      meter,
      cells: intervals.map(() => new Map()),
      listed: intervals.map(() => new Map()),
      fold: createUsageFold(meter.query.rules, dimensions),
    })),
  );
  const reading: Reading = { connection, of, meters: asked, takers, found: [], leastKept, cache };
  for (const placed of inIntervals(headers, of.boundsEpochMs)) readSegment(reading, placed);
  for (const { parts, interval, ...span } of joined) {
    foldRows(reading, asked, { segment: segmentOf(parts), ...rowsWithin(of, interval, span) });
  }
  const { columns, rows } = tail;
  for (const interval of columns.rowCount === 0 ? [] : intervals.keys()) {
    const [from = 0, to = 0] = of.boundsEpochMs.slice(interval, interval + 2);
    foldRows(reading, asked, { segment: columns, start: 0, from, to, interval });
  }
  readTail(reading, rows);
  return { readings: takers.each.map((counts) => counts.map(readingsOf)), found: reading.found };
}

const nothing: Owned = { headers: [], joined: [], tail: { columns: emptySegment, rows: [] } };

function findRule(connection: SqliteConnection, rulesText: string): bigint | undefined {
  const rule = connection.prepare('SELECT "id" FROM "eventRules" WHERE "rules" = ?').get(rulesText);
  return rule?.['id'] as bigint | undefined;
}

function readingsOf({ meter: { query }, cells, fold }: Count): EventReadings {
  const { rules, dimensions } = query;
  return cells.map((each, interval) => {
    const columns = readingsOfCells(each, rules, dimensions);
    const rows = fold.readings(interval, interval + 1);
    return inOrder(rows.length === 0 ? columns : mergeReadings(rules.aggregationType, [...columns, ...rows]));
  });
}

/** For this many events, keeping totals pays at once. */
const largeSegment = 4_096;
/** With fewer events totals pay only on later readings: what is read once is folded directly, many days as one. */
const foldedOnce = `"rowCount" < ? OR
  "rowCount" < ${largeSegment} AND NOT EXISTS (SELECT 1 FROM "eventTotals" WHERE "segmentId" = "eventSegments"."id")`;

function readOwned(
  connection: SqliteConnection,
  { boundsEpochMs, isOnce }: AggregatedEvents,
  { customerSeq, leastKept, knownTail }: Pick<Upkeep, 'leastKept' | 'knownTail'> & { readonly customerSeq: number },
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
  return { ...joinedByInterval(rows, boundsEpochMs), tail: knownTail.read(range, isOnce) };
}

/** Totals of hours are made for so many times the events for which totals are kept. */
const leastByHour = 20;

function readSegment(reading: Reading, { row, start, end, firstInterval }: PlacedSegment): void {
  const { boundsEpochMs, isStanding, isOnce } = reading.of;
  const [id, , , revision, rowCount] = row;
  const isWhole = isWithinInterval(boundsEpochMs, firstInterval, { start, end });
  const isCut = reading.takers.isCut({ fromEpochMs: start, toEpochMs: end });
  const mayHaveTotals = isStanding && !isCut && rowCount >= reading.leastKept;
  const mayHaveHours = mayHaveTotals && isOnce !== true && rowCount >= leastByHour * reading.leastKept;
  let loaded: Segment | undefined;
  const load = (): Segment => (loaded ??= reading.cache.segment({ id, revision }, isOnce));
  let contracts: ContractRows | undefined;
  const loadContracts = (): ContractRows => (contracts ??= rowsOfContracts(load()));
  const folded = reading.meters.filter((meter, place) => {
    if (!mayHaveTotals || !isWhole) return true;
    const totals = totalsOf(reading, meter, { id, revision, load, loadContracts });
    if (totals !== undefined) addTotals(reading, { totals, place, start, interval: firstInterval });
    return totals === undefined;
  });
  if (folded.length === 0) return;
  for (let interval = firstInterval; interval + 1 < boundsEpochMs.length; interval += 1) {
    if ((boundsEpochMs[interval] ?? 0) >= end) break;
    const cut = rowsWithin(reading.of, interval, { start, end });
    const inHours = mayHaveHours ? cutIntoHours(cut) : undefined;
    const rest = inHours === undefined ? folded : folded.filter((meter) => !addHours(meter, cut, inHours));
    if (rest.length > 0) foldRows(reading, rest, { segment: load(), ...cut });
    const summed = folded.filter((meter) => !rest.includes(meter));
    if (summed.length === 0) continue;
    for (const edge of inHours?.edges ?? []) foldRows(reading, summed, { segment: load(), ...edge });
  }

  /** Whether it did: otherwise the meter has to read rows. */
  function addHours(meter: AskedMeter, { interval }: CutSegment, { firstHour, endHour }: CutIntoHours): boolean {
    const hours = reading.cache.hours({ id, revision }, meter.ruleId, () =>
      lacksColumn(load(), meter.query) ? [] : computeHourlyTotals(load(), meter.query, hourOf(end - start)),
    );
    if (hours === undefined || hours.length === 0) return false;
    const place = reading.meters.indexOf(meter);
    for (const totals of hours.slice(firstHour, endHour)) addTotals(reading, { totals, place, start, interval });
    return true;
  }
}

function totalsOf(
  { cache, found }: Reading,
  { query, rulesText, ruleId }: AskedMeter,
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
  /** The index of the meter. */
  readonly place: number;
  /** The beginning of its days: whoever takes events of that instant takes the whole segment. */
  readonly start: number;
  readonly interval: number;
}

function addTotals({ takers }: Reading, { totals, place, start, interval }: WholeSegment): void {
  const total: Cell = { coefficient: 0, scale: 0, count: 0 };
  for (const [contractSeq, scales, keys, coefficients, counts] of totals) {
    const count = takers.ofEvent(contractSeq, start)?.[place];
    if (count === undefined) continue;
    const into = count.cells[interval] ?? new Map();
    // Most days have the same combinations, whose list they share: each key is looked up once for all of them.
    const cells = count.listed[interval]?.getOrInsertComputed(keys, () => keys.map((key) => cellOf(into, key))) ?? [];
    const { aggregationType } = count.meter.query.rules;
    for (const [index, cell] of cells.entries()) {
      const stored = coefficients[index] ?? 0;
      total.coefficient = typeof stored === 'number' ? stored : BigInt(stored);
      total.scale = scales[index] ?? 0;
      total.count = counts[index] ?? 0;
      addTo(cell, total, aggregationType);
    }
  }
}

interface Rows extends CutSegment {
  readonly segment: Segment;
}

function foldRows(
  { takers, connection }: Reading,
  meters: readonly AskedMeter[],
  { segment, interval, ...choice }: Rows,
): void {
  for (const [taker, rows] of takers.ofRows(segment, choice)) {
    for (const { meter, cells, fold } of taker) {
      if (!meters.includes(meter)) continue;
      const { query } = meter;
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
}

function propertiesOf(connection: SqliteConnection, eventSeq: number): string {
  return String(
    connection.prepare('SELECT "propertiesJson" FROM "events" WHERE "seq" = ?').get(eventSeq)?.['propertiesJson'],
  );
}

function readTail({ of, takers }: Reading, rows: readonly TailRow[]): void {
  const { boundsEpochMs } = of;
  const event = new ReusedEvent();
  let interval = 0;
  for (const [, timestampEpochMs, , contractSeq, nameId, isLate, propertiesJson] of rows) {
    while (timestampEpochMs >= (boundsEpochMs[interval + 1] ?? Infinity)) interval += 1;
    if (isLate === 1) continue;
    const taker = takers.ofEvent(contractSeq ?? 0, timestampEpochMs);
    if (taker === undefined) continue;
    event.propertiesJson = propertiesJson;
    for (const { meter, fold } of taker) {
      if (meter.query.wantsName?.(nameId) === false) continue;
      event.eventName = meter.query.nameOf(nameId);
      fold.add(event, interval);
    }
  }
}
