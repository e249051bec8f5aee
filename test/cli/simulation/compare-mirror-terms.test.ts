/** What a mirror knows of the terms of a contract only by its invoices, and by what became of them. */

import { join } from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { createCustomer, createFlatPrice, createMeter, createPrice } from '../../support/usage-scenario.ts';
import { saved, stage, useStage } from '../../support/use-stage.ts';
import { countedIds, createWorld } from '../../support/world.ts';

useStage('http');
let found: Record<string, readonly unknown[]>;
let notes: readonly { readonly customer: string; readonly note: string }[];

beforeAll(async () => {
  const nextId = countedIds();
  const newId = () => nextId().replace(/^0190/, '0191');
  const world = await createWorld({ database: join(stage.directory, 'stage.db'), clock: stage.clock, newId });
  const seat = await createFlatPrice(world, { name: 'Seat', unitAmount: '10', flatAmount: '2.50' });
  const year = await createFlatPrice(world, { name: 'Year', unitAmount: '120', priceInterval: 'YEAR' });
  const tokens = await createPrice(world, await createMeter(world, 'TOKENS'));
  const plan = async (name: string, ...ids: readonly string[]) => {
    const items = ids.map((pricingId) => ({ pricingId }));
    return (await world.call('plans.create', { body: { name, items } })).data.id;
  };
  const monthly = await plan('Monthly', tokens, seat);
  const contracts: string[] = [];
  const subscribe = async (name: string, terms: object) => {
    const customerId = await createCustomer(world, name);
    const body = { customerId, planId: monthly, startDate: '2026-03-01', ...terms };
    contracts.push((await world.call('contracts.create', { body })).data.id);
    return { contractId: contracts.at(-1) ?? '' };
  };
  const override = { basePricingId: seat, unitAmount: '3', quantity: '2', flatAmount: '1.25' };
  await subscribe('agreed', { overrides: [override] });
  const buyer = await subscribe('buyer', {});
  const unbegun = await subscribe('unbegun', { startDate: '2026-04-10', endDate: '2026-08-10' });
  const voided = await subscribe('voided', { endDate: '2026-05-01' });
  const leaver = await subscribe('leaver', { planId: await plan('Yearly', tokens, year) });
  stage.clock.set('2026-03-09T00:00:00Z');
  await world.call('credits.grantPaid', { params: buyer, body: { amountCents: 700 } });
  await world.call('contracts.cancel', { params: unbegun, body: {} });
  for (const now of ['2026-04-01', '2026-05-01']) {
    stage.clock.set(`${now}T00:00:00Z`);
    await world.call('bill.run');
  }
  await world.call('contracts.cancel', { params: leaver, body: {} });
  for (const { id, contractId } of (await world.call('invoices.list', { query: { limit: '100' } })).data) {
    if (contractId === voided.contractId) await world.call('invoices.cancel', { params: { invoiceId: id } });
  }
  stage.clock.set('2026-06-01T00:00:00Z');
  await world.call('bill.run');
  await world.close();

  const mirror = join(stage.directory, 'mirror.db');
  await stage.tally(['pull', '--to', mirror, '--contract', ...contracts, '--published']);
  const dearer = `pricing: [{ product: Seats, name: Year, model: FLAT, priceInterval: YEAR, unitAmount: 240 }]`;
  const compare = ['simulate', 'compare', '--database', mirror, '--to', '2026-06-01', '-o', 'json'];
  const { stdout } = await stage.tally([...compare, '--catalog', saved('dearer.yaml', dearer)]);
  const { data } = JSON.parse(stdout) as { data: { customers: Record<string, unknown>[]; notes: typeof notes } };
  found = Object.fromEntries(
    data.customers.map((row) => [
      row['customer'],
      ['billedCents', 'beforeCents', 'afterCents'].map((name) => row[name]),
    ]),
  );
  ({ notes } = data);
});

test.each([
  ['a flat amount that was agreed on beside a fixed price is charged each month', 'agreed', [2175, 2175, 2175]],
  ['credits that were bought after the beginning are on no invoice', 'buyer', [3750, 3750, 3750]],
  ['a contract that was cancelled before it began bills nothing', 'unbegun', [0, 0, 0]],
  ['a contract that ended is billed, though all of its invoices were cancelled', 'voided', [0, 2500, 2500]],
  ['a fee of a year that was billed before a cancellation stays whole', 'leaver', [12000, 12000, 24000]],
])('%s', (_rule, customer, amounts) => {
  expect(found[customer]).toEqual(amounts);
  const told = notes.filter((each) => each.customer === customer).map(({ note }) => note.split('; ').at(-1));
  expect(told).toEqual(customer === 'voided' ? ['cancellations are not repeated (2 invoices)'] : []);
});
