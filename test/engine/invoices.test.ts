import { beforeEach, describe, expect, test } from 'vitest';

import { endOfMarch, finalize, invoiceAt, invoices, subscribe, use } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import type { World } from '../support/world.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

let acme: Subscription;
beforeEach(async () => {
  acme = await subscribe(world);
});

async function invoiceId(index: number): Promise<string> {
  return (await invoiceAt(world, acme, index)).id;
}

describe('a draft', () => {
  test('is computed when it is read, with its lines', async () => {
    await use(world, acme, { tokens: '0.55', at: '2026-03-01T00:00:00Z' });
    const first = await invoiceAt(world, acme, 0);
    expect(first).toEqual({
      id: first.id,
      invoiceNumber: first.invoiceNumber,
      customerId: acme.customerId,
      contractId: acme.contractId,
      status: 'Drafted',
      invoiceDate: '2026-04-01',
      dueDate: '2026-05-01',
      totalCents: 1,
      externalIds: [],
      createdAt: '2026-03-01T00:00:00.000Z',
      updatedAt: '2026-03-01T00:00:00.000Z',
      lineItems: [
        {
          id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
          name: 'Tokens',
          description: 'Inference',
          quantity: 0.55,
          unitPriceCents: 1,
          totalAmountCents: 1,
          unitPrice: '0.01',
          totalAmount: '0.0055',
          servicePeriod: { start: '2026-03-01T00:00:00.000Z', end: '2026-04-01T00:00:00.000Z' },
        },
      ],
    });
    await use(world, acme, { tokens: 10, at: '2026-03-01T00:00:00Z' });
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(11);
  });

  test('shows lines only when they are asked for', async () => {
    const { data } = await world.call('invoices.get', { params: { invoiceId: await invoiceId(0) } });
    expect(Object.keys(data)).not.toContain('lineItems');
  });

  test('says what it covers where it is asked to, the day after the last included', async () => {
    const id = await invoiceId(1);
    const { data } = await world.call('invoices.get', { params: { invoiceId: id }, query: { include: 'period' } });
    expect(data.period).toEqual({ start: '2026-04-01', end: '2026-05-01' });
    const { data: plain } = await world.call('invoices.get', { params: { invoiceId: id } });
    expect({ ...plain, period: data.period }).toEqual(data);
    expect(plain).not.toHaveProperty('period');
  });

  test('comes to what usage/cost says of its period', async () => {
    await use(world, acme, { tokens: 12.345, at: '2026-03-01T00:00:00Z' });
    const { totalAmount } = await world.call('usage.cost', {
      body: { contractId: acme.contractId, startDate: '2026-03-01T00:00:00Z', endDate: '2026-04-01T00:00:00Z' },
    });
    expect(Number(totalAmount) * 100).toBe((await invoiceAt(world, acme, 0)).totalCents);
  });
});

describe('the list of invoices', () => {
  test('filters by customer, status and creation, newest first', async () => {
    world.clock.set('2026-03-02T00:00:00Z');
    const other = await subscribe(world, { name: 'other' });
    const list = async (query: Record<string, string>) => (await world.call('invoices.list', { query })).total;
    expect(await list({})).toBe(4);
    expect(await list({ customerId: other.customerId })).toBe(2);
    expect(await list({ createdAfter: '2026-03-02' })).toBe(2);
    expect(await list({ createdBefore: '2026-03-02' })).toBe(2);
    expect(await list({ status: 'Paid' })).toBe(0);
    const { data, hasMore, total } = await world.call('invoices.list', { query: { limit: '1' } });
    expect({ hasMore, total }).toEqual({ hasMore: true, total: 4 });
    expect(data[0]?.customerId).toBe(other.customerId);
  });
});

describe('another organization', () => {
  test('finds no invoice, whatever it asks of it', async () => {
    const id = await endOfMarch(world, acme);
    const rival = await world.addOrganization('rival');
    const names = [
      'invoices.get',
      'invoices.finalize',
      'invoices.send',
      'invoices.pay',
      'invoices.cancel',
      'invoices.refund',
      'invoices.creditReport',
    ] as const;
    for (const name of names) {
      for (const each of [id, 'nonsense', '01900000-0000-7000-8000-ffffffffffff']) {
        await expect(rival.call(name, { params: { invoiceId: each } })).rejects.toThrow('no invoice has this id');
      }
    }
  });

  test('counts its own invoices from 1', async () => {
    const id = await endOfMarch(world, acme);
    await finalize(world, id);
    const rival = await world.addOrganization('rival');
    const there: World = { ...world, call: async (name, input) => (await rival.call(name, input)).body };
    const own = await subscribe(there, { contract: { startDate: '2026-03-01' } });
    expect(await finalize(there, (await invoiceAt(there, own, 0)).id)).toMatchObject({ invoiceNumber: 'INV-000001' });
    expect(await invoices(there, own)).toHaveLength(3);
  });
});
