/** When a text, an amount or a date is valid, as plain functions that schemas and the readers without schemas share. */

import { limits } from '../limits.ts';
import { hasLongMarks, longMarksMessage } from '../normal-text.ts';

const controlCharacters = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** What is wrong with a text; undefined for a valid one. */
export function problemOfText(value: string, characters: number): string | undefined {
  if (value === '') return 'must not be empty';
  // Length in code units first: it is never below the code points, and costs nothing on a text of a megabyte.
  if (value.length > characters && (value.length > 2 * characters || [...value].length > characters)) {
    return `must have at most ${characters} characters`;
  }
  if (controlCharacters.test(value)) return 'must not contain control characters';
  if (hasLongMarks(value)) return longMarksMessage;
  return value.isWellFormed() ? undefined : 'must be well-formed Unicode';
}

/** Whether every database can hold a text: PostgreSQL cannot hold a NUL, and none can hold half a surrogate pair. */
export function isStorable(value: string): boolean {
  return value.isWellFormed() && !value.includes('\u0000');
}

/** The same for all texts in a JSON value, its names included. */
export function isStorableThroughout(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, each]) => isStorable(name) && isStorableThroughout(each));
}

/** The text, if it may be an id; else an empty text, which is the id of no record. */
export function idOrNone(value: string): string {
  return isStorable(value) ? value : '';
}

/** Negative zero does not count as whole: it would be written with a sign. */
export function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && !Object.is(value, -0);
}

/** Whether an event may carry a number, judged by its text so that no digit is lost on the way. */
export function isSmallEnough(number: string): boolean {
  if (number.length <= limits.eventFractionDigits && !/[eE]/.test(number)) return true;
  const match = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number);
  if (match === null || (match[3]?.length ?? 0) > 4) return false;
  const exponent = Number(match[3] ?? 0);
  const fraction = match[2] ?? '';
  if (!/[1-9]/.test(`${match[1]}${fraction}`)) return true;
  const leadingZeros = /^0*/.exec(`${match[1]}${fraction}`)?.[0].length ?? 0;
  const integerDigits = (match[1]?.length ?? 0) - leadingZeros + exponent;
  const significantFraction = withoutTrailingZeros(fraction);
  return (
    integerDigits <= limits.eventIntegerDigits && significantFraction.length - exponent <= limits.eventFractionDigits
  );
}

/** Not by a pattern: one would start anew at each zero that something else follows, and a request may have a million zeros. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** `1e-05`, as some languages write a small number, is `0.00001`. */
export function withoutExponent(number: string): string {
  const [, sign, whole = '', fraction = '', exponent] = /^(-?)(\d+)(?:\.(\d+))?e([+-]?\d{1,2})$/i.exec(number) ?? [];
  if (sign === undefined) return number;
  const point = whole.length + Number(exponent);
  const digits = `${'0'.repeat(Math.max(0, 1 - point))}${whole}${fraction}`.padEnd(point, '0');
  const tail = withoutTrailingZeros(digits.slice(Math.max(1, point)));
  return `${sign}${digits.slice(0, Math.max(1, point)).replace(/^0+(?=\d)/, '')}${tail === '' ? '' : `.${tail}`}`;
}

/**
 * The digits of a number of credits, without an exponent and without zeros behind the last decimal that credits have:
 * `1.1000000000`, as decimals of a fixed scale are printed, has one decimal.
 */
export function creditDigits(number: string): string {
  const digits = withoutExponent(number);
  if (!digits.includes('.')) return digits;
  const end = digits.indexOf('.') + 1 + limits.creditFractionDigits;
  return digits.slice(0, end) + withoutTrailingZeros(digits.slice(end));
}

/** Whether a decimal text, which must be valid, is above 0. */
export function isMoreThanZero(text: string | undefined): boolean {
  return text !== undefined && /[1-9]/.test(text);
}

const plainDecimal = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Which numbers of credits a field takes, in the words of its refusal. */
export type CreditRange = 'above 0' | 'of 0 or more' | 'other than 0';

/** Whether the digits are a number of credits within its bounds. */
export function isCredits(digits: string, range: CreditRange): boolean {
  const isNegative = digits.startsWith('-');
  if (isNegative && range !== 'other than 0') return false;
  const unsigned = isNegative ? digits.slice(1) : digits;
  if (!plainDecimal.test(unsigned) || unsigned.length > 30) return false;
  const [whole = '', fraction = ''] = unsigned.split('.');
  if (fraction.length > limits.creditFractionDigits || BigInt(whole) > limits.creditMaximum) return false;
  if (BigInt(whole) === limits.creditMaximum && /[1-9]/.test(fraction)) return false;
  return range === 'of 0 or more' || /[1-9]/.test(unsigned);
}

const localPart = String.raw`(?=[^@]{1,64}@)[^\s@<>(),;:"[\]\\.]+(?:\.[^\s@<>(),;:"[\]\\.]+)*`;
const domainLabel = String.raw`(?!-)[^\s@<>(),;:"[\]\\._!#$%&'*+/=?^{|}~]+(?<!-)`;
const emailForm = new RegExp(String.raw`^${localPart}@(?:${domainLabel}\.)+${domainLabel}$`);

/**
 * Whether a text has the form of an address: at most 64 characters before the `@`, a dot in the domain, nothing quoted, and
 * words between the dots. Words of the domain have letters, digits and, inside of them, hyphens.
 */
export function isEmail(value: string): boolean {
  return emailForm.test(value);
}

/** A price or quantity: no more digits before and after the point than `limits` says, no sign, no exponent (semantics 5). */
export const decimalForm = new RegExp(
  String.raw`^\d{1,${limits.decimalIntegerDigits}}(\.\d{1,${limits.decimalFractionDigits}})?$`,
);

const dateForm = /^\d{4}-\d{2}-\d{2}$/;
const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Computed here rather than by Temporal, because every event of an import passes through. */
export function isCalendarDate(value: string): boolean {
  if (!dateForm.test(value)) return false;
  const year = Number(value.slice(0, 4));
  const month = Number(value.slice(5, 7));
  const day = Number(value.slice(8));
  if (year < limits.firstYear || year > limits.lastYear) return false;
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const last = month === 2 && isLeap ? 29 : (daysOfMonth[month - 1] ?? 0);
  return day >= 1 && day <= last;
}

const timestampForm =
  /^(\d{4}-\d{2}-\d{2})[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d+))?(?:([Zz])|([+-](?:[01]\d|2[0-3]):[0-5]\d))$/;

/** The form that `utcTimestamp` gives out. */
const utcForm = /^\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** The instant of an RFC 3339 text as `YYYY-MM-DDTHH:mm:ss.sssZ`, cut to milliseconds; undefined for any other text. */
export function utcTimestamp(value: string): string | undefined {
  if (utcForm.test(value)) return isCalendarDate(value.slice(0, 10)) ? value : undefined;
  const match = value.length > limits.timestampCharacters ? null : timestampForm.exec(value);
  const date = match?.[1];
  if (match === null || date === undefined || !isCalendarDate(date)) return undefined;
  const local = `${date}T${match[2]}.${(match[3] ?? '').padEnd(3, '0').slice(0, 3)}`;
  if (match[4] !== undefined) return `${local}Z`;
  const utc = Temporal.Instant.from(`${local}${match[5]}`).toString({ fractionalSecondDigits: 3 });
  // An offset may move a day of the first or last year out of the range of years.
  return isCalendarDate(utc.slice(0, 10)) ? utc : undefined;
}

/** What a clock reads. An instant of Temporal is one, but the first of those costs a process as much as a query does. */
export interface Moment {
  readonly epochMilliseconds: number;
}

/** The moment as an instant of Temporal. */
export function instantAt({ epochMilliseconds }: Moment): Temporal.Instant {
  return Temporal.Instant.fromEpochMilliseconds(epochMilliseconds);
}

/**
 * An instant as it stands on the wire, cut to milliseconds: `YYYY-MM-DDTHH:mm:ss.sssZ`. The text that Temporal gives, in a third
 * of the time. Either way the first one of a process takes 0.2 ms, and in a write the store has made one of this kind already.
 */
export function timestampOf({ epochMilliseconds }: Moment): string {
  return new Date(epochMilliseconds).toISOString();
}

/** The first instant of a calendar date, in UTC, as it stands on the wire. */
export function midnightOf(date: string): string {
  return `${date}T00:00:00.000Z`;
}

/** The start of a date in UTC, or the instant of a date-time; undefined for what is neither. */
export function startOf(value: string): string | undefined {
  return isCalendarDate(value) ? midnightOf(value) : utcTimestamp(value);
}

/** The names that commas separate. */
export function namesIn(value: string): string[] {
  return value.split(',').map((name) => name.trim());
}
