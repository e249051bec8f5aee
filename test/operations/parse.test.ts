import { describe, expect, test } from 'vitest';
import * as z from 'zod';

import { pathText } from '../../src/errors.ts';
import { parseExactJson } from '../../src/exact-json.ts';
import { allOperations, operations } from '../../src/operations/all.ts';
import { check, issuesOf, parseCall, parseInput, parsePlainly } from '../../src/operations/parse.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { outlineOf } from '../../tools/outlines.ts';
import { refusalOf } from '../support/refusal.ts';

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

/** Where anything stands in a value, which lists and objects do too. */
function placesIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [
    path,
    ...Object.entries(value).flatMap(([name, inner]) =>
      placesIn(inner, [...path, Array.isArray(value) ? Number(name) : name]),
    ),
  ];
}

/** More fields than the examples have. */
const fuller: readonly { readonly name: string; readonly body: unknown }[] = [
  {
    name: 'credits.grant',
    body: { amountCents: 1, expiresAt: '2099-12-31T00:00:00Z', specifiers: { properties: { a: 'b', c: ['d'] } } },
  },
  {
    name: 'pricing.create',
    body: {
      productName: 'Seats',
      name: 'Seats',
      model: 'TIER',
      priceInterval: 'MONTH',
      pricingTiers: [{ minQty: '0', maxQty: '1', unitAmount: '1', flatAmount: '1' }, { maxQty: '' }],
    },
  },
];

describe('a value of the wrong type', () => {
  const wrong = ['null', 'true', '5', '1.0', '"\\u0000"', '[]', '[null]', '{}', '{"a":1}'];
  const bodies = allOperations.flatMap((operation: Operation) => [
    ...operation.examples.map(({ input }) => ({ operation, input, name: operation.name })),
    ...fuller.flatMap(({ name, body }) => (name === operation.name ? [{ operation, input: { body }, name }] : [])),
  ]);
  test.each(bodies.filter(({ input }) => input.body !== undefined))(
    'is refused in our own words: $name',
    ({ operation, input: { body } }) => {
      for (const path of placesIn(body)) {
        for (const text of wrong) {
          const result = operation.body?.safeParse(parseExactJson(textWith(body, path, text)));
          const words = issuesOf(result?.error?.issues ?? [], body, 'unknown field').map(({ message }) => message);
          for (const each of words) expect(each).not.toMatch(/^(?:Invalid|Unrecognized|Too )/);
        }
      }
    },
  );
});

describe('the JSON value null', () => {
  const withBody = allOperations.filter((operation: Operation) => operation.body !== undefined);
  test.each(withBody)('is no body without members: $name', (operation: Operation) => {
    const input = { ...operation.examples[0]?.input, body: null };
    expect(() => parseInput(operation, input)).toThrow(/^must be an object/);
    expect(parsePlainly(outlineOf(operation), input)).toBeUndefined();
  });
});

describe('an operation that takes no body', () => {
  const bodiless = allOperations.filter((operation: Operation) => operation.body === undefined);

  test.each(bodiless)('may be given an object without members: $name', (operation: Operation) => {
    expect(() => parseInput(operation, { ...operation.examples[0]?.input, body: {} })).not.toThrow();
  });

  test.each(bodiless)('refuses anything else, an empty list too: $name', (operation: Operation) => {
    for (const text of ['[]', 'null', '""', '0', '1.0', 'false', '[{}]', '{"a":1}']) {
      const input = { ...operation.examples[0]?.input, body: parseExactJson(text) };
      expect(parsePlainly(outlineOf(operation), input)).toBeUndefined();
      expect(() => parseInput(operation, input)).toThrow('this operation takes no body');
    }
  });
});

describe('a member __proto__, which schemas pass over where any name may stand', () => {
  test.each<[Operation, string, string]>([
    [operations['contracts.update'], '{"metadata":{"a":1,"__proto__":2}}', 'metadata.__proto__'],
    [
      operations['usage.ingestBatch'],
      '{"events":[{"eventName":"e","customerId":"c","properties":{"__proto__":1}}]}',
      'events[0].properties.__proto__',
    ],
    [
      operations['credits.grant'],
      '{"amountCents":5,"expiresAt":"2026-12-31T00:00:00Z","specifiers":{"properties":{"__proto__":"a"}}}',
      'specifiers.properties.__proto__',
    ],
    [
      operations['credits.grant'],
      '{"amountCents":5,"expiresAt":"2026-12-31T00:00:00Z","metadata":{"a":[{"__proto__":"a"}]}}',
      'metadata.a[0].__proto__',
    ],
  ])('is refused: $name', (operation, text, path) => {
    const input = { ...operation.examples[0]?.input, body: JSON.parse(text) as unknown };
    expect(parsePlainly(outlineOf(operation), input)).toBeUndefined();
    expect(() => parseInput(operation, input)).toThrow(
      expect.objectContaining({ issues: [{ path, message: 'this name is not allowed' }] }),
    );
  });
});

describe('a refusal of much that is wrong', () => {
  // Handed on as arguments, so many are more than a stack holds.
  test('has every issue of 200,000, and lists the first hundred, also as the first value that a schema is held to', () => {
    const schema = z.strictObject({ texts: z.array(z.string()) });
    const value = { texts: Array.from({ length: 200_000 }, () => 1) };
    const { error } = check(schema, value);
    const issues = issuesOf(error?.issues ?? [], value, 'unknown field');
    expect(issues).toHaveLength(101);
    expect(issues.at(99)).toEqual({ path: 'texts[99]', message: 'must be text' });
    expect(issues.at(100)).toEqual({ path: '', message: 'and 199900 more' });
  });

  const refusalOf = (body: unknown): string => {
    try {
      parseInput(operations['customers.create'], { body });
      return 'accepted';
    } catch (error) {
      return (error as Error).message;
    }
  };

  test('lists the first hundred issues and counts the others', () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `field${index}`);
    const refusal = refusalOf(Object.fromEntries(names.map((name) => [name, 1]))).split('; ');
    expect(refusal.slice(0, 3)).toEqual(['name: is required', 'contacts: is required', 'field0: unknown field']);
    expect([refusal.length, refusal.at(-1)]).toEqual([101, 'and 902 more']);
  });

  test('cuts a name that is as long as a body', () => {
    expect(refusalOf({ ['x'.repeat(900_000)]: 1 })).toContain(`; ${'x'.repeat(200)}…: unknown field`);
  });
});

test.each(['', '"0"', 'W/"0"', '0 ', 'é'])(
  'a version that no answer showed is refused as that: %j',
  async (ifMatch) => {
    const call = parseCall('budgets.remove', { params: { contractId: 'c1', index: '0' }, ifMatch });
    expect(await refusalOf(call)).toBe(
      'badRequest the version to match must be one that an answer showed, without its quotes',
    );
  },
);
