import { describe, expect, test } from 'vitest';

import { grant, invoiceAt, invoices, movements, refusal, subscribe, use } from '../support/billing-scenario.ts';
import { listen, outboxOf } from '../support/outbox.ts';
import { createContract, createFlatPrice, createMeter, createPrice } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

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

  test.each([
    ['MONTH', 1, '2026-06-01'],
    ['MONTH', 3, '2026-06-01'],
    ['MONTH', 6, '2026-09-01'],
    ['YEAR', 1, '2027-03-01'],
  ])(
    'ends service with the period of the prices, of which the next draft goes: %s x %i',
    async (priceInterval, priceIntervalCount, end) => {
      const acme = await subscribe(world, { price: { priceInterval, priceIntervalCount } });
      world.clock.set('2026-05-20T10:00:00Z');
      expect(await cancel(acme.contractId)).toMatchObject({ effectiveCancellationDate: end, cancelledInvoiceCount: 1 });
    },
  );

  test('leaves no invoice behind the last period of fixed prices', async () => {
    const acme = await subscribe(world);
    const contractId = await createContract(world, {
      customerId: acme.customerId,
      pricingIds: [await createFlatPrice(world)],
      startDate: '2026-03-01',
      endDate: '2026-09-01',
    });
    world.clock.set('2026-05-20T10:00:00Z');
    expect(await cancel(contractId)).toMatchObject({
      effectiveCancellationDate: '2026-06-01',
      cancelledInvoiceCount: 3,
    });
    const statuses = (await invoices(world, { ...acme, contractId })).map(({ status }) => status);
    expect(statuses).toEqual(['Drafted', 'Drafted', 'Drafted', 'Cancelled', 'Cancelled', 'Cancelled']);
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

  test.each([undefined, { expiresAt: '2026-12-01T00:00:00Z' }])(
    'before its start ends it there, cancels every draft and takes back the prepaid credits that nobody bought (%o)',
    async (creditSettings) => {
      const acme = await subscribe(world, {
        contract: { startDate: '2026-08-01', endDate: '2026-11-01', creditGrantCents: 500, creditSettings },
      });
      expect(await cancel(acme.contractId)).toMatchObject({
        effectiveCancellationDate: '2026-08-01',
        cancelledInvoiceCount: 3,
      });
      expect(await movements(world, acme)).toEqual(['grant 500 0', 'reversal -500 0']);
      const checked = await world.call('credits.verify', { params: { contractId: acme.contractId } });
      expect(checked.data.findings).toEqual([]);
    },
  );

  test.each([undefined, '2026-11-01'])(
    'before its start cancels the one invoice of what is billed once, too (endDate %s)',
    async (endDate) => {
      const { customerId } = await subscribe(world);
      const pricingIds = [await createFlatPrice(world, { billingMode: 'ONE_TIME', priceInterval: undefined })];
      const contractId = await createContract(world, { customerId, pricingIds, startDate: '2026-08-01', endDate });
      expect(await cancel(contractId)).toMatchObject({
        effectiveCancellationDate: '2026-08-01',
        cancelledInvoiceCount: 1,
      });
      world.clock.set('2026-12-02T00:00:00Z');
      expect((await world.call('bill.run')).data.failures).toEqual([]);
      const { data } = await world.call('invoices.list', { query: { customerId, status: 'Cancelled' } });
      expect(data.map((invoice) => invoice.contractId)).toEqual([contractId]);
    },
  );

  test.each([
    [undefined, '2026-05-20T10:00:00Z', '2026-06-01'],
    [undefined, '2026-03-20T10:00:00Z', '2026-04-01'],
    ['2026-08-15', '2026-05-20T10:00:00Z', '2026-08-15'],
  ])('of what is billed once (endDate %s) at %s ends it on %s, never in the past', async (endDate, at, end) => {
    const { customerId } = await subscribe(world);
    const pricingIds = [await createFlatPrice(world, { billingMode: 'ONE_TIME', priceInterval: undefined })];
    const contractId = await createContract(world, { customerId, pricingIds, startDate: '2026-03-01', endDate });
    await world.call('budgets.add', {
      params: { contractId },
      body: { eventPropertyKey: 'Model', eventPropertyValue: 'a', maxCreditsCents: 1 },
    });
    await world.call('bill.run');
    world.clock.set(at);
    expect(await cancel(contractId)).toMatchObject({ effectiveCancellationDate: end, cancelledInvoiceCount: 0 });
    world.clock.set('2026-09-01T00:00:00Z');
    expect((await world.call('bill.run')).data.failures).toEqual([]);
    const { data } = await world.call('invoices.list', { query: { customerId, include: 'lineItems,period' } });
    const own = data.filter((invoice) => invoice.contractId === contractId);
    expect(own).toMatchObject([{ status: 'In Progress', totalCents: 3100, period: { start: '2026-03-01' } }]);
    const checked = await world.call('credits.verify', { params: { contractId } });
    expect(checked.data.findings).toEqual([]);
  });

  test('in the last period ends it with its term', async () => {
    const acme = await subscribe(world, { contract: { endDate: '2026-04-15' } });
    world.clock.set('2026-04-10T00:00:00Z');
    expect(await cancel(acme.contractId)).toMatchObject({
      effectiveCancellationDate: '2026-04-15',
      cancelledInvoiceCount: 0,
    });
  });

  /** 31.00 USD a month in advance, and tokens once a year. */
  async function mixed(endDate: string | undefined, price: Record<string, unknown> = { priceInterval: 'YEAR' }) {
    const acme = await subscribe(world, { price, contract: { endDate: '2026-03-02' } });
    const pricingIds = [acme.pricingId, await createFlatPrice(world)];
    const terms = { customerId: acme.customerId, pricingIds, startDate: '2026-03-01', endDate };
    return { ...acme, contractId: await createContract(world, terms) };
  }

  test.each([
    ['of a year', '2027-03-01', 10],
    ['that rolls', undefined, 10],
  ])(
    '%s bills usage of a longer period on an invoice of its own, since those of fixed prices are final',
    async (_of, endDate, dropped) => {
      const acme = await mixed(endDate);
      await use(world, acme, { tokens: 300, at: '2026-03-01T00:00:00Z' });
      await grant(world, acme, { amountCents: 120 });
      world.clock.set('2026-04-20T00:00:00Z');
      await world.call('bill.run');
      expect(await cancel(acme.contractId)).toMatchObject({
        effectiveCancellationDate: '2026-05-01',
        cancelledInvoiceCount: dropped - 1,
      });
      await use(world, acme, { tokens: 50, at: '2026-04-19T00:00:00Z' });
      world.clock.set('2026-05-02T00:00:00Z');
      await world.call('bill.run');
      const bills = (await invoices(world, acme)).filter(({ status }) => status !== 'Cancelled');
      expect(bills.map(({ totalCents, invoiceDate, status }) => [invoiceDate, totalCents, status])).toEqual([
        ['2026-03-01', 3100, 'In Progress'],
        ['2026-04-01', 3100, 'In Progress'],
        ['2026-05-01', 230, 'In Progress'],
      ]);
      const service = { start: '2026-03-01T00:00:00.000Z', end: '2026-05-01T00:00:00.000Z' };
      expect(bills[2]?.lineItems?.map((line) => line.servicePeriod)).toEqual([service, service]);
      const { data } = await world.call('usage.late', {});
      expect(data).toEqual([]);
    },
  );

  test('tells what an invoice comes to that is dated anew, though there were drafts behind it', async () => {
    await listen(world, ['invoice.updated']);
    const acme = await mixed('2027-03-01', { priceIntervalCount: 2 });
    await use(world, acme, { tokens: 300, at: '2026-03-01T00:00:00Z' });
    expect(await cancel(acme.contractId)).toMatchObject({ cancelledInvoiceCount: 10 });
    const told = (await outboxOf(world)).map(({ data }) => [data['status'], data['invoiceDate'], data['totalCents']]);
    expect(told.filter(([status]) => status !== 'Cancelled')).toEqual([['Drafted', '2026-04-01', 300]]);
  });

  test('bills usage of a longer period on the invoice of its last period, where that bills usage anyway', async () => {
    const other = await subscribe(world);
    const meterId = await createMeter(world, 'YEARLY');
    const pricingIds = [other.pricingId, await createPrice(world, meterId, { priceInterval: 'YEAR' })];
    const terms = { customerId: other.customerId, pricingIds, startDate: '2026-03-01', endDate: undefined };
    const acme = { ...other, contractId: await createContract(world, terms) };
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 300, at: '2026-03-20T00:00:00Z' });
    await cancel(acme.contractId);
    expect(await invoiceAt(world, acme, 0)).toMatchObject({ totalCents: 600, invoiceDate: '2026-04-01' });
    expect((await invoices(world, acme)).filter(({ status }) => status !== 'Cancelled')).toHaveLength(1);
  });

  test('settles usage before a grant that has expired unswept, and lapses the rest', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 500, expiresAt: '2026-03-10T00:00:00Z' });
    world.clock.set('2026-03-05T00:00:00Z');
    await use(world, acme, { tokens: 120, at: '2026-03-05T00:00:00Z' });
    world.clock.set('2026-05-20T10:00:00Z');
    expect(await cancel(acme.contractId)).toMatchObject({
      effectiveCancellationDate: '2026-06-01',
      cancelledInvoiceCount: 1,
    });
    expect(await movements(world, acme)).toEqual(['grant 500 0', 'usage -120 0', 'expiration -380 0']);
  });

  test('leaves entries of before it right that were written for a longer period', async () => {
    const pricingTiers = [{ minQty: '0', maxQty: '', unitAmount: '0', flatAmount: '1' }];
    const acme = await mixed('2026-06-01', { priceIntervalCount: 3, tiering: 'GRADUATED', pricingTiers });
    // Gone before the amount falls due, with the end of the three months.
    await grant(world, acme, { amountCents: 500, expiresAt: '2026-05-15T00:00:00Z' });
    await grant(world, acme, { amountCents: 500 });
    world.clock.set('2026-04-20T00:00:00Z');
    await world.call('bill.run');
    await cancel(acme.contractId);
    const moved = ['usage -100 0', 'reversal 100 0', 'usage -100 0'];
    expect(await movements(world, acme)).toEqual(['grant 500 0', 'grant 500 0', ...moved]);
    const { data } = await world.call('credits.verify', { params: { contractId: acme.contractId } });
    expect(data.findings).toEqual([]);
  });

  test('leaves paid what an expired grant paid, on the draft that bills the usage now, and no more than that', async () => {
    const acme = await mixed('2027-03-01');
    await use(world, acme, { tokens: 300, at: '2026-03-01T00:00:00Z' });
    await grant(world, acme, { amountCents: 500, expiresAt: '2026-03-10T00:00:00Z' });
    await grant(world, acme, { amountCents: 20 });
    world.clock.set('2026-04-20T00:00:00Z');
    await world.call('bill.run');
    // Too late for the first grant, which has lapsed.
    await use(world, acme, { tokens: 50, at: '2026-03-09T00:00:00Z' });
    await cancel(acme.contractId);
    expect(await movements(world, acme)).toEqual([
      'grant 500 0',
      'grant 20 0',
      'usage -300 0',
      'expiration -200 0',
      'reversal 300 0',
      'usage -300 0',
      'usage -20 0',
    ]);
    world.clock.set('2026-05-02T00:00:00Z');
    await world.call('bill.run');
    const bill = (await invoices(world, acme)).findLast(({ status }) => status !== 'Cancelled');
    expect(bill).toMatchObject({ status: 'In Progress', totalCents: 30 });
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
