/**
 * The wire's fields: what a text, an amount, a date is, once for all operations.
 * Input fields say what is accepted and turn it into the form that the engine works with; output fields describe.
 */

import * as z from 'zod';

import { isExactNumber, textOfNumber } from '../exact-json.ts';
import type { ExactNumber } from '../exact-json.ts';
import { limits } from '../limits.ts';
import type { ReferenceKind } from './references.ts';

const controlCharacters = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** A text of 1 to `characters` code points, well-formed, without control characters, in NFC (security 8, SEC-73). */
export function text(characters: number = limits.nameCharacters) {
  return z
    .string()
    .check((payload) => {
      const problem = problemOfText(payload.value, characters);
      if (problem === undefined) payload.value = payload.value.normalize('NFC');
      else payload.issues.push({ code: 'custom', message: problem, input: payload.value });
    })
    .meta({ type: 'string', minLength: 1, maxLength: characters });
}

function problemOfText(value: string, characters: number): string | undefined {
  if (value === '') return 'must not be empty';
  // Length in code units first: it is never below the code points, and costs nothing on a text of a megabyte.
  if (value.length > characters && (value.length > 2 * characters || [...value].length > characters)) {
    return `must have at most ${characters} characters`;
  }
  if (controlCharacters.test(value)) return 'must not contain control characters';
  return value.isWellFormed() ? undefined : 'must be well-formed Unicode';
}

/** An id inside a body or query; whether it names anything is for the engine to find out. */
const reference = z.string().min(1, 'must not be empty').max(limits.externalIdCharacters);

/** The same of one kind of resource, which questions and completions offer by name. */
export function referenceTo(kind: ReferenceKind) {
  return reference.meta({ reference: kind });
}

/** An id in a path: any text, since an id of the wrong form is answered like an unknown one (semantics 2). */
export const pathId = z.string();

/** The same of one kind of resource. */
export function pathIdOf(kind: ReferenceKind) {
  return pathId.meta({ reference: kind });
}

/** Whole cents from `least` to 1e15; written without fraction or exponent (security 8, SEC-70). Comes out as a bigint. */
export function centsInput(least: bigint = 0n) {
  return z
    .custom<number>((value) => typeof value === 'number' && Number.isSafeInteger(value) && !Object.is(value, -0), {
      error: 'must be a whole number of cents, written as digits alone',
    })
    .refine((value) => BigInt(value) >= least, `must be ${least} or more`)
    .refine((value) => BigInt(value) <= limits.centsMaximum, `must be at most ${limits.centsMaximum}`)
    .transform((value) => BigInt(value))
    .meta({ type: 'integer', minimum: Number(least), maximum: Number(limits.centsMaximum) });
}

/** A whole number between two bounds, both included. */
export function integerInput(least: number, most: number) {
  return z
    .custom<number>((value) => typeof value === 'number' && Number.isSafeInteger(value) && !Object.is(value, -0), {
      error: 'must be a whole number',
    })
    .refine((value) => value >= least, `must be ${least} or more`)
    .refine((value) => value <= most, `must be at most ${most}`)
    .meta({ type: 'integer', minimum: least, maximum: most });
}

const plainDecimal = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Number of credits: a JSON number above zero (or from zero) with at most six decimals, at most 1e12. Comes out as its text. */
export function creditsInput(options: { readonly allowZero: boolean; readonly allowNegative?: boolean }) {
  const sign = options.allowNegative === true ? 'other than 0' : options.allowZero ? 'of 0 or more' : 'above 0';
  return z
    .custom<ExactNumber>((value) => isExactNumber(value), { error: 'must be a number' })
    .transform((value) => textOfNumber(value))
    .refine((digits) => isCredits(digits, options), {
      error: `must be a number ${sign} with at most ${limits.creditFractionDigits} decimals, at most ${limits.creditMaximum}`,
    })
    .meta({
      type: 'number',
      ...(options.allowNegative === true ? {} : { minimum: 0 }),
      maximum: Number(limits.creditMaximum),
    });
}

function isCredits(
  digits: string,
  options: { readonly allowZero: boolean; readonly allowNegative?: boolean },
): boolean {
  const isNegative = digits.startsWith('-');
  if (isNegative && options.allowNegative !== true) return false;
  const unsigned = isNegative ? digits.slice(1) : digits;
  if (!plainDecimal.test(unsigned) || unsigned.length > 30) return false;
  const [whole = '', fraction = ''] = unsigned.split('.');
  if (fraction.length > limits.creditFractionDigits || BigInt(whole) > limits.creditMaximum) return false;
  if (BigInt(whole) === limits.creditMaximum && /[1-9]/.test(fraction)) return false;
  return options.allowZero || /[1-9]/.test(unsigned);
}

/** A price or quantity: digits with at most 15 before and 12 after the point, no sign, no exponent (semantics 5). */
export const decimalInput = z
  .string()
  .max(30, 'must have at most 15 digits before and 12 after the point')
  .regex(
    /^\d{1,15}(?:\.\d{1,12})?$/,
    'must be a decimal such as "12.50": at most 15 digits before and 12 after the point',
  )
  .meta({ type: 'string', pattern: '^\\d{1,15}(\\.\\d{1,12})?$' });

/** A date of the calendar, `YYYY-MM-DD`, years 2000 to 2100. */
export const dateInput = z
  .string()
  .max(10, 'must be a date such as 2026-03-01')
  .refine(isCalendarDate, {
    error: ({ input }) => yearWords(input) ?? 'must be a date of the calendar such as 2026-03-01',
  })
  .meta({ type: 'string', format: 'date' });

/** A date-time of RFC 3339 with any offset; comes out in UTC with milliseconds (semantics 2). */
export const timestampInput = z
  .string()
  .check((payload) => {
    const timestamp = utcTimestamp(payload.value);
    if (timestamp !== undefined) payload.value = timestamp;
    else
      payload.issues.push({
        code: 'custom',
        message: yearWords(payload.value) ?? timestampWords,
        input: payload.value,
      });
  })
  .meta({ type: 'string', format: 'date-time' });

const timestampWords = 'must be a date-time with an offset, such as 2026-03-01T00:00:00Z';

/** A date (00:00Z of it) or a date-time; comes out as a date-time in UTC. */
export const dateOrTimestampInput = z
  .string()
  .max(40)
  .refine((value) => isCalendarDate(value) || utcTimestamp(value) !== undefined, {
    error: ({ input }) => yearWords(input) ?? 'must be a date such as 2026-03-01 or a date-time with an offset',
  })
  .transform((value) => (isCalendarDate(value) ? `${value}T00:00:00.000Z` : (utcTimestamp(value) ?? value)))
  .meta({ type: 'string', description: 'A date (00:00 UTC of it) or a date-time.' });

/** What to say of a date that only its year spoils; undefined for any other text. */
function yearWords(value: unknown): string | undefined {
  const [, year, rest] = /^(\d{4})(-\d{2}-\d{2}.*)$/.exec(String(value)) ?? [];
  if (year === undefined || (Number(year) >= limits.firstYear && Number(year) <= limits.lastYear)) return undefined;
  // A leap year stands in, so that 29 February is not what spoils it.
  const inRange = `2000${rest}`;
  if (!isCalendarDate(inRange) && utcTimestamp(inRange) === undefined) return undefined;
  return `must be in the years ${limits.firstYear} to ${limits.lastYear}`;
}

const dateForm = /^(\d{4})-(\d{2})-(\d{2})$/;
const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Reckoned here rather than by Temporal, since every event of an import passes. */
function isCalendarDate(value: string): boolean {
  const match = dateForm.exec(value);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (year < limits.firstYear || year > limits.lastYear) return false;
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const last = month === 2 && isLeap ? 29 : (daysOfMonth[month - 1] ?? 0);
  return day >= 1 && day <= last;
}

const timestampForm =
  /^(\d{4}-\d{2}-\d{2})[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d{1,9}))?(?:([Zz])|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** The instant of an RFC 3339 text as `YYYY-MM-DDTHH:mm:ss.sssZ`, cut to milliseconds; undefined when it is none. */
export function utcTimestamp(value: string): string | undefined {
  const match = value.length > 40 ? null : timestampForm.exec(value);
  const date = match?.[1];
  if (match === null || date === undefined || !isCalendarDate(date)) return undefined;
  if (match[4] !== undefined) return `${date}T${match[2]}.${(match[3] ?? '').padEnd(3, '0').slice(0, 3)}Z`;
  return Temporal.Instant.from(value.toUpperCase()).toString({ fractionalSecondDigits: 3, roundingMode: 'floor' });
}

/** Names that would touch prototypes are refused wherever a caller chooses them (security 5, SEC-37). */
const safeName = (characters: number) =>
  text(characters).refine((name) => !forbiddenNames.has(name), 'this name is not allowed');
const forbiddenNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Members that the caller names, with values of one kind. */
export function membersInput<V extends z.ZodType>(options: { keys: number; keyCharacters: number; value: V }) {
  return z
    .record(safeName(options.keyCharacters), options.value)
    .refine((members) => Object.keys(members).length <= options.keys, `must have at most ${options.keys} keys`)
    .meta({ type: 'object', 'x-members': true });
}

/** An email address: one `@`, a domain with a point, ASCII lower case for comparison is the engine's business. */
export const emailInput = text(limits.emailCharacters)
  .refine((value) => /^[^\s@<>(),;:"[\]\\]{1,64}@[^\s@<>(),;:"[\]\\]+\.[^\s@<>(),;:"[\]\\.]+$/.test(value), {
    error: 'must be an email address such as ada@example.com',
  })
  .meta({ type: 'string', format: 'email', maxLength: limits.emailCharacters });

/** `limit` and `offset` of a list, as query texts; out of range is refused, never cut (semantics 2). */
export function page(defaultLimit: number = limits.defaultPageSize) {
  return {
    limit: queryInteger(1, limits.pageSize)
      .optional()
      .describe(`Records a page, 1 to ${limits.pageSize}; ${defaultLimit} when not given.`),
    offset: queryInteger(0, Number.MAX_SAFE_INTEGER).optional().describe('Records to skip; 0 when not given.'),
  };
}

/** A whole number in a query. Comes out as a number. */
export function queryInteger(least: number, most: number) {
  return z
    .string()
    .max(16)
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be from ${least} to ${most}`)
    .meta({ type: 'integer', minimum: least, ...(most === Number.MAX_SAFE_INTEGER ? {} : { maximum: most }) });
}

/** A flag in a query. Comes out as a boolean. */
export const queryBoolean = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((value) => value === 'true')
  .meta({ type: 'boolean' });

/** Comma-separated names in a query, each of which must be known. */
export function queryInclude<const N extends readonly string[]>(names: N) {
  return z
    .string()
    .max(200)
    .transform((value) => value.split(',').map((name) => name.trim()) as N[number][])
    .refine((given) => given.every((name) => names.includes(name)), `must be ${names.join(', ')}`)
    .meta({ type: 'string', enum: [...names] });
}

export const noParams = z.strictObject({});
export const noQuery = z.strictObject({});

// ---- what comes out ----

export const id = z.string();
export const uuid = z.string().meta({ format: 'uuid' });
export const date = z.string().meta({ format: 'date' });
export const timestamp = z.string().meta({ format: 'date-time' });
/** Whole cents. */
export const cents = z.custom<ExactNumber>(isExactNumber).meta({ type: 'integer' });
/** A number that stands on the wire with its exact digits. */
export const exact = z.custom<ExactNumber>(isExactNumber).meta({ type: 'number' });

/** One resource: `{data}` (interface 2.1). */
export function one<T extends z.ZodType>(data: T) {
  return z.strictObject({ data });
}

/** A page of resources: `{data, hasMore, total}` (interface 2.1). */
export function listOf<T extends z.ZodType>(element: T) {
  return z.strictObject({ data: z.array(element), hasMore: z.boolean(), total: z.int() });
}
