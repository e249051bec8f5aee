import { beforeEach, describe, expect, test } from 'vitest';

import {
  balance,
  finalize,
  grant,
  grantPaid,
  invoiceAt,
  ledger,
  movements,
  refusal,
  settle,
  subscribe,
  use,
} from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { listen, outboxOf } from '../support/outbox.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

let acme: Subscription;
beforeEach(async () => {
  acme = await subscribe(world);
});

type Body = Record<string, unknown>;

const unknownId = '01900000-0000-7000-8000-ffffffffffff';
describe('an adjustment', () => {
  async function adjust(grantEntryId: string, body: Body): Promise<string> {
    return await refusal(world, 'credits.adjust', {
      params: { contractId: acme.contractId },
      body: { grantEntryId, description: 'Correction', ...body },
    });
  }

  test('corrects one grant, in cents or in credits of its own rate', async () => {
    const id = await grant(world, acme, { creditAmount: 100, creditRateCents: 10 });
    expect(await adjust(id, { amountCents: -300 })).toBe('accepted');
    expect(await adjust(id, { creditAmount: 10 })).toBe('accepted');
    expect(await movements(world, acme)).toEqual(['grant 1000 100', 'adjustment -300 -30', 'adjustment 100 10']);
    expect((await ledger(world, acme))[1]).toMatchObject({
      sourceType: 'adjustment',
      grantEntryId: id,
      description: 'Correction',
      invoiceId: null,
    });
  });

  test('may not take more than there is, nor give more than was granted', async () => {
    const id = await grant(world, acme, { amountCents: 1000 });
    expect(await adjust(id, { amountCents: -1001 })).toContain('409 grant');
    expect(await adjust(id, { amountCents: 1 })).toContain('409 grant');
    expect(await adjust(id, { amountCents: -1000 })).toBe('accepted');
    expect(await adjust(id, { amountCents: 1000 })).toBe('accepted');
  });

  test('leaves room for what usage took, which comes back when usage shrinks', async () => {
    const id = await grant(world, acme, { amountCents: 500 });
    await use(world, acme, { tokens: 225, at: '2026-03-01T00:00:00Z', key: 'request' });
    await settle(world, acme);
    expect(await adjust(id, { amountCents: 100 })).toContain('409 grant');
    expect(await adjust(id, { amountCents: -275 })).toBe('accepted');
    expect(await adjust(id, { amountCents: 100 })).toBe('accepted');
    await use(world, acme, { tokens: 0, at: '2026-03-01T00:00:00Z', key: 'request' });
    await settle(world, acme);
    expect((await balance(world, acme)).balance.balanceCents).toBe(325);
  });

  test('is refused of a grant that has expired, after the rest was swept', async () => {
    const id = await grant(world, acme, { amountCents: 1000, expiresAt: '2026-03-02T00:00:00Z' });
    world.clock.set('2026-03-02T00:00:00Z');
    expect(await adjust(id, { amountCents: -1 })).toContain('409 grant');
  });

  test('gives nothing to a contract that has been billed out, where it could only be forgotten', async () => {
    const ended = await subscribe(world, { name: 'ended', contract: { endDate: '2026-04-01' } });
    const [paid, dated] = [
      await grantPaid(world, ended, { amountCents: 1000 }),
      await grant(world, ended, { amountCents: 1000 }),
    ];
    const input = (grantEntryId: string, amountCents: number) => ({
      params: { contractId: ended.contractId },
      body: { grantEntryId, amountCents, description: 'Why' },
    });
    for (const id of [paid, dated]) expect(await refusal(world, 'credits.adjust', input(id, -1000))).toBe('accepted');
    expect(await refusal(world, 'credits.adjust', input(dated, 400))).toBe('accepted');
    world.clock.set('2026-04-01T00:00:00Z');
    await finalize(world, (await invoiceAt(world, ended, 0)).id);
    for (const id of [paid, dated]) {
      expect(await refusal(world, 'credits.adjust', input(id, 100))).toBe(
        `409 the last invoice of contract ${ended.contractId} is closed: no usage of it is billed any more`,
      );
    }
    expect(await refusal(world, 'credits.adjust', input(dated, -400))).toBe('accepted');
  });

  test('names a grant of this contract', async () => {
    const other = await subscribe(world, { name: 'other' });
    const foreign = await grant(world, other, { amountCents: 1000 });
    for (const id of [unknownId, foreign]) {
      expect(await adjust(id, { amountCents: -1 })).toBe('422 grantEntryId: names no grant of this contract');
    }
  });

  test('takes no credit from a grant whose cents came back without one', async () => {
    const id = await grant(world, acme, { creditAmount: 0.000003, creditRateCents: 333_333_333 });
    await use(world, acme, { tokens: 100, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-01T00:00:00Z');
    const march = await finalize(world, (await invoiceAt(world, acme, 0)).id);
    await use(world, acme, { tokens: 900, at: '2026-04-01T00:00:00Z' });
    world.clock.set('2026-05-01T00:00:00Z');
    await finalize(world, (await invoiceAt(world, acme, 1)).id);
    await world.call('invoices.refund', { params: { invoiceId: march.id }, body: { restoreCredits: true } });
    expect(await adjust(id, { amountCents: -50 })).toBe('accepted');
    expect(await movements(world, acme)).toEqual([
      'grant 1000 0.000003',
      'usage -100 0',
      'usage -900 -0.000003',
      'reversal 100 0',
      'adjustment -50 0',
    ]);
    expect(await adjust(id, { amountCents: 20 })).toBe('accepted');
    expect((await ledger(world, acme)).at(-1)).toMatchObject({ amountCents: 20, creditAmount: 0 });
  });

  test('leaves drafts with what is left', async () => {
    const id = await grant(world, acme, { amountCents: 1000 });
    await use(world, acme, { tokens: 600, at: '2026-03-01T00:00:00Z' });
    await adjust(id, { amountCents: -700 });
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(300);
  });
});

describe('a reversal', () => {
  async function reverse(entryId: string): Promise<string> {
    return await refusal(world, 'credits.reverse', { params: { contractId: acme.contractId, entryId }, body: {} });
  }
  async function last(): Promise<string> {
    return (await ledger(world, acme)).at(-1)?.id ?? '';
  }

  test('undoes a grant that nothing was taken from, once', async () => {
    const id = await grant(world, acme, { creditAmount: 10, creditRateCents: 5 });
    expect(await reverse(id)).toBe('accepted');
    expect(await movements(world, acme)).toEqual(['grant 50 10', 'reversal -50 -10']);
    expect((await ledger(world, acme))[1]).toMatchObject({ sourceType: 'reversal', grantEntryId: id });
    expect(await reverse(id)).toContain('409 entry');
  });

  test('of a grant leaves nothing of it, neither in what other grants pay nor in what budgets have consumed', async () => {
    const budgets = [{ eventPropertyKey: 'model', eventPropertyValue: 'small', maxCreditsCents: 1000 }];
    const parts = { name: 'undone', meter: { aggregationType: 'MAX' }, contract: { creditSettings: { budgets } } };
    acme = await subscribe(world, parts);
    const params = { contractId: acme.contractId };
    const specifiers = { properties: { model: 'large' } };
    const id = await grant(world, acme, { amountCents: 500, expiresAt: '2026-03-10T00:00:00Z', specifiers });
    expect(await reverse(id)).toBe('accepted');
    await grant(world, acme, { amountCents: 500, specifiers });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 100, at: '2026-03-05T00:00:00Z', model: 'small' });
    await use(world, acme, { tokens: 150, at: '2026-03-15T00:00:00Z', model: 'large' });
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(0);
    const { data } = await world.call('budgets.usage', { params });
    expect(data.budgets[0]).toMatchObject({ consumedCents: 0 });
  });

  test('of a grant takes its expiry, and no other, out of what falls due', async () => {
    const id = await grant(world, acme, { amountCents: 500, expiresAt: '2026-03-10T00:00:00Z' });
    await grant(world, acme, { amountCents: 70, expiresAt: '2026-03-10T00:00:00Z' });
    await reverse(id);
    world.clock.set('2026-03-11T00:00:00Z');
    expect((await world.call('bill.run')).data).toMatchObject({ expiredGrantCount: 1 });
  });

  test('of a grant is refused once usage took from it', async () => {
    const id = await grant(world, acme, { amountCents: 1000 });
    await use(world, acme, { tokens: 1, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    expect(await reverse(id)).toContain('409 grant');
  });

  test('undoes an adjustment', async () => {
    const id = await grant(world, acme, { amountCents: 1000 });
    await world.call('credits.adjust', {
      params: { contractId: acme.contractId },
      body: { grantEntryId: id, amountCents: -400, description: 'x' },
    });
    expect(await reverse(await last())).toBe('accepted');
    expect((await balance(world, acme)).balance.balanceCents).toBe(1000);
  });

  test('returns usage of a draft to its grant', async () => {
    await grant(world, acme, { amountCents: 1000 });
    await use(world, acme, { tokens: 1, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    expect(await reverse(await last())).toBe('accepted');
    expect((await balance(world, acme)).balance.balanceCents).toBe(1000);
  });

  test('returns usage that was worth less than half a millionth of a credit as cents alone', async () => {
    const id = await grant(world, acme, { creditAmount: 0.000001, creditRateCents: 1_000_000_000 });
    await use(world, acme, { tokens: 400, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    const first = await last();
    await use(world, acme, { tokens: 600, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    expect(await reverse(first)).toBe('accepted');
    expect(await movements(world, acme)).toEqual([
      'grant 1000 0.000001',
      'usage -400 0',
      'usage -600 -0.000001',
      'reversal 400 0',
    ]);
    expect((await settle(world, acme)).map(({ amountCents, grantEntryId }) => [amountCents, grantEntryId])).toEqual([
      [-400, id],
    ]);
  });

  test('of credits that were worth no cent is refused once the last cent is gone', async () => {
    const id = await grant(world, acme, { creditAmount: 100, creditRateCents: 10 });
    const body = { grantEntryId: id, creditAmount: -0.000001, description: 'x' };
    await world.call('credits.adjust', { params: { contractId: acme.contractId }, body });
    const adjustment = await last();
    await use(world, acme, { tokens: 1000, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    expect(await reverse(adjustment)).toBe(`409 grant ${id} has no cents left for these credits`);
    await reverse(await last());
    expect(await reverse(adjustment)).toBe('accepted');
  });

  test('returns usage to a grant that has expired only for it to lapse', async () => {
    await grant(world, acme, { amountCents: 1000, expiresAt: '2026-03-02T00:00:00Z' });
    await use(world, acme, { tokens: 1000, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    const usage = await last();
    world.clock.set('2026-03-03T00:00:00Z');
    expect(await reverse(usage)).toBe('accepted');
    expect((await movements(world, acme)).slice(1)).toEqual(['usage -1000 0', 'reversal 1000 0', 'expiration -1000 0']);
  });

  test('returns what was taken from a grant whose contract is billed out only for it to lapse', async () => {
    const closed = await subscribe(world, {
      name: 'closed',
      contract: { endDate: '2026-04-01', creditGrantCents: 300 },
    });
    const [prepaid] = await ledger(world, closed);
    const body = { grantEntryId: prepaid?.id, amountCents: -100, description: 'Correction' };
    const { data } = await world.call('credits.adjust', { params: { contractId: closed.contractId }, body });
    world.clock.set('2026-04-01T00:00:00Z');
    await finalize(world, (await invoiceAt(world, closed, 0)).id);
    await listen(world, ['credit.balance_depleted']);
    await world.call('credits.reverse', { params: { contractId: closed.contractId, entryId: data.id }, body: {} });
    expect(await outboxOf(world)).toEqual([]);
    expect(await movements(world, closed)).toEqual([
      'grant 300 0',
      'adjustment -100 0',
      'expiration -200 0',
      'reversal 100 0',
      'expiration -100 0',
    ]);
  });

  test.each([
    ['before its invoice is finalized', 0],
    ['after its invoice is finalized', 1000],
  ])('of prepaid credits %s leaves %d cents to pay for them', async (moment, totalCents) => {
    const paid = await subscribe(world, { name: 'paid', contract: { endDate: '2026-05-01', creditGrantCents: 1000 } });
    const [prepaid] = await ledger(world, paid);
    const reverse = async () =>
      await world.call('credits.reverse', {
        params: { contractId: paid.contractId, entryId: prepaid?.id ?? '' },
        body: {},
      });
    if (moment.startsWith('before')) await reverse();
    world.clock.set('2026-04-01T00:00:00Z');
    await finalize(world, (await invoiceAt(world, paid, 0)).id);
    if (moment.startsWith('after')) await reverse();
    expect(await invoiceAt(world, paid, 0)).toMatchObject({ totalCents });
    const verified = await world.call('credits.verify', { params: { contractId: paid.contractId } });
    expect(verified.data.findings).toEqual([]);
  });

  test('is refused of usage that a finalized invoice shows', async () => {
    await grant(world, acme, { amountCents: 1000 });
    await use(world, acme, { tokens: 1, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-01T00:00:00Z');
    await finalize(world, (await invoiceAt(world, acme, 0)).id);
    expect(await reverse(await last())).toContain('pays invoice INV-000001, which is finalized');
  });

  test('returns usage of an invoice that was refunded without its credits', async () => {
    const id = await grant(world, acme, { amountCents: 100 });
    await use(world, acme, { tokens: 150, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-01T00:00:00Z');
    const { id: invoiceId } = await finalize(world, (await invoiceAt(world, acme, 0)).id);
    await world.call('invoices.pay', { params: { invoiceId }, body: { status: 'paid' } });
    await world.call('invoices.refund', { params: { invoiceId }, body: {} });
    expect(await reverse(await last())).toBe('accepted');
    expect(await movements(world, acme, id)).toEqual(['grant 100 0', 'usage -100 0', 'reversal 100 0']);
  });

  test('is refused of an expiration and of a reversal', async () => {
    const id = await grant(world, acme, { amountCents: 1000, expiresAt: '2026-03-02T00:00:00Z' });
    world.clock.set('2026-03-02T00:00:00Z');
    await settle(world, acme);
    expect(await reverse(await last())).toContain('409 entry');
    const other = await grant(world, acme, { amountCents: 1 });
    expect(other).not.toBe(id);
    await reverse(other);
    expect(await reverse(await last())).toContain('409 entry');
  });

  test('of an unknown entry finds nothing', async () => {
    const other = await subscribe(world, { name: 'other' });
    const foreign = await grant(world, other, { amountCents: 1000 });
    for (const id of [unknownId, foreign, 'nonsense']) {
      expect(await reverse(id)).toBe('404 no ledger entry of this contract has this id');
    }
  });
});
