/**
 * Reads what plainly keeps to a schema, without the schema: loading the library of schemas and making those of a room takes
 * longer than most calls. Whatever a form cannot express, and whatever is wrong, is left to the schema, so that there is one
 * set of rules and errors. The forms are derived from the schemas (tools/outlines.ts).
 */

import type * as z from 'zod';

import { isExactNumber, textOfNumber } from '../exact-json.ts';
import { limits } from '../limits.ts';
import { crossRules } from './cross-rules.ts';
import type { CrossRule } from './cross-rules.ts';
import {
  type CreditRange,
  decimalForm,
  idOrNone,
  isCalendarDate,
  isCredits,
  isEmail,
  isWhole,
  namesIn,
  problemOfText,
  startOf,
  utcTimestamp,
} from './field-rules.ts';
import { acceptEvents } from './quick-events.ts';

/** A schema as data. `schema` leaves all to the schema. A field of fields.ts has its name, and the arguments that made it. */
export type Form =
  | 'schema'
  | FieldName
  | readonly [FieldName, ...unknown[]]
  | { readonly members: Readonly<Record<string, Form>> }
  | { readonly list: Form; readonly least?: number; readonly most?: number }
  | { readonly record: Form }
  | { readonly values: readonly unknown[] }
  | { readonly oneOf: readonly Form[] }
  | { readonly nullable: Form }
  | { readonly optional: Form }
  | { readonly default: unknown; readonly of: Form }
  | { readonly rule: CrossRule; readonly of: Form };

/** What the schema would give out for a value, or `refused`. */
type Reader = (value: unknown) => unknown;
type Members = Readonly<Record<string, unknown>>;
/** What a reader gives for a value that it leaves to the schema: it may be wrong, or only unusual. */
export const refused: unique symbol = Symbol('refused');

const fields = {
  any: () => (value: unknown) => (value === undefined ? refused : value),
  string:
    (least: number = 0, most: number = Number.POSITIVE_INFINITY) =>
    (value: unknown) =>
      typeof value === 'string' && value.length >= least && value.length <= most ? value : refused,
  pathId: () => (value: unknown) => (typeof value === 'string' ? idOrNone(value) : refused),
  boolean: () => (value: unknown) => (typeof value === 'boolean' ? value : refused),
  int: () => (value: unknown) => (Number.isSafeInteger(value) ? value : refused),
  exact: () => (value: unknown) => (isExactNumber(value) ? value : refused),
  text: (characters: number) => (value: unknown) => readText(value, characters),
  email: (characters: number) => (value: unknown) => {
    const text = readText(value, characters);
    return text !== refused && isEmail(text) ? text : refused;
  },
  integer: (least: number, most: number) => (value: unknown) =>
    isWhole(value) && value >= least && value <= most ? value : refused,
  cents: (least: string) => (value: unknown) => {
    if (!isWhole(value)) return refused;
    const cents = BigInt(value);
    return cents >= BigInt(least) && cents <= limits.centsMaximum ? cents : refused;
  },
  credits: (range: CreditRange) => (value: unknown) => {
    const digits = isExactNumber(value) ? textOfNumber(value) : '';
    return isCredits(digits, range) ? digits : refused;
  },
  decimal: () => (value: unknown) => (typeof value === 'string' && decimalForm.test(value) ? value : refused),
  date: () => (value: unknown) => (typeof value === 'string' && isCalendarDate(value) ? value : refused),
  timestamp: () => (value: unknown) => (typeof value === 'string' ? (utcTimestamp(value) ?? refused) : refused),
  queryInteger: (least: number, most: number) => (value: unknown) => {
    const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
    return number >= least && number <= most ? number : refused;
  },
  dateOrTimestamp: () => (value: unknown) => (typeof value === 'string' ? (startOf(value) ?? refused) : refused),
  queryBoolean: () => (value: unknown) => (value === 'true' || value === 'false' ? value === 'true' : refused),
  queryInclude:
    (...names: readonly string[]) =>
    (value: unknown) => {
      const given = typeof value === 'string' && value.length <= 200 ? namesIn(value) : undefined;
      return given?.every((name) => names.includes(name)) === true ? given : refused;
    },
  events: () => (value: unknown) => acceptEvents(value) ?? refused,
} as const satisfies Record<string, (...made: never[]) => Reader>;
export type FieldName = keyof typeof fields;

function readText(value: unknown, characters: number): string | typeof refused {
  return typeof value === 'string' && problemOfText(value, characters) === undefined ? value.normalize('NFC') : refused;
}

const recognized = new WeakMap<object, Form | { readonly rule: CrossRule }>();

/** The schema, remembered as this form, which could not be told from what the schema is made of. */
export function recognizedAs<S extends z.ZodType>(form: Form, schema: S): S {
  // A schema with another description, or with other facts for the documents, has the same definition.
  recognized.set(schema.def, form);
  return schema;
}

/** The schema of an object with a rule across its fields. */
export function underRule<S extends z.ZodType>(rule: CrossRule, schema: S): S {
  const ruled = schema.superRefine(crossRules[rule] as (input: unknown, context: z.core.$RefinementCtx) => void);
  recognized.set(ruled.def, { rule });
  return ruled;
}

/** What a schema was recognized as when it was made. */
export function recognizedForm(schema: z.ZodType): Form | { readonly rule: CrossRule } | undefined {
  return recognized.get(schema.def);
}

const readers = new Map<Form, Reader>();

/** The value as the schema behind the form would give it out; `refused` for what the schema must judge. */
export function readPlainly(form: Form, value: unknown): unknown {
  return readers.getOrInsertComputed(form, readerOf)(value);
}

function readerOf(form: Form): Reader {
  if (form === 'schema') return () => refused;
  if (typeof form === 'string') return fieldReader([form]);
  if (isField(form)) return fieldReader(form);
  if ('members' in form) return membersReader(form.members);
  if ('list' in form) return listReader(readerOf(form.list), form.least ?? 0, form.most ?? Number.POSITIVE_INFINITY);
  if ('record' in form) return recordReader(readerOf(form.record));
  if ('oneOf' in form) return firstReader(form.oneOf.map(readerOf));
  if ('rule' in form) return ruleReader(form.rule, readerOf(form.of));
  if ('values' in form) {
    const values = new Set(form.values);
    return (value) => (values.has(value) ? value : refused);
  }
  if ('nullable' in form) {
    const read = readerOf(form.nullable);
    return (value) => (value === null ? null : read(value));
  }
  const [absent, read] = 'optional' in form ? [undefined, readerOf(form.optional)] : [form.default, readerOf(form.of)];
  return (value) => (value === undefined ? absent : read(value));
}

function isField(form: Form): form is readonly [FieldName, ...unknown[]] {
  return Array.isArray(form);
}

function fieldReader([name, ...made]: readonly [FieldName, ...unknown[]]): Reader {
  return (fields[name] as (...given: unknown[]) => Reader)(...made);
}

/** Gives out a copy with its members in the order of the schema, as the schema does. */
function membersReader(members: Readonly<Record<string, Form>>): Reader {
  const known = Object.entries(members).map(([name, form]) => {
    const read = readerOf(form);
    return { name, read, mayMiss: read(undefined) === undefined };
  });

  /** A value already in that order is copied as a whole: so a server reads its long lists quickly. */
  function inOrder(value: Members): unknown {
    let next = 0;
    let copy: Record<string, unknown> | undefined;
    for (const name in value) {
      while (known[next]?.name !== name && known[next]?.mayMiss === true) next += 1;
      const member = known[next];
      if (member?.name !== name) return inAnyOrder(value);
      const given = value[name];
      const inner = member.read(given);
      if (inner === refused) return refused;
      if (inner !== given) (copy ??= { ...value })[name] = inner;
      next += 1;
    }
    while (known[next]?.mayMiss === true) next += 1;
    return next < known.length ? inAnyOrder(value) : (copy ?? { ...value });
  }

  function inAnyOrder(value: Members): unknown {
    const result: Record<string, unknown> = {};
    let knownNames = 0;
    for (const { name, read } of known) {
      const given = value[name];
      const isNamed = given !== undefined || name in value;
      const inner = read(given);
      if (inner === refused) return refused;
      if (isNamed) knownNames += 1;
      if (isNamed || inner !== undefined) result[name] = inner;
    }
    let names = 0;
    for (const _name in value) names += 1;
    return names === knownNames ? result : refused;
  }

  return (value) => (isMembers(value) ? inOrder(value) : refused);
}

function listReader(read: Reader, least: number, most: number): Reader {
  return (value) => {
    if (!Array.isArray(value) || value.length < least || value.length > most) return refused;
    const result: unknown[] = [];
    for (const element of value) {
      const inner = read(element);
      if (inner === refused) return refused;
      result.push(inner);
    }
    return result;
  };
}

function recordReader(read: Reader): Reader {
  return (value) => {
    if (!isMembers(value)) return refused;
    const result: Record<string, unknown> = {};
    for (const name in value) {
      const inner = name === '__proto__' ? refused : read(value[name]);
      if (inner === refused) return refused;
      result[name] = inner;
    }
    return result;
  };
}

function firstReader(alternatives: readonly Reader[]): Reader {
  return (value) => {
    for (const read of alternatives) {
      const inner = read(value);
      if (inner !== refused) return inner;
    }
    return refused;
  };
}

function ruleReader(name: CrossRule, read: Reader): Reader {
  return (value) => {
    const result = read(value);
    if (result === refused) return refused;
    let isBroken = false;
    crossRules[name](result as never, { addIssue: () => (isBroken = true) });
    return isBroken ? refused : result;
  };
}

function isMembers(value: unknown): value is Members {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // A raw number has no prototype, and a member of its own.
  return prototype === Object.prototype || (prototype === null && !isExactNumber(value));
}
