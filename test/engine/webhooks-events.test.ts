import { describe, expect, test } from 'vitest';

import { emit } from '../../src/engine/webhooks-emit.ts';
import { finalize, grant, invoiceAt, settle, subscribe, use } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { listen as listenIn, outboxOf } from '../support/outbox.ts';
import type { Sent } from '../support/outbox.ts';
import { createCustomer } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

type Body = Readonly<Record<string, string>>;

const listen = async (eventTypes?: readonly string[]) => await listenIn(world, eventTypes);
const outbox = async () => await outboxOf(world);

async function types(): Promise<string[]> {
  return (await outbox()).map(({ type }) => type);
}

/** What the outbox gained by `work`. */
async function eventsOf(work: () => Promise<unknown>): Promise<Sent[]> {
  const before = (await outbox()).length;
  await work();
  return (await outbox()).slice(before);
}

describe('the outbox', () => {
  test('stays empty where nobody listens', async () => {
    const acme = await subscribe(world);
    await use(world, acme, { tokens: 5, at: '2026-03-01T00:00:00Z' });
    expect(await outbox()).toEqual([]);
  });

  test('takes only what an enabled endpoint takes', async () => {
    await listen(['contract.created']);
    await subscribe(world);
    expect(await types()).toEqual(['contract.created']);
    const [endpoint] = (await world.call('webhooks.list')).data;
    await world.call('webhooks.update', { params: { endpointId: endpoint?.id ?? '' }, body: { isEnabled: false } });
    await subscribe(world, { name: 'globex' });
    expect(await types()).toEqual(['contract.created']);
  });

  test('keeps nothing of a change that was rolled back', async () => {
    await listen();
    const contacts = [{ name: 'Ada', email: 'ada@acme.example', roles: ['primary'] }];
    const customer = { name: 'Acme', externalCustomerId: 'acme', contacts };
    await world.call('customers.create', { body: customer });
    await expect(world.call('customers.create', { body: customer })).rejects.toMatchObject({ kind: 'conflict' });
    const context = (await world.engine.owner()).organizationId;
    const failing = world.store.write(async (tx) => {
      const emitted = await emit(
        { tx, orgId: context, timestamp: '2026-03-01T00:00:00.000Z', newId: () => crypto.randomUUID() },
        'customer.updated',
        () => ({ id: 'x' }),
      );
      expect(emitted).toMatchObject({ deliveryCount: 1 });
      throw new Error('after the event was kept');
    });
    await expect(failing).rejects.toThrow('after the event was kept');
    expect(await types()).toEqual(['customer.created']);
    expect((await world.call('webhooks.deliveries')).total).toBe(1);
  });

  test('forgets an endpoint with the call that removes it, though other calls share the commit', async () => {
    const contacts = [{ name: 'Ada', email: 'ada@acme.example', roles: ['primary'] }];
    const create = async (name: string) => await world.call('customers.create', { body: { name, contacts } });
    const removeNewest = async () => {
      const [newest] = (await world.call('webhooks.list')).data;
      return async () => await world.call('webhooks.remove', { params: { endpointId: newest?.id ?? '' } });
    };
    await listen(['customer.created']);
    // With both rooms loaded the calls reach the database in their order.
    await (
      await removeNewest()
    )();
    await listen(['customer.created']);
    const remove = await removeNewest();
    const told = await eventsOf(async () => {
      await create('first');
      await Promise.all([create('before'), remove(), create('after')]);
    });
    expect(told.map(({ data }) => data['name'])).toEqual(['first', 'before']);
  });

  test('an event that would be too large carries the id alone', async () => {
    await listen(['customer.created']);
    const create = async (name: string) => {
      const contacts = Array.from({ length: 100 }, (_value, index) => ({
        name: name.repeat(200),
        email: `ada${index}@acme.example`,
        roles: ['accounts_payable'],
      }));
      return (await world.call('customers.create', { body: { name: 'Acme', contacts } })).data;
    };
    const [small, large] = [await create('a'), await create('😀')];
    expect((await outbox()).map(({ data }) => data)).toEqual([
      expect.objectContaining({ ...small, billingContacts: expect.any(Array) }),
      { id: large.id },
    ]);
  });

  test('cannot be changed', async () => {
    await listen();
    await createCustomer(world, 'acme');
    const change = world.store.write(async (tx) => tx.deleteFrom('webhookEvents').execute());
    await expect(change).rejects.toThrow('append-only');
  });
});

describe('customers', () => {
  test('tell of their creation and of every change, as they are read', async () => {
    await listen();
    const customerId = await createCustomer(world, 'acme');
    const params = { customerId };
    await world.call('customers.update', { params, body: { name: 'Acme Inc' } });
    await world.call('customers.pause', { params, body: {} });
    await world.call('customers.resume', { params });
    const events = await outbox();
    expect(events.map(({ type }) => type)).toEqual([
      'customer.created',
      'customer.updated',
      'customer.updated',
      'customer.updated',
    ]);
    expect(events.map(({ data }) => [data['name'], data['isPaused']])).toEqual([
      ['Acme', false],
      ['Acme Inc', false],
      ['Acme Inc', true],
      ['Acme Inc', false],
    ]);
    expect(events.at(-1)).toEqual({
      type: 'customer.updated',
      timestamp: '2026-03-01T00:00:00.000Z',
      data: (await world.call('customers.get', { params })).data,
    });
  });

  test('tell once of an assignment after which a billing contact has another name, and of no other', async () => {
    await listen();
    const contacts = [{ name: 'Ada', email: 'ada@acme.example', roles: ['accounts_payable', 'csm'] }];
    const link = { provider: 'stripe', paymentProviderId: 'cus_1' };
    const { data } = await world.call('customers.create', { body: { name: 'Acme', contacts, ...link } });
    const told = async (...csms: readonly { readonly email: string; readonly name?: string }[]) => {
      const assignments = csms.map((csm) => ({ stripeCustomerId: 'cus_1', csm }));
      return await eventsOf(async () => await world.call('customers.assignCsm', { body: { assignments } }));
    };
    world.clock.advance({ hours: 1 });
    const bo = { email: 'bo@tally.example', name: 'Bo' };
    expect(await told(bo, { email: 'ada@acme.example' }, { email: 'ada@acme.example', name: 'Ada' })).toEqual([]);
    const renamed = await told(
      { email: 'ADA@acme.example', name: 'Countess' },
      { email: 'ada@acme.example', name: 'Ada L' },
    );
    const read = (await world.call('customers.get', { params: { customerId: data.id } })).data;
    expect(read).toMatchObject({ billingContacts: [{ name: 'Ada L' }], updatedAt: '2026-03-01T01:00:00.000Z' });
    expect(renamed.map(({ type, data: sent }) => [type, sent])).toEqual([['customer.updated', read]]);
  });

  test('say nothing of what changed nothing', async () => {
    await listen();
    const customerId = await createCustomer(world, 'acme');
    expect(await eventsOf(async () => await world.call('customers.resume', { params: { customerId } }))).toEqual([]);
  });
});

describe('contracts and invoices', () => {
  test('a new contract tells of itself and of each draft', async () => {
    await listen(['contract.created', 'invoice.created']);
    const acme = await subscribe(world, { contract: { endDate: '2026-06-01' } });
    const events = await outbox();
    expect(events.map(({ type }) => type)).toEqual([
      'contract.created',
      'invoice.created',
      'invoice.created',
      'invoice.created',
    ]);
    const { data } = await world.call('contracts.get', { params: { contractId: acme.contractId } });
    expect(events.find(({ type }) => type === 'contract.created')?.data).toEqual(data);
    const drafts = events.filter(({ type }) => type === 'invoice.created').map((event) => event.data);
    expect(drafts.map((draft) => draft['invoiceDate'])).toEqual(['2026-04-01', '2026-05-01', '2026-06-01']);
    const { lineItems: _lineItems, ...first } = await invoiceAt(world, acme, 0);
    expect(drafts[0]).toEqual(first);
  });

  test('a new contract tells what its drafts come to beside the credits that it begins with', async () => {
    await listen(['invoice.created']);
    const pricingTiers = [{ minQty: '0', maxQty: '', unitAmount: '0.01', flatAmount: '5' }];
    const price = { unitAmount: undefined, tiering: 'GRADUATED', pricingTiers };
    const acme = await subscribe(world, { price, contract: { creditGrantCents: 1000, endDate: '2026-06-01' } });
    const read = [0, 1, 2].map(async (index) => (await invoiceAt(world, acme, index)).totalCents);
    expect((await outbox()).map(({ data }) => data['totalCents'])).toEqual(await Promise.all(read));
    expect(await Promise.all(read)).toEqual([1000, 500, 500]);
  });

  test('a change of metadata and a cancellation are told', async () => {
    await listen(['contract.updated', 'invoice.updated']);
    const acme = await subscribe(world, { contract: { endDate: '2026-06-01' } });
    const params = { contractId: acme.contractId };
    await world.call('contracts.update', { params, body: { metadata: { team: 'ml' } } });
    await world.call('contracts.cancel', { params, body: { cancelAt: 'end_of_period' } });
    const events = await outbox();
    expect(events.map(({ type, data }) => [type, data['isActive'] ?? data['status']])).toEqual([
      ['contract.updated', true],
      ['invoice.updated', 'Cancelled'],
      ['invoice.updated', 'Cancelled'],
      ['contract.updated', false],
    ]);
  });

  test('every transition of an invoice is told, as the invoice is read', async () => {
    const acme = await subscribe(world);
    await use(world, acme, { tokens: 300, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-01T00:00:00Z');
    await listen(['invoice.updated']);
    const { id } = await invoiceAt(world, acme, 0);
    const params = { invoiceId: id };
    await finalize(world, id);
    await world.call('invoices.pay', { params, body: { status: 'initiated' } });
    await world.call('invoices.pay', { params, body: { status: 'failed' } });
    await world.call('invoices.pay', { params, body: { status: 'paid' } });
    await world.call('invoices.pay', { params, body: { status: 'paid' } });
    await world.call('invoices.refund', { params, body: {} });
    const events = await outbox();
    expect(events.map(({ data }) => `${String(data['invoiceNumber'])} ${String(data['status'])}`)).toEqual([
      'INV-000001 In Progress',
      'INV-000001 In Transit',
      'INV-000001 In Progress',
      'INV-000001 Paid',
      'INV-000001 Refunded',
    ]);
    expect(events.at(-1)?.data).toEqual((await world.call('invoices.get', { params })).data);
    expect(events[0]?.data['totalCents']).toBe(300);
  });
});

describe('invoices that wait for a customer', () => {
  test.each([
    ['by hand', async (params: Body) => await world.call('customers.resume', { params })],
    [
      'on its day',
      async () => {
        world.clock.set('2026-05-02T00:00:00Z');
        await world.call('bill.run');
      },
    ],
  ])('are told when the pause is ended %s, as they are read', async (_how, resume) => {
    const acme = await subscribe(world);
    const params = { customerId: acme.customerId };
    await world.call('customers.pause', { params, body: { until: '2026-05-02' } });
    for (const day of ['2026-04-01', '2026-05-01T12:00:00Z']) {
      await use(world, acme, { tokens: 100, at: world.clock.now().toString() });
      world.clock.set(day.length === 10 ? `${day}T00:00:00Z` : day);
      await world.call('bill.run');
    }
    await listen(['invoice.updated', 'customer.updated']);
    const events = await eventsOf(async () => await resume(params));
    const { data } = await world.call('invoices.list', { query: { status: 'In Progress' } });
    expect(data).toHaveLength(2);
    expect(events.map(({ type, data: told }) => [type, told])).toEqual([
      ...data.toReversed().map((invoice) => ['invoice.updated', invoice]),
      ['customer.updated', (await world.call('customers.get', { params })).data],
    ]);
    expect(await eventsOf(async () => await world.call('customers.resume', { params }))).toEqual([]);
  });
});

test('invoices that wait are told in the order in which they were made, whichever was changed last', async () => {
  const acme = await subscribe(world);
  await use(world, acme, { tokens: 100, at: '2026-03-01T00:00:00Z' });
  const params = { customerId: acme.customerId };
  await world.call('customers.pause', { params, body: {} });
  world.clock.set('2026-05-01T12:00:00Z');
  await use(world, acme, { tokens: 100, at: '2026-04-01T00:00:00Z' });
  await world.call('bill.run');
  const { id: first } = await invoiceAt(world, acme, 0);
  await world.call('invoices.pay', { params: { invoiceId: first }, body: { status: 'initiated' } });
  await listen(['invoice.updated']);
  const events = await eventsOf(async () => await world.call('customers.resume', { params }));
  expect(events.map(({ data }) => data['status'])).toEqual(['In Transit', 'In Progress']);
});

describe('balances', () => {
  const thresholds = { creditSettings: { alertThresholdsCents: [500, 100, 0, 2000] } };

  async function walletOf(amountCents: number): Promise<Subscription> {
    const acme = await subscribe(world, { contract: thresholds });
    await grant(world, acme, { amountCents });
    await listen(['credit.threshold_crossed', 'credit.balance_depleted']);
    return acme;
  }

  const crossed = (events: readonly Sent[]) =>
    events.map(({ type, data: { thresholdCents = '-', balanceCents } }) => `${type} ${thresholdCents} ${balanceCents}`);

  test.each([
    [499, []],
    [500, ['credit.threshold_crossed 500 500']],
    [501, ['credit.threshold_crossed 500 499']],
    [950, ['credit.threshold_crossed 500 50', 'credit.threshold_crossed 100 50']],
    [
      1000,
      [
        'credit.threshold_crossed 500 0',
        'credit.threshold_crossed 100 0',
        'credit.threshold_crossed 0 0',
        'credit.balance_depleted - 0',
      ],
    ],
  ])('of 1000 cents, usage of %d crosses %j', async (tokens, expected) => {
    const acme = await walletOf(1000);
    await use(world, acme, { tokens, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    expect(crossed(await outbox())).toEqual(expected);
    expect(await eventsOf(async () => await settle(world, acme))).toEqual([]);
  });

  test('an expiry crosses as usage does', async () => {
    const acme = await subscribe(world, { contract: thresholds });
    await grant(world, acme, { amountCents: 600, expiresAt: '2026-03-10T00:00:00Z' });
    await listen(['credit.threshold_crossed', 'credit.balance_depleted']);
    world.clock.set('2026-03-10T00:00:00Z');
    await settle(world, acme);
    expect(crossed(await outbox()).at(-1)).toBe('credit.balance_depleted - 0');
  });

  test('a threshold is crossed again after the balance has risen above it', async () => {
    const acme = await walletOf(600);
    const spend = async (tokens: number) => {
      await use(world, acme, { tokens, at: '2026-03-01T00:00:00Z' });
      await settle(world, acme);
    };
    expect(crossed(await eventsOf(async () => await spend(100)))).toEqual(['credit.threshold_crossed 500 500']);
    expect(await eventsOf(async () => await spend(200))).toEqual([]);
    expect(await eventsOf(async () => await grant(world, acme, { amountCents: 400 }))).toEqual([]);
    expect(crossed(await eventsOf(async () => await spend(300)))).toEqual(['credit.threshold_crossed 500 400']);
  });

  test('a balance that was nothing before is not used up again', async () => {
    const acme = await walletOf(100);
    await use(world, acme, { tokens: 100, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    expect(await eventsOf(async () => await grant(world, acme, { amountCents: 0 }))).toEqual([]);
  });

  test('what a voided invoice gives back and a draft takes at once crosses nothing', async () => {
    const acme = await walletOf(600);
    await use(world, acme, { tokens: 601, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-01T00:00:00Z');
    const { id: invoiceId } = await finalize(world, (await invoiceAt(world, acme, 0)).id);
    await use(world, acme, { tokens: 600, at: '2026-04-01T00:00:00Z' });
    expect(await eventsOf(async () => await world.call('invoices.cancel', { params: { invoiceId } }))).toEqual([]);
  });

  test('the event names contract, customer and what is left', async () => {
    const acme = await walletOf(1000);
    await use(world, acme, { tokens: 600, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    expect((await outbox()).map(({ data }) => data)).toEqual([
      {
        contractId: acme.contractId,
        customerId: acme.customerId,
        currency: 'USD',
        balanceCents: 400,
        creditBalance: 0,
        thresholdCents: 500,
      },
    ]);
  });
});

describe('a sample', () => {
  test('has every member that a real event of its type has', async () => {
    await listen();
    const budgets = [{ eventPropertyKey: 'model', eventPropertyValue: 'large', maxCreditsCents: 100 }];
    const creditSettings = { alertThresholdsCents: [50], budgets };
    const acme = await subscribe(world, { contract: { creditSettings, creditGrantCents: 100 } });
    await world.call('customers.update', { params: { customerId: acme.customerId }, body: { name: 'Acme Inc' } });
    await use(world, acme, { tokens: 200, at: '2026-03-01T00:00:00Z', model: 'large' });
    await world.call('contracts.cancel', { params: { contractId: acme.contractId } });
    world.clock.set('2026-04-01T00:00:00Z');
    await world.call('bill.run');
    const real = new Map((await outbox()).map(({ type, data }) => [type, data]));
    for (const eventType of real.keys()) await world.call('webhooks.trigger', { params: { eventType } });
    const samples = new Map((await outbox()).slice(-real.size).map(({ type, data }) => [type, data]));
    const membersOf = (events: ReadonlyMap<string, Sent['data']>) =>
      Object.fromEntries([...events].map(([type, data]) => [type, Object.keys(data).toSorted()]));
    expect(real.size).toBe(10);
    expect(membersOf(samples)).toEqual(membersOf(real));
  });
});
