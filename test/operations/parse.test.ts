import { describe, expect, test } from 'vitest';

import { parseExactJson } from '../../src/exact-json.ts';
import { allOperations } from '../../src/operations/all.ts';
import { parseInput, parsePlainly, pathText } from '../../src/operations/parse.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { outlineOf } from '../../tools/outlines.ts';

type Path = readonly (string | number)[];

/** Where objects stand in a value, itself included. */
function objectsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  const within = Object.entries(value).flatMap(([name, inner]) =>
    objectsIn(inner, [...path, Array.isArray(value) ? Number(name) : name]),
  );
  return Array.isArray(value) ? within : [path, ...within];
}

/** The text of a value with another text in one place. */
function textWith(value: unknown, [name, ...rest]: Path, text: string): string {
  if (name === undefined) return text;
  const entries = Object.entries(value as object).map(([each, inner]): [string, string] => [
    each,
    each === String(name) ? textWith(inner, rest, text) : JSON.stringify(inner),
  ]);
  return Array.isArray(value)
    ? `[${entries.map(([, inner]) => inner).join()}]`
    : `{${entries.map(([each, inner]) => `${JSON.stringify(each)}:${inner}`).join()}}`;
}

const places = allOperations.flatMap((operation: Operation) =>
  operation.examples.flatMap(({ input }) =>
    objectsIn(input.body).map((path) => ({ operation, input, path, name: operation.name, place: pathText(path) })),
  ),
);

describe('a number where an object belongs', () => {
  test.each(places)('is refused in every spelling: $name $place', ({ operation, input, path, place }) => {
    for (const number of ['5', '1e3', '1.0', '9007199254740993', '1e400']) {
      const given = { ...input, body: parseExactJson(textWith(input.body, path, number)) };
      expect(parsePlainly(outlineOf(operation), given)).toBeUndefined();
      expect(() => parseInput(operation, given)).toThrow(
        expect.objectContaining({ issues: [{ path: place, message: 'must be an object' }] }),
      );
    }
  });
});

describe('the JSON value null', () => {
  const withBody = allOperations.filter((operation: Operation) => operation.body !== undefined);
  test.each(withBody)('is no body without members: $name', (operation: Operation) => {
    const input = { ...operation.examples[0]?.input, body: null };
    expect(() => parseInput(operation, input)).toThrow(/^must be an object/);
    expect(parsePlainly(outlineOf(operation), input)).toBeUndefined();
  });
});
