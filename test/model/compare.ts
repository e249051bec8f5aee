/** Puts answers of engine and model into one form, and says where they differ. */

import { isExactNumber, textOfNumber } from '../../src/exact-json.ts';

/** Names of the model for ids of the engine, and back. */
export interface Names {
  readonly nameOf: Map<string, string>;
  readonly idOf: Map<string, string>;
}

export const createNames = (): Names => ({ nameOf: new Map(), idOf: new Map() });

export function bind(names: Names, name: string, id: string): void {
  names.nameOf.set(id, name);
  names.idOf.set(name, id);
}

/** A value with every name replaced by its id, for the engine. */
export function withIds(value: unknown, names: Names): unknown {
  return mapTexts(value, (text) => names.idOf.get(text) ?? text);
}

const draftNumber = /^DRAFT-[0-9a-f]{8}$/;

/** A value with every id replaced by its name and every number by its text, for comparison. */
export function comparable(value: unknown, names: Names): unknown {
  return mapTexts(value, (text) => names.nameOf.get(text) ?? (draftNumber.test(text) ? 'DRAFT' : text), textOfNumber);
}

function mapTexts(
  value: unknown,
  onText: (text: string) => string,
  onNumber?: (value: Parameters<typeof textOfNumber>[0]) => string,
): unknown {
  if (typeof value === 'string') return onText(value);
  if (isExactNumber(value)) return onNumber === undefined ? value : onNumber(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, onText, onNumber));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapTexts(each, onText, onNumber)]));
}

/** Where two values differ: everything that the model says must be so in the engine, which may say more. */
export function differences(expected: unknown, actual: unknown, path = ''): string[] {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length) return [`${path} has ${actual.length} elements, not ${expected.length}`];
    return expected.flatMap((each, index) => differences(each, actual[index], `${path}[${index}]`));
  }
  if (isRecord(expected) && isRecord(actual)) {
    return Object.keys(expected).flatMap((key) => differences(expected[key], actual[key], `${path}.${key}`));
  }
  if (expected === actual) return [];
  return [`${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`];
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Records in an order of their own, by the members that the model knows; for what has no order by the documents. */
export function inOrderOf(keys: readonly string[], list: readonly unknown[]): unknown[] {
  const text = (each: unknown) => JSON.stringify(keys.map((key) => (isRecord(each) ? each[key] : undefined)));
  return [...list].sort((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0));
}
