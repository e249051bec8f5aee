/** One text for one meaning. */

import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { canonicalJson } from '../src/canonical-json.ts';

test('members come in the order of their names, at every depth, and what is in order is left as it is', () => {
  expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1}]}');
  expect(canonicalJson([{ a: { c: 1, b: 2 } }])).toBe('[{"a":{"b":2,"c":1}}]');
});

test('numbers keep their digits, and members that are undefined are left out', () => {
  expect(canonicalJson({ n: JSON.rawJSON('1.50'), absent: undefined })).toBe('{"n":1.50}');
});

test('a value of sixty levels that are all out of order is ordered level by level, not twice as often with each', () => {
  let value: unknown = 0;
  for (let level = 0; level < 60; level += 1) value = { b: value, a: 1 };
  expect(canonicalJson(value)).toBe(`${'{"a":1,"b":'.repeat(60)}0${'}'.repeat(60)}`);
});

test('the order in which members were written makes no difference', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  const members = Object.entries(value).toReversed();
  return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]));
}
