import { beforeEach, expect, test } from 'vitest';

import { useWorld, world } from '../support/use-world.ts';

useWorld();

let ids: { productId: string; pricingId: string; planId: string };

beforeEach(async () => {
  const { data: pricing } = await world.call('pricing.create', {
    body: { productName: 'Platform', name: 'Fee', model: 'FLAT', unitAmount: '20', priceInterval: 'MONTH' },
  });
  const { data: plan } = await world.call('plans.create', {
    body: { name: 'Team', items: [{ pricingId: pricing.id }] },
  });
  ids = { productId: pricing.productId, pricingId: pricing.id, planId: plan.id };
});

const archivePlan = async () => await world.call('plans.archive', { params: { planId: ids.planId } });
const archivePricing = async () => await world.call('pricing.archive', { params: { pricingId: ids.pricingId } });
const archiveProduct = async () => await world.call('products.archive', { params: { productId: ids.productId } });

test('plan, price and product are archived in this order alone, since each is used by the one before', async () => {
  await expect(archivePricing()).rejects.toMatchObject({ kind: 'conflict' });
  await expect(archiveProduct()).rejects.toMatchObject({ kind: 'conflict' });
  await archivePlan();
  await expect(archiveProduct()).rejects.toMatchObject({ kind: 'conflict' });
  await archivePricing();
  await archiveProduct();
});

test('archiving again changes nothing', async () => {
  const first = await archivePlan();
  world.clock.advance({ hours: 1 });
  expect(await archivePlan()).toEqual(first);
  await archivePricing();
  await archiveProduct();
  await archiveProduct();
});

test('what is archived can be read by id, and is in no list', async () => {
  await archivePlan();
  await archivePricing();
  await archiveProduct();
  expect(await world.call('plans.get', { params: { planId: ids.planId } })).toMatchObject({ data: { name: 'Team' } });
  expect(await world.call('products.get', { params: { productId: ids.productId } })).toMatchObject({
    data: { name: 'Platform' },
  });
  expect((await world.call('plans.list')).total).toBe(0);
  expect((await world.call('products.list')).total).toBe(0);
});

test('nothing new can be made of it, which says that it is archived, and its name is free', async () => {
  await archivePlan();
  await archivePricing();
  await archiveProduct();
  const contacts = [{ name: 'Ada', email: 'ada@example.com', roles: ['primary'] }];
  const { data: customer } = await world.call('customers.create', { body: { name: 'Acme', contacts } });
  await expect(
    world.call('contracts.create', { body: { planId: ids.planId, customerId: customer.id, startDate: '2026-03-01' } }),
  ).rejects.toMatchObject({ kind: 'invalidInput', message: 'planId: names the plan "Team", which is archived' });
  const price = { name: 'Fee', model: 'FLAT', unitAmount: '20', priceInterval: 'MONTH' };
  await expect(world.call('pricing.create', { body: { ...price, productId: ids.productId } })).rejects.toMatchObject({
    kind: 'invalidInput',
    message: 'productId: names the product "Platform", which is archived',
  });
  expect(await world.call('products.create', { body: { name: 'Platform' } })).toMatchObject({
    data: { name: 'Platform' },
  });
});

test.each(['plans.get', 'plans.archive', 'products.get', 'products.archive'] as const)(
  '%s answers the same for an unknown id and for one of another organization',
  async (name) => {
    const other = await world.addOrganization('other');
    const given = name.startsWith('plans') ? { planId: ids.planId } : { productId: ids.productId };
    const unknown = name.startsWith('plans') ? { planId: 'x' } : { productId: 'x' };
    const refusals = await Promise.all(
      [given, unknown].map(async (params) => await other.call(name, { params }).catch((error: unknown) => error)),
    );
    expect(refusals[0]).toMatchObject({ kind: 'notFound', message: expect.stringContaining('has this id') });
    expect((refusals[0] as Error).message).toBe((refusals[1] as Error).message);
  },
);
