/**
 * What a process remembers of whole days: what a meter read of a customer's day, under the mark that the day had. A mark changes
 * with every event of its day and never comes again (`0008-event-days.ts`), so no process has to tell another what it wrote. A
 * budget is metered for each event that it counts: without this, each time from all events of its contract.
 */

import type { UsageReading } from '../../../calculation/usage-atoms.ts';
import { mergeReadings, readingKeyOf } from '../../../calculation/usage-fold.ts';
import type { Transaction } from '../../database.ts';
import { inOrder } from '../../event-aggregation.ts';
import type { EventAggregation, EventReadings } from '../../event-store.ts';
import { rowsOfText } from '../../raw-query.ts';
import { createHeld } from '../held.ts';
import { aggregateInServer } from './event-readings.ts';

const millisecondsPerDay = 86_400_000;
/** Fewer days cost no more to read than to look up. */
const fewestDays = 3;
const mostDays = 4_000;
/** Readings and days, of all questions together, and their characters. */
const mostHeld = 200_000;
/** With more than this, a question is answered as a whole. */
const mostWeight = 40_000;
/**
 * So many characters weigh as much as a reading. A name has the intervals that belong to other contracts, and a customer may have
 * thousands of those; a group value may have thousands of characters.
 */
const charactersPerReading = 256;
/** Stale days that lie apart are asked for apart, unless there are so many places. */
const mostQuestions = 4;

interface KnownDay {
  /** Absent for a day that has never had an event. */
  readonly mark: string | undefined;
  readonly readings: readonly UsageReading[];
  readonly weight: number;
}

type KnownDays = Map<number, KnownDay>;

/** A piece of time between two bounds, cut at the beginnings of days. */
interface Piece {
  readonly fromEpochMs: number;
  readonly toEpochMs: number;
  readonly interval: number;
  /** Absent for less than a whole day. */
  readonly day?: number;
}

const dayOf = (epochMs: number): number => Math.floor(epochMs / millisecondsPerDay);

type ReadOfEvents = (tx: Transaction, request: EventAggregation) => Promise<EventReadings>;

/** Gives what `aggregateInServer` does. What is asked once is not worth a memory of its days; the second time, it is. */
export function createDayMemory(): ReadOfEvents {
  const held = createHeld<string, KnownDays | 'tooMuch'>(mostHeld);

  return async (tx, request) => {
    const wholly = async (): Promise<EventReadings> => await readWholly(tx, request);
    const { boundsEpochMs } = request;
    const dayCount = ((boundsEpochMs.at(-1) ?? 0) - (boundsEpochMs[0] ?? 0)) / millisecondsPerDay;
    if (request.isOnce === true || dayCount < fewestDays || dayCount > mostDays) return await wholly();
    const key = nameOf(request);
    const hold = (days: KnownDays | 'tooMuch'): void =>
      held.add(key, days, Math.ceil(key.length / charactersPerReading) + (days === 'tooMuch' ? 0 : weightOf(days)));
    const days = held.get(key);
    if (days === undefined) hold(new Map());
    if (days === undefined || days === 'tooMuch') return await wholly();
    const found = await readByDays(tx, request, days);
    if (weightOf(days) > mostWeight) forgetOutside(days, boundsEpochMs);
    hold(weightOf(days) > mostWeight ? 'tooMuch' : days);
    return found;
  };
}

function weightOf(days: KnownDays): number {
  return days.values().reduce((sum, { weight }) => sum + weight, 0);
}

/** Of a range that moves on, the days before it. */
function forgetOutside(days: KnownDays, boundsEpochMs: readonly number[]): void {
  const [from = 0] = boundsEpochMs;
  const [first, last] = [dayOf(from), dayOf(boundsEpochMs.at(-1) ?? from)];
  for (const day of days.keys()) if (day < first || day > last) days.delete(day);
}

function knownDay(mark: string | undefined, readings: readonly UsageReading[]): KnownDay {
  const weights = readings.map((reading) => 1 + Math.floor(readingKeyOf(reading).length / charactersPerReading));
  return { mark, readings, weight: weights.reduce((sum, weight) => sum + weight, 1) };
}

/** Everything that the reading of a day depends on but its events. */
function nameOf({ orgId, customerId, contract, rules, dimensions }: EventAggregation): string {
  return JSON.stringify([orgId, customerId, contract, rules, dimensions]);
}

async function readWholly(tx: Transaction, request: EventAggregation): Promise<EventReadings> {
  const [readings = []] = await aggregateInServer(tx, { request });
  return readings;
}

async function readByDays(tx: Transaction, request: EventAggregation, days: KnownDays): Promise<EventReadings> {
  const pieces = piecesOf(request.boundsEpochMs);
  const marks = await readMarks(tx, request);
  // Taken now: while the server is asked, another reading may remember a later state of the same day.
  const readings = pieces.map(({ day = -1 }) => {
    const known = days.get(day);
    return known !== undefined && known.mark === marks.get(day) ? known.readings : undefined;
  });
  for (const [first, end] of runsOf(readings.map((known) => known === undefined))) {
    const run = pieces.slice(first, end);
    const boundsEpochMs = [...run.map(({ fromEpochMs }) => fromEpochMs), run.at(-1)?.toEpochMs ?? 0];
    for (const [place, read] of (await readWholly(tx, { ...request, boundsEpochMs })).entries()) {
      const day = run[place]?.day;
      readings[first + place] = read;
      if (day !== undefined) days.set(day, knownDay(marks.get(day), read));
    }
  }
  const ofIntervals = Map.groupBy(pieces.keys(), (place) => pieces[place]?.interval);
  return request.boundsEpochMs.slice(1).map((_bound, interval) => {
    const own = (ofIntervals.get(interval) ?? []).map((place) => readings[place] ?? []);
    return own.length === 1 ? (own[0] ?? []) : inOrder(mergeReadings(request.rules.aggregationType, own.flat()));
  });
}

/** Every interval, cut at the beginnings of days. */
function piecesOf(boundsEpochMs: readonly number[]): readonly Piece[] {
  return boundsEpochMs.slice(1).flatMap((end, interval) => {
    const pieces: Piece[] = [];
    for (let from = boundsEpochMs[interval] ?? end; from < end;) {
      const day = dayOf(from);
      const to = Math.min(end, (day + 1) * millisecondsPerDay);
      pieces.push({
        fromEpochMs: from,
        toEpochMs: to,
        interval,
        ...(to - from === millisecondsPerDay ? { day } : {}),
      });
      from = to;
    }
    return pieces;
  });
}

/** Where runs of stale pieces begin and end: one from the first to the last if there are many. */
function runsOf(isStale: readonly boolean[]): readonly (readonly [first: number, end: number])[] {
  const runs: (readonly [number, number])[] = [];
  for (let first = isStale.indexOf(true); first !== -1;) {
    const fresh = isStale.indexOf(false, first);
    const end = fresh === -1 ? isStale.length : fresh;
    runs.push([first, end]);
    first = isStale.indexOf(true, end);
  }
  if (runs.length <= mostQuestions) return runs;
  return [[runs[0]?.[0] ?? 0, runs.at(-1)?.[1] ?? isStale.length]];
}

async function readMarks(
  tx: Transaction,
  { orgId, customerId, boundsEpochMs }: EventAggregation,
): Promise<ReadonlyMap<number, string>> {
  const [from = 0] = boundsEpochMs;
  const rows = await rowsOfText(
    tx,
    `SELECT "day", "mark"::text FROM "eventDays"
     WHERE "orgId" = $1 AND "customerId" = $2 AND "day" BETWEEN $3 AND $4`,
    [orgId, customerId, dayOf(from), dayOf(boundsEpochMs.at(-1) ?? from)],
  );
  return new Map(rows.map(({ day, mark }) => [Number(day), mark as string]));
}
