/** Civil dates as day numbers since 1970, reckoned by hand, so that the model shares no calendar with the engine. */

import type { Interval } from './state.ts';

export const dayMilliseconds = 86_400_000;

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const lengthOfMonth = (year: number, month: number): number =>
  month === 2 && isLeap(year) ? 29 : (daysOfMonth[month - 1] ?? 0);

/** The day number of `YYYY-MM-DD`: years, months and days are walked one by one. */
export function dayOf(date: string): number {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  return dayNumber(year, month, day);
}

function dayNumber(year: number, month: number, day: number): number {
  let days = 0;
  for (let each = 1970; each < year; each += 1) days += isLeap(each) ? 366 : 365;
  for (let each = 1; each < month; each += 1) days += lengthOfMonth(year, each);
  return days + day - 1;
}

export function dateOf(dayNumberOfDate: number): string {
  let days = dayNumberOfDate;
  let year = 1970;
  for (; days >= (isLeap(year) ? 366 : 365); year += 1) days -= isLeap(year) ? 366 : 365;
  let month = 1;
  for (; days >= lengthOfMonth(year, month); month += 1) days -= lengthOfMonth(year, month);
  return `${year}-${String(month).padStart(2, '0')}-${String(days + 1).padStart(2, '0')}`;
}

/** Where period k of a contract begins: counted from the anchor each time, cut to the end of the month (semantics 6). */
export function periodStart(anchor: string, interval: Interval, k: number): number {
  if (interval.unit === 'WEEK') return dayOf(anchor) + 7 * interval.count * k;
  const [year = 0, month = 0, day = 0] = anchor.split('-').map(Number);
  const months = year * 12 + (month - 1) + k * interval.count * (interval.unit === 'YEAR' ? 12 : 1);
  const target = { year: Math.floor(months / 12), month: (months % 12) + 1 };
  return dayNumber(target.year, target.month, Math.min(day, lengthOfMonth(target.year, target.month)));
}

/** Epoch milliseconds of an instant as it stands on the wire. */
export const instantOf = (timestamp: string): number => Temporal.Instant.from(timestamp).epochMilliseconds;

/** Of a date, which is its midnight, or of a date-time. */
export const instantOfQuery = (text: string): number => instantOf(text.length === 10 ? `${text}T00:00:00Z` : text);

/** `YYYY-MM-DDTHH:mm:ss.sssZ` */
export const timestampOf = (instant: number): string =>
  Temporal.Instant.fromEpochMilliseconds(instant).toString({ smallestUnit: 'millisecond' });

export const midnight = (day: number): number => day * dayMilliseconds;
export const dayOfInstant = (instant: number): number => Math.floor(instant / dayMilliseconds);
