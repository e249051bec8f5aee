/** More events than are held at once, of a day that is more than one segment. */

import { afterEach, beforeEach, expect, test } from 'vitest';

import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { aggregateOne, eventOf, insertTwoOrganizations } from './rows.ts';

let store: Store;

beforeEach(async () => {
  store = await openStore(':memory:');
  await store.write(insertTwoOrganizations);
});
afterEach(async () => await store.close());

const rules = {
  aggregationType: 'SUM',
  aggregationKey: 'tokens',
  eventTypeFilter: { include: [], exclude: [] },
  propertyFilters: [],
  groupKeys: [],
} as const;

async function send(first: number, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, index) =>
    eventOf(`k${first + index}`, {
      customerId: (first + index) % 10 === 0 ? 'only-in-a' : 'customer',
      timestampEpochMs: first + index,
    }),
  );
  await store.write(async (tx) => await store.events.append(tx, 'org-a', events, () => true));
}

/** What each of the customers is billed for, and what is wrong. */
async function look() {
  return await store.read(async (tx) => {
    const quantities = [];
    for (const customerId of ['customer', 'only-in-a']) {
      const of = { orgId: 'org-a', customerId, boundsEpochMs: [0, 86_400_000] };
      const dimensions = { needsEventName: false, propertyKeys: [] };
      const [readings] = await aggregateOne(store.events, tx, { ...of, dimensions, isStanding: false, rules });
      quantities.push(readings?.map(({ quantity, count }) => [String(quantity), count]));
    }
    return { quantities, faults: await store.events.upkeep?.listFaults(tx, 'org-a') };
  });
}

test('made anew, and then grown, each event counts once', async () => {
  for (let first = 0; first < 70_000; first += 10_000) await send(first, 10_000);
  await store.write(async (tx) => await store.events.upkeep?.rebuild(tx));
  expect(await look()).toEqual({ quantities: [[['63000', 63_000]], [['7000', 7_000]]], faults: [] });
  await send(70_000, 20_000);
  expect(await look()).toEqual({ quantities: [[['81000', 81_000]], [['9000', 9_000]]], faults: [] });
});
