import { beforeEach, describe, expect, it } from 'vitest';

import { catalogCalls } from '../support/catalog-scenario.ts';
import type { CatalogCalls } from '../support/catalog-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

let { createMeter, createPricing, createPlan, archive } = {} as CatalogCalls;
beforeEach(async () => {
  ({ createMeter, createPricing, createPlan, archive } = catalogCalls(world));
});

const unknownId = '01900000-0000-7000-8000-00000000ffff';

describe('plans', () => {
  it('have defaults: USD, 30 days, sent by itself, paid by hand, quantity 1', async () => {
    const pricing = await createPricing();
    const { status, body } = await world.billing.call('plans.create', {
      body: { name: 'Plan', items: [{ pricingId: pricing.id }] },
    });
    expect(status).toBe(201);
    expect(body.data).toEqual({
      id: expect.any(String) as unknown,
      name: 'Plan',
      currency: 'USD',
      netTerms: '30',
      metadata: { defaultAutoPayEnabled: false, invoiceSendMethod: 'auto' },
      items: [
        {
          id: expect.any(String) as unknown,
          pricingId: pricing.id,
          productId: pricing.productId,
          productName: 'Support',
          pricingName: 'Support, monthly',
          pricingModel: 'FLAT',
          billingMode: 'RECURRING',
          defaultQuantity: '1',
          isMetered: false,
        },
      ],
      createdAt: '2026-03-01T00:00:00.000Z',
      updatedAt: '2026-03-01T00:00:00.000Z',
    });
  });

  it('keep what is given, and items in their order', async () => {
    const meter = await createMeter();
    const support = await createPricing();
    const usage = await createPricing({ productName: 'Inference', name: 'Calls', model: 'USAGE', meterId: meter.id });
    const metadata = {
      defaultAutoPayEnabled: true,
      invoiceSendMethod: 'manual',
      defaultCreditSettings: { onDepletion: 'alert_only' },
      defaultCreditGrantCents: 50_000,
    };
    const created = await createPlan([], {
      description: 'For everyone',
      netTerms: 'Net 45',
      externalId: 'plan-1',
      metadata,
      items: [{ pricingId: usage.id }, { pricingId: support.id, defaultQuantity: '2.5' }],
    });
    expect(created).toMatchObject({
      description: 'For everyone',
      netTerms: '45',
      externalId: 'plan-1',
      metadata,
      items: [
        { pricingName: 'Calls', isMetered: true, defaultQuantity: '1' },
        { pricingName: 'Support, monthly', isMetered: false, defaultQuantity: '2.5' },
      ],
    });
    const read = await world.call('plans.get', { params: { planId: created.id } });
    expect(read.data).toEqual(created);
    expect((await world.call('plans.list')).data).toEqual([created]);
  });

  it('are listed newest first, in pages', async () => {
    const { id } = await createPricing();
    for (const name of ['a', 'b', 'c']) await createPlan([id], { name });
    const page = await world.call('plans.list', { query: { limit: '2', offset: '1' } });
    expect(page).toMatchObject({ data: [{ name: 'b' }, { name: 'a' }], hasMore: false, total: 3 });
  });

  it('refuse items that name no price, an archived one, or one twice, and list each', async () => {
    const archived = await createPricing({ name: 'old' });
    await archive(archived.id);
    const { id } = await createPricing({ name: 'new' });
    await expect(createPlan([id, unknownId, archived.id, id])).rejects.toMatchObject({
      kind: 'invalidInput',
      issues: [
        { path: 'items[1].pricingId', message: 'names no price' },
        { path: 'items[2].pricingId', message: 'names the price "old", which is archived' },
        { path: 'items[3].pricingId', message: 'names the price "new" a second time' },
      ],
    });
  });

  it.each([
    ['a month and a week', ['MONTH', 1], ['WEEK', 1], false],
    ['two and three months', ['MONTH', 2], ['MONTH', 3], false],
    ['two and three weeks', ['WEEK', 2], ['WEEK', 3], false],
    ['a month and a year', ['MONTH', 1], ['YEAR', 1], true],
    ['three months and a year', ['MONTH', 3], ['YEAR', 1], true],
    ['one and four weeks', ['WEEK', 1], ['WEEK', 4], true],
  ] as const)('take intervals that nest: %s', async (_what, first, second, isAccepted) => {
    const ids: string[] = [];
    for (const [priceInterval, priceIntervalCount] of [first, second]) {
      ids.push((await createPricing({ priceInterval, priceIntervalCount })).id);
    }
    if (isAccepted) {
      await expect(createPlan(ids)).resolves.toMatchObject({ name: 'Plan' });
      return;
    }
    await expect(createPlan(ids)).rejects.toMatchObject({
      kind: 'invalidInput',
      message: expect.stringMatching(/^items: the intervals of the prices do not nest/) as unknown,
    });
  });

  it.each([
    ['a price by number', { unitAmount: '10000000000000' }, '1', undefined],
    ['a price by number', { unitAmount: '10000000000000' }, '1.000000000001', '1000000000001000'],
    ['a price with its flat amount', { unitAmount: '1', flatAmount: '10000000000000' }, '0.01', '1000000000000001'],
    [
      'a price with tiers',
      { model: 'TIER', tiering: 'VOLUME', unitAmount: undefined, pricingTiers: [{ unitAmount: '999999999999999' }] },
      '1',
      '99999999999999900',
    ],
  ])('are of what an invoice can be over: %s, %j', async (_what, price, defaultQuantity, cents) => {
    const { id } = await createPricing(price);
    const created = createPlan([id], { items: [{ pricingId: id, defaultQuantity }] });
    if (cents === undefined) return await expect(created).resolves.toMatchObject({ name: 'Plan' });
    await expect(created).rejects.toMatchObject({
      kind: 'invalidInput',
      message: `items[0].defaultQuantity: comes to ${cents} cents with this price, more than 1000000000000000`,
    });
  });

  it.each([
    [{ currency: 'EUR' }, 'currency: must be "USD"'],
    [{ items: [] }, 'items: must have at least 1 element'],
    [{ netTerms: '366' }, 'netTerms: must be at most 365 days'],
  ])('refuse %j', async (body, message) => {
    const { id } = await createPricing();
    await expect(createPlan([id], body)).rejects.toMatchObject({ kind: 'invalidInput', message });
  });
});
