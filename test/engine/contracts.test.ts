import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import {
  finalize,
  invoiceAt,
  invoices,
  ledger,
  linesOf,
  movements,
  refusal,
  settle,
  subscribe,
  use,
} from '../support/billing-scenario.ts';
import { createContract, createCustomer, createMeter, createPlan, createPrice } from '../support/usage-scenario.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld({ start: '2026-03-01T00:00:00.000Z' });
});
afterEach(async () => {
  await world.close();
});

const unknownId = '01900000-0000-7000-8000-ffffffffffff';

/** A FLAT price; gives its id. */
async function flatPrice(body: Record<string, unknown> = {}): Promise<string> {
  const { data } = await world.call('pricing.create', {
    body: { productName: 'Seats', name: 'Seat', model: 'FLAT', unitAmount: '31', priceInterval: 'MONTH', ...body },
  });
  return data.id;
}

/** The periods of a customer's invoices as `first day, last day exclusive` with their dates, by service period of fixed lines. */
async function periods(customerId: string): Promise<string[]> {
  const { data } = await world.call('invoices.list', { query: { customerId, include: 'lineItems', limit: '100' } });
  return data
    .toReversed()
    .map(({ lineItems = [] }) =>
      [lineItems[0]?.servicePeriod.start, lineItems[0]?.servicePeriod.end].map((at) => at?.slice(0, 10)).join(' '),
    );
}

describe('creating a contract', () => {
  test('answers with the contract as the interface shows it', async () => {
    const customerId = await createCustomer(world, 'acme');
    const planId = await createPlan(world, [await flatPrice()]);
    const { status, body } = await world.billing.call('contracts.create', {
      body: {
        planId,
        customerId,
        startDate: '2026-03-01',
        endDate: '2027-03-01',
        metadata: { order: 'PO-1', seats: 5 },
      },
    });
    expect(status).toBe(201);
    expect(body.data).toEqual({
      id: body.data.id,
      customerId,
      planId,
      name: 'Acme - Pay as you go',
      startDate: '2026-03-01',
      endDate: '2027-03-01',
      isActive: true,
      createdAt: '2026-03-01T00:00:00.000Z',
      metadata: { order: 'PO-1', seats: 5 },
    });
    expect((await world.call('contracts.get', { params: { contractId: body.data.id } })).data).toEqual(body.data);
  });

  test('leaves endDate out where the contract rolls', async () => {
    const { contractId } = await subscribe(world);
    const { data } = await world.call('contracts.get', { params: { contractId } });
    expect(Object.keys(data)).not.toContain('endDate');
  });

  test.each([
    ['an unknown plan', { planId: unknownId }, 'planId: names no plan'],
    ['an unknown customer', { customerId: unknownId }, 'customerId: names no customer'],
    ['an end on the start', { endDate: '2026-03-01' }, 'endDate: must be after startDate'],
    ['an end before the start', { endDate: '2026-02-01' }, 'endDate: must be after startDate'],
    [
      'a budget of an unknown meter',
      {
        creditSettings: {
          budgets: [{ eventPropertyKey: 'model', eventPropertyValue: 'large', meterId: unknownId }],
        },
      },
      'creditSettings.budgets[0].meterId',
    ],
    [
      'a price that the plan does not have',
      { overrides: [{ basePricingId: unknownId, unitAmount: '1' }] },
      'overrides[0].basePricingId',
    ],
    [
      'a meter that the plan does not have',
      { overrides: [{ meterId: unknownId, dimensions: {}, unitAmount: '1' }] },
      'overrides[0].meterId',
    ],
    [
      'an expiry of its credits that has passed',
      { creditGrantCents: 5, creditSettings: { expiresAt: '2026-03-01T00:00:00Z' } },
      'creditSettings.expiresAt: must be after now',
    ],
  ])('refuses %s', async (_what, body, words) => {
    const customerId = await createCustomer(world, 'acme');
    const planId = await createPlan(world, [await flatPrice()]);
    const input = { body: { planId, customerId, startDate: '2026-03-01', ...body } };
    const said = await refusal(world, 'contracts.create', input);
    expect(said.startsWith('422 ')).toBe(true);
    expect(said).toContain(words);
    expect((await world.call('contracts.list')).total).toBe(0);
  });

  test.each([
    [
      'the same price twice',
      { unitAmount: '1' },
      { unitAmount: '2' },
      'overrides[1].basePricingId: is overridden twice',
    ],
    ['tiers of a price without tiers', { pricingTiers: [{ unitAmount: '1' }] }, undefined, 'overrides[0].pricingTiers'],
    ['nothing', {}, undefined, 'overrides[0]: overrides nothing'],
  ])('refuses overrides of %s', async (_what, first, second, words) => {
    const customerId = await createCustomer(world, 'acme');
    const basePricingId = await flatPrice();
    const planId = await createPlan(world, [basePricingId]);
    const overrides = [first, second].flatMap((each) => (each === undefined ? [] : [{ basePricingId, ...each }]));
    const input = { body: { planId, customerId, startDate: '2026-03-01', overrides } };
    expect(await refusal(world, 'contracts.create', input)).toContain(words);
  });

  test('refuses a rate for what its meter does not tell apart', async () => {
    const customerId = await createCustomer(world, 'acme');
    const meterId = await createMeter(world, 'TOKENS', { groupKeys: ['model'] });
    const planId = await createPlan(world, [await createPrice(world, meterId)]);
    const overrides = [{ meterId, dimensions: { region: 'eu' }, unitAmount: '1' }];
    const input = { body: { planId, customerId, startDate: '2026-03-01', overrides } };
    expect(await refusal(world, 'contracts.create', input)).toContain(
      'overrides[0].dimensions.region: is no group key',
    );
  });
});

describe('draft invoices', () => {
  test.each([
    [
      'of the 31st end with their months and return to the 31st',
      { startDate: '2026-01-31', endDate: '2026-05-31' },
      ['2026-01-31 2026-02-28', '2026-02-28 2026-03-31', '2026-03-31 2026-04-30', '2026-04-30 2026-05-31'],
    ],
    [
      'tile the term, with the last one cut at its end',
      { startDate: '2026-03-01', endDate: '2026-05-11' },
      ['2026-03-01 2026-04-01', '2026-04-01 2026-05-01', '2026-05-01 2026-05-11'],
    ],
    ['of a rolling contract are the current one and the next', {}, ['2026-03-01 2026-04-01', '2026-04-01 2026-05-01']],
    [
      'of a backdated rolling contract begin with its start',
      { startDate: '2025-12-15' },
      ['2025-12-15 2026-01-15', '2026-01-15 2026-02-15', '2026-02-15 2026-03-15', '2026-03-15 2026-04-15'],
    ],
    [
      'of a contract that lies ahead are there at once',
      { startDate: '2026-08-01' },
      ['2026-08-01 2026-09-01', '2026-09-01 2026-10-01'],
    ],
  ])('%s', async (_rule, body, expected) => {
    const customerId = await createCustomer(world, 'acme');
    const pricingIds = [await flatPrice()];
    await createContract(world, { customerId, pricingIds, startDate: '2026-03-01', endDate: undefined, ...body });
    expect(await periods(customerId)).toEqual(expected);
  });

  test('of twelve months are twelve', async () => {
    const acme = await subscribe(world, { contract: { endDate: '2027-03-01' } });
    const all = await invoices(world, acme);
    expect(all).toHaveLength(12);
    expect(all.every((invoice) => /^DRAFT-[0-9a-f]{8}$/.test(invoice.invoiceNumber))).toBe(true);
    expect(new Set(all.map((invoice) => invoice.invoiceNumber)).size).toBe(12);
  });

  test('go at most 120 periods ahead, and are topped up when they come near', async () => {
    const customerId = await createCustomer(world, 'acme');
    const pricingIds = [await flatPrice({ priceInterval: 'WEEK' })];
    const contractId = await createContract(world, {
      customerId,
      pricingIds,
      startDate: '2026-03-01',
      endDate: '2029-03-01',
    });
    const count = async () => (await world.call('invoices.list', { query: { customerId, limit: '1' } })).total;
    expect(await count()).toBe(120);
    world.clock.advance({ weeks: 10 });
    await world.call('credits.settle', { params: { contractId } });
    expect(await count()).toBe(130);
  });

  test('of a rolling contract are topped up by whatever writes to it', async () => {
    const acme = await subscribe(world);
    world.clock.set('2026-06-15T00:00:00Z');
    expect(await invoices(world, acme)).toHaveLength(2);
    await settle(world, acme);
    const dates = (await invoices(world, acme)).map((invoice) => invoice.invoiceDate);
    expect(dates).toEqual(['2026-04-01', '2026-05-01', '2026-06-01', '2026-07-01', '2026-08-01']);
  });

  test('are dated at the period end where usage is billed, and at its start where it is not', async () => {
    const customerId = await createCustomer(world, 'acme');
    const meterId = await createMeter(world, 'TOKENS');
    const seat = await flatPrice();
    const usage = await createPrice(world, meterId);
    const term = { startDate: '2026-03-01', endDate: '2026-04-01', netTerms: 10 };
    await createContract(world, { customerId, pricingIds: [seat], ...term });
    world.clock.advance({ milliseconds: 1 });
    await createContract(world, { customerId, pricingIds: [seat, usage], ...term });
    const { data } = await world.call('invoices.list', { query: { customerId } });
    expect(data.map((invoice) => `${invoice.invoiceDate} ${invoice.dueDate}`)).toEqual([
      '2026-04-01 2026-04-11',
      '2026-03-01 2026-03-11',
    ]);
  });

  test('take the net terms of the plan where the contract gives none', async () => {
    const acme = await subscribe(world);
    expect((await invoiceAt(world, acme, 0)).dueDate).toBe('2026-05-01');
  });

  test('prorate a fixed price by the days of a period that is cut', async () => {
    const customerId = await createCustomer(world, 'acme');
    await createContract(world, {
      customerId,
      pricingIds: [await flatPrice()],
      startDate: '2026-03-01',
      endDate: '2026-03-11',
    });
    const { data } = await world.call('invoices.list', { query: { customerId } });
    expect(data.map((invoice) => invoice.totalCents)).toEqual([1000]);
  });

  test('carry a yearly price on the invoice with which its year begins', async () => {
    const customerId = await createCustomer(world, 'acme');
    const yearly = await flatPrice({ priceInterval: 'YEAR', unitAmount: '120', name: 'Platform' });
    await createContract(world, {
      customerId,
      pricingIds: [await flatPrice(), yearly],
      startDate: '2026-03-01',
      endDate: '2027-04-01',
    });
    const { data } = await world.call('invoices.list', { query: { customerId, limit: '100' } });
    const totals = data.toReversed().map((invoice) => Number(invoice.totalCents));
    // A month of the second year is left: 31 days of 366.
    expect(totals).toEqual([15_100, ...Array.from({ length: 11 }, () => 3100), 3100 + 1016]);
  });
});

describe('prices of a contract', () => {
  test('stay as they were when it was made', async () => {
    const acme = await subscribe(world, { meter: { groupKeys: ['model'] } });
    await world.call('meters.setRateCard', {
      params: { meterId: acme.meterId },
      body: { rates: [{ dimensions: { model: 'large' }, unitAmount: '9' }], fallbackUnitAmount: '7' },
    });
    await use(world, acme, { tokens: 3, at: '2026-03-01T00:00:00Z', model: 'large' });
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(3);
  });

  test('are those of the rate card, of the contract and of the price, in this order of precision', async () => {
    const customerId = await createCustomer(world, 'acme');
    const meterId = await createMeter(world, 'TOKENS', { groupKeys: ['model', 'region'] });
    const pricingId = await createPrice(world, meterId);
    await world.call('meters.setRateCard', {
      params: { meterId },
      body: {
        rates: [
          { dimensions: { model: 'large' }, unitAmount: '0.05' },
          { dimensions: { model: 'large', region: 'eu' }, unitAmount: '0.06' },
        ],
        fallbackUnitAmount: '0.02',
      },
    });
    const contractId = await createContract(world, {
      customerId,
      pricingIds: [pricingId],
      startDate: '2026-03-01',
      overrides: [{ meterId, dimensions: { model: 'large' }, unitAmount: '0.04' }],
    });
    const acme = { customerId, contractId, meterId, pricingId };
    for (const [model, region] of [
      ['large', 'eu'],
      ['large', 'us'],
      ['small', 'us'],
    ]) {
      await use(world, acme, { tokens: 100, at: '2026-03-01T00:00:00Z', model, region });
    }
    const { lineItems = [] } = await invoiceAt(world, acme, 0);
    expect(lineItems.map((line) => `${line.description}: ${Number(line.totalAmountCents)}`)).toEqual([
      'Inference (model=large, region=eu): 600',
      'Inference (model=large, region=us): 400',
      'Inference (model=small, region=us): 200',
    ]);
  });

  test('are overridden by basePricingId', async () => {
    const customerId = await createCustomer(world, 'acme');
    const seat = await flatPrice();
    await createContract(world, {
      customerId,
      pricingIds: [seat],
      startDate: '2026-03-01',
      endDate: '2026-04-01',
      overrides: [{ basePricingId: seat, unitAmount: '20', quantity: '3', flatAmount: '1.50' }],
    });
    const { data } = await world.call('invoices.list', { query: { customerId } });
    expect(data[0]?.totalCents).toBe(6150);
  });
});

describe('the credits that a contract begins with', () => {
  test('are a paid grant, billed on the first invoice', async () => {
    const acme = await subscribe(world, {
      contract: { creditGrantCents: 10_000, creditSettings: { expiresAt: '2026-12-01T00:00:00Z' } },
    });
    expect(await ledger(world, acme)).toMatchObject([
      {
        type: 'grant',
        amountCents: 10_000,
        isPromotional: false,
        sourceType: 'contract',
        expiresAt: '2026-12-01T00:00:00.000Z',
      },
    ]);
    const [first, second] = await invoices(world, acme);
    expect(first && linesOf(first)).toEqual(['Tokens 0', 'Prepaid credits 10000']);
    expect(second && linesOf(second)).toEqual(['Tokens 0']);
  });

  test.each([
    ['the default of the plan when they are not given', undefined, ['grant 4200 0']],
    ['none when they are null', null, []],
    ['none when they are 0', 0, []],
    ['those given', 77, ['grant 77 0']],
  ])('are %s', async (_rule, creditGrantCents, expected) => {
    const customerId = await createCustomer(world, 'acme');
    const pricingId = await flatPrice();
    const plan = await world.call('plans.create', {
      body: { name: 'Prepaid', items: [{ pricingId }], metadata: { defaultCreditGrantCents: 4200 } },
    });
    const { data } = await world.call('contracts.create', {
      body: {
        customerId,
        planId: plan.data.id,
        startDate: '2026-03-01',
        ...(creditGrantCents === undefined ? {} : { creditGrantCents }),
      },
    });
    const acme = { customerId, contractId: data.id, meterId: '', pricingId };
    expect(await movements(world, acme)).toEqual(expected);
  });

  test('lapse with the last invoice of the contract', async () => {
    const acme = await subscribe(world, { contract: { endDate: '2026-05-01', creditGrantCents: 1000 } });
    await use(world, acme, { tokens: 300, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-05-01T00:00:00Z');
    await finalize(world, (await invoiceAt(world, acme, 0)).id);
    expect(await movements(world, acme)).toEqual(['grant 1000 0', 'usage -300 0']);
    await finalize(world, (await invoiceAt(world, acme, 1)).id);
    expect(await movements(world, acme)).toEqual(['grant 1000 0', 'usage -300 0', 'expiration -700 0']);
  });
});

describe('metadata', () => {
  test('is replaced as a whole, and cleared by null', async () => {
    const { contractId } = await subscribe(world, { contract: { metadata: { a: 1, b: true } } });
    const update = async (metadata: unknown) =>
      (await world.call('contracts.update', { params: { contractId }, body: { metadata } })).data.metadata;
    expect(await update({ c: 'x' })).toEqual({ c: 'x' });
    expect(await update(null)).toEqual({});
    expect((await world.call('contracts.get', { params: { contractId } })).data.metadata).toEqual({});
  });

  test('keeps numbers digit by digit', async () => {
    const { contractId } = await subscribe(world);
    const metadata = { big: JSON.rawJSON('12345678901234567890.10') };
    await world.call('contracts.update', { params: { contractId }, body: { metadata } });
    const { data } = await world.call('contracts.get', { params: { contractId } });
    expect(JSON.stringify(data.metadata)).toBe('{"big":12345678901234567890.10}');
  });
});

describe('the list of contracts', () => {
  test('filters by customer, own customer id, plan and activity, newest first', async () => {
    const acme = await subscribe(world);
    world.clock.advance({ milliseconds: 1 });
    const other = await subscribe(world, { name: 'other', contract: { endDate: '2026-04-01' } });
    const list = async (query: Record<string, string> = {}) =>
      (await world.call('contracts.list', { query })).data.map((contract) => contract.id);
    expect(await list()).toEqual([other.contractId, acme.contractId]);
    expect(await list({ customerId: acme.customerId })).toEqual([acme.contractId]);
    expect(await list({ externalCustomerId: 'other' })).toEqual([other.contractId]);
    expect(await list({ externalCustomerId: 'nobody' })).toEqual([]);
    expect(await list({ limit: '1', offset: '1' })).toEqual([acme.contractId]);
    const { data } = await world.call('contracts.get', { params: { contractId: acme.contractId } });
    expect(await list({ planId: data.planId })).toEqual([acme.contractId]);
    expect(await list({ isActive: 'false' })).toEqual([]);
    world.clock.set('2026-04-01T00:00:00Z');
    expect(await list({ isActive: 'false' })).toEqual([other.contractId]);
    expect(await list({ isActive: 'true' })).toEqual([acme.contractId]);
  });
});

describe('cancelling a contract', () => {
  async function cancel(contractId: string) {
    return (await world.call('contracts.cancel', { params: { contractId } })).data;
  }

  test("keeps the current period's invoice and cancels the later drafts", async () => {
    const acme = await subscribe(world, { contract: { endDate: '2027-03-01' } });
    world.clock.set('2026-05-20T10:00:00Z');
    expect(await cancel(acme.contractId)).toEqual({
      id: acme.contractId,
      isActive: false,
      effectiveCancellationDate: '2026-06-01',
      cancelledInvoiceCount: 9,
    });
    const statuses = (await invoices(world, acme)).map((invoice) => invoice.status);
    expect(statuses).toEqual([
      ...Array.from({ length: 3 }, () => 'Drafted'),
      ...Array.from({ length: 9 }, () => 'Cancelled'),
    ]);
    const { data } = await world.call('contracts.get', { params: { contractId: acme.contractId } });
    expect(data.isActive).toBe(false);
  });

  test('still bills usage up to the end of the period', async () => {
    const acme = await subscribe(world);
    world.clock.set('2026-03-20T10:00:00Z');
    await cancel(acme.contractId);
    world.clock.set('2026-04-01T00:00:00Z');
    await use(world, acme, { tokens: 300, at: '2026-03-31T23:59:59.999Z' });
    await use(world, acme, { tokens: 500, at: '2026-04-01T00:00:00Z' });
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(300);
  });

  test('before its start ends it there, and cancels every draft', async () => {
    const acme = await subscribe(world, {
      contract: { startDate: '2026-08-01', endDate: '2026-11-01', creditGrantCents: 500 },
    });
    expect(await cancel(acme.contractId)).toMatchObject({
      effectiveCancellationDate: '2026-08-01',
      cancelledInvoiceCount: 3,
    });
    expect(await movements(world, acme)).toEqual(['grant 500 0', 'expiration -500 0']);
  });

  test('in the last period ends it with its term', async () => {
    const acme = await subscribe(world, { contract: { endDate: '2026-04-15' } });
    world.clock.set('2026-04-10T00:00:00Z');
    expect(await cancel(acme.contractId)).toMatchObject({
      effectiveCancellationDate: '2026-04-15',
      cancelledInvoiceCount: 0,
    });
  });

  test('bills usage of a longer period with the last invoice', async () => {
    const acme = await subscribe(world, { price: { priceInterval: 'YEAR' }, contract: { endDate: '2028-03-01' } });
    const seat = await flatPrice();
    const contractId = await createContract(world, {
      customerId: acme.customerId,
      pricingIds: [acme.pricingId, seat],
      startDate: '2026-03-01',
      endDate: '2027-03-01',
    });
    const mixed = { ...acme, contractId };
    world.clock.set('2026-04-20T00:00:00Z');
    await use(world, mixed, { tokens: 300, at: '2026-03-20T00:00:00Z' });
    await cancel(contractId);
    const [first, second] = await invoices(world, mixed);
    expect(first).toMatchObject({ totalCents: 3100, invoiceDate: '2026-03-01' });
    expect(second).toMatchObject({ totalCents: 3400, invoiceDate: '2026-05-01', dueDate: '2026-05-31' });
  });

  test('is refused once it is cancelled or has ended', async () => {
    const acme = await subscribe(world);
    await cancel(acme.contractId);
    const params = { contractId: acme.contractId };
    expect(await refusal(world, 'contracts.cancel', { params })).toContain('409 ');
    const other = await subscribe(world, { name: 'other', contract: { endDate: '2026-03-02' } });
    world.clock.set('2026-03-02T00:00:00Z');
    expect(await refusal(world, 'contracts.cancel', { params: { contractId: other.contractId } })).toBe(
      `409 contract ${other.contractId} has ended, with 2026-03-02 as its end`,
    );
  });
});

describe('another organization', () => {
  test('sees nothing of a contract, and cannot use what is not its own', async () => {
    const acme = await subscribe(world);
    await world.call('orgs.create', { body: { name: 'rival' } });
    const rival = world.engine.as(await world.engine.owner('rival'));
    const { data } = await world.call('contracts.get', { params: { contractId: acme.contractId } });
    for (const contractId of [acme.contractId, unknownId, 'nonsense']) {
      await expect(rival.call('contracts.get', { params: { contractId } })).rejects.toThrow('no contract has this id');
    }
    await expect(rival.call('contracts.cancel', { params: { contractId: acme.contractId } })).rejects.toThrow(
      'no contract has this id',
    );
    await expect(
      rival.call('contracts.create', {
        body: { planId: data.planId, customerId: acme.customerId, startDate: '2026-03-01' },
      }),
    ).rejects.toThrow('planId: names no plan; customerId: names no customer');
    expect((await rival.call('contracts.list')).body.total).toBe(0);
    expect((await rival.call('invoices.list')).body.total).toBe(0);
  });
});
