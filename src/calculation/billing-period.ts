/**
 * Start date and interval -> billing periods, in UTC calendar dates (semantics 6).
 * Every period is `[start, end)`.
 */

import { assert } from '../assert.ts';
import type { PriceInterval } from '../operations/wire-values.ts';

/** Every `count` units: `priceIntervalCount` and `priceInterval` of a recurring price (interface 2.4). */
export interface Interval {
  readonly unit: PriceInterval;
  /** A whole number, 1 or more. */
  readonly count: number;
}

/**
 * UTC calendar dates, `[start, end)`; `end` comes before `wholeEnd` only where the contract's end cuts the period
 * (semantics 6).
 */
export interface BillingPeriod {
  /** Counted from 0 at the anchor. */
  readonly index: number;
  readonly start: Temporal.PlainDate;
  /** Exclusive; cut where the contract ends. */
  readonly end: Temporal.PlainDate;
  /** Exclusive; where the period would have ended. */
  readonly wholeEnd: Temporal.PlainDate;
}

/** A start date, and an exclusive end date unless the contract rolls. */
export interface DateRange {
  readonly startDate: Temporal.PlainDate;
  readonly endDate?: Temporal.PlainDate | undefined;
}

/** Instants, `[start, end)`: when the service of an invoice line was given (interface 2.3). */
export interface ServicePeriod {
  readonly start: Temporal.Instant;
  /** Exclusive. */
  readonly end: Temporal.Instant;
}

const monthsIn: Readonly<Record<Exclude<PriceInterval, 'WEEK'>, number>> = { MONTH: 1, YEAR: 12 };
const daysInMonth = 31;

/** The first instant of a calendar date, in UTC. */
export function startOfDay(date: Temporal.PlainDate): Temporal.Instant {
  return date.toZonedDateTime('UTC').toInstant();
}

/** The UTC calendar date of an instant. */
export function dateOf(instant: Temporal.Instant): Temporal.PlainDate {
  return instant.toZonedDateTimeISO('UTC').toPlainDate();
}

/** A period's instants, midnight to midnight. */
export function servicePeriodOf(period: Pick<BillingPeriod, 'start' | 'end'>): ServicePeriod {
  return { start: startOfDay(period.start), end: startOfDay(period.end) };
}

/**
 * The start of period `index`, clamped to the month's end: 31 January, 29 February, 31 March (semantics 6).
 * Counted from the anchor each time: adding a month to 29 February would leave a contract of the 31st on the 29th for good.
 */
export function periodStart(anchor: Temporal.PlainDate, interval: Interval, index: number): Temporal.PlainDate {
  const steps = index * interval.count;
  if (interval.unit === 'WEEK') return anchor.add({ weeks: steps });
  return anchor.add({ months: steps * monthsIn[interval.unit] });
}

/** Period `index` of a contract, its end cut at the contract's end date; undefined once the contract has ended. */
export function periodAt(range: DateRange, interval: Interval, index: number): BillingPeriod | undefined {
  const start = periodStart(range.startDate, interval, index);
  const wholeEnd = periodStart(range.startDate, interval, index + 1);
  if (range.endDate === undefined) return { index, start, end: wholeEnd, wholeEnd };
  if (!isBefore(start, range.endDate)) return undefined;
  return { index, start, end: isBefore(range.endDate, wholeEnd) ? range.endDate : wholeEnd, wholeEnd };
}

/** The index of the period that holds `date`; negative before the anchor. */
export function periodIndexContaining(
  anchor: Temporal.PlainDate,
  interval: Interval,
  date: Temporal.PlainDate,
): number {
  let index = Math.floor(anchor.until(date, { largestUnit: 'day' }).days / longestDays(interval));
  while (isBefore(date, periodStart(anchor, interval, index))) index -= 1;
  while (!isBefore(date, periodStart(anchor, interval, index + 1))) index += 1;
  return index;
}

/**
 * The invoice grid of a plan: its shortest interval, if every other interval starts only where the grid does (semantics 6).
 * Undefined for intervals that do not nest (weeks with months, or two with three months), and for none.
 */
export function nestingGrid(intervals: readonly Interval[]): Interval | undefined {
  const [first, ...rest] = intervals;
  if (first === undefined) return undefined;
  const isWeekly = first.unit === 'WEEK';
  if (rest.some((interval) => (interval.unit === 'WEEK') !== isWeekly)) return undefined;
  const grid = rest.reduce(
    (shortest, interval) => (lengthOf(interval) < lengthOf(shortest) ? interval : shortest),
    first,
  );
  return intervals.every((interval) => lengthOf(interval) % lengthOf(grid) === 0) ? grid : undefined;
}

/** One text for each interval, and another for no interval. */
export function intervalKey(interval: Interval | undefined): string {
  return interval === undefined ? '' : `${interval.count} ${interval.unit}`;
}

/** Whether date `a` comes before date `b`. */
export function isBefore(a: Temporal.PlainDate, b: Temporal.PlainDate): boolean {
  return Temporal.PlainDate.compare(a, b) < 0;
}

/** The earlier of two instants. */
export function earlierOf(a: Temporal.Instant, b: Temporal.Instant): Temporal.Instant {
  return Temporal.Instant.compare(a, b) < 0 ? a : b;
}

/** Weeks, or months; comparable only within one of the two families. */
function lengthOf(interval: Interval): number {
  assert(Number.isInteger(interval.count) && interval.count >= 1, 'an interval counts 1 or more');
  return interval.unit === 'WEEK' ? interval.count : interval.count * monthsIn[interval.unit];
}

function longestDays(interval: Interval): number {
  return lengthOf(interval) * (interval.unit === 'WEEK' ? 7 : daysInMonth);
}
