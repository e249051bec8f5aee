import { expect, test } from 'vitest';

import { useWorld, world } from '../support/use-world.ts';

useWorld({ start: '2026-01-01T00:00:00.000Z' });

test('an invoice of before a cancellation is explained by the terms of before it', async () => {
  const contacts = [{ name: 'Ada', email: 'ada@example.com', roles: ['primary'] }];
  const { data: customer } = await world.call('customers.create', { body: { name: 'Acme', contacts } });
  const items: { pricingId: string }[] = [];
  for (const [name, priceInterval, unitAmount] of [
    ['Licence', 'YEAR', '1200'],
    ['Support', 'MONTH', '10'],
  ]) {
    const body = { productName: 'Platform', name, model: 'FLAT', priceInterval, unitAmount };
    items.push({ pricingId: (await world.call('pricing.create', { body })).data.id });
  }
  const { data: plan } = await world.call('plans.create', { body: { name: 'Team', items } });
  const { data: contract } = await world.call('contracts.create', {
    body: { planId: plan.id, customerId: customer.id, startDate: '2026-01-01' },
  });
  const { data: drafts } = await world.call('invoices.list', { query: { status: 'Drafted' } });
  const invoiceId = drafts.at(-1)?.id ?? '';
  const finalized = await world.call('invoices.finalize', { params: { invoiceId } });
  expect(finalized.data.totalCents).toBe(121_000);
  world.clock.set('2026-01-15T00:00:00Z');
  await world.call('contracts.cancel', { params: { contractId: contract.id } });
  const { data: explained } = await world.call('invoices.explain', { params: { invoiceId } });
  expect(explained).toMatchObject({ totalCents: 121_000, disagreements: [] });
});
