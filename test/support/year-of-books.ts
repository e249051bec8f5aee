/** A database in which a year holds everything that falls due: two organizations, seven contracts, grants, pauses, ends. */

import { grant, subscribe, use } from './billing-scenario.ts';
import type { Subscription } from './billing-scenario.ts';
import { createContract, createFlatPrice, createMeter, createPrice } from './usage-scenario.ts';
import { createWorld } from './world.ts';
import type { World } from './world.ts';

/** Written to `file`; its clock stands at 20 February 2027, a year before a leap day. */
export async function writeYear(file: string): Promise<World> {
  const world = await createWorld({ database: file });
  await world.call('clock.set', { body: { to: '2027-01-31' } });
  await world.call('webhooks.create', { body: { url: 'https://hooks.example.com/' } });
  await beginContracts(world);
  const billing = await world.addOrganization('second');
  const second: World = { ...world, billing, call: async (name, input) => (await billing.call(name, input)).body };
  const other = await subscribe(second, { contract: { startDate: '2027-02-01' } });
  await grant(second, other, { amountCents: 1000, expiresAt: '2027-03-01T00:00:00Z' });
  return world;
}

async function beginContracts(world: World): Promise<void> {
  const monthEnd = await subscribe(world, {
    name: 'monthend',
    contract: {
      startDate: '2027-01-31',
      creditSettings: {
        creditRateCents: 3,
        alertThresholdsCents: [500],
        budgets: [{ eventPropertyKey: 'model', eventPropertyValue: 'large', maxCreditsCents: 150 }],
      },
    },
  });
  const term = await subscribe(world, {
    name: 'term',
    contract: { startDate: '2027-01-15', endDate: '2027-08-20', creditGrantCents: 2500, netTerms: 14 },
  });
  const weekly = await subscribe(world, {
    name: 'weekly',
    price: { priceInterval: 'WEEK' },
    contract: { startDate: '2027-01-31', endDate: '2030-01-31' },
  });
  const paused = await subscribe(world, { name: 'paused', contract: { startDate: '2027-01-31' } });
  const cancelled = await subscribe(world, { name: 'cancelled', contract: { startDate: '2027-01-10' } });
  const backdated = await subscribe(world, { name: 'backdated', contract: { startDate: '2026-09-30' } });
  await addSecondContract(world, term);
  const everyone = [monthEnd, term, weekly, paused, cancelled, backdated];
  for (const [index, each] of everyone.entries()) await fill(world, each, index);
  await world.call('clock.advance', { body: { to: '2027-02-20' } });
  for (const each of everyone) {
    await use(world, each, { tokens: 123.456, at: '2027-02-20T00:30:00Z', model: 'large' });
  }
  await world.call('customers.pause', { params: { customerId: paused.customerId }, body: { until: '2027-06-05' } });
  await world.call('customers.pause', { params: { customerId: term.customerId }, body: {} });
  await world.call('contracts.cancel', {
    params: { contractId: cancelled.contractId },
    body: { cancelAt: 'end_of_period' },
  });
}

async function fill(world: World, each: Subscription, index: number): Promise<void> {
  await grant(world, each, { amountCents: 300 + index, expiresAt: `2027-03-0${index + 1}T0${index}:30:00Z` });
  await grant(world, each, { amountCents: 0, creditRateCents: 0, creditAmount: 50, expiresAt: '2027-07-01T00:00:00Z' });
  for (const day of ['15', '31']) {
    await use(world, each, {
      tokens: 10.5 + index,
      at: `2027-01-${day}T00:15:00Z`,
      model: index % 2 ? 'large' : 'small',
    });
  }
}

/** A fee in advance and usage in arrears, of different intervals. */
async function addSecondContract(world: World, { customerId }: Subscription): Promise<void> {
  const meterId = await createMeter(world, 'CALLS', { aggregationType: 'COUNT' });
  const calls = await createPrice(world, meterId, { name: 'Calls', priceInterval: 'MONTH', priceIntervalCount: 3 });
  await createContract(world, {
    customerId,
    pricingIds: [calls, await createFlatPrice(world)],
    startDate: '2027-01-31',
    endDate: '2028-03-15',
  });
}
