/** More contracts than one transaction works off. */

import { expect, test } from 'vitest';

import { limits } from '../../src/limits.ts';
import { subscribe } from '../support/billing-scenario.ts';
import { createCustomer } from '../support/usage-scenario.ts';
import { createWorld } from '../support/world.ts';

test('a bill run works contracts off by batches, and misses none', async () => {
  const others = 2 * limits.billRunBatch;
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z', graceHours: 12 });
  const first = await subscribe(world, { contract: { endDate: '2026-04-01' } });
  const { planId } = (await world.call('contracts.get', { params: { contractId: first.contractId } })).data;
  for (let index = 0; index < others; index += 1) {
    const customerId = await createCustomer(world, `customer ${index}`);
    await world.call('contracts.create', {
      body: { customerId, planId, startDate: '2026-03-01', endDate: '2026-04-01' },
    });
  }
  world.clock.set('2026-05-01T00:00:00Z');
  expect((await world.call('bill.run', { body: {} })).data).toMatchObject({
    finalizedCount: others + 1,
    endedContractCount: others + 1,
    failedCount: 0,
  });
  await world.close();
});
