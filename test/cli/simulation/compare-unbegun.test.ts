import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createContract, createCustomer, createMeter, createPrice, send } from '../../support/usage-scenario.ts';
import { stage, useStage } from '../../support/use-stage.ts';
import { createWorld } from '../../support/world.ts';

useStage('embedded');

test('usage that names a contract which never began is billed on no other contract', async () => {
  const database = join(stage.directory, 'never-began.db');
  const world = await createWorld({ database });
  await world.call('clock.set', { body: { to: '2026-01-02' } });
  const meterId = await createMeter(world, 'TOKENS');
  const customerId = await createCustomer(world, 'acme');
  const pricingIds = [await createPrice(world, meterId, { unitAmount: '1' })];
  await createContract(world, { customerId, pricingIds });
  const contractId = await createContract(world, { customerId, pricingIds, startDate: '2026-02-01' });
  await world.call('contracts.cancel', { params: { contractId }, body: {} });
  for (const named of [{}, { contractId }]) {
    await send(world, { customerId, properties: { tokens: 10 }, timestamp: '2026-01-01T12:00:00Z', ...named });
  }
  await world.close();

  const only = ['--database', database, '--grant', 'amount-cents=500'];
  const { stdout } = await stage.tally(['simulate', 'compare', ...only, '-o', 'json']);
  expect(JSON.parse(stdout)).toMatchObject({
    data: { notes: [], customers: [{ billedCents: 1000, beforeCents: 1000, afterCents: 500 }] },
  });
});
