import { describe, expect, test } from 'vitest';

import { finalize, grant, grantPaid, invoiceAt, settle, subscribe, use } from '../support/billing-scenario.ts';
import { expectSound, explain, explainFirst } from '../support/explanation.ts';
import type { Explained } from '../support/explanation.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

/** What grants paid of a metered line, as `rank cents why`; behind it why others paid nothing, as `ranks why`. */
function payments(explained: Explained, index = 0): string[] {
  const line = explained.lines.filter(({ kind }) => kind === 'metered')[index];
  const paid = (line?.grants ?? []).map((each) => `${each.rank} ${Number(each.appliedCents)} ${each.why}`);
  const unused = (line?.unusedGrants ?? []).map(
    ({ ranks, why }) => `${ranks.map(({ from, to }) => `${from}-${to}`).join(',')} ${why}`,
  );
  return [...paid, ...unused];
}

describe('the grants that paid', () => {
  test('stand in the order of deduction, each with why it is there and why it paid what it paid', async () => {
    const acme = await subscribe(world);
    const june = '2026-06-01T00:00:00Z';
    const paid = await grantPaid(world, acme, { amountCents: 100, expiresAt: june });
    const promotional = await grant(world, acme, { amountCents: 30, expiresAt: june });
    const elsewhere = await grant(world, acme, {
      amountCents: 50,
      expiresAt: '2026-05-01T00:00:00Z',
      specifiers: { eventNames: ['other'] },
    });
    const endless = await grantPaid(world, acme, { amountCents: 70 });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 40, at: '2026-03-03T00:00:00Z' });
    const explained = await explainFirst(world, acme);
    expect(explained.grants.map((each) => [each.grantId, each.rank, each.reason])).toEqual([
      [elsewhere, 1, 'first in the order'],
      [promotional, 2, 'expires 2026-06-01T00:00:00Z, after 2026-05-01T00:00:00Z'],
      [paid, 3, 'same expiry, but paid: promotional credits go first'],
      [endless, 4, 'expires never, after 2026-06-01T00:00:00Z'],
    ]);
    expect(payments(explained)).toEqual([
      '2 30 paid until it was used up',
      '3 10 paid what was still open',
      '1-1 limited to other usage',
      '4-4 earlier grants paid all of it',
    ]);
    expect(explained.grants[0]?.paysFor).toEqual({ eventNames: ['other'] });
    expectSound(explained);
  });

  test('that have nothing left at a later line say so', async () => {
    const acme = await subscribe(world, { meter: { groupKeys: ['model'] } });
    await grant(world, acme, { amountCents: 10 });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 10, at: '2026-03-03T00:00:00Z', model: 'a' });
    await use(world, acme, { tokens: 10, at: '2026-03-03T00:00:00Z', model: 'b' });
    const explained = await explainFirst(world, acme);
    expect(payments(explained, 0)).toEqual(['1 10 paid until it was used up']);
    expect(payments(explained, 1)).toEqual(['1-1 had nothing left']);
    expect(explained.lines[1]).toMatchObject({ creditCents: 0, overageCents: 10 });
  });

  test('that a later line emptied by usage of an earlier phase have nothing left, and are not said to be too late', async () => {
    const acme = await subscribe(world, { meter: { groupKeys: ['model'] } });
    await grant(world, acme, { amountCents: 1, expiresAt: '2026-03-10T00:00:00Z' });
    await grant(world, acme, { amountCents: 10 });
    await use(world, acme, { tokens: 10, at: '2026-03-01T00:00:00Z', model: 'b' });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 10, at: '2026-03-15T00:00:00Z', model: 'a' });
    await use(world, acme, { tokens: 1, at: '2026-03-01T00:00:00Z', model: 'c' });
    const explained = await explainFirst(world, acme);
    expect(payments(explained, 0)).toEqual(['1-1 expired before this usage ended', '2-2 had nothing left']);
    expectSound(explained);
  });

  test('and paid nothing stand together by reason, however many they are', async () => {
    const acme = await subscribe(world);
    const june = '2026-06-01T00:00:00Z';
    for (const eventNames of [['other'], ['other'], undefined, ['other'], undefined, undefined]) {
      await grant(world, acme, { amountCents: 30, expiresAt: june, ...(eventNames && { specifiers: { eventNames } }) });
      world.clock.advance({ seconds: 1 });
    }
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 20, at: '2026-03-03T00:00:00Z' });
    const explained = await explainFirst(world, acme);
    expect(payments(explained)).toEqual([
      '3 20 paid all of it',
      '1-2,4-4 limited to other usage',
      '5-6 earlier grants paid all of it',
    ]);
    expect(explained.grants).toHaveLength(6);
  });

  test('before their expiry pay for usage before it, and say so of later usage', async () => {
    const acme = await subscribe(world, { meter: { groupKeys: ['model'] } });
    await grant(world, acme, { amountCents: 100, expiresAt: '2026-03-10T00:00:00Z' });
    world.clock.set('2026-03-09T00:00:00Z');
    await use(world, acme, { tokens: 10, at: '2026-03-03T00:00:00Z', model: 'early' });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 10, at: '2026-03-15T00:00:00Z', model: 'late' });
    const explained = await explainFirst(world, acme);
    expect(payments(explained, 0)).toEqual(['1 10 paid all of it']);
    expect(payments(explained, 1)).toEqual(['1-1 expired before this usage ended']);
    expectSound(explained);
  });

  test('stop at the cap of a budget', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 100 });
    await grantPaid(world, acme, { amountCents: 100 });
    await world.call('budgets.add', {
      params: { contractId: acme.contractId },
      body: { eventPropertyKey: 'model', eventPropertyValue: 'large', maxCreditsCents: 15 },
    });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 40, at: '2026-03-03T00:00:00Z', model: 'large' });
    const explained = await explainFirst(world, acme);
    expect(payments(explained)).toEqual([
      '1 15 paid the part that credits may pay',
      '2-2 a budget caps the credits that this usage may take',
    ]);
  });

  test('of free credits have no value without a credit rate on the contract', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 0, creditRateCents: 0, creditAmount: 5 });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 40, at: '2026-03-03T00:00:00Z' });
    expect(payments(await explainFirst(world, acme))).toEqual([
      '1-1 free credits have no value here: the contract has no credit rate',
    ]);
  });

  test('name the ledger entries that took it once it is settled', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 100 });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 40, at: '2026-03-03T00:00:00Z' });
    expect((await explainFirst(world, acme)).lines[0]?.grants[0]?.entryIds).toEqual([]);
    const [entry] = await settle(world, acme);
    expect((await explainFirst(world, acme)).lines[0]?.grants[0]?.entryIds).toEqual([entry?.id]);
  });

  test('that came at the instant of finalization, behind it, say that it was too late', async () => {
    const acme = await subscribe(world);
    world.clock.set('2026-04-02T00:00:00Z');
    await use(world, acme, { tokens: 10, at: '2026-03-03T00:00:00Z' });
    const invoiceId = (await invoiceAt(world, acme, 0)).id;
    await finalize(world, invoiceId);
    await grant(world, acme, { amountCents: 500 });
    expect(payments(await explain(world, invoiceId))).toEqual(['1-1 was granted after the invoice was finalized']);
  });
});
