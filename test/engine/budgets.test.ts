import { beforeEach, describe, expect, test } from 'vitest';

import { refusalOf } from '../support/refusal.ts';
import { createContract, createCustomer, createMeter, createPrice, send } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld({ start: '2026-03-15T12:00:00.000Z' });

let customerId: string;
let meterId: string;
let contractId: string;
beforeEach(async () => {
  customerId = await createCustomer(world, 'acme');
  meterId = await createMeter(world, 'TOKENS');
  contractId = await createContract(world, { customerId, pricingIds: [await createPrice(world, meterId)] });
});

type Body = Record<string, unknown>;
const large = { eventPropertyKey: 'model', eventPropertyValue: 'large' };

async function add(body: Body = {}, ifMatch?: string) {
  const input = { params: { contractId }, body: { ...large, ...body } };
  return await world.billing.call('budgets.add', ifMatch === undefined ? input : { ...input, ifMatch });
}

async function update(index: string, body: Body, ifMatch?: string) {
  const input = { params: { contractId, index }, body };
  return await world.billing.call('budgets.update', ifMatch === undefined ? input : { ...input, ifMatch });
}

async function remove(index: string, ifMatch?: string) {
  const input = { params: { contractId, index } };
  return await world.billing.call('budgets.remove', ifMatch === undefined ? input : { ...input, ifMatch });
}

async function list(id: string = contractId) {
  return await world.billing.call('budgets.list', { params: { contractId: id } });
}

async function budgetsOf(id?: string) {
  return (await list(id)).body.data.budgets;
}

async function usage(id: string = contractId) {
  return (await world.call('budgets.usage', { params: { contractId: id } })).data;
}

/** Consumed credits, cents and percent of each budget. */
async function consumed(id?: string) {
  return (await usage(id)).budgets.map((budget) => [
    budget.consumedUnits,
    budget.consumedCents,
    budget.percentConsumed,
  ]);
}

/** Usage of one cent a token. */
async function use(tokens: number, properties: Body = { model: 'large' }, more: Body = {}) {
  await send(world, { customerId, properties: { tokens, ...properties }, ...more });
}

describe('adding a budget', () => {
  test('answers 201 with the budget behind the others', async () => {
    const { status, body } = await add({ maxCreditsCents: 5000 });
    expect(status).toBe(201);
    expect(body.data).toEqual({
      index: 0,
      label: 'model=large',
      ...large,
      meterId: null,
      maxCredits: null,
      maxCreditsCents: 5000,
      isExhausted: false,
    });
    const second = await add({ eventPropertyValue: 'small', label: 'Small models', meterId, maxCredits: 12.5 });
    expect(second.body.data).toMatchObject({ index: 1, label: 'Small models', meterId, maxCredits: 12.5 });
  });

  test('for a dimension that has one is a conflict', async () => {
    await add();
    expect(await refusalOf(add({ label: 'Again', meterId }))).toBe(
      'conflict this contract has a budget for model=large already',
    );
    expect(await refusalOf(add({ eventPropertyKey: 'tier' }))).toBe('accepted');
  });

  test('for an unknown meter is refused', async () => {
    expect(await refusalOf(add({ meterId: 'x' }))).toBe('invalidInput meterId: names no meter');
  });

  test('beyond a hundred is a conflict', async () => {
    for (let count = 0; count < 100; count += 1) await add({ eventPropertyValue: `model ${count}` });
    expect(await refusalOf(add())).toContain('conflict');
  });
});

describe('the budgets of a contract', () => {
  test('are listed with contract and mode', async () => {
    await add({ maxCreditsCents: 1 });
    const { body } = await list();
    expect(body.data).toMatchObject({
      contractId,
      walletMode: 'dollars',
      budgets: [{ index: 0, label: 'model=large' }],
    });
  });

  test('can be given with the contract', async () => {
    const budgets = [
      { ...large, maxCreditsCents: 100 },
      { ...large, eventPropertyValue: 'small', label: 'Small' },
    ];
    const pricingIds = [await createPrice(world, meterId)];
    const other = await createContract(world, { customerId, pricingIds, creditSettings: { budgets } });
    expect((await budgetsOf(other)).map((budget) => [budget.index, budget.label, budget.maxCreditsCents])).toEqual([
      [0, 'model=large', 100],
      [1, 'Small', null],
    ]);
  });

  test('that are given with the contract are checked like those that are added', async () => {
    const pricingIds = [await createPrice(world, meterId)];
    const create = async (...budgets: Body[]) =>
      await refusalOf(createContract(world, { customerId, pricingIds, creditSettings: { budgets } }));
    expect(await create(large, { ...large, meterId: 'x' })).toBe(
      'invalidInput creditSettings.budgets[1].meterId: names no meter',
    );
    expect(await create(large, large)).toBe(
      'invalidInput creditSettings.budgets[1].eventPropertyValue: has a budget already',
    );
  });

  test('are in credits where the contract has a rate for them', async () => {
    const pricingIds = [await createPrice(world, meterId)];
    const other = await createContract(world, { customerId, pricingIds, creditSettings: { creditRateCents: 2 } });
    expect((await list(other)).body.data.walletMode).toBe('credits');
  });

  test('are in credits once credits were granted, and not for dollars alone', async () => {
    const grant = async (body: Body) =>
      await world.call('credits.grant', {
        params: { contractId },
        body: { expiresAt: '2027-01-01T00:00:00Z', ...body },
      });
    await grant({ amountCents: 100 });
    expect((await list()).body.data.walletMode).toBe('dollars');
    await grant({ creditRateCents: 2, creditAmount: 10 });
    expect((await list()).body.data.walletMode).toBe('credits');
  });
});

describe('changing a budget', () => {
  beforeEach(async () => {
    await add({ maxCreditsCents: 100 });
    await add({ eventPropertyValue: 'small' });
  });

  test('changes the fields that are given, and no other', async () => {
    const label = 'Large models';
    const { body } = await update('0', { label });
    expect(body.data).toMatchObject({ index: 0, label, maxCreditsCents: 100, meterId: null, isExhausted: false });
    expect((await update('0', { maxCreditsCents: null, maxCredits: 3, meterId })).body.data).toEqual({
      index: 0,
      label,
      ...large,
      meterId,
      maxCredits: 3,
      maxCreditsCents: null,
      isExhausted: false,
    });
    expect(await budgetsOf()).toHaveLength(2);
  });

  test.each(['2', '-1', '1.5', 'x', '', '01'])('at index "%s" finds nothing', async (index) => {
    expect(await refusalOf(update(index, { label: 'x' }))).toBe('notFound this contract has no budget at this index');
    expect(await refusalOf(remove(index))).toBe('notFound this contract has no budget at this index');
  });

  test('of an unknown contract, and of another organization, finds nothing', async () => {
    const eu = await world.addOrganization('eu');
    const params = { contractId, index: '0' };
    const calls = [
      eu.call('budgets.list', { params: { contractId } }),
      eu.call('budgets.usage', { params: { contractId } }),
      eu.call('budgets.add', { params: { contractId }, body: large }),
      eu.call('budgets.update', { params, body: { label: 'x' } }),
      eu.call('budgets.remove', { params }),
    ];
    // All at once: one that is refused while another is waited for would be a rejection that nobody handles.
    expect(new Set(await Promise.all(calls.map(refusalOf)))).toEqual(new Set(['notFound no contract has this id']));
    expect(await refusalOf(list('x'))).toBe('notFound no contract has this id');
  });

  test('for an unknown meter is refused', async () => {
    expect(await refusalOf(update('0', { meterId: 'x' }))).toBe('invalidInput meterId: names no meter');
  });
});

describe('removing a budget', () => {
  test('answers what it was, and moves the ones behind it up', async () => {
    for (const eventPropertyValue of ['a', 'b', 'c']) await add({ eventPropertyValue });
    expect((await remove('1')).body.data.removed).toMatchObject({ index: 1, eventPropertyValue: 'b' });
    expect((await budgetsOf()).map((budget) => [budget.index, budget.eventPropertyValue])).toEqual([
      [0, 'a'],
      [1, 'c'],
    ]);
    expect((await add({ eventPropertyValue: 'b' })).body.data.index).toBe(2);
  });
});

describe('the version of a list of budgets', () => {
  test('rises with every change, and is not touched by reading', async () => {
    const versions = [(await list()).etag, (await add()).etag, (await update('0', { label: 'x' })).etag];
    versions.push((await list()).etag, (await remove('0')).etag);
    expect(versions).toEqual(['0', '1', '2', '2', '3']);
  });

  test('stays where a budget is given nothing, or what it has: nothing changes, and an index or a version that is wrong is refused', async () => {
    const before = (await add({ maxCreditsCents: 100, maxCredits: 5 })).body.data;
    const same = { label: before.label, meterId: null, maxCreditsCents: 100, maxCredits: JSON.rawJSON('5.0') };
    for (const body of [{}, same]) {
      expect(await update('0', body)).toMatchObject({ status: 200, body: { data: before }, etag: '1' });
    }
    expect((await list()).etag).toBe('1');
    expect(await refusalOf(update('1', {}))).toContain('notFound');
    expect(await refusalOf(update('0', {}, '0'))).toContain('preconditionFailed');
  });

  test('that was overtaken is refused, before the index is looked at', async () => {
    const seen = (await add()).etag;
    await add({ eventPropertyValue: 'small' });
    const message = 'preconditionFailed the budgets of this contract are at version 2, not at 1: somebody changed them';
    expect(await refusalOf(update('0', { label: 'x' }, seen))).toBe(message);
    expect(await refusalOf(remove('7', seen))).toBe(message);
    expect(await refusalOf(add({ eventPropertyValue: 'tiny' }, seen))).toBe(message);
    expect(await refusalOf(update('0', { label: 'x' }, '2'))).toBe('accepted');
    expect(await refusalOf(update('0', { label: 'y' }, '*'))).toBe('accepted');
  });
});

describe('consumption', () => {
  test('is the rated usage of the dimension, over the whole life of the contract', async () => {
    await add({ maxCreditsCents: 200 });
    await add({ eventPropertyValue: 'small' });
    await use(30, { model: 'large' }, { timestamp: '2026-01-10T00:00:00Z' });
    await use(40);
    await use(25, { model: 'small' });
    await use(500, {});
    expect(await usage()).toMatchObject({ contractId, walletMode: 'dollars', queriedAt: '2026-03-15T12:00:00.000Z' });
    expect(await consumed()).toEqual([
      [0, 70, 35],
      [0, 25, 0],
    ]);
  });

  test('counts finalized periods as well, and late events in neither', async () => {
    await add();
    await use(30, { model: 'large' }, { timestamp: '2026-01-10T00:00:00Z' });
    const { data } = await world.call('invoices.list', { query: { limit: '100' } });
    const [january] = data.toSorted((a, b) => (a.invoiceDate < b.invoiceDate ? -1 : 1));
    await world.call('invoices.finalize', { params: { invoiceId: january?.id ?? '' } });
    await use(7, { model: 'large' }, { timestamp: '2026-01-11T00:00:00Z' });
    await use(5);
    expect(await consumed()).toEqual([[0, 35, 0]]);
  });

  test('is of the meter alone that the budget names', async () => {
    const calls = await createMeter(world, 'CALLS', { aggregationType: 'COUNT' });
    const pricingIds = [await createPrice(world, calls), await createPrice(world, meterId)];
    const globex = await createCustomer(world, 'globex');
    const budgets = [
      { ...large, meterId: calls },
      { ...large, eventPropertyKey: 'family', meterId: null },
    ];
    const other = await createContract(world, { customerId: globex, pricingIds, creditSettings: { budgets } });
    await send(world, { customerId: globex, properties: { tokens: 50, model: 'large', family: 'large' } });
    expect(await consumed(other)).toEqual([
      [0, 1, 0],
      [0, 51, 0],
    ]);
  });

  test('is in credits by the rate of the contract', async () => {
    const creditSettings = { creditRateCents: 3, budgets: [{ ...large, maxCredits: 20 }] };
    const pricingIds = [await createPrice(world, meterId)];
    const globex = await createCustomer(world, 'globex');
    const other = await createContract(world, { customerId: globex, pricingIds, creditSettings });
    await send(world, { customerId: globex, properties: { tokens: 10, model: 'large' } });
    expect(await consumed(other)).toEqual([[3.333333, 10, 16.67]]);
  });

  test.each([
    ['a cap of 0 is used up', { maxCreditsCents: 0 }, 100],
    ['no cap is never used', {}, 0],
    ['more than the cap is more than 100', { maxCreditsCents: 8 }, 125],
    ['of two caps the nearer counts', { maxCreditsCents: 40, maxCredits: 100 }, 25],
  ])('in percent: %s', async (_, caps, percent) => {
    await add(caps);
    await use(10);
    expect((await usage()).budgets[0]?.percentConsumed).toBe(percent);
  });

  test('of a number or boolean is that of its JSON text', async () => {
    await add({ eventPropertyKey: 'isCached', eventPropertyValue: 'true' });
    await use(10, { isCached: true });
    await use(10, { isCached: false });
    expect(await consumed()).toEqual([[0, 10, 0]]);
  });
});

describe('a budget that is removed', () => {
  test('leaves those of another contract in their places', async () => {
    const second = await createContract(world, { customerId, pricingIds: [await createPrice(world, meterId)] });
    for (const id of [contractId, second]) {
      for (const eventPropertyValue of ['large', 'small']) {
        const body = { eventPropertyKey: 'model', eventPropertyValue };
        await world.call('budgets.add', { params: { contractId: id }, body });
      }
    }
    await remove('0');
    await world.call('budgets.remove', { params: { contractId: second, index: '1' } });
    const values = async (id: string) => (await budgetsOf(id)).map(({ eventPropertyValue }) => eventPropertyValue);
    expect([await values(contractId), await values(second)]).toEqual([['small'], ['large']]);
  });
});

describe('a budget that reaches its cap', () => {
  const isExhausted = async () => (await budgetsOf())[0]?.isExhausted;

  test('is exhausted by the event that reaches it, and not before', async () => {
    await add({ maxCreditsCents: 100 });
    await use(99);
    expect(await isExhausted()).toBe(false);
    await use(1);
    expect(await isExhausted()).toBe(true);
  });

  test('is exhausted in the same way where its cap is in credits alone', async () => {
    const body = { creditAmount: 100, creditRateCents: 10, expiresAt: '2027-01-01T00:00:00Z' };
    await world.call('credits.grant', { params: { contractId }, body });
    await add({ maxCredits: 10 });
    await use(99);
    expect(await isExhausted()).toBe(false);
    await use(1);
    expect(await isExhausted()).toBe(true);
  });

  test('is not exhausted by usage of another dimension, customer or contract', async () => {
    await add({ maxCreditsCents: 100 });
    const second = await createContract(world, { customerId, pricingIds: [await createPrice(world, meterId)] });
    await use(500, { model: 'small' });
    await use(500, { model: 'large' }, { contractId: second });
    await use(500, { model: 'large' }, { customerId: await createCustomer(world, 'globex') });
    expect(await isExhausted()).toBe(false);
  });

  test('never without a cap', async () => {
    await add();
    await use(1_000_000);
    await usage();
    expect(await isExhausted()).toBe(false);
  });

  test('is found out by reading its usage, where no event told, at an instant that time never goes behind', async () => {
    await use(100);
    await add({ maxCreditsCents: 100 });
    expect(await isExhausted()).toBe(false);
    world.clock.advance({ hours: 1 });
    const { budgets, queriedAt } = await usage();
    expect(budgets[0]).toMatchObject({ isExhausted: true, percentConsumed: 100 });
    expect(await isExhausted()).toBe(true);
    world.clock.advance({ hours: -1 });
    expect((await usage()).queriedAt).toBe(queriedAt);
  });

  test('is armed again by another value of its cap, and exhausted again at that', async () => {
    await add({ maxCreditsCents: 100 });
    await use(100);
    expect((await update('0', { label: 'x', maxCreditsCents: 100 })).body.data.isExhausted).toBe(true);
    expect((await update('0', { maxCreditsCents: 150 })).body.data.isExhausted).toBe(false);
    await use(49);
    expect(await isExhausted()).toBe(false);
    await use(1);
    expect(await isExhausted()).toBe(true);
  });

  test('is not armed again by the same cap in other digits', async () => {
    await add({ maxCreditsCents: 100, maxCredits: JSON.rawJSON('5.0') });
    await use(100);
    expect((await update('0', { maxCredits: 5 })).body.data.isExhausted).toBe(true);
    expect((await update('0', { maxCredits: null })).body.data.isExhausted).toBe(false);
  });

  test('does not keep usage from coming in', async () => {
    await add({ maxCreditsCents: 100 });
    await use(100);
    await use(1000);
    expect(await consumed()).toEqual([[0, 1100, 1100]]);
  });
});
