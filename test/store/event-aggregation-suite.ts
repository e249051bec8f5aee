/** What every event store must read for a meter: exactly a recount of the effective events, whatever happened to them. */

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { MeterRules } from '../../src/calculation/usage-fold.ts';
import type { Transaction } from '../../src/store/database.ts';
import type { EventAggregation, NewEvent } from '../../src/store/event-store.ts';
import type { Store } from '../../src/store/store.ts';
import { day, named, story } from './event-stories.ts';
import { naiveReadings } from './naive-readings.ts';
import {
  aggregateOne,
  contractRow,
  eventOf,
  insertTwoOrganizations,
  row,
  rowsOfReadings,
  sumOfTokens,
} from './rows.ts';

const wholeOfCustomer: EventAggregation = {
  orgId: 'org-a',
  customerId: 'customer',
  boundsEpochMs: [0, 10 * day],
  rules: sumOfTokens,
  dimensions: { needsEventName: false, propertyKeys: [] },
  isStanding: true,
};

export interface AggregationSuiteOptions {
  /** More of the same, for a store that keeps roll-ups: called between steps, to make it fold or forget what it keeps. */
  readonly tidy?: (store: Store) => Promise<void>;
  readonly runs?: number;
}

export function describeEventAggregation(
  backend: string,
  open: () => Promise<Store>,
  { tidy = async () => {}, runs = 40 }: AggregationSuiteOptions = {},
): void {
  describe(`what meters read on ${backend}`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await open();
      await store.write(insertTwoOrganizations);
      await store.write((tx) =>
        tx
          .insertInto('contracts')
          .values(contractRow('org-a', 'other', 'customer'))
          .execute(),
      );
    });
    afterEach(() => store.close());

    const append = async (events: readonly NewEvent[], orgId = 'org-a') => {
      const outcomes = await store.write((tx) => store.events.append(tx, orgId, events, () => true));
      await tidy(store);
      return outcomes;
    };

    /** Read twice: what is kept from the first time must say the same. */
    async function read(request: Partial<EventAggregation> = {}): Promise<string[][]> {
      const whole = { ...wholeOfCustomer, ...request };
      const first = rowsOfReadings(await store.read((tx) => aggregateOne(store.events, tx, whole)));
      const again = rowsOfReadings(await store.read((tx) => aggregateOne(store.events, tx, whole)));
      expect(again).toEqual(first);
      return first;
    }

    const event = (key: string, properties: string, changes: Partial<NewEvent> = {}) =>
      eventOf(key, { propertiesJson: properties, ...changes });

    test('nothing is read where there was nothing', async () => {
      expect(await read({ boundsEpochMs: [0, 5, 10] })).toEqual([[], []]);
    });

    test.each([
      ['SUM', 'tokens', '//: 6 of 3'],
      ['MAX', 'tokens', '//: 3 of 3'],
      ['MIN', 'tokens', '//: 1 of 3'],
      ['COUNT', null, '//: 5 of 5'],
    ] as const)('%s counts what has a value', async (aggregationType, aggregationKey, reading) => {
      const values = ['{"tokens":2}', '{}', '{"tokens":"3"}', '{"tokens":"many"}', '{"tokens":1}'];
      await append(values.map((properties, index) => event(`k${index}`, properties)));
      expect(await read({ rules: { ...sumOfTokens, aggregationType, aggregationKey } })).toEqual([[reading]]);
    });

    test('a group without a value has no reading', async () => {
      await append([event('k1', '{"region":"eu"}'), event('k2', '{"region":"us","tokens":1}')]);
      expect(await read({ rules: { ...sumOfTokens, groupKeys: ['region'] } })).toEqual([['us//: 1 of 1']]);
    });

    test('intervals begin with their first millisecond and end before their last bound', async () => {
      await append(
        [10, 19, 20, 29, 30].map((timestampEpochMs) =>
          event(`k${timestampEpochMs}`, '{"tokens":1}', { timestampEpochMs }),
        ),
      );
      expect(await read({ boundsEpochMs: [10, 20, 30] })).toEqual([['//: 2 of 2'], ['//: 2 of 2']]);
      expect(await read({ boundsEpochMs: [11, 19] })).toEqual([[]]);
    });

    test('days are put together, and cut where the interval cuts them', async () => {
      const times = [day - 1, day, 2 * day - 1, 2 * day, 3 * day];
      await append(
        times.map((timestampEpochMs, index) => event(`k${index}`, `{"tokens":${10 ** index}}`, { timestampEpochMs })),
      );
      expect(await read({ boundsEpochMs: [day, 2 * day, 3 * day] })).toEqual([['//: 110 of 2'], ['//: 1000 of 1']]);
      expect(await read({ boundsEpochMs: [day - 1, 2 * day - 1, 3 * day + 1] })).toEqual([
        ['//: 11 of 2'],
        ['//: 11100 of 3'],
      ]);
    });

    test('a missing group key is the empty group; a missing property is not an empty one', async () => {
      await append([
        event('k1', '{"model":"","region":"","tokens":1}'),
        event('k2', '{"tokens":2}'),
        event('k3', '{"model":null,"region":true,"tokens":4}'),
        event('k4', '{"model":1.10,"region":1.1,"tokens":8}'),
      ]);
      const rules = { ...sumOfTokens, groupKeys: ['model'] };
      const dimensions = { needsEventName: false, propertyKeys: ['region'] };
      expect(await read({ rules })).toEqual([['//: 3 of 2', '1.10//: 8 of 1', 'null//: 4 of 1']]);
      expect(await read({ rules, dimensions })).toEqual([
        ['//region,: 1 of 1', '1.10//region,1.1: 8 of 1', 'null//region,true: 4 of 1', '//: 2 of 1'],
      ]);
    });

    test('names are told apart where it is asked for', async () => {
      await append([event('k1', '{"tokens":1}', { eventName: 'b' }), event('k2', '{"tokens":2}', { eventName: 'a' })]);
      expect(await read()).toEqual([['//: 3 of 2']]);
      expect(await read({ dimensions: { needsEventName: true, propertyKeys: [] } })).toEqual([
        ['/a/: 2 of 1', '/b/: 1 of 1'],
      ]);
    });

    test('names and properties are filtered; exclusion wins', async () => {
      await append([
        event('k1', '{"tokens":1,"model":"x"}', { eventName: 'a' }),
        event('k2', '{"tokens":2,"model":"y"}', { eventName: 'b' }),
        event('k3', '{"tokens":4}', { eventName: 'a' }),
      ]);
      const rules = (changes: Partial<MeterRules>) => ({ rules: { ...sumOfTokens, ...changes } });
      expect(await read(rules({ eventTypeFilter: { include: ['a', 'b'], exclude: ['b'] } }))).toEqual([['//: 5 of 2']]);
      expect(await read(rules({ propertyFilters: [{ name: 'model', include: ['x', 'z'] }] }))).toEqual([
        ['//: 1 of 1'],
      ]);
      expect(await read(rules({ propertyFilters: [{ name: 'model', exclude: ['x'] }] }))).toEqual([['//: 6 of 2']]);
      expect(await read(rules({ propertyFilters: [{ name: 'model', exists: false }] }))).toEqual([['//: 4 of 1']]);
      expect(await read(rules({ propertyFilters: [{ name: 'unheard', exists: true }] }))).toEqual([[]]);
    });

    test('texts that Unicode takes for the same are the same', async () => {
      await append([event('k1', '{"model":"e\u0301","tokens":1}'), event('k2', '{"model":"\u00e9","tokens":2}')]);
      expect(await read({ rules: { ...sumOfTokens, groupKeys: ['model'] } })).toEqual([['\u00e9//: 3 of 2']]);
      expect(
        await read({ rules: { ...sumOfTokens, propertyFilters: [{ name: 'model', include: ['e\u0301'] }] } }),
      ).toEqual([['//: 3 of 2']]);
    });

    test('a filter by a text that Unicode takes for an ASCII one finds that one', async () => {
      await append([event('k1', '{"model":"K","tokens":1}'), event('k2', '{"model":"k","tokens":2}')]);
      const propertyFilters = [{ name: 'model', include: ['\u212a'] }];
      expect(await read({ rules: { ...sumOfTokens, propertyFilters } })).toEqual([['//: 1 of 1']]);
    });

    test('names of properties are only names', async () => {
      await append([event('k1', '{"constructor":1,"tokens":1}'), event('k2', '{"tokens":2}')]);
      expect(await read({ rules: { ...sumOfTokens, aggregationKey: 'constructor' } })).toEqual([['//: 1 of 1']]);
      expect(await read({ rules: { ...sumOfTokens, groupKeys: ['toString'] } })).toEqual([['//: 3 of 2']]);
    });

    test('late events, and those of other customers and organizations, are left out', async () => {
      await append([
        event('k1', '{"tokens":1}'),
        event('k2', '{"tokens":2}', { isLate: true }),
        event('k3', '{"tokens":4}', { customerId: 'only-in-a' }),
      ]);
      await append([event('k1', '{"tokens":8}')], 'org-b');
      expect(await read()).toEqual([['//: 1 of 1']]);
    });

    test('of a contract: the events that name it, and those that name none outside the time of others', async () => {
      await append([
        event('k1', '{"tokens":1}', { contractId: 'contract', timestampEpochMs: 15 }),
        event('k2', '{"tokens":2}', { contractId: 'other', timestampEpochMs: 15 }),
        event('k3', '{"tokens":4}', { timestampEpochMs: 9 }),
        event('k4', '{"tokens":8}', { timestampEpochMs: 10 }),
        event('k5', '{"tokens":16}', { timestampEpochMs: day }),
      ]);
      const unassignedOutside = [{ fromEpochMs: 10, toEpochMs: day }];
      const contract = (contractId: string, outside = unassignedOutside) =>
        read({ contract: { contractId, unassignedOutside: outside } });
      expect(await contract('contract')).toEqual([['//: 21 of 3']]);
      expect(await contract('other', [])).toEqual([['//: 30 of 4']]);
      expect(await contract('unheard')).toEqual([['//: 20 of 2']]);
    });

    test('of several contracts: the events that name each of them, and none that names no contract', async () => {
      await append([
        event('k1', '{"tokens":1}', { contractId: 'contract' }),
        event('k2', '{"tokens":2}', { contractId: 'other', timestampEpochMs: day }),
        event('k3', '{"tokens":4,"model":"\\u0061"}', { contractId: 'other', timestampEpochMs: 2 * day }),
        event('k4', '{"tokens":8}'),
        event('k5', '{"tokens":16}', { contractId: 'other', isLate: true }),
      ]);
      const { rules, ...of } = { ...wholeOfCustomer, boundsEpochMs: [0, 2 * day, 3 * day] };
      const asked = {
        contractIds: ['other', 'unheard', 'unknown', 'contract'],
        meters: [rules, { ...rules, groupKeys: ['model'] }],
      };
      const found = await store.read((tx) => store.events.aggregateNamed(tx, of, asked));
      expect(found.map((meters) => meters.map(rowsOfReadings))).toEqual([
        [
          [['//: 2 of 1'], ['//: 4 of 1']],
          [['//: 2 of 1'], ['a//: 4 of 1']],
        ],
        [
          [[], []],
          [[], []],
        ],
        [
          [[], []],
          [[], []],
        ],
        [
          [['//: 1 of 1'], []],
          [['//: 1 of 1'], []],
        ],
      ]);
    });

    test('a replacement moves what it counts, and leaves nothing behind', async () => {
      await append([event('k1', '{"tokens":1}'), event('k2', '{"tokens":2}')]);
      expect(await read()).toEqual([['//: 3 of 2']]);
      await append([event('k1', '{"tokens":4}', { timestampEpochMs: 2 * day })]);
      expect(await read({ boundsEpochMs: [0, day, 3 * day] })).toEqual([['//: 2 of 1'], ['//: 4 of 1']]);
      await append([event('k1', '{"tokens":8}', { customerId: 'only-in-a' })]);
      expect(await read()).toEqual([['//: 2 of 1']]);
      expect(await read({ customerId: 'only-in-a' })).toEqual([['//: 8 of 1']]);
    });

    test.each([
      ['a tenth ten thousand times', Array.from({ length: 10_000 }, () => '0.1'), '1000'],
      ['beyond 2^53', ['9007199254740993e-1', '900719925474099.3', '999999999999999', '0.7'], '2801439850948198.3'],
      [
        'of numbers beyond 2^53',
        ['9007199254740993', '"18446744073709551617"', '-1e39'],
        '-999999999999999999981544248727035707390',
      ],
      ['beyond int64', Array.from({ length: 10_000 }, () => '999999999999999.999'), '9999999999999999990'],
      [
        'forty decimals',
        ['1e-40', '999999999999999', '-1e-39'],
        '999999999999998.9999999999999999999999999999999999999991',
      ],
      ['cancelling', ['1e14', '0.001', '-1e14'], '0.001'],
      ['leading zeros in texts, exponents', ['"007"', '1E2', '"1e1"', '-0'], '117'],
      ['out of range and no numbers', ['1', '"1e40"', '"1e-41"', 'true', 'null', '" 2"', '"0x10"'], '1'],
    ])('a sum is exact: %s', async (_, values, sum) => {
      await append(
        values.map((value, index) => event(`k${index}`, `{"tokens":${value}}`, { timestampEpochMs: index })),
      );
      expect((await read())[0]?.[0]).toMatch(new RegExp(`^//: ${sum.replace('.', '\\.')} of `));
    });

    test('any story of writes and reads is a recount of the effective events', async () => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(story, named, async (steps, contractIds) => {
          run += 1;
          const effective = new Map<string, NewEvent>();
          const customerId = `c${run}`;
          await store.write((tx) => insertCustomer(tx, customerId));
          for (const { events, request, repeats } of steps) {
            const batch = events.map((each, index) => ({
              ...each,
              contractId: contractIds[index % contractIds.length] ?? null,
              idempotencyKey: `${run}:${each.idempotencyKey}`,
              customerId: each.customerId === 'own' ? customerId : 'customer',
            }));
            await append(batch);
            for (const each of batch) {
              if (!isRepeated(effective.get(each.idempotencyKey), each)) effective.set(each.idempotencyKey, each);
            }
            for (let read = 0; read < repeats; read += 1) {
              const { meters, ...of } = { ...wholeOfCustomer, ...request, customerId };
              const found = await store.read((tx) => store.events.aggregate(tx, of, meters));
              const counted = meters.map((rules) => naiveReadings([...effective.values()], { ...of, rules }));
              expect(found.map(rowsOfReadings)).toEqual(counted);
            }
            const { meters, contract: _contract, ...of } = { ...wholeOfCustomer, ...request, customerId };
            const asked = { contractIds: ['other', 'unheard', 'contract'], meters };
            const found = await store.read((tx) => store.events.aggregateNamed(tx, of, asked));
            const counted = asked.contractIds.map((contractId) => {
              const contract = { contractId, unassignedOutside: [{ fromEpochMs: 0, toEpochMs: Infinity }] };
              return meters.map((rules) => naiveReadings([...effective.values()], { ...of, contract, rules }));
            });
            expect(found.map((readings) => readings.map(rowsOfReadings))).toEqual(counted);
          }
        }),
        { numRuns: runs },
      );
    });
  });
}

async function insertCustomer(tx: Transaction, id: string): Promise<void> {
  await tx.insertInto('customers').values(row.customer('org-a', id)).execute();
}

/** Sent again with the same content, an event stays what it was, even if it would now be late. */
function isRepeated(known: NewEvent | undefined, next: NewEvent): boolean {
  return known !== undefined && JSON.stringify({ ...known, isLate: next.isLate }) === JSON.stringify(next);
}
