import { describe, expect, test } from 'vitest';

import { grant, grantPaid, invoices, ledger, linesOf, movements, subscribe, use } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { createContract, createCustomer, createFlatPrice } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld({ graceHours: 12 });

async function begin(at: string): Promise<void> {
  await world.call('clock.set', { body: { to: at } });
}

async function advanceTo(to: string) {
  return (await world.call('clock.advance', { body: { to } })).data;
}

/** Number, status, date and instant of finalization of every finalized invoice, in the order of numbers. */
async function finalized(): Promise<string[]> {
  const rows = await world.store.read(
    async (tx) =>
      await tx.selectFrom('invoices').selectAll().where('finalizedAt', 'is not', null).orderBy('number').execute(),
  );
  return rows.map(({ number, periodStart, invoiceDate, finalizedAt }) =>
    [number, periodStart, invoiceDate, finalizedAt].join(' '),
  );
}

/** When each invoice of a contract was sent; `waits` for those that were finalized and not sent. */
async function sendings({ contractId }: Subscription): Promise<string[]> {
  const rows = await world.store.read(
    async (tx) =>
      await tx
        .selectFrom('invoices')
        .select(['sentAt', 'finalizedAt'])
        .where('contractId', '=', contractId)
        .orderBy('periodIndex')
        .execute(),
  );
  return rows.filter((row) => row.finalizedAt !== null).map(({ sentAt }) => sentAt?.slice(0, 10) ?? 'waits');
}

/** The bodies of the webhooks of one type, oldest first. */
async function told(type: string): Promise<Record<string, unknown>[]> {
  const rows = await world.store.read(
    async (tx) => await tx.selectFrom('webhookEvents').selectAll().orderBy('seq').execute(),
  );
  return rows.filter((row) => row.type === type).map(({ body }) => JSON.parse(body) as Record<string, unknown>);
}

async function listen(): Promise<void> {
  await world.call('webhooks.create', { body: { url: 'https://hooks.example.com/' } });
}

describe('simulated time', () => {
  test('finalizes each invoice at the beginning of its date, without grace', async () => {
    await begin('2026-03-01');
    await subscribe(world, { contract: { endDate: '2026-06-01' } });
    await advanceTo('2026-06-01');
    expect(await finalized()).toEqual([
      'INV-000001 2026-03-01 2026-04-01 2026-04-01T00:00:00.000Z',
      'INV-000002 2026-04-01 2026-05-01 2026-05-01T00:00:00.000Z',
      'INV-000003 2026-05-01 2026-06-01 2026-06-01T00:00:00.000Z',
    ]);
  });

  test('keeps month ends over a leap year', async () => {
    await begin('2027-12-31');
    await subscribe(world, { contract: { startDate: '2027-12-31' } });
    await advanceTo('2028-06-30');
    expect((await finalized()).map((line) => line.split(' ')[2])).toEqual([
      '2028-01-31',
      '2028-02-29',
      '2028-03-31',
      '2028-04-30',
      '2028-05-31',
      '2028-06-30',
    ]);
  });

  test('drafts a period of a rolling contract when the one before begins', async () => {
    await begin('2026-03-01');
    const acme = await subscribe(world);
    await advanceTo('2026-03-31T23:59:59.999Z');
    expect(await invoices(world, acme)).toHaveLength(2);
    expect((await advanceTo('2026-04-01')).draftedCount).toBe(1);
    expect(await invoices(world, acme)).toHaveLength(3);
    expect((await invoices(world, acme))[2]?.createdAt).toBe('2026-04-01T00:00:00.000Z');
  });

  test('drafts no more than there is of a cancelled contract', async () => {
    await begin('2026-03-01');
    const acme = await subscribe(world);
    await world.call('contracts.cancel', {
      params: { contractId: acme.contractId },
      body: { cancelAt: 'end_of_period' },
    });
    expect(await advanceTo('2027-03-01')).toMatchObject({ draftedCount: 0, finalizedCount: 1, endedContractCount: 1 });
    expect((await world.call('clock.show')).data.nextDueAt).toBeNull();
  });

  test('drafts what lies beyond 120 periods when it comes near', async () => {
    await begin('2026-03-01');
    const acme = await subscribe(world, {
      price: { priceInterval: 'WEEK' },
      contract: { startDate: '2026-03-01', endDate: '2028-07-01' },
    });
    expect((await advanceTo('2026-03-29')).draftedCount).toBe(2);
    const count = async () =>
      (await world.call('invoices.list', { query: { customerId: acme.customerId, limit: '1' } })).total;
    expect(await count()).toBe(122);
  });

  test('expires a grant inside a period at its instant, with the usage before it settled first', async () => {
    await begin('2026-03-01');
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 1000, expiresAt: '2026-03-10T06:30:00Z' });
    await advanceTo('2026-03-10');
    await use(world, acme, { tokens: 300, at: '2026-03-09T00:00:00Z' });
    await use(world, acme, { tokens: 500, at: '2026-03-10T00:30:00Z' });
    expect(await advanceTo('2026-03-20')).toMatchObject({ expiredGrantCount: 1 });
    expect(await movements(world, acme)).toEqual(['grant 1000 0', 'usage -800 0', 'expiration -200 0']);
    const written = (await ledger(world, acme)).slice(1);
    expect(written.map(({ createdAt }) => createdAt)).toEqual(Array(2).fill('2026-03-10T06:30:00.000Z'));
  });

  test('ends a pause on its day, and sends what waited', async () => {
    await begin('2026-03-01');
    await listen();
    const acme = await subscribe(world);
    await world.call('customers.pause', { params: { customerId: acme.customerId }, body: { until: '2026-05-15' } });
    await advanceTo('2026-05-14T23:59:59Z');
    expect(await sendings(acme)).toEqual(['waits', 'waits']);
    expect((await advanceTo('2026-06-01')).resumedCustomerCount).toBe(1);
    expect(await sendings(acme)).toEqual(['2026-05-15', '2026-05-15', '2026-06-01']);
    const updates = await told('customer.updated');
    expect(updates.at(-1)).toMatchObject({ timestamp: '2026-05-15T00:00:00.000Z', data: { isPaused: false } });
  });

  test('finalizes for a paused customer, and sends when somebody resumes it', async () => {
    await begin('2026-03-01');
    const acme = await subscribe(world);
    await world.call('customers.pause', { params: { customerId: acme.customerId }, body: {} });
    await advanceTo('2026-05-10');
    expect(await sendings(acme)).toEqual(['waits', 'waits']);
    await world.call('customers.resume', { params: { customerId: acme.customerId } });
    expect(await sendings(acme)).toEqual(['2026-05-10', '2026-05-10']);
  });

  test('sends an invoice of the day on which a pause ends', async () => {
    await begin('2026-03-01');
    const acme = await subscribe(world);
    await world.call('customers.pause', { params: { customerId: acme.customerId }, body: { until: '2026-04-01' } });
    await advanceTo('2026-04-01');
    expect(await sendings(acme)).toEqual(['2026-04-01']);
  });

  test('tells the end of a contract once, on its day', async () => {
    await begin('2026-03-01');
    await listen();
    const acme = await subscribe(world, { contract: { endDate: '2026-04-11' } });
    await advanceTo('2026-04-10');
    expect(await told('contract.terminated')).toEqual([]);
    await advanceTo('2026-04-11');
    await advanceTo('2027-01-01');
    expect(await told('contract.terminated')).toMatchObject([
      { timestamp: '2026-04-11T00:00:00.000Z', data: { id: acme.contractId, isActive: false, endDate: '2026-04-11' } },
    ]);
  });

  test('tells the end of a cancelled contract when its last period ends, and lapses what is left', async () => {
    await begin('2026-03-01');
    await listen();
    const acme = await subscribe(world);
    await grantPaid(world, acme, { amountCents: 500 });
    await advanceTo('2026-03-20');
    await use(world, acme, { tokens: 120, at: '2026-03-20T00:00:00Z' });
    await world.call('contracts.cancel', {
      params: { contractId: acme.contractId },
      body: { cancelAt: 'end_of_period' },
    });
    await advanceTo('2026-12-01');
    expect((await told('contract.terminated')).map(({ timestamp }) => timestamp)).toEqual(['2026-04-01T00:00:00.000Z']);
    expect(await movements(world, acme)).toEqual(['grant 500 0', 'usage -120 0', 'expiration -380 0']);
  });

  test('tells the end of a contract that was cancelled before it began on that day, and not on the one it had', async () => {
    await begin('2026-03-01');
    await listen();
    const acme = await subscribe(world, { contract: { startDate: '2026-08-01', endDate: '2026-11-01' } });
    await world.call('contracts.cancel', {
      params: { contractId: acme.contractId },
      body: { cancelAt: 'end_of_period' },
    });
    await advanceTo('2026-12-01');
    expect((await told('contract.terminated')).map(({ timestamp }) => timestamp)).toEqual(['2026-08-01T00:00:00.000Z']);
  });

  test('does what was overdue before it goes on, at the instant at which the clock stands', async () => {
    await begin('2026-03-10');
    await subscribe(world, { contract: { startDate: '2026-01-01', endDate: '2026-04-01' } });
    await advanceTo('2026-03-11');
    expect(await finalized()).toEqual([
      'INV-000001 2026-01-01 2026-02-01 2026-03-10T00:00:00.000Z',
      'INV-000002 2026-02-01 2026-03-01 2026-03-10T00:00:00.000Z',
    ]);
  });

  test('numbers the invoices of an instant in the order of contracts', async () => {
    await begin('2026-03-01');
    const names = ['first', 'second', 'third'];
    const all: Subscription[] = [];
    for (const name of names) all.push(await subscribe(world, { name, contract: { endDate: '2026-04-01' } }));
    const { invoices: done } = await advanceTo('2026-04-01');
    expect(done.map((invoice) => [invoice.invoiceNumber, invoice.contractId])).toEqual(
      all.map(({ contractId }, index) => [`INV-00000${index + 1}`, contractId]),
    );
  });

  test('bills fees in advance and usage in arrears, each on its day', async () => {
    await begin('2026-01-01');
    const customerId = await createCustomer(world, 'acme');
    const pricingIds = [await createFlatPrice(world)];
    const contract = { customerId, pricingIds, startDate: '2026-01-01', endDate: '2026-03-16' };
    const contractId = await createContract(world, contract);
    const { finalizedCount } = await advanceTo('2026-03-01');
    expect(finalizedCount).toBe(3);
    const all = await invoices(world, { contractId, customerId, meterId: '', pricingId: '' });
    expect(all.map((invoice) => `${invoice.invoiceDate} ${linesOf(invoice).join()}`)).toEqual([
      '2026-01-01 Seat 3100',
      '2026-02-01 Seat 3100',
      '2026-03-01 Seat 1500',
    ]);
  });

  test('does not touch what the clock has not reached', async () => {
    await begin('2026-03-01');
    const acme = await subscribe(world);
    expect(await advanceTo('2026-03-31')).toMatchObject({ finalizedCount: 0, draftedCount: 0 });
    expect((await invoices(world, acme)).map(({ status }) => status)).toEqual(['Drafted', 'Drafted']);
  });
});
