/**
 * The wire's fields: what a text, an amount, a date is, once for all operations.
 * Input fields say what is accepted and turn it into the form that the engine works with; output fields describe.
 */

import * as z from 'zod';

import { forbiddenNameMessage, isExactNumber, isForbiddenName, textOfNumber } from '../exact-json.ts';
import type { ExactNumber } from '../exact-json.ts';
import { limits } from '../limits.ts';
import {
  type CreditRange,
  creditDigits,
  decimalForm,
  idOrNone,
  isCalendarDate,
  isCredits,
  isEmail,
  isStorable,
  isWhole,
  namesIn,
  problemOfText,
  startOf,
  utcTimestamp,
} from './field-rules.ts';
import { hasLongMarks, longMarksMessage } from '../normal-text.ts';
import { recognizedAs } from './plain.ts';
import type { ReferenceKind } from './references.ts';

/** A text of 1 to `characters` code points, well-formed, without control characters, in NFC (security 8, SEC-73). */
export function text(characters: number = limits.nameCharacters) {
  return recognizedAs(
    ['text', characters],
    z
      .string()
      .check((payload) => {
        const problem = problemOfText(payload.value, characters);
        if (problem === undefined) payload.value = payload.value.normalize('NFC');
        else payload.issues.push({ code: 'custom', message: problem, input: payload.value });
      })
      .meta({ type: 'string', minLength: 1, maxLength: characters }),
  );
}

/** An id inside a body or query; whether it names anything is for the engine to find out. */
const reference = text(limits.externalIdCharacters);

/** The same for one kind of resource, whose records questions and completions offer by name. */
export function referenceTo(kind: ReferenceKind) {
  return reference.meta({ reference: kind });
}

/**
 * An id in a path: any text, because an id of the wrong form is answered like an unknown one (semantics 2). An id that no
 * database could hold comes out empty, which names nothing either.
 */
export const pathId = recognizedAs('pathId', z.string().transform(idOrNone).meta({ type: 'string' }));

/** The same for one kind of resource. */
export function pathIdOf(kind: ReferenceKind) {
  return pathId.meta({ reference: kind });
}

/** Whole cents from `least` to 1e15; written without fraction or exponent (security 8, SEC-70). Comes out as a bigint. */
export function centsInput(least: bigint = 0n) {
  return recognizedAs(
    ['cents', String(least)],
    z
      .custom<number>(isWhole, { error: ({ input }) => centsProblem(input, least) })
      .refine((value) => BigInt(value) >= least, `must be ${least} or more`)
      .refine((value) => BigInt(value) <= limits.centsMaximum, `must be at most ${limits.centsMaximum}`)
      .transform((value) => BigInt(value))
      .meta({ type: 'integer', minimum: Number(least), maximum: Number(limits.centsMaximum) }),
  );
}

/** What to say of a value that is no whole number, or has more digits than can be counted with. */
function centsProblem(input: unknown, least: bigint): string {
  const digits = isExactNumber(input) ? textOfNumber(input) : '';
  if (/^[1-9]\d+$/.test(digits)) return `must be at most ${limits.centsMaximum}`;
  if (/^-[1-9]\d+$/.test(digits)) return `must be ${least} or more`;
  return 'must be a whole number of cents, written with digits only';
}

/** A whole number between two bounds, both included. */
export function integerInput(least: number, most: number) {
  return recognizedAs(
    ['integer', least, most],
    z
      .custom<number>(isWhole, { error: 'must be a whole number' })
      .refine((value) => value >= least, `must be ${least} or more`)
      .refine((value) => value <= most, `must be at most ${most}`)
      .meta({ type: 'integer', minimum: least, maximum: most }),
  );
}

/**
 * Number of credits: a JSON number in this range, with at most six decimals, and at most 1e12 whatever its sign. Comes out as its
 * digits.
 */
export function creditsInput(range: CreditRange) {
  return recognizedAs(
    ['credits', range],
    z
      .custom<ExactNumber>((value) => isExactNumber(value), { error: 'must be a number' })
      .transform((value) => creditDigits(textOfNumber(value)))
      .refine((digits) => isCredits(digits, range), {
        error: `must be a number ${range} with at most ${limits.creditFractionDigits} decimals, at most ${limits.creditMaximum}`,
      })
      .meta({
        type: 'number',
        ...(range === 'above 0' && { exclusiveMinimum: 0 }),
        ...(range === 'of 0 or more' && { minimum: 0 }),
        maximum: Number(limits.creditMaximum),
      }),
  );
}

const decimalDigits = `at most ${limits.decimalIntegerDigits} digits before and ${limits.decimalFractionDigits} after the point`;

/** A price or quantity, as `decimalForm` says. */
export const decimalInput = recognizedAs(
  'decimal',
  z
    .string()
    .max(30, { error: `must have ${decimalDigits}`, abort: true })
    .regex(decimalForm, `must be a decimal such as "12.50": ${decimalDigits}`)
    .meta({ type: 'string', pattern: decimalForm.source }),
);

/** A date of the calendar, `YYYY-MM-DD`, years 2000 to 2100. */
export const dateInput = recognizedAs(
  'date',
  z
    .string()
    .max(10, { error: 'must be a date such as 2026-03-01', abort: true })
    .refine(isCalendarDate, {
      error: ({ input }) => yearWords(input, isCalendarDate) ?? 'must be a date that exists, such as 2026-03-01',
    })
    .meta({ type: 'string', format: 'date' }),
);

const timestampWords = 'must be a date-time with an offset, such as 2026-03-01T00:00:00Z';

/** A date-time of RFC 3339 with any offset; comes out in UTC with milliseconds (semantics 2). */
export const timestampInput = recognizedAs(
  'timestamp',
  z
    .string()
    .check((payload) => {
      const timestamp = utcTimestamp(payload.value);
      if (timestamp !== undefined) payload.value = timestamp;
      else
        payload.issues.push({
          code: 'custom',
          message: spoiledWords(payload.value, utcTimestamp) ?? timestampWords,
          input: payload.value,
        });
    })
    .meta({ type: 'string', format: 'date-time' }),
);

/** A date (00:00Z of it) or a date-time; comes out as a date-time in UTC. */
export const dateOrTimestampInput = recognizedAs(
  'dateOrTimestamp',
  z
    .string()
    .max(40, { abort: true })
    .refine((value) => startOf(value) !== undefined, {
      error: ({ input }) =>
        spoiledWords(input, startOf) ?? 'must be a date such as 2026-03-01 or a date-time with an offset',
    })
    .transform((value) => startOf(value) ?? value)
    .meta({
      anyOf: [
        { type: 'string', format: 'date' },
        { type: 'string', format: 'date-time' },
      ],
      description: 'A date (00:00 UTC) or a date-time.',
    }),
);

/**
 * What to say of a date or date-time with a single wrong part; undefined for any other text. `read` gives what such a text
 * comes out as.
 */
function spoiledWords(value: unknown, read: (text: string) => unknown): string | undefined {
  return yearWords(value, read) ?? dayWords(value, read) ?? timeWords(value, read);
}

/** The same for a wrong year, also where only the year in UTC is wrong. */
function yearWords(value: unknown, read: (text: string) => unknown): string | undefined {
  const [, year, rest] = /^(\d{4})(-\d{2}-\d{2}.*)$/.exec(String(value)) ?? [];
  if (year === undefined) return undefined;
  const isInRange = Number(year) >= limits.firstYear && Number(year) <= limits.lastYear;
  if (isInRange && !isCalendarDate(String(value).slice(0, 10))) return undefined;
  // A leap year within the range stands in, so that 29 February is not taken for the wrong part.
  const isRead = Boolean(read(`2004${rest}`));
  return isRead ? `must be in the years ${limits.firstYear} to ${limits.lastYear}` : undefined;
}

/** The same for a day that no calendar has. */
function dayWords(value: unknown, read: (text: string) => unknown): string | undefined {
  const [, day = '', rest] = /^(\d{4}-\d{2}-\d{2})(.*)$/.exec(String(value)) ?? [];
  if (day === '' || isCalendarDate(day)) return undefined;
  const isRead = Boolean(read(`2004-01-01${rest}`));
  return isRead ? `must be on a day that exists: there is no ${day}` : undefined;
}

/** The same for a time that no day has, such as 24:00:00 or a leap second. */
function timeWords(value: unknown, read: (text: string) => unknown): string | undefined {
  const [, day, time, rest] = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(.*)$/.exec(String(value)) ?? [];
  if (time === undefined) return undefined;
  const isRead = Boolean(read(`${day}T12:00:00${rest}`));
  return isRead ? `must be at a time that exists: there is no ${time}` : undefined;
}

/** What an event's property is compared with: any text that a property may have (`usage.ts`), even empty; comes out in NFC. */
export const comparedText = z
  .string()
  .max(limits.eventPropertyValueCharacters)
  .refine(isStorable, 'must be well-formed Unicode without NUL')
  .refine((value) => !hasLongMarks(value), longMarksMessage)
  .transform((value) => value.normalize('NFC'));

/** A name as sent; names that would touch prototypes are refused wherever a caller chooses them (security 5, SEC-37). */
export const memberName = (characters: number) =>
  z
    .string()
    .check((payload) => {
      const problem = problemOfText(payload.value, characters);
      if (problem !== undefined) payload.issues.push({ code: 'custom', message: problem, input: payload.value });
    })
    .refine((name) => !isForbiddenName(name), forbiddenNameMessage)
    .meta({ type: 'string', minLength: 1, maxLength: characters });

/** Such a name is its own NFC. */
const plainName = /^[ -~]*$/;

/**
 * The members with their names in NFC, for `transform`. Two names that are the same in NFC are refused like a repeated name
 * (security 5, SEC-36, and 8, SEC-73), because one of the values would be lost.
 */
export function namedInNfc<V>(members: Record<string, V>, context: z.core.$RefinementCtx): Record<string, V> {
  if (Object.keys(members).every((name) => plainName.test(name))) return members;
  const named = new Map<string, V>();
  for (const [name, value] of Object.entries(members)) {
    if (named.has(name.normalize('NFC'))) {
      context.addIssue({
        code: 'custom',
        path: [name],
        message: 'is given twice: two names are the same in Unicode NFC',
      });
    }
    named.set(name.normalize('NFC'), value);
  }
  return Object.fromEntries(named);
}

/** Members that the caller names, with values of one kind. */
export function membersInput<V extends z.ZodType>(options: { keys: number; keyCharacters: number; value: V }) {
  return z
    .record(memberName(options.keyCharacters), options.value)
    .refine((members) => Object.keys(members).length <= options.keys, `must have at most ${options.keys} keys`)
    .transform((members, context) => namedInNfc<z.output<V>>(members, context))
    .meta({ type: 'object', maxProperties: options.keys, 'x-members': true });
}

/** For `refine`: at most so many bytes of JSON in all. For what is stored as a whole and read whenever its row is. */
export function withinBytes(bytes: number): [(value: unknown) => boolean, string] {
  return [(value) => Buffer.byteLength(JSON.stringify(value)) <= bytes, `must be at most ${bytes} bytes of JSON`];
}

/** An email address: one `@`, a domain with a dot. The engine makes it lower case where it compares. */
export const emailInput = recognizedAs(
  ['email', limits.emailCharacters],
  text(limits.emailCharacters)
    .refine(isEmail, { error: 'must be an email address such as ada@example.com' })
    .meta({ type: 'string', format: 'email', maxLength: limits.emailCharacters }),
);

/** `limit` and `offset` of a list, as query texts; out of range is refused, never cut (semantics 2). */
export function page(defaultLimit: number = limits.defaultPageSize) {
  return {
    limit: limitOf('Records per page', defaultLimit),
    offset: queryInteger(0, Number.MAX_SAFE_INTEGER).optional().describe('Records to skip; 0 when not given.'),
  };
}

/** The `limit` of a list: what it counts, and how many of them come without it. */
export function limitOf(what: string, otherwise: number | 'all') {
  return queryInteger(1, limits.pageSize)
    .optional()
    .describe(`${what}, 1 to ${limits.pageSize}; ${otherwise} when not given.`);
}

/** A whole number in a query. Comes out as a number. */
export function queryInteger(least: number, most: number) {
  return recognizedAs(
    ['queryInteger', least, most],
    z
      .string()
      .max(16, { abort: true })
      .regex(/^\d+$/, `must be a whole number, ${least} or more`)
      .transform(Number)
      .refine((value) => value >= least && value <= most, `must be from ${least} to ${most}`)
      .meta({ type: 'integer', minimum: least, ...(most === Number.MAX_SAFE_INTEGER ? {} : { maximum: most }) }),
  );
}

/** A flag in a query. Comes out as a boolean. */
export const queryBoolean = recognizedAs(
  'queryBoolean',
  z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((value) => value === 'true')
    .meta({ type: 'boolean' }),
);

/** Comma-separated names in a query, each of which must be known. */
export function queryInclude<const N extends readonly string[]>(names: N) {
  return recognizedAs(
    ['queryInclude', ...names],
    z
      .string()
      .max(200, { abort: true })
      .transform((value) => namesIn(value) as N[number][])
      .refine((given) => given.every((name) => names.includes(name)), `must be ${names.join(', ')}`)
      .meta({ type: 'string', enum: [...names], 'x-list': true }),
  );
}

/** For an operation on one contract. */
export const contractParams = z.strictObject({ contractId: pathIdOf('contracts').describe('Contract id.') });

/** Any text, as the ids of other systems are. */
export const id = z.string();
/** UUIDv7 in lower case (semantics 2). */
export const uuid = z.string().meta({ format: 'uuid' });
/** `YYYY-MM-DD` (interface 2.1). */
export const date = z.string().meta({ format: 'date' });
/** `YYYY-MM-DDTHH:mm:ss.sssZ` (semantics 2). */
export const timestamp = z.string().meta({ format: 'date-time' });
/** Whole cents. */
export const cents = recognizedAs('exact', z.custom<ExactNumber>(isExactNumber).meta({ type: 'integer' }));
/** A number that stands on the wire with its exact digits. */
export const exact = recognizedAs('exact', z.custom<ExactNumber>(isExactNumber).meta({ type: 'number' }));

/** One resource: `{data}` (interface 2.1). */
export function one<T extends z.ZodType>(data: T) {
  return z.strictObject({ data });
}

/** A page of resources: `{data, hasMore, total}` (interface 2.1). */
export function listOf<T extends z.ZodType>(element: T) {
  return z.strictObject({ data: z.array(element), hasMore: z.boolean(), total: z.int() });
}
