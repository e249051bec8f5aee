import { describe, expect, test } from 'vitest';

import { billingTermsAt, billingTermsOf } from '../../src/engine/contract-terms.ts';
import { nextDraftsDueOn } from '../../src/engine/draft-periods.ts';
import { date, flatItem, usageItem } from '../calculation/fixtures.ts';
import { balance, grant, invoiceAt, invoices, refusal, settle, subscribe, use } from '../support/billing-scenario.ts';
import {
  createContract,
  createCustomer,
  createFlatPrice,
  createMeter,
  createPlan,
  createPrice,
} from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

/** The periods of a customer's invoices as `first day, last day exclusive` with their dates, by service period of fixed lines. */
async function periods(customerId: string): Promise<string[]> {
  const { data } = await world.call('invoices.list', { query: { customerId, include: 'lineItems', limit: '100' } });
  return data
    .toReversed()
    .map(({ lineItems = [] }) =>
      [lineItems[0]?.servicePeriod.start, lineItems[0]?.servicePeriod.end].map((at) => at?.slice(0, 10)).join(' '),
    );
}

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
    const pricingIds = [await createFlatPrice(world)];
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

  test.each([
    ['a fixed term', 'WEEK', '2029-03-01', { weeks: 10 }],
    ['a rolling contract whose usage is billed in twenty years', 'MONTH', undefined, { months: 10 }],
  ])(
    'of %s go at most 120 periods ahead, and are topped up when they come near',
    async (_what, priceInterval, endDate, later) => {
      const customerId = await createCustomer(world, 'acme');
      const meterId = await createMeter(world, 'TOKENS');
      const usage = await createPrice(world, meterId, { priceInterval: 'YEAR', priceIntervalCount: 20 });
      const pricingIds = [await createFlatPrice(world, { priceInterval }), ...(endDate === undefined ? [usage] : [])];
      const contractId = await createContract(world, { customerId, pricingIds, startDate: '2026-03-01', endDate });
      const count = async () => (await world.call('invoices.list', { query: { customerId, limit: '1' } })).total;
      expect(await count()).toBe(120);
      world.clock.advance(later);
      await world.call('credits.settle', { params: { contractId } });
      expect(await count()).toBe(130);
    },
  );

  test('that are all cancelled do not end a longer term: credits can be granted for the rest of it', async () => {
    const price = { priceInterval: 'WEEK' };
    const acme = await subscribe(world, { price, contract: { endDate: '2029-03-01' } });
    for (const offset of ['0', '100']) {
      const { data } = await world.call('invoices.list', { query: { limit: '100', offset } });
      for (const { id } of data) await world.call('invoices.cancel', { params: { invoiceId: id } });
    }
    expect((await world.call('invoices.list', { query: { status: 'Drafted' } })).total).toBe(0);
    await grant(world, acme, { amountCents: 100 });
    expect((await balance(world, acme)).balance.balanceCents).toBe(100);
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
    const seat = await createFlatPrice(world);
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

  test('of contracts that are alike but for their prepaid credits bill the credits of each', async () => {
    const customerId = await createCustomer(world, 'acme');
    const planId = await createPlan(world, [await createFlatPrice(world)]);
    for (const creditGrantCents of [500, 700, 0]) {
      await world.call('contracts.create', { body: { planId, customerId, startDate: '2026-03-01', creditGrantCents } });
    }
    const { data } = await world.call('invoices.list', { query: { customerId, include: 'lineItems' } });
    const prepaid = data.flatMap(({ lineItems = [] }) => lineItems.filter(({ name }) => name === 'Prepaid credits'));
    expect(prepaid.map(({ totalAmountCents }) => totalAmountCents)).toEqual([700, 500]);
  });

  test('prorate a fixed price by the days of a period that is cut', async () => {
    const customerId = await createCustomer(world, 'acme');
    await createContract(world, {
      customerId,
      pricingIds: [await createFlatPrice(world)],
      startDate: '2026-03-01',
      endDate: '2026-03-11',
    });
    const { data } = await world.call('invoices.list', { query: { customerId } });
    expect(data.map((invoice) => invoice.totalCents)).toEqual([1000]);
  });

  test('carry a yearly price on the invoice with which its year begins', async () => {
    const customerId = await createCustomer(world, 'acme');
    const yearly = await createFlatPrice(world, { priceInterval: 'YEAR', unitAmount: '120', name: 'Platform' });
    await createContract(world, {
      customerId,
      pricingIds: [await createFlatPrice(world), yearly],
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

  test('are 1 MiB at most, however often a rate card is in them and whatever overrides add', async () => {
    const customerId = await createCustomer(world, 'acme');
    const meterId = await createMeter(world, 'TOKENS', { groupKeys: ['model'] });
    const rates = (count: number, of: string) =>
      Array.from({ length: count }, (_, index) => ({
        dimensions: { model: `${of}${index}${'x'.repeat(4_000)}` },
        unitAmount: '1',
      }));
    await world.call('meters.setRateCard', { params: { meterId }, body: { rates: rates(80, 'a') } });
    const pricingIds: string[] = [];
    for (const name of ['one', 'two', 'three', 'four']) pricingIds.push(await createPrice(world, meterId, { name }));
    const contractOf = async (count: number, overrides: readonly object[] = []) => {
      const planId = await createPlan(world, pricingIds.slice(0, count));
      return await refusal(world, 'contracts.create', {
        body: { planId, customerId, startDate: '2026-03-01', overrides },
      });
    };
    const tooLarge =
      '422 planId: the prices of a contract must come to at most 1048576 bytes of JSON with their rate cards and overrides: use fewer prices, or shorter rate cards';
    expect(await contractOf(3)).toBe('accepted');
    expect(await contractOf(4)).toBe(tooLarge);
    expect(
      await contractOf(
        1,
        rates(100, 'b').map((rate) => ({ ...rate, meterId })),
      ),
    ).toBe('accepted');
    expect(
      await contractOf(
        3,
        rates(30, 'b').map((rate) => ({ ...rate, meterId })),
      ),
    ).toBe(tooLarge);
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
    const seat = await createFlatPrice(world);
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

test('the next draft is due with the first period whose usage is billed beyond those there are', () => {
  const every = (count: number) => usageItem({ id: `usage ${count}`, interval: { unit: 'MONTH', count } });
  const rolling = (...counts: number[]) => ({
    startDate: date('2026-01-01'),
    items: [flatItem(), ...counts.map(every)],
  });
  const dueOn = (...counts: number[]) => nextDraftsDueOn(rolling(...counts), [{ periodIndex: 11 }])?.toString();
  expect([dueOn(), dueOn(12), dueOn(12, 5), dueOn(12, 9)]).toEqual([
    '2026-12-01',
    '2026-12-01',
    '2026-11-01',
    '2026-10-01',
  ]);
});

test('the terms of a contract that ends are not those of one that was cancelled to the same day', () => {
  const items = [usageItem()];
  const startDate = date('2026-01-01');
  const cut = date('2026-06-01');
  const ends = [undefined, date('2027-01-01'), date('2028-01-01')];
  expect(billingTermsOf({ startDate, endDate: cut, effectiveEndDate: undefined, items }).uncancelled).toBeUndefined();
  const before = ends.map(
    (endDate) => billingTermsOf({ startDate, endDate, effectiveEndDate: cut, items }).uncancelled?.endDate,
  );
  expect(before).toEqual(ends);
});

test('a contract was billed by its terms before a cancellation until the instant of it', () => {
  const [cancelledAt, endDate] = [Temporal.Instant.from('2026-05-10T00:00:00Z'), date('2027-01-01')];
  const terms = { startDate: date('2026-01-01'), endDate, effectiveEndDate: date('2026-06-01'), items: [usageItem()] };
  const endAt = (at: Temporal.Instant) => billingTermsAt({ ...terms, cancelledAt }, at).endDate?.toString();
  expect(endAt(cancelledAt.subtract({ milliseconds: 1 }))).toBe('2027-01-01');
  expect(endAt(cancelledAt)).toBe('2026-06-01');
});
