/** New events that come at once stand in a run of pieces by customer: each customer's are found, whichever piece they are in. */

import { afterEach, beforeEach, expect, test } from 'vitest';

import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { eventOf, insertTwoOrganizations, row } from './rows.ts';

/** Nothing is absorbed, and from 33 events on a call makes a run. */
const eventUpkeep = { longestTail: 1_056, leastKept: 1 };
const customers = 40;

let store: Store;
beforeEach(async () => {
  store = await openStore(':memory:', { eventUpkeep });
  await store.write(async (tx) => {
    await insertTwoOrganizations(tx);
    for (let place = 0; place < customers; place += 1) {
      await tx
        .insertInto('customers')
        .values(row.customer(place % 5 === 0 ? 'org-b' : 'org-a', idOf(place)))
        .execute();
    }
  });
});
afterEach(async () => await store.close());

const idOf = (place: number): string => `customer-${place}`;
const orgOf = (place: number): string => (place % 5 === 0 ? 'org-b' : 'org-a');

/** `countOf` says how many new events each customer has in a run of its organization. */
async function appendRuns(countOf: (place: number) => number): Promise<void> {
  for (const orgId of ['org-a', 'org-b']) {
    const events = Array.from({ length: customers }, (_, place) => place)
      .filter((place) => orgOf(place) === orgId)
      .flatMap((place) =>
        Array.from({ length: countOf(place) }, (_, index) =>
          eventOf(`${place}-${index}`, { customerId: idOf(place), timestampEpochMs: 1_000 * place + index }),
        ),
      );
    await store.write((tx) => store.events.append(tx, orgId, events, () => true));
  }
}

const keysOf = (place: number): Promise<string[]> =>
  store.read(async (tx) => {
    const query = { orgId: orgOf(place), customerId: idOf(place), limit: 1_000, offset: 0 };
    return (await store.events.list(tx, query)).rows.map(({ idempotencyKey }) => idempotencyKey).toSorted();
  });

const totalOf = (orgId: string): Promise<number> =>
  store.read(async (tx) => (await store.events.list(tx, { orgId, limit: 1, offset: 0 })).total);

test.each([
  ['few events each', () => 12],
  ['one with more than a piece holds', (place: number) => (place === 17 ? 400 : 5)],
  [
    'the first and the last with more than a piece holds',
    (place: number) => ([0, 1, 38, 39].includes(place) ? 180 : 1),
  ],
  ['some with none', (place: number) => (place % 3 === 0 ? 0 : 20)],
])('%s: every customer has its own, and both organizations their totals', async (_, countOf) => {
  await appendRuns(countOf);
  const totals = { 'org-a': 0, 'org-b': 0 };
  for (let place = 0; place < customers; place += 1) {
    const keys = Array.from({ length: countOf(place) }, (__, index) => `${place}-${index}`);
    expect(await keysOf(place)).toEqual(keys.toSorted());
    totals[orgOf(place) as keyof typeof totals] += keys.length;
  }
  expect(await totalOf('org-a')).toBe(totals['org-a']);
  expect(await totalOf('org-b')).toBe(totals['org-b']);
});

test('a version that goes to another customer leaves the piece that it was in', async () => {
  await appendRuns(() => 12);
  const moved = [1, 2, 38, 39].map((place) => eventOf(`${place}-3`, { customerId: idOf(22), timestampEpochMs: 7 }));
  await store.write((tx) => store.events.append(tx, 'org-a', moved, () => true));
  for (const place of [1, 2, 38, 39]) expect(await keysOf(place)).not.toContain(`${place}-3`);
  expect(await keysOf(22)).toHaveLength(16);
  expect(await totalOf('org-a')).toBe(12 * 32);
  expect(await store.read(async (tx) => await store.events.upkeep?.listFaults(tx, 'org-a'))).toEqual([]);
});
