/** Reliability 9: a wall clock that is more than five minutes behind stored time is told of. */

import { beforeEach, expect, test } from 'vitest';

import { createContract, createCustomer, createFlatPrice } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

const newest = '2026-03-01T00:00:00.000Z';

useWorld({ start: newest });

beforeEach(async () => {
  await create('first');
});

async function create(name: string): Promise<string | undefined> {
  return (await world.billing.call('products.create', { body: { name } })).aheadOfClock;
}

async function billed(): Promise<(string | undefined)[]> {
  const answer = await world.billing.call('bill.run', { body: {} });
  return [answer.aheadOfClock, (await world.engine.billDue())?.aheadOfClock];
}

test('a write and a bill run say what the newest row is of, once the clock is more than five minutes behind it', async () => {
  world.clock.set('2026-02-28T23:55:00.000Z');
  expect([await create('second'), ...(await billed())]).toEqual([undefined, undefined, undefined]);
  world.clock.set('2026-02-28T23:54:59.999Z');
  expect([await create('third'), ...(await billed())]).toEqual([newest, newest, newest]);
  world.clock.set(newest);
  expect([await create('fourth'), ...(await billed())]).toEqual([undefined, undefined, undefined]);
});

test('nothing is said by readings, nor where time is simulated', async () => {
  world.clock.set('2026-01-01T00:00:00.000Z');
  expect(await world.billing.call('products.list')).not.toHaveProperty('aheadOfClock');
  await world.call('clock.advance', { body: { by: 'P1D' } });
  expect([await create('second'), (await billed())[0]]).toEqual([undefined, undefined]);
});

test('a bill run goes by the clock, and finalizes no period that is over for the books alone', async () => {
  const customerId = await createCustomer(world, 'acme');
  await createContract(world, { customerId, pricingIds: [await createFlatPrice(world)], startDate: '2026-02-01' });
  world.clock.set('2026-05-15T00:00:00.000Z');
  await create('far ahead');
  world.clock.set('2026-03-15T00:00:00.000Z');
  // Of February and of March, which began before the clock; fixed prices are billed in advance.
  const { body } = await world.billing.call('bill.run', { body: {} });
  expect(body.data).toMatchObject({ until: '2026-03-15T00:00:00.000Z', finalizedCount: 2 });
  await expect(world.call('bill.run', { body: { until: '2026-05-01T00:00:00Z' } })).rejects.toThrow(
    'until: must not be after now, 2026-03-15T00:00:00.000Z',
  );
});

test('of another organization, which the run does not bill, nothing is said', async () => {
  const other = await world.addOrganization('other');
  world.clock.set('2026-05-15T00:00:00.000Z');
  await other.call('products.create', { body: { name: 'far ahead' } });
  world.clock.set('2026-03-02T00:00:00.000Z');
  expect((await world.billing.call('bill.run', { body: {} })).aheadOfClock).toBeUndefined();
  const { aheadOfClock } = await world.billing.call('bill.run', { body: { allOrganizations: true } });
  expect(aheadOfClock).toBe('2026-05-15T00:00:00.000Z');
});
