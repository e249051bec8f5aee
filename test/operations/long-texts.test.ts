/** No text of a caller makes a pattern start anew at each of its characters (security 5, SEC-39). */

import { expect, test } from 'vitest';

import { pathText } from '../../src/errors.ts';
import { allOperations } from '../../src/operations/all.ts';
import type { CallInput, Operation } from '../../src/operations/operation.ts';
import { parseInput, parsePlainly } from '../../src/operations/parse.ts';
import { outlineOf } from '../../tools/outlines.ts';

type Path = readonly string[];

/** Up to as much as a request may have; the shorter ones, so that a bad pattern fails here before it takes for ever. */
const lengths = [28, 32 * 1024, 1024 * 1024];
const mostMilliseconds = 200;

const pieces = ['a', '0', ' ', '-', 'a.', 'a@', ',', '0.0', '\u0301'];
const longTexts = lengths.flatMap((length) =>
  pieces.flatMap((piece) => {
    const text = piece.repeat(length / piece.length);
    return [text, `${text}!`, `a@${text}!`, `2026-03-01T00:00:00.${text}!`];
  }),
);

/** Where texts stand in a value. */
function textsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => textsIn(inner, [...path, name]));
}

function withText(value: unknown, [name, ...rest]: Path, text: string): unknown {
  if (name === undefined) return text;
  const members = Object.entries(value as object).map(([each, inner]) => [
    each,
    each === name ? withText(inner, rest, text) : inner,
  ]);
  return Array.isArray(value) ? members.map(([, inner]) => inner) : Object.fromEntries(members);
}

/** The least of three, because other processes want the machine too. */
function millisecondsOf(work: () => unknown): number {
  let least = Infinity;
  for (let time = 0; time < 3 && least > mostMilliseconds; time += 1) {
    const start = performance.now();
    work();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

function judge(operation: Operation, input: CallInput): void {
  parsePlainly(outlineOf(operation), input);
  try {
    parseInput(operation, input);
  } catch {
    // Refused, as most are; how long it took is what counts.
  }
}

const byPlace = new Map(
  allOperations.flatMap((operation: Operation) =>
    operation.examples.flatMap(({ input }) =>
      textsIn(input).map((path) => [`${operation.name} ${pathText(path)}`, { operation, input, path }] as const),
    ),
  ),
);

test.each([...byPlace])('a text of 1 MiB is judged at once: %s', (_, { operation, input, path }) => {
  const slow = longTexts.find(
    (text) => millisecondsOf(() => judge(operation, withText(input, path, text) as CallInput)) > mostMilliseconds,
  );
  expect(slow?.slice(0, 30)).toBeUndefined();
});
