/** Dates and amounts as a customer reads them on paper. */

import { currency } from '../../operations/wire-values.ts';
import { amountText, dollarsText } from '../wire/rows.ts';
import type { Told } from './html.ts';

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** `2026-03-01` as `1 March 2026`; for a date-time its day in UTC; empty if there is none. */
export function dayText(date: Told): string {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})/.exec(date ?? '') ?? [];
  const name = months[Number(month) - 1];
  return name === undefined ? (date ?? '') : `${Number(day)} ${name} ${year}`;
}

/** The last day before an exclusive end: `2026-04-01T00:00:00Z` is `31 March 2026`. */
export function lastDayText(endExcluded: string): string {
  return dayText(Temporal.Instant.from(endExcluded).subtract({ nanoseconds: 1 }).toString());
}

/** Cents as `−1,234.50 USD`, with a true minus sign. */
export function moneyWords(cents: bigint, code: string = currency): string {
  return `${numberWords(amountText(String(cents)))} ${code}`;
}

/** A decimal with separated thousands: `22361870.5` is `22,361,870.5`. */
export function numberWords(decimal: string): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(decimal) ?? [];
  if (whole === '') return decimal;
  return `${sign === '' ? '' : '−'}${whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',')}${fraction}`;
}

/** A price in dollars with at least two decimal places: `20.00`, `0.000003`. */
export function priceWords(decimal: Told): string {
  return numberWords(dollarsText(decimal ?? ''));
}
