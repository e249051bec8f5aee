import { beforeEach, describe, expect, test } from 'vitest';

import {
  balance,
  endOfMarch,
  finalize,
  grant,
  grantPaid,
  invoiceAt,
  movements,
  refusal,
  settle,
  subscribe,
  use,
} from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import type { OperationName } from '../../src/operations/index.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

let acme: Subscription;
beforeEach(async () => {
  acme = await subscribe(world);
});

type Body = Record<string, unknown>;

async function act(name: OperationName, id: string, body?: Body): Promise<string> {
  return await refusal(world, name, { params: { invoiceId: id }, ...(body === undefined ? {} : { body }) });
}

async function statusOf(id: string): Promise<string> {
  return (await world.call('invoices.get', { params: { invoiceId: id } })).data.status;
}

describe('transitions', () => {
  const reach: Record<string, (id: string) => Promise<void>> = {
    Drafted: async () => await Promise.resolve(),
    'In Progress': async (id) => {
      await finalize(world, id);
    },
    'In Transit': async (id) => {
      await finalize(world, id);
      await act('invoices.pay', id, { status: 'initiated' });
    },
    Paid: async (id) => {
      await finalize(world, id);
      await act('invoices.pay', id, {});
    },
    Cancelled: async (id) => {
      await act('invoices.cancel', id);
    },
    Refunded: async (id) => {
      await finalize(world, id);
      await act('invoices.pay', id, {});
      await act('invoices.refund', id, {});
    },
  };
  const actions: Record<string, readonly [OperationName, Body?]> = {
    finalize: ['invoices.finalize'],
    'begin a payment': ['invoices.pay', { status: 'initiated' }],
    'fail a payment': ['invoices.pay', { status: 'failed' }],
    pay: ['invoices.pay', { status: 'paid' }],
    cancel: ['invoices.cancel'],
    refund: ['invoices.refund', {}],
  };
  /** Where each action leads from each status; `same` where it was done before, `no` where it is refused. */
  const table: Record<string, Record<string, string>> = {
    Drafted: {
      finalize: 'In Progress',
      'begin a payment': 'no',
      'fail a payment': 'no',
      pay: 'no',
      cancel: 'Cancelled',
      refund: 'no',
    },
    'In Progress': {
      finalize: 'same',
      'begin a payment': 'In Transit',
      'fail a payment': 'same',
      pay: 'Paid',
      cancel: 'Cancelled',
      refund: 'no',
    },
    'In Transit': {
      finalize: 'no',
      'begin a payment': 'same',
      'fail a payment': 'In Progress',
      pay: 'Paid',
      cancel: 'no',
      refund: 'no',
    },
    Paid: {
      finalize: 'same',
      'begin a payment': 'no',
      'fail a payment': 'no',
      pay: 'same',
      cancel: 'no',
      refund: 'Refunded',
    },
    Cancelled: {
      finalize: 'no',
      'begin a payment': 'no',
      'fail a payment': 'no',
      pay: 'no',
      cancel: 'same',
      refund: 'no',
    },
    Refunded: {
      finalize: 'no',
      'begin a payment': 'no',
      'fail a payment': 'no',
      pay: 'no',
      cancel: 'no',
      refund: 'same',
    },
  };

  for (const [status, row] of Object.entries(table)) {
    test.each(Object.entries(row))(`from ${status}: %s leads to %s`, async (action, expected) => {
      const id = await endOfMarch(world, acme);
      await reach[status]?.(id);
      expect(await statusOf(id)).toBe(status);
      const [name, body] = actions[action] ?? ['invoices.cancel'];
      const said = await act(name, id, body);
      expect(said).toBe(expected === 'no' ? `409 invoice is ${status}; cannot ${action}` : 'accepted');
      expect(await statusOf(id)).toBe(expected === 'no' || expected === 'same' ? status : expected);
    });
  }
});

describe('payments and refunds', () => {
  test('keep the day of the payment, which is today when it is not given', async () => {
    const id = await endOfMarch(world, acme);
    await finalize(world, id);
    world.clock.set('2026-04-20T00:00:00Z');
    const begun = await world.call('invoices.pay', { params: { invoiceId: id }, body: { status: 'initiated' } });
    expect(begun.data).toMatchObject({ status: 'In Transit' });
    expect(begun.data).not.toHaveProperty('latestPaymentDate');
    const { data } = await world.call('invoices.pay', { params: { invoiceId: id }, body: {} });
    expect(data).toMatchObject({ status: 'Paid', latestPaymentDate: '2026-04-20' });
  });

  test('are not before the invoice', async () => {
    const id = await endOfMarch(world, acme);
    await finalize(world, id);
    expect(await act('invoices.pay', id, { date: '2026-03-31' })).toBe(
      '422 date: must not be before the invoice date, 2026-04-01',
    );
    await act('invoices.pay', id, { date: '2026-04-02' });
    expect(await act('invoices.refund', id, { date: '2026-03-31' })).toContain('422 date');
    expect(await act('invoices.refund', id, { date: '2026-04-01' })).toBe('accepted');
  });
});

describe('credits of an invoice that is undone', () => {
  async function paidPartly(): Promise<string> {
    await grantPaid(world, acme, { amountCents: 100 });
    const id = await endOfMarch(world, acme);
    await finalize(world, id);
    expect((await balance(world, acme)).balance.balanceCents).toBe(0);
    return id;
  }

  test('come back when it is voided, and keep its number', async () => {
    const id = await paidPartly();
    await act('invoices.cancel', id);
    expect(await movements(world, acme)).toEqual(['grant 100 0', 'usage -100 0', 'reversal 100 0']);
    expect(await invoiceAt(world, acme, 0)).toMatchObject({ invoiceNumber: 'INV-000001', totalCents: 200 });
    const { data } = await world.call('invoices.creditReport', { params: { invoiceId: id } });
    expect(data.summary).toEqual({ totalCredits: 0, totalCents: 0, entryCount: 2 });
    expect(data.entries.map(({ type }) => type)).toEqual(['reversal', 'usage']);
  });

  test('come back when a draft is cancelled, which then comes to nothing', async () => {
    await grantPaid(world, acme, { amountCents: 100 });
    const id = await endOfMarch(world, acme);
    await settle(world, acme);
    await act('invoices.cancel', id);
    expect(await movements(world, acme)).toEqual(['grant 100 0', 'usage -100 0', 'reversal 100 0']);
    expect(await invoiceAt(world, acme, 0)).toMatchObject({ status: 'Cancelled', totalCents: 0, lineItems: [] });
  });

  test('pay for other open usage', async () => {
    const id = await paidPartly();
    await use(world, acme, { tokens: 70, at: '2026-04-01T00:00:00Z' });
    await act('invoices.cancel', id);
    expect(await movements(world, acme)).toEqual(['grant 100 0', 'usage -100 0', 'reversal 100 0', 'usage -70 0']);
    expect((await invoiceAt(world, acme, 1)).totalCents).toBe(0);
  });

  test('lapse at once where their grant has expired', async () => {
    await grant(world, acme, { amountCents: 100, expiresAt: '2026-03-15T00:00:00Z' });
    const id = await endOfMarch(world, acme);
    await finalize(world, id);
    await act('invoices.cancel', id);
    expect(await movements(world, acme)).toEqual([
      'grant 100 0',
      'usage -100 0',
      'reversal 100 0',
      'expiration -100 0',
    ]);
  });

  test('lapse at once where their grant has expired, also where usage of before is open', async () => {
    await grant(world, acme, { amountCents: 100, expiresAt: '2026-04-10T00:00:00Z' });
    const id = await endOfMarch(world, acme);
    await finalize(world, id);
    await use(world, acme, { tokens: 70, at: '2026-04-01T00:00:00Z' });
    world.clock.set('2026-04-20T00:00:00Z');
    await act('invoices.cancel', id);
    expect(await movements(world, acme)).toEqual([
      'grant 100 0',
      'usage -100 0',
      'reversal 100 0',
      'expiration -100 0',
    ]);
    expect((await invoiceAt(world, acme, 1)).totalCents).toBe(70);
  });

  test.each([
    ['voided', async (id: string) => await act('invoices.cancel', id)],
    [
      'refunded',
      async (id: string) => {
        await act('invoices.pay', id, {});
        return await act('invoices.refund', id, { restoreCredits: true });
      },
    ],
  ])('lapse only after usage that their grant still owes is settled, where it is %s', async (_how, undo) => {
    const fixed = await subscribe(world, { name: 'fixed', price: { flatAmount: '5' } });
    await grant(world, fixed, { amountCents: 1000, expiresAt: '2026-04-10T00:00:00Z' });
    await use(world, fixed, { tokens: 300, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-01T00:00:00Z');
    const { id } = await invoiceAt(world, fixed, 0);
    await finalize(world, id);
    await use(world, fixed, { tokens: 200, at: '2026-04-01T00:00:00Z' });
    world.clock.set('2026-04-20T00:00:00Z');
    expect(await undo(id)).toBe('accepted');
    expect(await movements(world, fixed)).toEqual([
      'grant 1000 0',
      'usage -300 0',
      'usage -200 0',
      'expiration -500 0',
      'reversal 300 0',
      'expiration -300 0',
    ]);
  });

  test.each([
    ['stay taken by a refund', {}, ['grant 100 0', 'usage -100 0']],
    [
      'come back with a refund that restores them',
      { restoreCredits: true },
      ['grant 100 0', 'usage -100 0', 'reversal 100 0'],
    ],
  ])('%s', async (_rule, body, expected) => {
    const id = await paidPartly();
    await act('invoices.pay', id, {});
    await act('invoices.refund', id, body);
    expect(await movements(world, acme)).toEqual(expected);
  });

  test('that come back with a refund pay for other open usage', async () => {
    const id = await paidPartly();
    await use(world, acme, { tokens: 70, at: '2026-04-01T00:00:00Z' });
    await act('invoices.pay', id, {});
    await act('invoices.refund', id, { restoreCredits: true });
    expect(await movements(world, acme)).toEqual(['grant 100 0', 'usage -100 0', 'reversal 100 0', 'usage -70 0']);
  });
});
