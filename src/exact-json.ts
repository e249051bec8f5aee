/**
 * JSON whose numbers keep the digits they were written with.
 * A number that JavaScript would print differently (`1.10`, `1e3`, 2^53 + 1) is kept as a raw number: its source text.
 * All other numbers stay plain, so that most code never notices.
 */

import { BadRequestError, InvalidInputError, pathText, shortName } from './errors.ts';
import { limits } from './limits.ts';

declare global {
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/** A number as its JSON text; `JSON.stringify` writes it digit by digit. */
export interface RawNumber {
  readonly rawJSON: string;
}

/** A JSON number: plain if JavaScript prints the digits that were written, otherwise raw. */
export type ExactNumber = number | RawNumber;

const numberText = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Whether a text is a number by JSON's grammar. */
export function isNumberText(text: string): boolean {
  return numberText.test(text);
}

/** The JSON number of a decimal text: plain if `String` gives the text back, otherwise raw. */
export function exactNumber(text: string): ExactNumber {
  const value = Number(text);
  return String(value) === text && !Object.is(value, -0) ? value : JSON.rawJSON(text);
}

/** Whether a value is a JSON number of either form. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return typeof value === 'number' || JSON.isRawJSON(value);
}

/** Whether a value is a JSON object, and not a list or a number that is kept as its text. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** The source text of a JSON number of either form. */
export function textOfNumber(value: ExactNumber): string {
  return typeof value === 'number' ? String(value) : value.rawJSON;
}

export interface ParseLimits {
  readonly depth: number;
  /** Names in all objects together. */
  readonly keys: number;
  /** Names in one object; by default as many as in all. */
  readonly objectKeys?: number;
  /** Elements of all lists together, not counting the first of each; by default any number. */
  readonly elements?: number;
}

/** The bounds of a request, unless it brings many events. */
export const requestBounds: ParseLimits = {
  depth: limits.jsonDepth,
  keys: limits.jsonKeys,
  elements: limits.jsonElements,
};

/** The bounds of a request that may bring many events: each object is still as small. */
export const bulkBounds: ParseLimits = { ...requestBounds, keys: limits.eventsJsonKeys, objectKeys: limits.jsonKeys };

const forbiddenNames: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** Whether a name would touch prototypes, so that nobody outside may choose it (security 5, SEC-37). */
export function isForbiddenName(name: string): boolean {
  return forbiddenNames.includes(name);
}

/** The message for such a name. */
export const forbiddenNameMessage = 'this name is not allowed';

/**
 * The value of a JSON text from outside.
 * Throws BadRequestError for malformed JSON, a name given twice in one object, or more depth, names or elements than `bounds`
 * (security 5, SEC-36), and InvalidInputError with the path of a name that would touch prototypes (SEC-37).
 */
export function parseExactJson(text: string, bounds: ParseLimits = requestBounds): unknown {
  const plain = parsePlainJson(text, bounds);
  if (plain !== undefined) return plain;
  scan(text, bounds);
  try {
    return reviveExactJson(text);
  } catch (error) {
    throw new BadRequestError(`the JSON is malformed: ${(error as Error).message}`, { cause: error });
  }
}

/** Texts with escapes take the longer way, because escapes can hide a name or the end of a text. */
const unusual = new RegExp(['\\\\', ...forbiddenNames].join('|'));

/**
 * The value of a text that comes out again as it was written, and so has lost no digit and no name. This is quicker to test than
 * every name and number. Undefined if the text needs a closer look.
 */
function parsePlainJson(text: string, bounds: ParseLimits): unknown {
  if (unusual.test(text) || !keepsTo(bounds, text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a text without escapes keeps within the allowed levels, names and elements, which are the brackets, colons and commas
 * outside of its strings. Also false for white space there, because such a text would not come out unchanged. Runs before the
 * parser, which would create millions of them.
 */
function keepsTo(bounds: ParseLimits, text: string): boolean {
  const { depth, keys, objectKeys = keys, elements = Infinity } = bounds;
  /** For each level, how many names its object has, or that it is a list. */
  const open: number[] = [];
  let names = 0;
  let listed = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === 0x22 /* " */) {
      index = text.indexOf('"', index + 1);
      if (index === -1) return false;
    } else if (character === 0x3a /* : */) {
      const level = open.length - 1;
      if (level < 0) return false;
      const own = (open[level] ?? 0) + 1;
      open[level] = own;
      names += 1;
      if (names > keys || own > objectKeys) return false;
    } else if (character === 0x2c /* , */) {
      if (open.at(-1) === inList) listed += 1;
      if (listed >= elements) return false;
    } else if (character === 0x7b /* { */ || character === 0x5b /* [ */) {
      open.push(character === 0x7b ? 0 : inList);
      if (open.length > depth) return false;
    } else if (character === 0x7d /* } */ || character === 0x5d /* ] */) open.pop();
    else if (character <= 0x20) return false;
  }
  return true;
}

const inList = -1;

/** The value of a JSON text that we wrote ourselves; throws SyntaxError if it is malformed. */
export function reviveExactJson(text: string): unknown {
  const plain: unknown = JSON.parse(text);
  // Most texts come out as they were written, which takes a third of the time to test.
  if (JSON.stringify(plain) === text) return plain;
  return JSON.parse(text, (_key, value, context) =>
    typeof value === 'number' && context.source !== undefined ? exactNumber(context.source) : value,
  );
}

/** Checks structure alone; text that is not JSON at all is left for the parser to refuse. */
function scan(text: string, bounds: ParseLimits): void {
  const { depth, keys: most, objectKeys = most, elements = Infinity } = bounds;
  const open: (Set<string> | undefined)[] = [];
  /** For each level, the name or index of what is being read in it. */
  const path: (string | number)[] = [];
  let keys = 0;
  let listed = 0;
  let index = 0;
  while (index < text.length) {
    const character = text.charCodeAt(index);
    if (character === 0x22 /* " */) {
      const end = endOfString(text, index);
      const names = open.at(-1);
      if (names !== undefined && isName(text, end)) {
        keys += 1;
        if (keys > most) throw new BadRequestError(`the JSON has more than ${most} names`);
        if (names.size >= objectKeys) {
          throw new BadRequestError(`an object of the JSON has more than ${objectKeys} names`);
        }
        const name = nameOf(text.slice(index, end));
        path[path.length - 1] = name;
        if (isForbiddenName(name)) {
          throw new InvalidInputError([{ path: pathText(path), message: forbiddenNameMessage }]);
        }
        if (names.has(name)) throw new BadRequestError(`the JSON gives "${shortName(name)}" twice in one object`);
        names.add(name);
      }
      index = end;
      continue;
    }
    if (character === 0x7b /* { */ || character === 0x5b /* [ */) {
      open.push(character === 0x7b ? new Set() : undefined);
      path.push(character === 0x7b ? '' : 0);
      if (open.length > depth) throw new BadRequestError(`the JSON is nested deeper than ${depth} levels`);
    } else if (character === 0x7d /* } */ || character === 0x5d /* ] */) {
      open.pop();
      path.pop();
    } else if (character === 0x2c /* , */) {
      const place = path.at(-1);
      if (typeof place === 'number') {
        path[path.length - 1] = place + 1;
        listed += 1;
        if (listed >= elements) throw new BadRequestError(`the JSON has more than ${elements} elements in lists`);
      }
    }
    index += 1;
  }
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length) {
    const character = text.charCodeAt(index);
    if (character === 0x22) return index + 1;
    index += character === 0x5c /* \ */ ? 2 : 1;
  }
  return text.length;
}

function isName(text: string, end: number): boolean {
  let index = end;
  while (index < text.length && text.charCodeAt(index) <= 0x20) index += 1;
  return text.charCodeAt(index) === 0x3a; /* : */
}

function nameOf(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  try {
    return JSON.parse(literal) as string;
  } catch {
    return literal;
  }
}
