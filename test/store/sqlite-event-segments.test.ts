/** Segments: of more events than are held at once, of a day that is more than one, of several days, and their totals. */

import { afterEach, expect, test } from 'vitest';

import type { Transaction } from '../../src/store/database.ts';
import type { AggregatedEvents, NewEvent } from '../../src/store/event-store.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store, StoreOptions } from '../../src/store/store.ts';
import { turnOver } from '../../src/turns.ts';
import { aggregateOne, eventOf, insertTwoOrganizations, sumOfTokens } from './rows.ts';

const day = 86_400_000;

let store: Store;

async function open(eventUpkeep?: StoreOptions['eventUpkeep']): Promise<void> {
  store = await openStore(':memory:', { eventUpkeep });
  await store.write(insertTwoOrganizations);
}
afterEach(async () => await store.close());

const send = async (events: readonly NewEvent[]) =>
  await store.write(async (tx) => await store.events.append(tx, 'org-a', events, () => true));

/** What a meter reads of a customer, kept for whoever asks again: the quantity, of how many events. */
async function readIn(
  tx: Transaction,
  customerId: string,
  [from, to]: readonly [number, number],
  {
    aggregationType = 'SUM',
    ...options
  }: Pick<AggregatedEvents, 'isOnce'> & { readonly aggregationType?: 'SUM' | 'MAX' } = {},
) {
  const of = { orgId: 'org-a', customerId, boundsEpochMs: [from, to], isStanding: true, ...options };
  const dimensions = { needsEventName: false, propertyKeys: [] };
  const [readings = []] = await aggregateOne(store.events, tx, {
    ...of,
    dimensions,
    rules: { ...sumOfTokens, aggregationType },
  });
  return readings.map(({ quantity, count }) => [String(quantity), count]);
}

const read = async (customerId: string, bounds: readonly [number, number]) =>
  await store.read(async (tx) => await readIn(tx, customerId, bounds));

const faults = async () => await store.read(async (tx) => await store.events.upkeep?.listFaults(tx, 'org-a'));

test('more events than are held at once count once, made anew and then grown, in as many segments as a day needs', async () => {
  await open();
  const sendFrom = async (first: number, count: number) =>
    await send(
      Array.from({ length: count }, (_, index) =>
        eventOf(`k${first + index}`, {
          customerId: (first + index) % 10 === 0 ? 'only-in-a' : 'customer',
          timestampEpochMs: first + index,
        }),
      ),
    );
  const both = async () => [await read('customer', [0, day]), await read('only-in-a', [0, day])];
  for (let first = 0; first < 66_000; first += 22_000) await sendFrom(first, 22_000);
  await store.write(async (tx) => await store.events.upkeep?.rebuild(tx));
  expect(await both()).toEqual([[['59400', 59_400]], [['6600', 6_600]]]);
  await sendFrom(66_000, 17_000);
  expect(await both()).toEqual([[['74700', 74_700]], [['8300', 8_300]]]);
  expect(await faults()).toEqual([]);
}, 120_000);

test('the last day of a segment of eight is found by itself, and gives up what is replaced', async () => {
  await open({ longestTail: 3, leastKept: 100 });
  const days = Array.from({ length: 8 }, (_, index) => 20 + index);
  await send(
    days.flatMap((each) => ['a', 'b'].map((key) => eventOf(`${key}${each}`, { timestampEpochMs: each * day }))),
  );
  const last = [27 * day, 28 * day] as const;
  expect(await read('customer', last)).toEqual([['2', 2]]);
  await send([eventOf('a27', { timestampEpochMs: 40 * day })]);
  expect(await read('customer', last)).toEqual([['1', 1]]);
  expect(await read('customer', [0, 50 * day])).toEqual([['16', 16]]);
  expect(await faults()).toEqual([]);
});

test('segments whose numbers have other decimals are read each as they are', async () => {
  await open({ longestTail: 3, leastKept: 100 });
  for (const [at, tokens] of [
    [10, '1'],
    [20, '2.5'],
    [30, '0.125'],
    [40, '4'],
  ] as const) {
    const propertiesJson = `{"tokens":${tokens}}`;
    await send(['a', 'b', 'c'].map((key) => eventOf(`${key}${at}`, { timestampEpochMs: at * day, propertiesJson })));
  }
  expect(await read('customer', [0, 50 * day])).toEqual([['22.875', 12]]);
});

test.each([2 ** 8, 2 ** 16, 2 ** 32, 10 ** 14].flatMap((most) => [most - 1, most]))(
  'numbers from 0 to %s are read as they were sent',
  async (most) => {
    await open({ longestTail: 3, leastKept: 100 });
    const events = [0, most, most].map((tokens, index) =>
      eventOf(`k${index}`, { timestampEpochMs: index, propertiesJson: `{"tokens":${tokens}}` }),
    );
    await send(events);
    expect(await read('customer', [0, day])).toEqual([[String(2 * most), 3]]);
  },
);

const large = [...Array.from({ length: 9 }, () => 999_999_999_999_999), 999_999_999_999_998];

test.each([
  ['that decimals beside them make longer', ['900000000000001', '0.01', '0.01'], '900000000000001.02'],
  ['that come to more on the way than in the end', [...large, ...large.map((each) => -each), 1], '1'],
])('numbers %s are added without a loss', async (_which, numbers, sum) => {
  await open({ longestTail: 3, leastKept: 100 });
  await send(
    numbers.map((tokens, index) =>
      eventOf(`k${index}`, { timestampEpochMs: index, propertiesJson: `{"tokens":${tokens}}` }),
    ),
  );
  expect(await read('customer', [0, day])).toEqual([[sum, numbers.length]]);
});

test('a property with more texts than a call takes arguments is added up, in segments that are read as one', async () => {
  await open();
  const days = Array.from({ length: 33 }, (_, index) => index);
  for (const each of days) {
    await send(
      Array.from({ length: 4_000 }, (_, index) =>
        eventOf(`k${each}-${index}`, {
          timestampEpochMs: each * day + index,
          propertiesJson: `{"tokens":"${100_000 + each * 4_000 + index}"}`,
        }),
      ),
    );
  }
  await store.write(async (tx) => await store.events.upkeep?.rebuild(tx));
  const bill = async (tx: Transaction) => await readIn(tx, 'customer', [0, 33 * day], { isOnce: true });
  expect(await store.read(bill)).toEqual([['21911934000', 132_000]]);
}, 120_000);

test('totals that a reader found out are not kept of a segment that has changed since', async () => {
  await open({ longestTail: 3, leastKept: 1 });
  const events = (name: string) => ['a', 'b', 'c', 'd'].map((key) => eventOf(`${name}-${key}`));
  await send(events('first'));
  const found = Promise.withResolvers<void>();
  const isHeldUp = Promise.withResolvers<void>();
  const reading = store.read(async (tx) => {
    const answer = await readIn(tx, 'customer', [0, day]);
    found.resolve();
    await isHeldUp.promise;
    return answer;
  });
  await found.promise;
  // It has its turn before what the reader found is kept.
  const writing = send(events('then'));
  for (let turn = 0; turn < 3; turn += 1) await turnOver();
  isHeldUp.resolve();
  expect(await reading).toEqual([['4', 4]]);
  await writing;
  for (const _again of [1, 2]) expect(await read('customer', [0, day])).toEqual([['8', 8]]);
  expect(await faults()).toEqual([]);
});

test('totals that a write read of its own events are not taken for those of the next one when they are undone', async () => {
  await open({ longestTail: 3, leastKept: 1 });
  const events = (tokens: number) =>
    ['a', 'b', 'c', 'd'].map((key) => eventOf(key, { propertiesJson: `{"tokens":${tokens}}` }));
  // Found out and kept for the rule, so that the next revision has some to be looked for.
  await send([1, 2, 3, 4].map((index) => eventOf(`known-${index}`)));
  expect(await read('customer', [0, day])).toEqual([['4', 4]]);
  const undone = store.write(async (tx) => {
    await store.events.append(tx, 'org-a', events(10), () => true);
    for (const _again of [1, 2]) {
      expect(await readIn(tx, 'customer', [0, day])).toEqual([['44', 8]]);
    }
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  await send(events(1));
  expect(await read('customer', [0, day])).toEqual([['8', 8]]);
});

test('totals of a meter that a write was first to read are not taken for those of another one when it is undone', async () => {
  await open({ longestTail: 3, leastKept: 1 });
  await send([1, 2, 3, 4].map((index) => eventOf(`k${index}`)));
  const undone = store.write(async (tx) => {
    for (const _again of [1, 2]) expect(await readIn(tx, 'customer', [0, day])).toEqual([['4', 4]]);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  const most = async () =>
    await store.read(async (tx) => await readIn(tx, 'customer', [0, day], { aggregationType: 'MAX' }));
  for (const _again of [1, 2]) expect(await most()).toEqual([['1', 4]]);
});

test('a scan of one instant goes by arrival, though an event that was replaced has left its segment', async () => {
  await open();
  await send([eventOf('k1'), eventOf('k2')]);
  await store.write(async (tx) => await store.events.upkeep?.rebuild(tx));
  await send([eventOf('k1', { propertiesJson: '{"tokens":3}' })]);
  const request = { orgId: 'org-a', customerId: 'customer', fromEpochMs: 0, toEpochMs: day };
  const tokens: unknown[] = [];
  await store.read((tx) => store.events.scan(tx, request, ({ properties }) => tokens.push(properties['tokens'])));
  expect(tokens).toEqual([3, 1]);
});
