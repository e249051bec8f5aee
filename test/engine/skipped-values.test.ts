import fc from 'fast-check';
import { expect, test } from 'vitest';

import { skipReasonOf } from '../../src/calculation/aggregation.ts';
import { createSkippedValues } from '../../src/engine/skipped-values.ts';
import { exactNumber } from '../../src/exact-json.ts';
import { isSmallEnough } from '../../src/operations/field-rules.ts';

const meter: Parameters<typeof createSkippedValues>[0][number] = {
  id: '01900000-0000-7000-8000-000000000001',
  code: 'TOKENS',
  displayName: 'Tokens',
  aggregationType: 'SUM',
  eventTypeFilter: { include: [], exclude: [] },
  propertyFilters: [],
  aggregationKey: 'tokens',
  groupKeys: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  status: 'active',
};

const numberText = fc
  .tuple(fc.bigInt(), fc.option(fc.stringMatching(/^\d{1,45}$/)), fc.option(fc.integer({ min: -60, max: 60 })))
  .map(([whole, fraction, exponent]) =>
    [`${whole}`, fraction === null ? '' : `.${fraction}`, exponent === null ? '' : `e${exponent}`].join(''),
  );

test('no JSON number that an event may carry is skipped by a meter, which is why none is looked at', () => {
  fc.assert(
    fc.property(numberText, (text) => {
      fc.pre(isSmallEnough(text));
      expect(skipReasonOf(exactNumber(text))).toBeUndefined();
    }),
  );
});

test.each([
  ['1000.50', undefined],
  ['1e3', undefined],
  ['1,000.50', 'is not a number'],
  ['', 'is not a number'],
  [' 1', 'is not a number'],
  [true, 'is not a number'],
  [null, 'is not a number'],
  ['1e99', 'is out of range: 1e40 or more, or more than 40 decimals'],
  [exactNumber('1.50'), undefined],
  [{ a: 1 }, 'is not a number'],
])('%j is a value; why it is skipped: %s', (value, reason) => {
  const skipped = createSkippedValues([meter]);
  skipped?.add({ eventName: 'request', properties: { tokens: value } }, 7);
  skipped?.add({ eventName: 'request', properties: { other: value } }, 8);
  const found = { meterCode: 'TOKENS', aggregationKey: 'tokens', valueCount: 1, skippedCount: 1 };
  expect(skipped?.read()).toEqual(reason === undefined ? [] : [{ ...found, first: { line: 7, value, reason } }]);
});

test('names are those of the meter however Unicode writes them', () => {
  const skipped = createSkippedValues([
    { ...meter, aggregationKey: 'Gr\u00f6\u00dfe', propertyFilters: [{ name: '\u00c4nderung', exists: true }] },
  ]);
  const properties = { 'Gro\u0308\u00dfe': 'gro\u0308\u00dfer', 'A\u0308nderung': 1 };
  skipped?.add({ eventName: 'request', properties }, 1);
  expect(skipped?.read()).toMatchObject([{ valueCount: 1, skippedCount: 1, first: { value: 'gro\u0308\u00dfer' } }]);
});

test('a property that every object has is none of an event', () => {
  const skipped = createSkippedValues([{ ...meter, aggregationKey: 'toString' }]);
  skipped?.add({ eventName: 'request', properties: {} }, 1);
  expect(skipped?.read()).toEqual([]);
});

test('there is nothing to look at where there are no meters', () => {
  expect(createSkippedValues([])).toBeUndefined();
});

const named = { ...meter, eventTypeFilter: { include: ['request'], exclude: [] } };

test.each([
  ['a name that no meter takes', [named], 'reqest', 2, ['reqest'], 0],
  ['one that a meter leaves out', [{ ...meter, eventTypeFilter: { include: [], exclude: ['x'] } }], 'x', 2, ['x'], 0],
  ['one that a meter counts', [{ ...named, aggregationType: 'COUNT' }], 'request', 0, [], 0],
  ['any name, where a query may read it', [named, { ...meter, sql: 'SELECT 1 AS value' }], 'other', 0, [], 0],
  ['a name of a meter without its key', [named], 'request', 0, [], 2],
  [
    'one of a meter that leaves them out',
    [{ ...named, propertyFilters: [{ name: 'x', exists: true }] }],
    'request',
    0,
    [],
    0,
  ],
  ['any name without the key of a meter that takes all of them', [meter], 'request', 0, [], 0],
] as const)('of events of %s', (_case, meters, eventName, eventCount, eventNames, without) => {
  const skipped = createSkippedValues(meters as unknown as Parameters<typeof createSkippedValues>[0]);
  for (const line of [2, 3]) skipped?.add({ eventName, properties: { token: 1 } }, line);
  const withoutKey = without === 0 ? [] : [{ meterCode: 'TOKENS', aggregationKey: 'tokens', eventCount: without }];
  expect([skipped?.unread(), skipped?.read()]).toEqual([{ eventCount, eventNames, withoutKey }, []]);
});

test('a key that some events have is not missed by the others', () => {
  const skipped = createSkippedValues([named]);
  for (const properties of [{}, { tokens: 1 }, {}]) skipped?.add({ eventName: 'request', properties }, 1);
  expect(skipped?.unread().withoutKey).toEqual([]);
});
