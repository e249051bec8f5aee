import { beforeEach, describe, expect, it } from 'vitest';

import { catalogCalls, flat } from '../support/catalog-scenario.ts';
import type { CatalogCalls } from '../support/catalog-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

let { createMeter, createPricing, createPlan, archive } = {} as CatalogCalls;
beforeEach(async () => {
  ({ createMeter, createPricing, createPlan, archive } = catalogCalls(world));
});

const unknownId = '01900000-0000-7000-8000-00000000ffff';
const tiered = { productName: 'Seats', name: 'Seats', model: 'TIER', priceInterval: 'MONTH' };

async function createTiers(...pricingTiers: Record<string, string>[]) {
  return (await world.call('pricing.create', { body: { ...tiered, pricingTiers } })).data;
}

async function getPricing(pricingId: string) {
  return (await world.call('pricing.get', { params: { pricingId } })).data;
}

async function pricingNames(query: Record<string, string> = {}) {
  return (await world.call('pricing.list', { query })).data.map((pricing) => pricing.name);
}

async function productNames() {
  return (await world.call('products.list')).data.map((product) => product.name);
}

describe('products', () => {
  it('are created with the fields that are given', async () => {
    const { status, body } = await world.billing.call('products.create', {
      body: { name: 'Inference', description: 'Tokens' },
    });
    expect(status).toBe(201);
    expect(body.data).toEqual({
      id: expect.stringMatching(/^01900000-/) as unknown,
      name: 'Inference',
      description: 'Tokens',
      createdAt: '2026-03-01T00:00:00.000Z',
    });
    const plain = await world.call('products.create', { body: { name: 'Seats' } });
    expect(plain.data).not.toHaveProperty('description');
  });

  it('have unique names in an organization', async () => {
    await world.call('products.create', { body: { name: 'Inference' } });
    await expect(world.call('products.create', { body: { name: 'Inference' } })).rejects.toMatchObject({
      kind: 'conflict',
    });
    const other = await world.addOrganization('eu');
    expect((await other.call('products.create', { body: { name: 'Inference' } })).status).toBe(201);
  });

  it('are listed newest first, in pages', async () => {
    for (const name of ['a', 'b', 'c']) await world.call('products.create', { body: { name } });
    const page = await world.call('products.list', { query: { limit: '2' } });
    expect(page).toMatchObject({ data: [{ name: 'c' }, { name: 'b' }], hasMore: true, total: 3 });
  });
});

describe('creating a price', () => {
  it('shows the fields that it has and no others', async () => {
    const { status, body } = await world.billing.call('pricing.create', { body: flat });
    expect(status).toBe(201);
    expect(body.data).toEqual({
      id: expect.any(String) as unknown,
      productId: expect.any(String) as unknown,
      productName: 'Support',
      name: 'Support, monthly',
      model: 'FLAT',
      billingMode: 'RECURRING',
      tiering: 'NONE',
      unitAmount: '99.50',
      priceInterval: 'MONTH',
      priceIntervalCount: 1,
      createdAt: '2026-03-01T00:00:00.000Z',
    });
    expect(await getPricing(body.data.id)).toEqual(body.data);
  });

  it('by product name makes the product once and uses it afterwards', async () => {
    const first = await createPricing({ productDescription: 'Humans who answer' });
    const second = await createPricing({ name: 'Support, yearly', priceInterval: 'YEAR' });
    expect(second.productId).toBe(first.productId);
    const { data } = await world.call('products.list');
    expect(data).toMatchObject([{ id: first.productId, name: 'Support', description: 'Humans who answer' }]);
  });

  it('by product id uses that product', async () => {
    const { data: product } = await world.call('products.create', { body: { name: 'Help' } });
    const pricing = await createPricing({ productName: undefined, productId: product.id });
    expect(pricing).toMatchObject({ productId: product.id, productName: 'Help' });
  });

  it('refuses a product id that names none, in one organization and across two', async () => {
    const body = { ...flat, productName: undefined };
    await expect(world.call('pricing.create', { body: { ...body, productId: unknownId } })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'productId: names no product',
    });
    const { productId } = await createPricing();
    const other = await world.addOrganization('eu');
    await expect(other.call('pricing.create', { body: { ...body, productId } })).rejects.toMatchObject({
      message: 'productId: names no product',
    });
  });

  it('by usage refers to an active meter', async () => {
    const meter = await createMeter();
    const usage = { ...flat, model: 'USAGE', unitAmount: '0.000003' };
    expect(await createPricing({ ...usage, meterId: meter.id })).toMatchObject({ meterId: meter.id, tiering: 'NONE' });
    await expect(createPricing({ ...usage, meterId: unknownId })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'meterId: names no meter',
    });
    const old = await createMeter('OLD');
    await world.call('meters.archive', { params: { meterId: old.id } });
    await expect(createPricing({ ...usage, meterId: old.id })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'meterId: names the meter "OLD", which is archived',
    });
    const other = await world.addOrganization('eu');
    await expect(other.call('pricing.create', { body: { ...usage, meterId: meter.id } })).rejects.toMatchObject({
      message: 'meterId: names no meter',
    });
  });

  it('by usage may leave its amount to the rate card', async () => {
    const { id } = await createMeter();
    const pricing = await createPricing({ model: 'USAGE', unitAmount: undefined, meterId: id });
    expect(pricing).toMatchObject({ meterId: id, tiering: 'NONE' });
    expect(pricing).not.toHaveProperty('unitAmount');
  });

  it('that is refused makes no product', async () => {
    await expect(createPricing({ model: 'USAGE', meterId: unknownId })).rejects.toMatchObject({ kind: 'invalidInput' });
    expect(await productNames()).toEqual([]);
  });

  it.each([
    [{ unitAmount: undefined }, 'unitAmount: is required for FLAT'],
    [{ model: 'USAGE' }, 'meterId: is required for USAGE'],
    [{ model: 'TIER', unitAmount: undefined }, 'pricingTiers: is required for a tiered price'],
    [
      { model: 'TIER', unitAmount: undefined, pricingTiers: [{ unitAmount: '1' }], flatAmount: '0.01' },
      'flatAmount: goes into the tiers of a TIER price',
    ],
    [{ priceInterval: undefined }, 'priceInterval: is required when RECURRING'],
    [{ productName: undefined }, 'productId: exactly one of productId and productName is required'],
    [{ billingMode: 'ONE_TIME' }, 'priceInterval: goes with RECURRING only'],
  ])('refuses %j', async (body, message) => {
    await expect(createPricing(body)).rejects.toMatchObject({ kind: 'invalidInput', message });
  });

  it('once has no interval', async () => {
    const pricing = await createPricing({ billingMode: 'ONE_TIME', priceInterval: undefined });
    expect(pricing).not.toHaveProperty('priceInterval');
    expect(pricing).not.toHaveProperty('priceIntervalCount');
  });
});

describe('tiers', () => {
  it('are graduated unless said otherwise', async () => {
    expect((await createTiers({ unitAmount: '1' })).tiering).toBe('GRADUATED');
    const volume = await createPricing({
      ...tiered,
      unitAmount: undefined,
      tiering: 'VOLUME',
      pricingTiers: [{ unitAmount: '1' }],
    });
    expect(volume.tiering).toBe('VOLUME');
  });

  it('come back with every member, each beginning where the one before ends', async () => {
    const { pricingTiers, id } = await createTiers(
      { minQty: '0', maxQty: '10', unitAmount: '12', flatAmount: '5' },
      { minQty: '11', maxQty: '100', unitAmount: '9.50' },
      { maxQty: '', flatAmount: '100' },
    );
    const expected = [
      { minQty: '0', maxQty: '10', unitAmount: '12', flatAmount: '5' },
      { minQty: '10', maxQty: '100', unitAmount: '9.50', flatAmount: '0' },
      { minQty: '100', maxQty: '', unitAmount: '0', flatAmount: '100' },
    ];
    expect(pricingTiers).toEqual(expected);
    expect((await getPricing(id)).pricingTiers).toEqual(expected);
  });

  it.each([
    ['a gap', [{ maxQty: '10' }, { minQty: '12' }], 'pricingTiers[1].minQty'],
    ['an overlap', [{ maxQty: '10' }, { minQty: '9' }], 'pricingTiers[1].minQty'],
    ['a first tier above 0', [{ minQty: '1' }], 'pricingTiers[0].minQty'],
    ['a bound below its start', [{ maxQty: '10' }, { maxQty: '5' }, {}], 'pricingTiers[1].maxQty'],
    ['an end of the last tier', [{ maxQty: '10' }], 'pricingTiers[0].maxQty'],
    ['no end of an earlier tier', [{}, { minQty: '10' }], 'pricingTiers[0].maxQty'],
  ])('with %s are refused', async (_what, tiers, path) => {
    const priced = (tiers as Record<string, string>[]).map((tier) => ({ unitAmount: '1', ...tier }));
    await expect(createTiers(...priced)).rejects.toMatchObject({
      kind: 'invalidInput',
      message: expect.stringMatching(`^${path.replaceAll(/[[\].]/g, '\\$&')}: `) as unknown,
    });
  });

  it('with no amount are refused, since a forgotten one would be free', async () => {
    await expect(createTiers({ maxQty: '10', unitAmount: '1' }, {})).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'pricingTiers[1].unitAmount: is required, or flatAmount: give 0 where the tier is free',
    });
    expect(await createTiers({ maxQty: '10', unitAmount: '0' }, { flatAmount: '0' })).toMatchObject({
      pricingTiers: [{ unitAmount: '0' }, { unitAmount: '0' }],
    });
  });
});

describe('listing prices', () => {
  it('shows the newest first, of one product or of one model', async () => {
    const meter = await createMeter();
    const { productId } = await createPricing({ name: 'a' });
    await createPricing({ name: 'b', productName: 'Inference', model: 'USAGE', meterId: meter.id });
    await createPricing({ name: 'c' });
    expect(await pricingNames()).toEqual(['c', 'b', 'a']);
    expect(await pricingNames({ productId })).toEqual(['c', 'a']);
    expect(await pricingNames({ model: 'USAGE' })).toEqual(['b']);
    expect(await pricingNames({ productId, model: 'USAGE' })).toEqual([]);
    expect(await pricingNames({ productId: unknownId })).toEqual([]);
  });

  it('shows fifty when no limit is given, and at most a hundred', async () => {
    for (let index = 0; index < 51; index += 1) await createPricing({ name: `price ${index}` });
    const page = await world.call('pricing.list');
    expect(page.data).toHaveLength(50);
    expect(page).toMatchObject({ hasMore: true, total: 51 });
    await expect(world.call('pricing.list', { query: { limit: '101' } })).rejects.toMatchObject({ kind: 'badRequest' });
  });
});

describe('archiving a price', () => {
  it('takes it off the list but not out of reach, and doing it again changes nothing', async () => {
    const { id } = await createPricing();
    const archived = await archive(id);
    expect(await archive(id)).toEqual(archived);
    expect(await getPricing(id)).toEqual(archived);
    expect(await pricingNames()).toEqual([]);
  });

  it('is refused while a plan has it', async () => {
    const { id } = await createPricing();
    await createPlan([id], { name: 'Gold' });
    await expect(archive(id)).rejects.toMatchObject({
      kind: 'conflict',
      message: 'the price "Support, monthly" is part of plan "Gold"',
      hint: 'archive that plan first',
    });
    expect(await pricingNames()).toEqual(['Support, monthly']);
  });
});

describe('what another organization has', () => {
  it('is answered like what never was', async () => {
    const pricing = await createPricing();
    const plan = await createPlan([pricing.id]);
    const other = await world.addOrganization('eu');
    for (const pricingId of [pricing.id, unknownId, 'nonsense', '']) {
      for (const name of ['pricing.get', 'pricing.archive'] as const) {
        await expect(other.call(name, { params: { pricingId } })).rejects.toMatchObject({
          kind: 'notFound',
          message: 'no price has this id',
        });
      }
    }
    for (const planId of [plan.id, unknownId, 'nonsense', '']) {
      await expect(other.call('plans.get', { params: { planId } })).rejects.toMatchObject({
        kind: 'notFound',
        message: 'no plan has this id',
      });
    }
    await expect(
      other.call('plans.create', { body: { name: 'Plan', items: [{ pricingId: pricing.id }] } }),
    ).rejects.toMatchObject({ kind: 'invalidInput', message: 'items[0].pricingId: names no price' });
    for (const name of ['products.list', 'pricing.list', 'plans.list'] as const) {
      expect((await other.call(name)).body).toEqual({ data: [], hasMore: false, total: 0 });
    }
  });
});
