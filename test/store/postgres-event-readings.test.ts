/** What the server reads of odd texts and numbers is what a scan reads of them. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { decimalText } from '../../src/calculation/money.ts';
import type { Transaction } from '../../src/store/database.ts';
import { createFoldOfEach, inOrder, scanOf } from '../../src/store/event-aggregation.ts';
import type { EventAggregation, EventReadings, EventStore } from '../../src/store/event-store.ts';
import { openStore } from '../../src/store/open.ts';
import { usePostgres } from '../support/postgres.ts';
import { aggregateOne, eventOf, insertTwoOrganizations } from './rows.ts';

const postgres = await usePostgres();

/** JSON texts of values, as senders write them. */
const texts = [
  '"a"',
  '"A"',
  '"other"',
  '"other."',
  '""',
  '"\u212a"',
  '"K"',
  '"e\u0301"',
  '"\u00e9"',
  String.raw`"\u0000"`,
  String.raw`"a\u0000b"`,
  String.raw`"\ud800"`,
  String.raw`"\\u0041"`,
  String.raw`"\"\\\n\t"`,
  '" a"',
  '"😀"',
  'true',
  'null',
  '1',
  '1.0',
  '-0',
] as const;
const numbers = [
  '1',
  '-7',
  '0.1',
  '1.10',
  '1e2',
  '"1E-3"',
  '"007"',
  '"0000000000000000001.5"',
  '999999999999999.999',
  '1e15',
  '9007199254740993',
  '1e40',
  '"1000000000000000"',
  '1.00000000000000000000000000000000000000000000000000',
  '1e-40',
  '1e-41',
  '1e999999999',
  '"1\\n"',
  '"１"',
  '"many"',
  'true',
  'null',
  '-0',
  '12345678901234567890e-6',
] as const;

const odd = `,"":1,"orgId":"x","quoted\\"name":"y","${'long'.repeat(20)}":2,"${'long'.repeat(20)}er":3`;

/** Each value beside every third of the others, so that groups hold several. */
const events = texts.flatMap((model, place) =>
  numbers
    .filter((_number, index) => (place + index) % 3 === 0)
    .map((tokens, index) =>
      eventOf(`${place}-${index}`, {
        contractId: (place + index) % 4 === 0 ? null : 'contract',
        eventName: ['call', '\u0107all', 'other'][(place + index) % 3] ?? '',
        timestampEpochMs: (place * 7 + index) % 50,
        propertiesJson: `{"model":${model},"tokens":${tokens}${index % 5 === 0 ? '' : ',"region":"eu"'}${index % 4 === 0 ? odd : ''}}`,
      }),
    ),
);

const listed = ['a', 'K', '\u212a', '\u00e9', 'e\u0301', 'other', 'other.', '', '1', '1.0', 'null', '\u0000', '\ud800'];
const names = ['call', '\u0107all', 'other'];
const keys = [
  '',
  'orgId',
  'propertiesJson',
  'quoted"name',
  'long'.repeat(20),
  'model',
  'region',
  'tokens',
  'unheard',
  'toString',
  'no\u0000name',
  '\ud800',
];

const request = fc
  .record({
    bounds: fc.uniqueArray(fc.integer({ min: 0, max: 51 }), { minLength: 2, maxLength: 4 }),
    aggregationType: fc.constantFrom('SUM', 'COUNT', 'MAX', 'MIN'),
    aggregationKey: fc.constantFrom('tokens', 'tokens', 'tokens', 'model', 'no\u0000name'),
    groupKeys: fc.subarray(keys, { maxLength: 2 }),
    propertyKeys: fc.subarray(keys.toSorted(), { maxLength: 2 }),
    include: fc.subarray(names, { maxLength: 2 }),
    exclude: fc.subarray(names, { maxLength: 1 }),
    needsEventName: fc.boolean(),
    propertyFilters: fc.array(
      fc.record(
        {
          name: fc.constantFrom(...keys),
          exists: fc.boolean(),
          include: fc.subarray(listed, { maxLength: 3 }),
          exclude: fc.subarray(listed, { maxLength: 2 }),
        },
        { requiredKeys: ['name'] },
      ),
      { maxLength: 2 },
    ),
  })
  .map(({ bounds, include, exclude, propertyFilters, needsEventName, propertyKeys, ...rules }): EventAggregation => ({
    orgId: 'org-a',
    customerId: 'customer',
    boundsEpochMs: bounds.toSorted((a, b) => a - b),
    rules: { ...rules, eventTypeFilter: { include, exclude }, propertyFilters },
    dimensions: { needsEventName, propertyKeys },
    isStanding: false,
  }));

const shown = (readings: EventReadings) =>
  readings.map((interval) => interval.map((reading) => ({ ...reading, quantity: decimalText(reading.quantity) })));

async function scanned(events: EventStore, tx: Transaction, asked: EventAggregation): Promise<EventReadings> {
  const fold = createFoldOfEach(asked, undefined);
  await events.scan(tx, scanOf(asked), fold.add);
  return (fold.readings()[0] ?? []).map(inOrder);
}

describe.runIf(postgres !== undefined)('PostgreSQL', () => {
  test.each([
    ['', ''],
    [' where a backslash in a text escapes', '?options=-cstandard_conforming_strings%3Doff'],
  ])('reads of any rules what a scan of the same events reads%s', async (_where, options) => {
    const store = await openStore(`${await postgres?.create()}${options}`);
    await store.write(insertTwoOrganizations);
    await store.write(async (tx) => await store.events.append(tx, 'org-a', events, () => true));
    await fc.assert(
      fc.asyncProperty(request, async (asked) => {
        const [read, expected] = await store.read(async (tx) => [
          await aggregateOne(store.events, tx, asked),
          await scanned(store.events, tx, asked),
        ]);
        expect(shown(read ?? [])).toEqual(shown(expected ?? []));
        const { rules, ...of } = asked;
        const unassignedOutside = [{ fromEpochMs: 0, toEpochMs: 51 }];
        const [[named] = [], ofContract] = await store.read(async (tx) => [
          (await store.events.aggregateNamed(tx, of, { contractIds: ['none', 'contract'], meters: [rules] }))[1],
          await scanned(store.events, tx, {
            ...asked,
            contract: { contractId: 'contract', unassignedOutside },
          }),
        ]);
        expect(shown(named ?? [])).toEqual(shown(ofContract ?? []));
      }),
      { numRuns: 150 },
    );
    await store.close();
  });
});
