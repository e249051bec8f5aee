import { beforeEach, describe, expect, test } from 'vitest';

import { refusalOf } from '../support/refusal.ts';
import {
  createContract,
  createCustomer,
  createMeter,
  createPrice,
  invoicesOf,
  meteredCustomer,
} from '../support/usage-scenario.ts';
import type { MeteredCustomer } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld({ start: '2026-03-15T12:00:00.000Z' });

let { customerId, meterId, pricingId, contractOf, cost, total, use } = {} as MeteredCustomer;
beforeEach(async () => {
  ({ customerId, meterId, pricingId, contractOf, cost, total, use } = await meteredCustomer(world));
});

describe('the cost of a contract', () => {
  test('by the names of events leaves out meters that count none of them', async () => {
    const chat = await createMeter(world, 'CHAT', { eventTypeFilter: { include: ['chat'] } });
    const contractId = await contractOf({ pricingIds: [pricingId, await createPrice(world, chat)] });
    await use('2026-01-10', 100);
    await use('2026-01-10', 20, { eventName: 'chat' });
    expect(await total(contractId)).toBe(1.4);
    expect(await total(contractId, { eventNames: ['call'] })).toBe(1);
    expect(await total(contractId, { eventNames: ['chat'] })).toBe(0.4);
  });

  test('is by default of its whole term', async () => {
    const contractId = await contractOf();
    await use('2026-01-10', 250);
    expect(await cost(contractId)).toEqual({
      totalAmount: 2.5,
      currency: 'USD',
      unit: 'currency',
      startDate: '2026-01-01T00:00:00.000Z',
      endDate: '2027-01-01T00:00:00.000Z',
      queriedAt: '2026-03-15T12:00:00.000Z',
      contractId,
    });
  });

  test('is of a rolling contract until now', async () => {
    const contractId = await contractOf({ endDate: undefined });
    expect(await cost(contractId)).toMatchObject({ endDate: '2026-03-15T12:00:00.000Z' });
  });

  test('that has not begun is 0', async () => {
    const contractId = await contractOf({ startDate: '2026-04-01', endDate: undefined });
    const start = '2026-04-01T00:00:00.000Z';
    expect(await cost(contractId)).toMatchObject({ totalAmount: 0, startDate: start, endDate: start });
  });

  test('that was cancelled is until its last day', async () => {
    const contractId = await contractOf({ endDate: undefined });
    await world.call('contracts.cancel', { params: { contractId }, body: { cancelAt: 'end_of_period' } });
    expect(await cost(contractId)).toMatchObject({ endDate: '2026-04-01T00:00:00.000Z' });
  });

  test.each([
    [0.4, 0],
    [0.5, 0.03],
    [0.6, 0.03],
  ])('rounds each line of each period: three months of %d cents', async (tokens, expected) => {
    const contractId = await contractOf();
    for (const month of ['01', '02', '03']) await use(`2026-${month}-10`, tokens);
    expect(await total(contractId)).toBe(expected);
  });

  test('of a whole period is the metered part of its invoice, to the cent', async () => {
    const grouped = await createMeter(world, 'GROUPED', { groupKeys: ['model'] });
    const tiers = [
      { minQty: '0', maxQty: '100', unitAmount: '0.003', flatAmount: '1' },
      { minQty: '100', unitAmount: '0.002' },
    ];
    const tiered = await createPrice(world, grouped, { pricingTiers: tiers });
    const contractId = await createContract(world, { customerId, pricingIds: [pricingId, tiered] });
    for (const model of ['large', 'small', 'tiny']) {
      await use('2026-02-10', 133.33, { properties: { tokens: 133.33, model } });
    }
    const [january, february] = await invoicesOf(world, contractId);
    const range = { startDate: '2026-02-01T00:00:00Z', endDate: '2026-03-01T00:00:00Z' };
    // 399.99 at 0.01, and three times 1 + 100 at 0.003 + 33.33 at 0.002: 4.00 + 3 x 1.37.
    expect(february?.totalCents).toBe(811);
    expect(await total(contractId, range)).toBe(8.11);
    expect(await total(contractId, { ...range, startDate: '2026-01-01T00:00:00Z' })).toBe(9.11);
    expect(january?.totalCents).toBe(100);
  });

  test('of a part of a period is that of the usage inside', async () => {
    const contractId = await contractOf();
    await use('2026-01-10', 100);
    await use('2026-01-20', 10);
    await use('2026-02-10', 1);
    const range = { startDate: '2026-01-15T00:00:00Z', endDate: '2026-03-01T00:00:00Z' };
    expect(await total(contractId, range)).toBe(0.11);
  });

  test('is by the prices that were frozen into it', async () => {
    const contractId = await contractOf();
    world.clock.advance({ minutes: 1 });
    await createPrice(world, meterId, { unitAmount: '9' });
    await use('2026-02-10', 100);
    expect(await total(contractId)).toBe(1);
  });

  test('owes the flat amount of a first tier for every period, but not for a part of the usage', async () => {
    const pricingTiers = [{ minQty: '0', unitAmount: '0.01', flatAmount: '5' }];
    const tiered = await createPrice(world, meterId, { pricingTiers });
    const contractId = await contractOf({ pricingIds: [tiered] });
    const range = { startDate: '2026-01-01T00:00:00Z', endDate: '2026-03-01T00:00:00Z' };
    expect(await total(contractId, range)).toBe(10);
    expect(await total(contractId, { ...range, propertyFilters: [{ key: 'team', value: 'red' }] })).toBe(0);
    expect(await total(contractId)).toBe(60);
    expect(await total(contractId, { propertyFilters: [{ key: 'team', value: 'red' }] })).toBe(0);
    expect(await total(contractId, { eventNames: ['call'] })).toBe(0);
  });

  test('counts only meters of the event names asked for', async () => {
    const chats = await createMeter(world, 'CHATS', { eventTypeFilter: { include: ['chat'] } });
    const contractId = await contractOf({ pricingIds: [pricingId, await createPrice(world, chats)] });
    await use('2026-02-10', 100);
    await use('2026-02-10', 10, { eventName: 'chat' });
    expect(await total(contractId)).toBe(1.2);
    expect(await total(contractId, { eventNames: ['chat'] })).toBe(0.2);
  });

  test.each([
    [{ startDate: '2027-01-01T00:00:00Z' }, 'startDate: must be before 2027-01-01T00:00:00.000Z'],
    [{ endDate: '2026-01-01T00:00:00Z' }, 'endDate: must be after startDate'],
    [{ customerId: 'unknown' }, 'customerId: names no customer'],
  ])('of %o is refused', async (body, message) => {
    expect(await refusalOf(cost(await contractOf(), body))).toContain(`invalidInput ${message}`);
  });

  test("of another customer's contract is refused", async () => {
    const contractId = await contractOf();
    const globex = await createCustomer(world, 'globex');
    const message = 'names another customer than contractId';
    expect(await refusalOf(cost(contractId, { customerId: globex }))).toBe(`invalidInput customerId: ${message}`);
    expect(await refusalOf(cost(contractId, { externalCustomerId: 'globex' }))).toBe(
      `invalidInput externalCustomerId: ${message}`,
    );
    expect(await total(contractId, { customerId, externalCustomerId: 'acme' })).toBe(0);
  });

  test('of another organization is unknown', async () => {
    const contractId = await contractOf();
    const eu = await world.addOrganization('eu');
    expect(await refusalOf(eu.call('usage.cost', { body: { contractId } }))).toBe(
      'invalidInput contractId: names no contract',
    );
  });
});

describe('an estimate by a contract', () => {
  test('is by the prices that were frozen into it', async () => {
    const contractId = await contractOf({ overrides: [{ basePricingId: pricingId, unitAmount: '0.000001' }] });
    const events = [{ eventName: 'call', properties: { tokens: 5 } }];
    const { data } = await world.call('pricing.estimate', { body: { contractId, events } });
    expect(data).toMatchObject({ totalAmount: 0.000005, lines: [{ meterId, pricingId, unitPrice: '0.000001' }] });
  });

  test('has each price by its own meter', async () => {
    const calls = await createMeter(world, 'CALLS', { aggregationType: 'COUNT' });
    const contractId = await contractOf({ pricingIds: [pricingId, await createPrice(world, calls)] });
    const events = [{ eventName: 'call', properties: { tokens: 5 } }];
    const { data } = await world.call('pricing.estimate', { body: { contractId, events } });
    expect(data.lines.map(({ meterCode, totalAmount }) => `${meterCode} ${totalAmount}`)).toEqual([
      'TOKENS 0.05',
      'CALLS 0.01',
    ]);
  });
});

describe('cost in credits', () => {
  async function grant(contractId: string, body: Record<string, unknown>) {
    const { data } = await world.call('credits.grant', {
      params: { contractId },
      body: { expiresAt: '2026-12-01T00:00:00Z', ...body },
    });
    return data.id;
  }

  test("is by the rate of the customer's newest grant that has one", async () => {
    const contractId = await contractOf();
    const other = await contractOf({ startDate: '2026-02-01' });
    await use('2026-01-10', 700);
    expect(await cost(contractId, { unit: 'credits' })).toMatchObject({ unit: 'currency', currency: 'USD' });
    await grant(contractId, { creditRateCents: 10, creditAmount: 5 });
    world.clock.advance({ minutes: 1 });
    const newest = await grant(other, { creditRateCents: 3, creditAmount: 5 });
    world.clock.advance({ minutes: 1 });
    await grant(contractId, { amountCents: 500 });
    const inCredits = await cost(contractId, { unit: 'credits' });
    expect(inCredits).toMatchObject({ totalAmount: 233.333333, creditRateCents: 3, unit: 'credits' });
    expect(inCredits).not.toHaveProperty('currency');
    expect(await cost(contractId)).toMatchObject({ totalAmount: 7, unit: 'currency' });
    await world.call('credits.reverse', { params: { contractId: other, entryId: newest }, body: {} });
    expect(await cost(contractId, { unit: 'credits' })).toMatchObject({ totalAmount: 70, creditRateCents: 10 });
  });
});

describe('an event is billed on one contract', () => {
  test('of two that price the meter, on the one created first', async () => {
    const first = await contractOf();
    const second = await contractOf();
    await use('2026-02-10', 100);
    expect([await total(first), await total(second)]).toEqual([1, 0]);
  });

  test('on the one that it names', async () => {
    const first = await contractOf();
    const second = await contractOf();
    await use('2026-02-10', 100, { contractId: second });
    expect([await total(first), await total(second)]).toEqual([0, 1]);
  });

  test('on the one that covers its instant, though another was created first', async () => {
    const first = await contractOf({ startDate: '2026-02-01', endDate: '2026-03-01' });
    const second = await contractOf();
    for (const date of ['2026-01-31', '2026-02-01', '2026-02-28', '2026-03-01']) await use(date, 100);
    expect([await total(first), await total(second)]).toEqual([2, 2]);
  });

  test('on the one that prices the meter, though another was created first', async () => {
    const other = await createPrice(
      world,
      await createMeter(world, 'OTHER', { eventTypeFilter: { include: ['chat'] } }),
    );
    const first = await contractOf({ pricingIds: [other] });
    const second = await contractOf();
    await use('2026-02-10', 100);
    expect([await total(first), await total(second)]).toEqual([0, 1]);
  });

  test('by each meter on the oldest that prices it, though both meters read the same events', async () => {
    const older = await contractOf();
    world.clock.advance({ seconds: 1 });
    const calls = await createPrice(world, await createMeter(world, 'CALLS', { aggregationType: 'COUNT' }));
    const both = await contractOf({ pricingIds: [pricingId, calls] });
    await use('2026-01-10', 100);
    expect([await total(older), await total(both)]).toEqual([1, 0.01]);
  });

  test('on a cancelled one until its last day', async () => {
    const first = await contractOf({ endDate: undefined });
    await world.call('contracts.cancel', { params: { contractId: first }, body: { cancelAt: 'end_of_period' } });
    const second = await contractOf();
    world.clock.set('2026-04-15T00:00:00Z');
    await use('2026-03-31', 100);
    await use('2026-04-01', 10);
    expect([await total(first), await total(second)]).toEqual([1, 0.1]);
  });

  test("and cannot name another customer's", async () => {
    const globex = await createCustomer(world, 'globex');
    const theirs = await createContract(world, { customerId: globex, pricingIds: [pricingId] });
    expect(await refusalOf(use('2026-02-10', 100, { contractId: theirs }))).toBe(
      'invalidInput events[0].contractId: names no contract of this customer',
    );
  });
});
