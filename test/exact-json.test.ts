import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { exactNumber, parseExactJson, reviveExactJson, textOfNumber } from '../src/exact-json.ts';
import type { ExactNumber } from '../src/exact-json.ts';

describe('a JSON number keeps the digits that it was written with', () => {
  test.each([
    '0',
    '1',
    '-1',
    '1.0',
    '1.10',
    '1e3',
    '0.1',
    '0.000000000001',
    '9007199254740993',
    '-0',
    '1e400',
    '12345678901234.123456789012',
  ])('%s comes out as it went in', (text) => {
    const value = parseExactJson(`{"n":${text}}`) as { n: ExactNumber };
    expect(textOfNumber(value.n)).toBe(text);
    expect(JSON.stringify(value)).toBe(`{"n":${text}}`);
  });

  test.each([
    ['1', true],
    ['0.5', true],
    ['-3', true],
    ['1.0', false],
    ['1e3', false],
    ['-0', false],
    ['9007199254740993', false],
  ])('%s is a plain number: %s', (text, isPlain) => {
    expect(typeof exactNumber(text) === 'number').toBe(isPlain);
  });

  test('also beside any other numbers, from outside and from our own store', () => {
    const digits = fc.stringMatching(/^-?(?:0|[1-9]\d{0,20})(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?$/);
    fc.assert(
      fc.property(fc.array(digits, { maxLength: 6 }), (numbers) => {
        const text = `{"numbers":[${numbers.join(',')}]}`;
        for (const value of [reviveExactJson(text), parseExactJson(text)]) {
          expect((value as { numbers: ExactNumber[] }).numbers.map(textOfNumber)).toEqual(numbers);
          expect(JSON.stringify(value)).toBe(text);
        }
      }),
    );
  });
});

describe('JSON from outside is refused', () => {
  test.each([
    ['cut short', '{"a":1', 'malformed'],
    ['with a comma too many', '[1,]', 'malformed'],
    ['not JSON at all', '<html>', 'malformed'],
    ['empty', '', 'malformed'],
    ['with a name twice', '{"a":1,"a":2}', '"a" twice'],
    ['with a name twice, once escaped', String.raw`{"a":1,"\u0061":2}`, '"a" twice'],
    ['with a name twice deep inside', '{"x":[{"b":1,"b":1}]}', '"b" twice'],
  ])('%s', (_case, text, words) => {
    expect(() => parseExactJson(text)).toThrow(
      expect.objectContaining({ kind: 'badRequest', message: expect.stringContaining(words) }),
    );
  });

  test('with a long name twice, of which the beginning is told', () => {
    const name = 'n'.repeat(100_000);
    expect(() => parseExactJson(`{"${name}":1,"${name}":2}`)).toThrow(/^the JSON gives "n{200}…" twice in one object$/);
  });

  test.each(['__proto__', 'constructor', 'prototype'])('with a name that would touch prototypes: %s', (name) => {
    expect(() => parseExactJson(`{"metadata":{"${name}":{"polluted":true}}}`)).toThrow(
      expect.objectContaining({ kind: 'invalidInput' }),
    );
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test.each([
    [
      '{"events":[{"eventName":"a, [b"},{"properties":{"n":[1,2],"constructor":1}}]}',
      'events[1].properties.constructor',
    ],
    [String.raw`{ "a\"": { "\u0062": [[], [1, {"prototype": 1}]] } }`, 'a".b[1][1].prototype'],
    ['[{"a":{}},"x",{"__proto__":1}]', '[2].__proto__'],
    ['{"constructor":1}', 'constructor'],
  ])('with such a name, which is told with its path: %s', (text, path) => {
    expect(() => parseExactJson(text)).toThrow(
      expect.objectContaining({ issues: [{ path, message: 'this name is not allowed' }] }),
    );
  });

  test('nested deeper than the limit, before the parser sees it', () => {
    expect(() => parseExactJson('['.repeat(200_000))).toThrow(expect.objectContaining({ kind: 'badRequest' }));
    expect(parseExactJson(`${'['.repeat(32)}${']'.repeat(32)}`)).toBeDefined();
    expect(() => parseExactJson(`${'['.repeat(33)}${']'.repeat(33)}`)).toThrow('32 levels');
  });

  test('with more names than the limit', () => {
    const names = Array.from({ length: 4 }, (_value, index) => `"k${index}":1`).join(',');
    expect(() => parseExactJson(`{${names}}`, { depth: 4, keys: 3 })).toThrow('more than 3 names');
  });

  // What is written as our own programs write it is read on a shorter way, which a space or an escape leaves.
  test.each<[string, (text: string) => string]>([
    ['as it is', (text) => text],
    ['with a space', (text) => `${text} `],
    ['with an escape', (text) => text.replaceAll('"a"', String.raw`"\u0061"`)],
  ])('what just keeps to the limits is read, and one more is not: %s', (_way, written) => {
    const bounds = { depth: 4, keys: 6, objectKeys: 3, elements: 8 };
    const deep = (levels: number) => written(`${'['.repeat(levels)}"a"${']'.repeat(levels)}`);
    expect(() => parseExactJson(deep(4), bounds)).not.toThrow();
    expect(() => parseExactJson(deep(5), bounds)).toThrow('nested deeper than 4 levels');
    const named = (count: number) => written(`[${Array.from({ length: count }, () => '{"a":["a"]}').join(',')}]`);
    expect(() => parseExactJson(named(6), bounds)).not.toThrow();
    expect(() => parseExactJson(named(7), bounds)).toThrow('more than 6 names');
    const object = (count: number) =>
      written(`{${Array.from({ length: count }, (_, index) => `"${'abcd'[index]}":["a"]`).join(',')}}`);
    expect(() => parseExactJson(object(3), bounds)).not.toThrow();
    expect(() => parseExactJson(object(4), bounds)).toThrow('an object of the JSON has more than 3 names');
    const list = (count: number) =>
      written(`{"b":[[{},"a"],[${Array.from({ length: count }, () => '"a"').join(',')}]]}`);
    expect(() => parseExactJson(list(6), bounds)).not.toThrow();
    expect(() => parseExactJson(list(7), bounds)).toThrow('more than 8 elements in lists');
  });

  test('but the same name in two objects, and names inside texts, are fine', () => {
    expect(parseExactJson(String.raw`[{"a":"\"a\":"},{"a":"{"}]`)).toEqual([{ a: '"a":' }, { a: '{' }]);
  });
});

describe('a text that comes out again as it was written', () => {
  test('is read as any other', () => {
    const values = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(
          '1',
          '1.0',
          '-0',
          '0',
          '1e3',
          '0.1',
          '9007199254740993',
          'true',
          'null',
          '"a"',
          '"\\u0061"',
          '""',
          '{"a":1,"a":2}',
          '{"__proto__":1}',
          '{ }',
        ),
        fc.array(tie('value') as fc.Arbitrary<string>, { maxLength: 3 }).map((parts) => `[${parts.join(',')}]`),
        fc
          .array(tie('value') as fc.Arbitrary<string>, { maxLength: 3 })
          .map((parts) => `{${parts.map((part, index) => `"k${index}":${part}`).join(',')}}`),
      ),
    })).value;
    fc.assert(
      fc.property(values, (text) => {
        // A space in front makes it another text, which goes the longer way.
        expect(outcome(() => parseExactJson(text))).toBe(outcome(() => parseExactJson(` ${text}`)));
      }),
    );
  });

  test('is read as any other, however long', () => {
    const bounds = { depth: 4, keys: 100_000 };
    const events = Array.from(
      { length: 5_000 },
      (_, i) => `{"id":"${i} [{:","tokens":${i},"cost":0.${i + 1}1,"of":{"a":"","b":null}}`,
    );
    const exact = `{"events":[${events.join(',')}]}`;
    expect(JSON.stringify(parseExactJson(exact, bounds))).toBe(exact);
    for (const odd of [
      '{"n":1.10}',
      '{"n":1,"n":2}',
      '{"a":{"b":{"c":1}}}',
      '{"2":1,"1":2}',
      '{"a":-0}',
      '["]]]]",[[[1]]]]',
      '}',
    ]) {
      const text = `{"events":[${events.join(',')},${odd}]}`;
      expect(outcome(() => parseExactJson(text, bounds))).toBe(outcome(() => parseExactJson(` ${text}`, bounds)));
    }
  });

  test.each([
    ['brackets', '['.repeat(4_000_000), /levels/],
    ['brackets behind a string that closes as many', `["${']'.repeat(1_000)}",${'['.repeat(4_000_000)}`, /levels/],
    ['names', `{${'"a":1,'.repeat(1_000_000)}"a":1}`, /names|twice/],
    ['elements', `[${'1.0,'.repeat(1_000_000)}1]`, /elements/],
    ['elements of many lists', `[${'[[],[]],'.repeat(1_000_000)}1]`, /elements/],
  ])('of a million %s is refused before the parser sees it', (_what, text, words) => {
    const before = process.memoryUsage().heapUsed;
    expect(() => parseExactJson(text)).toThrow(words);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50e6);
  });
});

function outcome(read: () => unknown): string {
  try {
    return JSON.stringify(read());
  } catch (error) {
    return (error as Error).message;
  }
}
