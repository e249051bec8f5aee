import { describe, expect, test } from 'vitest';

import { invoiceAt, linesOf, refusal, use } from '../support/billing-scenario.ts';
import { createCustomer, createMeter, createPlan, createPrice } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

/** A plan of one price without a unit amount, whose meter has a rate for the large model. */
async function offer(fallbackUnitAmount: string | null) {
  const customerId = await createCustomer(world, 'acme');
  const meterId = await createMeter(world, 'TOKENS', { groupKeys: ['model'] });
  await world.call('meters.setRateCard', {
    params: { meterId },
    body: { rates: [{ dimensions: { model: 'large' }, unitAmount: '2' }], fallbackUnitAmount },
  });
  const pricingId = await createPrice(world, meterId, { unitAmount: undefined });
  const planId = await createPlan(world, [pricingId]);
  return { customerId, meterId, pricingId, body: { planId, customerId, startDate: '2026-03-01' } };
}

type Offered = Pick<Awaited<ReturnType<typeof offer>>, 'meterId' | 'pricingId'>;

describe('a contract with a price of usage that has no amount of its own', () => {
  test('is billed by the rate card', async () => {
    const { body, ...parts } = await offer('0.5');
    const acme = { ...parts, contractId: (await world.call('contracts.create', { body })).data.id };
    await use(world, acme, { at: '2026-03-01T00:00:00Z', tokens: 3, model: 'large' });
    await use(world, acme, { at: '2026-03-01T00:00:00Z', tokens: 3, model: 'new' });
    expect(linesOf(await invoiceAt(world, acme, 0))).toEqual(['Tokens 600', 'Tokens 150']);
  });

  test('is refused where usage that no rate names would cost nothing', async () => {
    const { body } = await offer(null);
    expect(await refusal(world, 'contracts.create', { body })).toBe(
      '422 planId: the price "Tokens" has no unit amount, and the rate card of its meter no fallback',
    );
    expect((await world.call('contracts.list')).total).toBe(0);
  });

  test.each([
    ['of its price', ({ pricingId }: Offered) => ({ basePricingId: pricingId, unitAmount: '0.25' })],
    ['of all usage of its meter', ({ meterId }: Offered) => ({ meterId, dimensions: {}, unitAmount: '0.25' })],
  ])('takes the amount of an override %s', async (_what, override) => {
    const { body, ...parts } = await offer(null);
    const { data } = await world.call('contracts.create', { body: { ...body, overrides: [override(parts)] } });
    const acme = { ...parts, contractId: data.id };
    await use(world, acme, { at: '2026-03-01T00:00:00Z', tokens: 2, model: 'new' });
    expect(linesOf(await invoiceAt(world, acme, 0))).toEqual(['Tokens 50']);
  });

  test('is refused where an override names a rate for some of its usage alone', async () => {
    const { body, meterId } = await offer(null);
    const overrides = [{ meterId, dimensions: { model: 'new' }, unitAmount: '0.25' }];
    expect(await refusal(world, 'contracts.create', { body: { ...body, overrides } })).toContain('has no unit amount');
  });
});
