import { expect, test } from 'vitest';

import { invoiceAt, subscribe, use } from '../support/billing-scenario.ts';
import { createWorld } from '../support/world.ts';

test('usage of a cancelled invoice is consumed by no budget, and that of others still is', async () => {
  const world = await createWorld({ start: '2026-04-15T00:00:00.000Z' });
  const budgets = [{ eventPropertyKey: 'model', eventPropertyValue: 'large', maxCreditsCents: 100 }];
  const acme = await subscribe(world, { contract: { creditSettings: { budgets } } });
  await use(world, acme, { tokens: 70, at: '2026-03-10T00:00:00Z', model: 'large' });
  await use(world, acme, { tokens: 5, at: '2026-04-10T00:00:00Z', model: 'large' });
  const consumed = async () => {
    const { data } = await world.call('budgets.usage', { params: { contractId: acme.contractId } });
    return data.budgets.map(({ consumedCents }) => consumedCents);
  };
  expect(await consumed()).toEqual([75]);
  await world.call('invoices.cancel', { params: { invoiceId: (await invoiceAt(world, acme, 0)).id } });
  expect(await consumed()).toEqual([5]);
  await world.close();
});
