import { describe, expect, test } from 'vitest';

import {
  balance,
  finalize,
  grant,
  invoiceAt,
  invoices,
  ledger,
  linesOf,
  movements,
  settle,
  subscribe,
  use,
} from '../support/billing-scenario.ts';
import { createContract, createFlatPrice } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

describe('the expiry of a grant', () => {
  test('is effective at its instant, whether or not it was written', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 1000, expiresAt: '2026-03-10T00:00:00Z' });
    world.clock.set('2026-03-09T23:59:59.999Z');
    expect((await balance(world, acme)).balance.balanceCents).toBe(1000);
    world.clock.set('2026-03-10T00:00:00.000Z');
    const read = await balance(world, acme);
    expect(read.balance.balanceCents).toBe(0);
    expect(read.blocks[0]).toMatchObject({ status: 'expired', remainingCents: 0, daysUntilExpiry: 0 });
    await settle(world, acme);
    expect(await balance(world, acme)).toEqual(read);
  });

  test('settles usage before it, and lets the rest lapse', async () => {
    const acme = await subscribe(world);
    const id = await grant(world, acme, { amountCents: 1000, expiresAt: '2026-03-10T00:00:00Z' });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 300, at: '2026-03-09T23:59:59.999Z' });
    await use(world, acme, { tokens: 500, at: '2026-03-10T00:00:00.000Z' });
    await settle(world, acme);
    expect(await movements(world, acme)).toEqual(['grant 1000 0', 'usage -300 0', 'expiration -700 0']);
    const expiration = (await ledger(world, acme)).at(-1);
    expect(expiration).toMatchObject({
      sourceType: 'expiration',
      grantEntryId: id,
      expiresAt: '2026-03-10T00:00:00.000Z',
      invoiceId: null,
    });
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(500);
  });

  test('of one contract leaves those of others to the bill run', async () => {
    const [acme, other] = [await subscribe(world), await subscribe(world, { name: 'other' })];
    for (const each of [acme, other]) {
      await grant(world, each, { amountCents: 100, expiresAt: '2026-03-10T00:00:00Z' });
    }
    world.clock.set('2026-03-11T00:00:00Z');
    await settle(world, acme);
    expect([await movements(world, acme), await movements(world, other)]).toEqual([
      ['grant 100 0', 'expiration -100 0'],
      ['grant 100 0'],
    ]);
    expect((await world.call('bill.run')).data).toMatchObject({ expiredGrantCount: 1 });
    expect(await movements(world, other)).toEqual(['grant 100 0', 'expiration -100 0']);
  });

  test('settles usage that a rolling contract is billed for only at the end of a longer period', async () => {
    const acme = await subscribe(world, { price: { priceInterval: 'YEAR' } });
    const contractId = await createContract(world, {
      customerId: acme.customerId,
      pricingIds: [acme.pricingId, await createFlatPrice(world, { unitAmount: '0' })],
      startDate: '2026-03-01',
      endDate: undefined,
    });
    const mixed = { ...acme, contractId };
    await grant(world, mixed, { amountCents: 1000, expiresAt: '2026-04-10T00:00:00Z' });
    await use(world, mixed, { tokens: 300, at: '2026-03-01T00:00:00Z' });
    expect((await invoices(world, mixed)).at(-1)).toMatchObject({ invoiceDate: '2027-03-01', totalCents: 0 });
    world.clock.set('2026-04-20T00:00:00Z');
    await settle(world, mixed);
    expect(await movements(world, mixed)).toEqual(['grant 1000 0', 'usage -300 0', 'expiration -700 0']);
    world.clock.set('2027-03-01T00:00:00Z');
    await settle(world, mixed);
    expect((await invoices(world, mixed)).at(-1)).toMatchObject({ invoiceDate: '2028-03-01' });
  });

  test('is the same for two grants that expire one after the other', async () => {
    const acme = await subscribe(world);
    const first = await grant(world, acme, { amountCents: 100, expiresAt: '2026-03-10T00:00:00Z' });
    const second = await grant(world, acme, { amountCents: 1000, expiresAt: '2026-03-15T00:00:00Z' });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 150, at: '2026-03-05T00:00:00Z' });
    await use(world, acme, { tokens: 70, at: '2026-03-12T00:00:00Z' });
    await use(world, acme, { tokens: 9, at: '2026-03-16T00:00:00Z' });
    await settle(world, acme);
    expect(await movements(world, acme, first)).toEqual(['grant 100 0', 'usage -100 0']);
    expect(await movements(world, acme, second)).toEqual(['grant 1000 0', 'usage -120 0', 'expiration -880 0']);
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(9);
  });

  test('is not undone by usage that arrives after it was written', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 1000, expiresAt: '2026-03-10T00:00:00Z' });
    world.clock.set('2026-03-11T00:00:00Z');
    await settle(world, acme);
    await use(world, acme, { tokens: 300, at: '2026-03-05T00:00:00Z' });
    await settle(world, acme);
    expect(await movements(world, acme)).toEqual(['grant 1000 0', 'expiration -1000 0']);
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(300);
  });

  test('finds usage before it that took the place of what had emptied the grant', async () => {
    const acme = await subscribe(world, { meter: { groupKeys: ['model'] } });
    const id = await grant(world, acme, { amountCents: 300, expiresAt: '2026-03-10T00:00:00Z' });
    await use(world, acme, { tokens: 300, at: '2026-03-01T00:00:00Z', key: 'a' });
    await settle(world, acme);
    await use(world, acme, { tokens: 0, at: '2026-03-01T00:00:00Z', key: 'a' });
    world.clock.set('2026-03-05T00:00:00Z');
    await use(world, acme, { tokens: 200, at: '2026-03-05T00:00:00Z', model: 'large' });
    const before = (await invoiceAt(world, acme, 0)).totalCents;
    world.clock.set('2026-03-10T00:00:00Z');
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(before);
    await world.call('bill.run');
    expect(await movements(world, acme, id)).toEqual([
      'grant 300 0',
      'usage -300 0',
      'reversal 300 0',
      'usage -200 0',
      'expiration -100 0',
    ]);
    await use(world, acme, { tokens: 50, at: '2026-03-06T00:00:00Z' });
    await settle(world, acme);
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(50);
  });

  test('finds it before an invoice is cancelled, since what that gives back lapses', async () => {
    const acme = await subscribe(world, { meter: { groupKeys: ['model'] }, contract: { startDate: '2026-02-01' } });
    const id = await grant(world, acme, { amountCents: 500, expiresAt: '2026-03-10T00:00:00Z' });
    await use(world, acme, { tokens: 300, at: '2026-02-10T00:00:00Z', key: 'a' });
    world.clock.set('2026-03-05T00:00:00Z');
    await use(world, acme, { tokens: 200, at: '2026-03-05T00:00:00Z' });
    await settle(world, acme);
    await use(world, acme, { tokens: 0, at: '2026-02-10T00:00:00Z', key: 'a' });
    await use(world, acme, { tokens: 250, at: '2026-02-11T00:00:00Z', model: 'large' });
    world.clock.set('2026-03-12T00:00:00Z');
    await world.call('invoices.cancel', { params: { invoiceId: (await invoiceAt(world, acme, 1)).id } });
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(0);
    expect((await movements(world, acme, id)).slice(3)).toEqual([
      'reversal 300 0',
      'usage -250 0',
      'expiration -50 0',
      'reversal 200 0',
      'expiration -200 0',
    ]);
  });

  test('is settled by a settlement that has nothing to write, so that usage does not revive it afterwards', async () => {
    const acme = await subscribe(world, { meter: { groupKeys: ['model'] } });
    const id = await grant(world, acme, { amountCents: 300, expiresAt: '2026-03-10T00:00:00Z' });
    await use(world, acme, { tokens: 300, at: '2026-03-01T00:00:00Z', model: 'small', key: 'a' });
    await settle(world, acme);
    world.clock.set('2026-03-11T00:00:00Z');
    expect(await settle(world, acme)).toEqual([]);
    await use(world, acme, { tokens: 0, at: '2026-03-01T00:00:00Z', model: 'small', key: 'a' });
    await use(world, acme, { tokens: 200, at: '2026-03-02T00:00:00Z', model: 'large' });
    await settle(world, acme);
    expect(await movements(world, acme, id)).toEqual([
      'grant 300 0',
      'usage -300 0',
      'reversal 300 0',
      'expiration -300 0',
    ]);
  });

  test('comes before a rate that is granted later, so that it is not what free credits were worth', async () => {
    const acme = await subscribe(world);
    // Of no use to what is used, and last to expire.
    const specifiers = { properties: { model: 'none' } };
    await grant(world, acme, { amountCents: 1, expiresAt: '2026-12-01T00:00:00Z', specifiers });
    await grant(world, acme, { creditAmount: 1, creditRateCents: 10, expiresAt: '2026-03-02T00:00:00Z' });
    const id = await grant(world, acme, {
      creditAmount: 5,
      creditRateCents: 0,
      expiresAt: '2026-03-10T00:00:00Z',
    });
    await use(world, acme, { tokens: 100, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    world.clock.set('2026-03-11T00:00:00Z');
    await grant(world, acme, { creditAmount: 1, creditRateCents: 90, expiresAt: '2026-03-20T00:00:00Z' });
    await world.call('bill.run');
    expect(await movements(world, acme, id)).toEqual(['grant 0 5', 'usage 0 -5']);
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(0);
  });

  test.each([
    ['added', 'budgets.add', { eventPropertyKey: 'model', eventPropertyValue: 'small', maxCreditsCents: 0 }, {}],
    ['changed', 'budgets.update', { maxCreditsCents: 0 }, { index: '0' }],
    ['removed', 'budgets.remove', undefined, { index: '0' }],
  ] as const)(
    'comes before a budget is %s, which changes nothing of what was paid',
    async (_how, name, body, place) => {
      const budgets = [{ eventPropertyKey: 'model', eventPropertyValue: 'large', maxCreditsCents: 400 }];
      const acme = await subscribe(world, { contract: { creditSettings: { budgets } } });
      const id = await grant(world, acme, { amountCents: 900, expiresAt: '2026-03-10T00:00:00Z' });
      await use(world, acme, { tokens: 500, at: '2026-03-01T00:00:00Z', model: 'large' });
      await use(world, acme, { tokens: 100, at: '2026-03-01T00:00:00Z', model: 'small' });
      world.clock.set('2026-03-11T00:00:00Z');
      await world.call(name, {
        params: { contractId: acme.contractId, ...place },
        ...(body === undefined ? {} : { body }),
      });
      await world.call('bill.run');
      expect(await movements(world, acme, id)).toEqual(['grant 900 0', 'usage -500 0', 'expiration -400 0']);
    },
  );

  test('takes what comes back to an expired grant at once', async () => {
    const acme = await subscribe(world);
    const id = await grant(world, acme, { amountCents: 1000, expiresAt: '2026-03-10T00:00:00Z' });
    world.clock.set('2026-03-11T00:00:00Z');
    await use(world, acme, { tokens: 300, at: '2026-03-05T00:00:00Z', key: 'a' });
    await settle(world, acme);
    await use(world, acme, { tokens: 100, at: '2026-03-05T00:00:00Z', key: 'a' });
    await settle(world, acme);
    expect(await movements(world, acme, id)).toEqual([
      'grant 1000 0',
      'usage -300 0',
      'expiration -700 0',
      'reversal 300 0',
      'usage -100 0',
      'expiration -200 0',
    ]);
    expect((await balance(world, acme)).balance.balanceCents).toBe(0);
    expect(await settle(world, acme)).toEqual([]);
  });

  test.each(['cancel', 'refund'] as const)(
    'takes what a %s gives back, though other usage of before it is open',
    async (undo) => {
      const acme = await subscribe(world);
      const id = await grant(world, acme, { amountCents: 100, expiresAt: '2026-04-20T00:00:00Z' });
      world.clock.set('2026-03-10T00:00:00Z');
      await use(world, acme, { tokens: 150, at: '2026-03-05T00:00:00Z' });
      world.clock.set('2026-04-15T00:00:00Z');
      const march = await finalize(world, (await invoiceAt(world, acme, 0)).id);
      await use(world, acme, { tokens: 70, at: '2026-04-10T00:00:00Z' });
      world.clock.set('2026-04-25T00:00:00Z');
      const params = { invoiceId: march.id };
      if (undo === 'cancel') await world.call('invoices.cancel', { params });
      else {
        await world.call('invoices.pay', { params, body: { status: 'paid' } });
        await world.call('invoices.refund', { params, body: { restoreCredits: true } });
      }
      expect(await movements(world, acme, id)).toEqual([
        'grant 100 0',
        'usage -100 0',
        'reversal 100 0',
        'expiration -100 0',
      ]);
      expect((await invoiceAt(world, acme, 1)).totalCents).toBe(70);
    },
  );

  test('is swept before another grant is written, so that its balance is right', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 1000, expiresAt: '2026-03-10T00:00:00Z' });
    world.clock.set('2026-03-11T00:00:00Z');
    const { data } = await world.call('credits.grant', {
      params: { contractId: acme.contractId },
      body: { amountCents: 50, expiresAt: '2026-12-01T00:00:00Z' },
    });
    expect(data.balanceAfterCents).toBe(50);
  });
});

describe('specifiers', () => {
  test.each([
    ['of another meter', { meterIds: 'other' }, 1000],
    ['of this meter', { meterIds: 'own' }, 0],
    ['of this price', { pricingIds: 'own' }, 0],
    ['of one event name', { eventNames: ['chat'] }, 400],
    ['of one property value', { properties: { model: 'large' } }, 300],
    ['of either of two values', { properties: { model: ['large', 'small'] } }, 0],
    ['of a name and a value', { eventNames: ['chat'], properties: { model: 'large' } }, 700],
    ['of everything', {}, 0],
  ])('a grant %s pays for nothing else', async (_rule, given, overage) => {
    const acme = await subscribe(world);
    const other = await subscribe(world, { name: 'other' });
    const specifiers: Record<string, unknown> = { ...given };
    if (specifiers['meterIds'] === 'own') specifiers['meterIds'] = [other.meterId, acme.meterId];
    if (specifiers['meterIds'] === 'other') specifiers['meterIds'] = [other.meterId];
    if (specifiers['pricingIds'] === 'own') specifiers['pricingIds'] = [acme.pricingId];
    await grant(world, acme, { amountCents: 5000, specifiers });
    world.clock.set('2026-03-10T00:00:00Z');
    const at = '2026-03-05T00:00:00Z';
    await use(world, acme, { tokens: 300, at, model: 'large', eventName: 'chat' });
    await use(world, acme, { tokens: 400, at, model: 'large', eventName: 'embed' });
    await use(world, acme, { tokens: 300, at, model: 'small', eventName: 'chat' });
    await settle(world, acme);
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(overage);
  });
});

describe('free credits', () => {
  test("are worth the contract's own rate", async () => {
    const acme = await subscribe(world, { contract: { creditSettings: { creditRateCents: 20 } } });
    const id = await grant(world, acme, { amountCents: 0, creditRateCents: 0, creditAmount: 10 });
    world.clock.set('2026-03-10T00:00:00Z');
    await use(world, acme, { tokens: 150, at: '2026-03-05T00:00:00Z' });
    await settle(world, acme);
    expect(await movements(world, acme, id)).toEqual(['grant 0 10', 'usage 0 -7.5']);
    const draft = await invoiceAt(world, acme, 0);
    expect(linesOf(draft)).toEqual(['Tokens 150', 'Credits applied -150']);
    const { data } = await world.call('invoices.creditReport', { params: { invoiceId: draft.id } });
    expect(data.summary).toEqual({ totalCredits: 7.5, totalCents: 150, entryCount: 1 });
  });

  test('take the newest rate that was granted where the contract has none', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { creditAmount: 1, creditRateCents: 50, expiresAt: '2026-11-01T00:00:00Z' });
    await grant(world, acme, { creditRateCents: 0, creditAmount: 10 });
    world.clock.set('2026-03-10T00:00:00Z');
    await use(world, acme, { tokens: 600, at: '2026-03-05T00:00:00Z' });
    await settle(world, acme);
    expect(await movements(world, acme)).toEqual(['grant 50 1', 'grant 0 10', 'usage -50 -1', 'usage 0 -10']);
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(50);
  });

  test('stay unused without any rate', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { creditRateCents: 0, creditAmount: 10 });
    world.clock.set('2026-03-10T00:00:00Z');
    await use(world, acme, { tokens: 600, at: '2026-03-05T00:00:00Z' });
    expect(await settle(world, acme)).toEqual([]);
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(600);
  });
});

describe('budgets', () => {
  const large = { eventPropertyKey: 'model', eventPropertyValue: 'large', maxCreditsCents: 400 };

  test('cap what credits pay for their dimension; the rest of it is invoiced', async () => {
    const acme = await subscribe(world, { contract: { creditSettings: { budgets: [large] } } });
    await grant(world, acme, { amountCents: 5000 });
    world.clock.set('2026-03-10T00:00:00Z');
    await use(world, acme, { tokens: 1000, at: '2026-03-05T00:00:00Z', model: 'large' });
    await use(world, acme, { tokens: 200, at: '2026-03-05T00:00:00Z', model: 'small' });
    const draft = await invoiceAt(world, acme, 0);
    expect(linesOf(draft)).toEqual(['Tokens 1200', 'Credits applied -600']);
  });

  test('count over the life of the contract', async () => {
    const acme = await subscribe(world, { contract: { creditSettings: { budgets: [large] } } });
    await grant(world, acme, { amountCents: 5000 });
    world.clock.set('2026-03-10T00:00:00Z');
    await use(world, acme, { tokens: 300, at: '2026-03-05T00:00:00Z', model: 'large' });
    world.clock.set('2026-04-10T00:00:00Z');
    await finalize(world, (await invoiceAt(world, acme, 0)).id);
    await use(world, acme, { tokens: 300, at: '2026-04-05T00:00:00Z', model: 'large' });
    expect(linesOf(await invoiceAt(world, acme, 0))).toEqual(['Tokens 300', 'Credits applied -300']);
    expect(linesOf(await invoiceAt(world, acme, 1))).toEqual(['Tokens 300', 'Credits applied -100']);
  });

  test.each(['as a draft', 'once it is finalized'])(
    'do not count usage whose invoice is cancelled %s',
    async (when) => {
      const acme = await subscribe(world, { contract: { creditSettings: { budgets: [large] } } });
      await grant(world, acme, { amountCents: 5000 });
      await use(world, acme, { tokens: 300, at: '2026-03-01T00:00:00Z', model: 'large' });
      await use(world, acme, { tokens: 5000, at: '2026-03-01T00:00:00Z', model: 'small' });
      world.clock.set('2026-04-10T00:00:00Z');
      const { id } = await invoiceAt(world, acme, 0);
      if (when !== 'as a draft') await finalize(world, id);
      await world.call('invoices.cancel', { params: { invoiceId: id } });
      await use(world, acme, { tokens: 500, at: '2026-04-05T00:00:00Z', model: 'large' });
      expect(linesOf(await invoiceAt(world, acme, 1))).toEqual(['Tokens 500', 'Credits applied -400']);
      const { data } = await world.call('budgets.usage', { params: { contractId: acme.contractId } });
      expect(data.budgets[0]).toMatchObject({ consumedCents: 500, percentConsumed: 125 });
    },
  );
});
