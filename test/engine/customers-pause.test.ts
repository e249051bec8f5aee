import { describe, expect, it } from 'vitest';

import { insertContract } from '../../src/store/records/contracts.ts';
import { insertInvoices } from '../../src/store/records/invoices.ts';
import type { Invoice } from '../../src/store/records/invoices.ts';
import { insertPlan } from '../../src/store/records/plans.ts';
import { listen } from '../support/outbox.ts';
import { countedIds, createWorld } from '../support/world.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

const ada = { name: 'Ada Lovelace', email: 'ada@acme.example', roles: ['accounts_payable', 'primary'] };

async function create(body: Record<string, unknown> = {}) {
  return (await world.call('customers.create', { body: { name: 'Acme', contacts: [ada], ...body } })).data;
}

async function get(customerId: string) {
  return (await world.call('customers.get', { params: { customerId } })).data;
}

async function pause(customerId: string, body: Record<string, unknown> = {}) {
  return (await world.call('customers.pause', { params: { customerId }, body })).data;
}

async function resume(customerId: string) {
  return (await world.call('customers.resume', { params: { customerId } })).data;
}

describe('a pause', () => {
  it('without an end lasts until it is ended by hand', async () => {
    const { id } = await create();
    expect(await pause(id)).toMatchObject({
      isPaused: true,
      pausedAt: '2026-03-01T00:00:00.000Z',
      pausedUntil: null,
    });
    world.clock.set('2027-01-01T00:00:00Z');
    expect((await get(id)).isPaused).toBe(true);
    expect(await resume(id)).toMatchObject({ isPaused: false, pausedAt: null, pausedUntil: null });
  });

  it('with an end is over at 00:00 UTC of that date, with no job having run', async () => {
    const { id } = await create();
    await pause(id, { until: '2026-03-10' });
    world.clock.set('2026-03-09T23:59:59.999Z');
    expect(await get(id)).toMatchObject({ isPaused: true, pausedUntil: '2026-03-10' });
    world.clock.set('2026-03-10T00:00:00Z');
    expect(await get(id)).toMatchObject({ isPaused: false, pausedAt: null, pausedUntil: null });
  });

  it.each(['2026-03-01', '2026-02-28'])('must end after today: %s is refused', async (until) => {
    const { id } = await create();
    world.clock.set('2026-03-01T23:59:59Z');
    await expect(pause(id, { until })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'until: must be after today (UTC)',
    });
  });

  it('that is repeated changes its end alone', async () => {
    const { id } = await create();
    await pause(id, { until: '2026-03-10' });
    world.clock.advance({ hours: 1 });
    expect(await pause(id, { until: '2026-04-01' })).toMatchObject({
      pausedAt: '2026-03-01T00:00:00.000Z',
      pausedUntil: '2026-04-01',
    });
    expect(await pause(id, { until: null })).toMatchObject({
      pausedAt: '2026-03-01T00:00:00.000Z',
      pausedUntil: null,
    });
  });

  it('after one that is over begins anew', async () => {
    const { id } = await create();
    await pause(id, { until: '2026-03-10' });
    world.clock.set('2026-03-10T08:00:00Z');
    expect(await pause(id)).toMatchObject({ isPaused: true, pausedAt: '2026-03-10T08:00:00.000Z', pausedUntil: null });
  });

  it('that does not exist can be ended without changing anything', async () => {
    const { id } = await create();
    const before = await get(id);
    world.clock.advance({ hours: 1 });
    expect(await resume(id)).toEqual(before);
  });
});

/** When invoices were sent that were finalized without it, after what was done with their customer. */
async function sentAfter(
  invoices: readonly Partial<Invoice>[],
  what: (customerId: string) => Promise<unknown> = async (customerId) => {
    await pause(customerId);
    world.clock.set('2026-03-05T00:00:00Z');
    await resume(customerId);
  },
) {
  const { id: customerId } = await create();
  const { organizationId } = await world.engine.owner();
  const now = world.clock.now();
  const times = { createdAt: now, updatedAt: now };
  const [start, end] = [Temporal.PlainDate.from('2026-01-01'), Temporal.PlainDate.from('2026-02-01')];
  await world.store.write(async (tx) => {
    await insertPlan(tx, organizationId, {
      id: 'plan',
      name: 'Plan',
      description: null,
      currency: 'USD',
      netTerms: '30',
      externalId: null,
      defaultAutoPayEnabled: false,
      invoiceSendMethod: 'auto',
      onDepletion: null,
      defaultCreditGrantCents: null,
      items: [],
      archivedAt: null,
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:00.000Z',
    });
    await insertContract(tx, organizationId, {
      ...times,
      id: 'contract',
      customerId,
      planId: 'plan',
      name: 'Contract',
      startDate: start,
      endDate: undefined,
      netTermsDays: 30,
      metadata: {},
      creditSettings: {},
      items: [],
      creditGrantCents: undefined,
      cancelledAt: undefined,
      effectiveEndDate: undefined,
      budgetsVersion: 0,
    });
    await insertInvoices(
      tx,
      organizationId,
      invoices.map((invoice, periodIndex) => ({
        ...times,
        id: `invoice-${periodIndex}`,
        number: `INV-${periodIndex}`,
        customerId,
        contractId: 'contract',
        periodIndex,
        periodStart: start,
        periodEnd: end,
        status: 'In Progress',
        invoiceDate: end,
        dueDate: end,
        totalCents: 100n,
        memo: undefined,
        latestPaymentDate: undefined,
        paymentLink: undefined,
        finalizedAt: now,
        sentAt: undefined,
        isHeld: false,
        ...invoice,
      })),
    );
  });
  await what(customerId);
  const rows = await world.store.read(
    async (tx) => await tx.selectFrom('invoices').select('sentAt').orderBy('periodIndex').execute(),
  );
  return rows.map((row) => row.sentAt);
}

describe('resuming', () => {
  it('sends the invoices that waited for it', async () => {
    const resumedAt = '2026-03-05T00:00:00.000Z';
    expect(await sentAfter([{}, { status: 'Paid' }, { status: 'In Transit' }])).toEqual([
      resumedAt,
      resumedAt,
      resumedAt,
    ]);
  });

  it('leaves drafts, what is cancelled, what is kept back for another reason and what was sent before', async () => {
    const sentAt = Temporal.Instant.from('2026-02-02T00:00:00Z');
    const sent = await sentAfter([
      { status: 'Drafted', finalizedAt: undefined },
      { status: 'Cancelled' },
      { isHeld: true },
      { sentAt },
    ]);
    expect(sent).toEqual([null, null, null, '2026-02-02T00:00:00.000Z']);
  });
});

describe('pausing again', () => {
  it('after the day of its end sends what waited for that, with no job having run', async () => {
    const sent = await sentAfter([{}, { isHeld: true }], async (customerId) => {
      await pause(customerId, { until: '2026-03-10' });
      world.clock.set('2026-03-10T08:00:00Z');
      await pause(customerId);
    });
    expect(sent).toEqual(['2026-03-10T08:00:00.000Z', null]);
  });

  it('before that sends nothing', async () => {
    const sent = await sentAfter([{}], async (customerId) => {
      await pause(customerId, { until: '2026-03-10' });
      world.clock.set('2026-03-09T23:59:59Z');
      await pause(customerId);
    });
    expect(sent).toEqual([null]);
  });
});

describe('a server that is told to stop', () => {
  it('while it ends a pause does so, and ends no other', async () => {
    const stopping = new AbortController();
    const nextId = countedIds();
    let isStopping = false;
    const newId = () => {
      if (isStopping) stopping.abort();
      return nextId();
    };
    const told = await createWorld({ newId });
    await listen(told, ['customer.updated']);
    for (const name of ['Acme', 'Globex']) {
      const { data } = await told.call('customers.create', { body: { name, contacts: [ada] } });
      await told.call('customers.pause', { params: { customerId: data.id }, body: { until: '2026-03-10' } });
    }
    told.clock.set('2026-03-10T00:00:00Z');
    isStopping = true;
    expect(await told.engine.billDue(stopping.signal)).toMatchObject({ resumedCustomerCount: 1 });
    isStopping = false;
    expect(await told.engine.billDue()).toMatchObject({ resumedCustomerCount: 1 });
    await told.close();
  });
});
