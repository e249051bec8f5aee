/** The cost of a contract whose term ends long after now. */

import { expect, test, vi } from 'vitest';

import { createContract, createCustomer, createMeter, createPrice, send } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld({ start: '2026-03-15T12:00:00.000Z' });

test('asks no store of periods that lie ahead, but for those that an event may be in already', async () => {
  const customerId = await createCustomer(world, 'acme');
  const pricingIds = [await createPrice(world, await createMeter(world, 'TOKENS'))];
  const contractId = await createContract(world, { customerId, pricingIds, endDate: '2100-12-31' });
  const total = async () => (await world.call('usage.cost', { body: { contractId } })).totalAmount;
  const aggregate = vi.spyOn(world.store.events, 'aggregate');
  const bounds = () => aggregate.mock.calls.map(([, { boundsEpochMs }]) => boundsEpochMs.length);
  expect(await total()).toBe(0);
  expect(bounds()).toEqual([4]);
  world.clock.set('2026-03-31T23:00:00.000Z');
  for (const timestamp of ['2026-03-31T12:00:00.000Z', '2026-04-01T00:00:00.000Z']) {
    await send(world, { customerId, timestamp, properties: { tokens: 50 } });
  }
  expect(await total()).toBe(1);
  expect(bounds()).toEqual([4, 5]);
  aggregate.mockRestore();
});
