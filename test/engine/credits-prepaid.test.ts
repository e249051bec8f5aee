import { beforeEach, describe, expect, test } from 'vitest';

import type { OperationName } from '../../src/operations/index.ts';
import {
  balance,
  finalize,
  grant,
  grantPaid,
  invoiceAt,
  ledger,
  movements,
  settle,
  subscribe,
  use,
} from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

async function act(name: OperationName, invoiceId: string, body: Record<string, unknown> = {}): Promise<void> {
  await world.call(name, { params: { invoiceId }, body });
}

describe('prepaid credits whose invoice is cancelled before it is paid', () => {
  let beta: Subscription;
  beforeEach(async () => {
    beta = await subscribe(world, { name: 'beta', contract: { creditGrantCents: 500 } });
    await use(world, beta, { tokens: 300, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-01T00:00:00Z');
  });

  /** Bills March, and April with these tokens. */
  async function finalizeTwo(tokens: number): Promise<{ readonly first: string; readonly second: string }> {
    const { id: first } = await finalize(world, (await invoiceAt(world, beta, 0)).id);
    await use(world, beta, { tokens, at: '2026-04-01T00:00:00Z' });
    world.clock.set('2026-05-01T00:00:00Z');
    const { id: second } = await finalize(world, (await invoiceAt(world, beta, 1)).id);
    return { first, second };
  }

  async function cancelFirst(): Promise<void> {
    await act('invoices.cancel', (await invoiceAt(world, beta, 0)).id);
    const { data } = await world.call('credits.verify', { params: { contractId: beta.contractId } });
    expect(data.findings).toEqual([]);
  }

  test.each([
    ['finalized', async () => await finalize(world, (await invoiceAt(world, beta, 0)).id)],
    ['settled', async () => await settle(world, beta)],
  ])('are taken back whole, also what was %s of it and what drafts took', async (_how, write) => {
    await write();
    await use(world, beta, { tokens: 40, at: '2026-04-01T00:00:00Z' });
    await grantPaid(world, beta, { amountCents: 30 });
    await settle(world, beta);
    await cancelFirst();
    expect((await movements(world, beta)).slice(-2)).toEqual(['reversal -500 0', 'usage -30 0']);
    expect((await invoiceAt(world, beta, 1)).totalCents).toBe(10);
    expect((await balance(world, beta)).balance.balanceCents).toBe(0);
  });

  test('leave finalized invoices what they have used, and lose the rest', async () => {
    await finalizeTwo(120);
    await cancelFirst();
    expect(await movements(world, beta)).toEqual([
      'grant 500 0',
      'usage -300 0',
      'usage -120 0',
      'reversal 300 0',
      'adjustment -380 0',
    ]);
    expect((await ledger(world, beta)).at(-1)?.description).toBe('Not bought: invoice INV-000001 is cancelled');
    expect(await invoiceAt(world, beta, 1)).toMatchObject({ status: 'Paid', totalCents: 0 });
  });

  test.each([
    [1, 499, ['usage -1 0', 'usage -499 0', 'reversal 1 0', 'adjustment -1 0']],
    [0, 500, ['usage -500 0']],
  ])('go to their last cent: %i of that invoice, %i of a finalized one', async (first, second, moved) => {
    beta = await subscribe(world, { name: 'gamma', contract: { creditGrantCents: 500 } });
    await use(world, beta, { tokens: first, at: '2026-03-01T00:00:00Z' });
    await finalize(world, (await invoiceAt(world, beta, 0)).id);
    await use(world, beta, { tokens: second, at: '2026-04-01T00:00:00Z' });
    world.clock.set('2026-05-01T00:00:00Z');
    await finalize(world, (await invoiceAt(world, beta, 1)).id);
    await cancelFirst();
    expect(await movements(world, beta)).toEqual(['grant 500 0', ...moved]);
  });

  test.each([
    ['voided', 300, ['invoices.cancel'], ['adjustment -300 0', 'reversal 200 0', 'adjustment -200 0']],
    ['voided', 0, ['invoices.cancel'], ['usage -500 0', 'reversal 500 0', 'reversal -500 0']],
    ['refunded', 300, ['invoices.pay', 'invoices.refund'], ['reversal 200 0', 'adjustment -200 0']],
  ] as const)(
    'come back from no finalized invoice that is %s later: %i before it',
    async (_how, first, undo, moved) => {
      beta = await subscribe(world, { name: 'gamma', contract: { creditGrantCents: 500 } });
      await use(world, beta, { tokens: first, at: '2026-03-01T00:00:00Z' });
      await finalize(world, (await invoiceAt(world, beta, 0)).id);
      await use(world, beta, { tokens: 510, at: '2026-04-01T00:00:00Z' });
      world.clock.set('2026-05-01T00:00:00Z');
      const { id } = await invoiceAt(world, beta, 1);
      await finalize(world, id);
      await cancelFirst();
      for (const name of undo) await act(name, id, name === 'invoices.refund' ? { restoreCredits: true } : {});
      expect((await movements(world, beta)).slice(-moved.length)).toEqual(moved);
    },
  );

  test('are taken back without what was given since, and without what other grants have paid', async () => {
    await finalize(world, (await invoiceAt(world, beta, 0)).id);
    await grant(world, beta, { amountCents: 50 });
    await use(world, beta, { tokens: 160, at: '2026-04-01T00:00:00Z' });
    world.clock.set('2026-05-01T00:00:00Z');
    const { id } = await finalize(world, (await invoiceAt(world, beta, 1)).id);
    await cancelFirst();
    const grantEntryId = (await balance(world, beta)).blocks[1]?.id;
    const body = { grantEntryId, amountCents: 90, description: 'Sorry' };
    await world.call('credits.adjust', { params: { contractId: beta.contractId }, body });
    await act('invoices.refund', id, { restoreCredits: true });
    expect((await balance(world, beta)).blocks.map((block) => block.remainingCents)).toEqual([50, 90]);
  });

  test('are not taken back again from an invoice that is voided later and used what was given since', async () => {
    await finalizeTwo(120);
    await cancelFirst();
    const body = { grantEntryId: (await ledger(world, beta))[0]?.id, amountCents: 90, description: 'Sorry' };
    await world.call('credits.adjust', { params: { contractId: beta.contractId }, body });
    await use(world, beta, { tokens: 100, at: '2026-05-01T00:00:00Z' });
    world.clock.set('2026-06-01T00:00:00Z');
    const { id } = await finalize(world, (await invoiceAt(world, beta, 2)).id);
    await act('invoices.cancel', id);
    expect((await movements(world, beta)).slice(-3)).toEqual(['adjustment 90 0', 'usage -90 0', 'reversal 90 0']);
  });

  test('stay when it is a later invoice, or is refunded', async () => {
    const { first, second } = await finalizeTwo(210);
    await act('invoices.pay', first);
    await act('invoices.cancel', second);
    await act('invoices.refund', first);
    expect(await movements(world, beta)).toEqual(['grant 500 0', 'usage -300 0', 'usage -200 0', 'reversal 200 0']);
  });

  test.each([
    [40, ['usage -40 0', 'expiration -460 0', 'reversal 40 0', 'expiration -40 0']],
    [500, ['usage -500 0', 'reversal 500 0', 'expiration -500 0']],
  ])('that have expired by then lapse, with the %i that drafts took of them', async (tokens, moved) => {
    const contract = { creditGrantCents: 500, creditSettings: { expiresAt: '2026-04-10T00:00:00Z' } };
    beta = await subscribe(world, { name: 'gamma', contract });
    await use(world, beta, { tokens, at: '2026-04-01T00:00:00Z' });
    world.clock.set('2026-04-20T00:00:00Z');
    await cancelFirst();
    expect(await movements(world, beta)).toEqual(['grant 500 0', ...moved]);
    expect((await invoiceAt(world, beta, 1)).totalCents).toBe(tokens);
  });
});
