import { describe, expect, test } from 'vitest';

import {
  balance,
  finalize,
  grant,
  grantPaid,
  invoiceAt,
  invoices,
  linesOf,
  movements,
  settle,
  subscribe,
  use,
} from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { listen, outboxOf } from '../support/outbox.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

/** What each grant has left, by the order in which grants were given. */
async function remaining(subscription: Subscription, ids: readonly string[]): Promise<number[]> {
  const { blocks } = await balance(world, subscription);
  return ids.map((id) => Number(blocks.find((block) => block.id === id)?.remainingCents));
}

describe('the order in which grants pay', () => {
  interface Given {
    readonly paid?: true;
    readonly body: Record<string, unknown>;
  }
  const june = '2026-06-01T00:00:00Z';
  const may = '2026-05-01T00:00:00Z';
  const promo = (body: Record<string, unknown>): Given => ({ body });
  const paid = (body: Record<string, unknown>): Given => ({ paid: true, body });

  test.each([
    {
      rule: 'the soonest expiry goes first',
      first: promo({ amountCents: 100, expiresAt: june }),
      second: promo({ amountCents: 100, expiresAt: may }),
      left: [100, 40],
    },
    {
      rule: 'a grant without an expiry goes last',
      first: paid({ amountCents: 100 }),
      second: promo({ amountCents: 100, expiresAt: june }),
      left: [100, 40],
    },
    {
      rule: 'a promotional grant goes before a paid one of the same expiry',
      first: paid({ amountCents: 100, expiresAt: june }),
      second: promo({ amountCents: 100, expiresAt: june }),
      left: [100, 40],
    },
    {
      rule: 'the lower purchase rate goes first',
      first: paid({ creditAmount: 10, creditRateCents: 10, expiresAt: june }),
      second: paid({ creditAmount: 20, creditRateCents: 5, expiresAt: june }),
      left: [100, 40],
    },
    {
      rule: 'the older of two like grants goes first',
      first: promo({ amountCents: 100, expiresAt: june }),
      second: promo({ amountCents: 100, expiresAt: june }),
      left: [40, 100],
    },
    {
      rule: 'an earlier expiry beats promotional before paid',
      first: promo({ amountCents: 100, expiresAt: june }),
      second: paid({ amountCents: 100, expiresAt: may }),
      left: [100, 40],
    },
  ])('$rule', async ({ first, second, left }) => {
    const acme = await subscribe(world);
    const ids: string[] = [];
    for (const given of [first, second]) {
      ids.push(await (given.paid === true ? grantPaid : grant)(world, acme, given.body));
      world.clock.advance({ milliseconds: 1 });
    }
    world.clock.set('2026-03-10T00:00:00Z');
    await use(world, acme, { tokens: 60, at: '2026-03-05T00:00:00Z' });
    await settle(world, acme);
    expect(await remaining(acme, ids)).toEqual(left);
    const { blocks } = await balance(world, acme);
    expect(blocks.map((block) => block.priority)).toEqual([1, 2]);
    expect(Number(blocks[0]?.remainingCents)).toBe(40);
  });

  test('what the first grant cannot pay the second does, and the rest is invoiced', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 100, expiresAt: may, description: 'Welcome' });
    await grant(world, acme, { amountCents: 50, expiresAt: june, description: 'Sorry' });
    world.clock.set('2026-03-10T00:00:00Z');
    await use(world, acme, { tokens: 500, at: '2026-03-05T00:00:00Z' });
    const draft = await invoiceAt(world, acme, 0);
    expect(linesOf(draft)).toEqual(['Tokens 500', 'Credits applied -100', 'Credits applied -50']);
    expect(draft.totalCents).toBe(350);
    expect(draft.lineItems?.map((line) => line.description).slice(1)).toEqual(['Welcome', 'Sorry']);
  });
});

describe('settlement', () => {
  test('writes what open usage owes once, and nothing the second time', async () => {
    const acme = await subscribe(world);
    const id = await grant(world, acme, { amountCents: 1000 });
    world.clock.set('2026-03-10T00:00:00Z');
    await use(world, acme, { tokens: 300, at: '2026-03-05T00:00:00Z' });
    const [entry] = await settle(world, acme);
    const draft = await invoiceAt(world, acme, 0);
    expect(entry).toMatchObject({
      type: 'usage',
      amountCents: -300,
      sourceType: 'invoice',
      grantEntryId: id,
      invoiceId: draft.id,
      isPromotional: true,
      expiresAt: null,
    });
    expect(entry?.description).toBe(`Usage of TOKENS_ACME on invoice ${draft.invoiceNumber}`);
    expect(await settle(world, acme)).toEqual([]);
  });

  test('adds the difference when usage grows', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 1000 });
    world.clock.set('2026-03-10T00:00:00Z');
    await use(world, acme, { tokens: 300, at: '2026-03-05T00:00:00Z' });
    await settle(world, acme);
    await use(world, acme, { tokens: 200, at: '2026-03-06T00:00:00Z' });
    await settle(world, acme);
    expect(await movements(world, acme)).toEqual(['grant 1000 0', 'usage -300 0', 'usage -200 0']);
  });

  test('reverses entries when usage shrinks, and writes what is left', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 1000 });
    world.clock.set('2026-03-10T00:00:00Z');
    await use(world, acme, { tokens: 300, at: '2026-03-05T00:00:00Z', key: 'a' });
    await settle(world, acme);
    await use(world, acme, { tokens: 120, at: '2026-03-05T00:00:00Z', key: 'a' });
    await settle(world, acme);
    expect(await movements(world, acme)).toEqual(['grant 1000 0', 'usage -300 0', 'reversal 300 0', 'usage -120 0']);
    expect((await balance(world, acme)).balance.balanceCents).toBe(880);
  });

  test('covers usage that is older than the grant, as long as its invoice is open', async () => {
    const acme = await subscribe(world);
    world.clock.set('2026-03-10T00:00:00Z');
    await use(world, acme, { tokens: 300, at: '2026-03-05T00:00:00Z' });
    await grant(world, acme, { amountCents: 1000 });
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(0);
  });

  test('never touches a finalized invoice', async () => {
    const acme = await subscribe(world);
    await use(world, acme, { tokens: 300, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-02T00:00:00Z');
    const { id } = await finalize(world, (await invoiceAt(world, acme, 0)).id);
    await grant(world, acme, { amountCents: 1000 });
    expect(await settle(world, acme)).toEqual([]);
    expect((await invoices(world, acme)).find((invoice) => invoice.id === id)?.totalCents).toBe(300);
  });

  test('gives the same balance read live as written', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { creditAmount: 100, creditRateCents: 10 });
    world.clock.set('2026-03-10T00:00:00Z');
    await use(world, acme, { tokens: 333, at: '2026-03-05T00:00:00Z' });
    const before = await balance(world, acme, { include: 'projected' });
    expect(before.balance).toMatchObject({ balanceCents: 1000, creditBalance: 100 });
    expect(before.projected).toEqual({ balanceCents: 667, creditBalance: 66.7 });
    await settle(world, acme);
    const after = await balance(world, acme, { include: 'projected' });
    expect(after.balance).toMatchObject({ balanceCents: 667, creditBalance: 66.7 });
    expect(after.projected).toEqual(before.projected);
  });

  test('is read live with usage of periods that no bill run has drafted yet', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 1000 });
    world.clock.set('2026-07-10T00:00:00Z');
    await use(world, acme, { tokens: 300, at: '2026-07-05T00:00:00Z' });
    const shown = await invoices(world, acme);
    const { projected } = await balance(world, acme, { include: 'projected' });
    expect(projected).toEqual({ balanceCents: 700, creditBalance: 0 });
    expect(await invoices(world, acme)).toEqual(shown);
    await settle(world, acme);
    expect((await balance(world, acme)).balance).toMatchObject({ balanceCents: 700 });
  });

  test('is read live without what has expired and is not written yet', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { creditAmount: 100, creditRateCents: 10, expiresAt: '2026-03-10T00:00:00Z' });
    await use(world, acme, { tokens: 300, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-03-10T00:00:00Z');
    const { projected, blocks } = await balance(world, acme, { include: 'projected' });
    expect(projected).toEqual({ balanceCents: 0, creditBalance: 0 });
    expect(blocks).toMatchObject([{ status: 'expired', remainingCents: 0, remainingCredits: 0, originalCredits: 100 }]);
  });

  test('tells of no fall where a draft takes at once what a refund gives back', async () => {
    const acme = await subscribe(world, { contract: { creditSettings: { alertThresholdsCents: [100] } } });
    await grant(world, acme, { amountCents: 600 });
    world.clock.set('2026-04-01T00:00:00Z');
    await use(world, acme, { tokens: 600, at: '2026-03-05T00:00:00Z' });
    const { id: invoiceId } = await finalize(world, (await invoiceAt(world, acme, 0)).id);
    await use(world, acme, { tokens: 600, at: '2026-04-01T00:00:00Z' });
    await listen(world, ['credit.threshold_crossed', 'credit.balance_depleted']);
    await world.call('invoices.refund', { params: { invoiceId }, body: { restoreCredits: true } });
    expect(await movements(world, acme)).toEqual(['grant 600 0', 'usage -600 0', 'reversal 600 0', 'usage -600 0']);
    expect(await outboxOf(world)).toEqual([]);
  });

  test('takes the last credit with the last cent', async () => {
    const acme = await subscribe(world);
    const id = await grant(world, acme, { creditAmount: 33.333333, creditRateCents: 3 });
    world.clock.set('2026-03-10T00:00:00Z');
    for (const [index, tokens] of [33, 33, 34].entries()) {
      await use(world, acme, { tokens, at: `2026-03-0${index + 2}T00:00:00Z` });
      await settle(world, acme);
    }
    const [block] = (await balance(world, acme)).blocks;
    expect(block).toMatchObject({ id, status: 'depleted', remainingCents: 0, remainingCredits: 0 });
  });

  test('puts back all credits of open usage, also those that a lower rate took for no more cents', async () => {
    const acme = await subscribe(world);
    const other = { specifiers: { eventNames: ['other'] }, creditAmount: 1 };
    const free = await grant(world, acme, { creditRateCents: 0, creditAmount: 10 });
    await grant(world, acme, { ...other, creditRateCents: 100 });
    await use(world, acme, { tokens: 400, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    await grant(world, acme, { ...other, creditRateCents: 50 });
    await settle(world, acme);
    expect((await movements(world, acme)).filter((each) => each.startsWith('usage'))).toEqual([
      'usage 0 -4',
      'usage 0 -4',
    ]);
    await grant(world, acme, { amountCents: 400, expiresAt: '2026-06-01T00:00:00Z' });
    await use(world, acme, { tokens: 1000, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    expect((await balance(world, acme)).blocks.find(({ id }) => id === free)).toMatchObject({ remainingCredits: 0 });
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(1400 - 400 - 500);
    expect(await settle(world, acme)).toEqual([]);
  });

  test('writes free credits anew that a higher rate makes worth more, since an entry of the difference would take none', async () => {
    const acme = await subscribe(world);
    const other = { specifiers: { eventNames: ['other'] }, creditAmount: 1 };
    await grant(world, acme, { creditRateCents: 0, creditAmount: 100 });
    await grant(world, acme, { ...other, creditRateCents: 2 });
    await use(world, acme, { tokens: 1000, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(1000 - 200);
    await grant(world, acme, { ...other, creditRateCents: 5 });
    await settle(world, acme);
    expect((await movements(world, acme)).filter((each) => !each.startsWith('grant'))).toEqual([
      'usage 0 -100',
      'reversal 0 100',
      'usage 0 -100',
    ]);
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(1000 - 500);
    expect(await settle(world, acme)).toEqual([]);
  });

  test('stores the balance after every entry', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 1000 });
    world.clock.set('2026-03-10T00:00:00Z');
    await use(world, acme, { tokens: 300, at: '2026-03-05T00:00:00Z' });
    await settle(world, acme);
    const { data } = await world.call('credits.grant', {
      params: { contractId: acme.contractId },
      body: { amountCents: 50, expiresAt: '2026-12-01T00:00:00Z' },
    });
    expect(data.balanceAfterCents).toBe(750);
  });
});

describe('credits without an expiry', () => {
  const finish = async (invoiceId: string) => await finalize(world, invoiceId);
  const cancel = async (invoiceId: string) => await world.call('invoices.cancel', { params: { invoiceId } });

  test.each([
    ['finalized', [finish], ['usage -300 0', 'expiration -100 0']],
    ['cancelled', [cancel], ['expiration -400 0']],
    ['voided', [finish, cancel], ['usage -300 0', 'expiration -100 0', 'reversal 300 0', 'expiration -300 0']],
  ])('lapse once the last invoice of their contract is %s, and are told to be used up', async (_how, acts, moved) => {
    const acme = await subscribe(world, { price: { flatAmount: '5' }, contract: { endDate: '2026-04-01' } });
    await grantPaid(world, acme, { amountCents: 400 });
    await listen(world, ['credit.balance_depleted']);
    world.clock.set('2026-04-01T00:00:00Z');
    await use(world, acme, { tokens: 300, at: '2026-03-05T00:00:00Z' });
    const { id } = await invoiceAt(world, acme, 0);
    for (const act of acts) await act(id);
    expect(await movements(world, acme)).toEqual(['grant 400 0', ...moved]);
    expect(await outboxOf(world)).toHaveLength(1);
  });

  test('that usage gives back and that lapse in one finalization cross no threshold that they were below before', async () => {
    const creditSettings = { alertThresholdsCents: [100] };
    const acme = await subscribe(world, { contract: { endDate: '2026-04-01', creditSettings } });
    await grantPaid(world, acme, { amountCents: 400 });
    world.clock.set('2026-04-01T00:00:00Z');
    await use(world, acme, { tokens: 350, at: '2026-03-05T00:00:00Z', key: 'a' });
    await settle(world, acme);
    await use(world, acme, { tokens: 250, at: '2026-03-05T00:00:00Z', key: 'a' });
    await listen(world, ['credit.threshold_crossed', 'credit.balance_depleted']);
    await finalize(world, (await invoiceAt(world, acme, 0)).id);
    expect((await movements(world, acme)).slice(-3)).toEqual(['reversal 350 0', 'usage -250 0', 'expiration -150 0']);
    expect((await outboxOf(world)).map(({ type }) => type)).toEqual(['credit.balance_depleted']);
  });
});

describe('what credits pay', () => {
  test('are metered lines alone, never fixed prices nor prepaid credits', async () => {
    const acme = await subscribe(world, { price: { flatAmount: '5' }, contract: { creditGrantCents: 700 } });
    world.clock.set('2026-03-10T00:00:00Z');
    await use(world, acme, { tokens: 300, at: '2026-03-05T00:00:00Z' });
    const draft = await invoiceAt(world, acme, 0);
    expect(linesOf(draft)).toEqual(['Tokens 300', 'Tokens 500', 'Prepaid credits 700', 'Credits applied -300']);
    expect(draft.totalCents).toBe(1200);
  });

  test('is none of the usage of periods that lie ahead', async () => {
    const acme = await subscribe(world, {
      price: { tiering: 'GRADUATED', pricingTiers: [{ unitAmount: '0.01', flatAmount: '2' }] },
    });
    await grant(world, acme, { amountCents: 1000 });
    world.clock.set('2026-03-10T00:00:00Z');
    await settle(world, acme);
    expect((await balance(world, acme)).balance.balanceCents).toBe(800);
    expect((await invoices(world, acme)).map((invoice) => invoice.totalCents)).toEqual([0, 200]);
  });
});
