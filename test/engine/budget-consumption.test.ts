import { expect, test } from 'vitest';

import { invoiceAt, subscribe, use } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld({ start: '2026-04-15T00:00:00.000Z' });

async function subscribeWith(eventPropertyValue: string): Promise<Subscription> {
  const budgets = [{ eventPropertyKey: 'model', eventPropertyValue, maxCreditsCents: 75 }];
  return await subscribe(world, { contract: { creditSettings: { budgets } } });
}

test('usage of a cancelled invoice is consumed by no budget, and that of others still is', async () => {
  const acme = await subscribeWith('large');
  await use(world, acme, { tokens: 70, at: '2026-03-10T00:00:00Z', model: 'large' });
  await use(world, acme, { tokens: 5, at: '2026-04-10T00:00:00Z', model: 'large' });
  const consumed = async () => {
    const { data } = await world.call('budgets.usage', { params: { contractId: acme.contractId } });
    return data.budgets.map(({ consumedCents }) => consumedCents);
  };
  expect(await consumed()).toEqual([75]);
  await world.call('invoices.cancel', { params: { invoiceId: (await invoiceAt(world, acme, 0)).id } });
  expect(await consumed()).toEqual([5]);
});

test.each([
  ['composed', 'decomposed', 'caf\u00e9', 'cafe\u0301'],
  ['decomposed', 'composed', 'cafe\u0301', 'caf\u00e9'],
])(
  'a budget whose value is given in %s letters is exhausted by usage in %s ones',
  async (_one, _other, value, model) => {
    const acme = await subscribeWith(value);
    await use(world, acme, { tokens: 75, at: '2026-04-10T00:00:00Z', model });
    const { data } = await world.call('budgets.list', { params: { contractId: acme.contractId } });
    expect(data.budgets[0]?.isExhausted).toBe(true);
  },
);
