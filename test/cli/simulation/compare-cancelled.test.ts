/** Contracts that were cancelled are billed by a replay as they were: before that by their own end, after it by the earlier one. */

import { join } from 'node:path';

import { expect, test } from 'vitest';

import {
  createContract,
  createCustomer,
  createFlatPrice,
  createMeter,
  createPrice,
} from '../../support/usage-scenario.ts';
import { saved, stage, useStage } from '../../support/use-stage.ts';
import { createWorld } from '../../support/world.ts';

useStage('embedded');

test('a fee of a year that was billed before a cancellation stays whole in a replay, at the old price and at a new one', async () => {
  const database = join(stage.directory, 'history.db');
  const world = await createWorld({ database });
  await world.call('clock.set', { body: { to: '2026-03-01' } });
  const pricingIds = [
    await createPrice(world, await createMeter(world, 'TOKENS')),
    await createFlatPrice(world, { unitAmount: '120', priceInterval: 'YEAR' }),
  ];
  for (const [name, endDate] of [['acme'], ['globex', '2027-03-01']] as const) {
    const customerId = await createCustomer(world, name);
    await createContract(world, { customerId, pricingIds, startDate: '2026-03-01', endDate });
  }
  await world.call('clock.advance', { body: { to: '2026-05-11' } });
  for (const { id: contractId } of (await world.call('contracts.list')).data) {
    await world.call('contracts.cancel', { params: { contractId }, body: {} });
  }
  await world.call('clock.advance', { body: { to: '2026-08-01' } });
  await world.close();

  const dearer = `pricing: [{ product: Seats, name: Seat, model: FLAT, priceInterval: YEAR, unitAmount: 240 }]`;
  const compare = ['simulate', 'compare', '--database', database, '--catalog', saved('dearer.yaml', dearer)];
  const found = async (...flags: string[]) => {
    const { stdout } = await stage.tally([...compare, ...flags, '-o', 'json']);
    const { data } = JSON.parse(stdout) as { data: { customers: Record<string, unknown>[]; notes: unknown[] } };
    const rows = data.customers.map((row) => ['billedCents', 'beforeCents', 'afterCents'].map((name) => row[name]));
    return { rows, notes: data.notes };
  };
  const all = await found();
  const early = await found('--to', '2026-05-01');
  const moved = await found('--start-date', '2026-04-01');
  expect(all).toEqual({
    rows: [
      [12000, 12000, 24000],
      [12000, 12000, 24000],
    ],
    notes: [],
  });
  expect(early).toEqual(all);
  // From April to the end of May, 61 days of 365.
  expect(moved.rows.map(([, , afterCents]) => afterCents)).toEqual([4011, 4011]);
});
