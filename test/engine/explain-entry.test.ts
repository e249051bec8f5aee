import { beforeEach, describe, expect, test } from 'vitest';

import type { ResponseBody } from '../../src/operations/index.ts';
import { finalize, grant, grantPaid, invoiceAt, ledger, settle, subscribe, use } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { refusalOf } from '../support/refusal.ts';
import { useWorld, world } from '../support/use-world.ts';

type Explained = ResponseBody<'credits.explain'>['data'];

useWorld();

let acme: Subscription;
beforeEach(async () => {
  acme = await subscribe(world);
});

async function explain(entryId: string): Promise<Explained> {
  return (await world.call('credits.explain', { params: { entryId } })).data;
}

/** The newest entry of a type. */
async function newest(type: string): Promise<Explained> {
  const entries = await ledger(world, acme);
  return await explain(entries.findLast((entry) => entry.type === type)?.id ?? `no ${type}`);
}

/** A second use in March replaces the first. */
async function useInMarch(tokens: number): Promise<void> {
  await use(world, acme, { tokens, at: '2026-03-10T00:00:00Z', key: 'call-1' });
}

describe('a usage entry', () => {
  test('leads to its invoice, its line, its events, its grant and the reason of the order', async () => {
    const soon = await grant(world, acme, { amountCents: 30, expiresAt: '2026-05-01T00:00:00Z' });
    const later = await grant(world, acme, { amountCents: 100 });
    world.clock.set('2026-03-20T00:00:00Z');
    await useInMarch(40);
    const written = await settle(world, acme);
    const explained = await explain(written.find((entry) => entry.grantEntryId === later)?.id ?? '');
    const { invoiceNumber, id } = await invoiceAt(world, acme, 0);
    expect(explained.reason).toBe(
      `it pays "Tokens - Inference" on invoice ${invoiceNumber}: number 2 in the order (expires 2026-12-31T00:00:00Z, after 2026-05-01T00:00:00Z), ` +
        'paid what was still open',
    );
    expect(explained.invoice).toEqual({ invoiceId: id, invoiceNumber, status: 'Drafted' });
    expect(explained.line).toMatchObject({
      quantity: 40,
      totalAmountCents: 40,
      usage: { eventCount: 1, sample: [{ idempotencyKey: 'call-1', value: 40 }] },
    });
    expect(explained.order.map((each) => each.grantId)).toEqual([soon, later]);
    expect(explained.grant).toMatchObject({ grantId: later, beforeCents: 100, afterCents: 90 });
    expect(explained.entry).toMatchObject({
      amountCents: -10,
      appliedCents: 10,
      balanceBeforeCents: 100,
      balanceAfterCents: 90,
      reversedByEntryId: null,
    });
  });

  test('of a draft that another grant pays by now says so, before and after it is undone', async () => {
    await grantPaid(world, acme, { amountCents: 40 });
    world.clock.set('2026-03-20T00:00:00Z');
    await useInMarch(40);
    const [written] = await settle(world, acme);
    const { invoiceNumber } = await invoiceAt(world, acme, 0);
    await grant(world, acme, { amountCents: 40 });
    expect((await explain(written?.id ?? '')).reason).toBe(
      `it was written for "Tokens - Inference" on invoice ${invoiceNumber}, and the next settlement undoes it: ` +
        'earlier grants paid all of it',
    );
    await settle(world, acme);
    expect((await explain(written?.id ?? '')).reason).toBe(
      `it paid "Tokens - Inference" on invoice ${invoiceNumber} until 2026-03-20T00:00:00Z, when it was undone`,
    );
  });

  test('of a draft says why the next settlement undoes it: nothing is to be paid, or nothing is left for it', async () => {
    await grant(world, acme, { amountCents: 40 });
    world.clock.set('2026-04-20T00:00:00Z');
    await use(world, acme, { tokens: 40, at: '2026-04-10T00:00:00Z', key: 'april' });
    const [written] = await settle(world, acme);
    const reason = async () => (await explain(written?.id ?? '')).reason.replace(/.* undoes it: /, '');
    await useInMarch(40);
    expect(await reason()).toBe('usage of earlier invoices takes all that the grant has');
    await useInMarch(39);
    await use(world, acme, { tokens: 0, at: '2026-04-10T00:00:00Z', key: 'april' });
    expect(await reason()).toBe('there is nothing to pay');
  });

  test('of an invoice that was cancelled as a draft says that it bills nothing any more', async () => {
    await grant(world, acme, { amountCents: 30 });
    world.clock.set('2026-03-20T00:00:00Z');
    await useInMarch(40);
    await settle(world, acme);
    const { id } = await invoiceAt(world, acme, 0);
    await world.call('invoices.cancel', { params: { invoiceId: id } });
    const explained = await newest('usage');
    expect(explained.reason).toMatch(/^it paid usage on invoice DRAFT-\w+, which bills nothing any more$/);
    expect(explained.entry.reversedByEntryId).toBe((await newest('reversal')).entry.id);
    expect(explained).not.toHaveProperty('line');
  });
});

describe('a grant', () => {
  test('shows what was drawn from it, when it expires and which usage it may pay', async () => {
    const specifiers = { meterIds: [acme.meterId] };
    const grantId = await grant(world, acme, { creditRateCents: 10, creditAmount: 5, specifiers });
    world.clock.set('2026-03-20T00:00:00Z');
    await useInMarch(20);
    await settle(world, acme);
    const explained = await explain(grantId);
    expect(explained.reason).toBe('promotional credits until 2026-12-31T00:00:00Z');
    expect(explained.grant).toMatchObject({
      status: 'active',
      paysFor: specifiers,
      beforeCents: 0,
      afterCents: 50,
      afterCredits: 5,
      expiresAt: '2026-12-31T00:00:00.000Z',
    });
    expect(explained.movements.map((each) => [each.type, each.amountCents, each.creditAmount])).toEqual([
      ['usage', -20, -2],
    ]);
  });

  test('that was bought and has no expiry says so', async () => {
    expect((await explain(await grantPaid(world, acme, { amountCents: 5 }))).reason).toBe(
      'paid credits, which never expire',
    );
  });
});

describe('an expiration', () => {
  test('names the instant at which the rest of the grant lapsed', async () => {
    await grant(world, acme, { amountCents: 50, expiresAt: '2026-03-15T00:00:00Z' });
    world.clock.set('2026-03-16T00:00:00Z');
    await settle(world, acme);
    const explained = await newest('expiration');
    expect(explained.reason).toBe('what usage before 2026-03-15T00:00:00Z had left of the grant lapsed then');
    expect(explained.grant).toMatchObject({ status: 'expired', beforeCents: 50, afterCents: 0 });
  });

  test('of what came back to a grant too late says that it came back too late', async () => {
    await grant(world, acme, { amountCents: 50, expiresAt: '2026-04-15T00:00:00Z' });
    world.clock.set('2026-03-20T00:00:00Z');
    await useInMarch(50);
    world.clock.set('2026-04-02T00:00:00Z');
    const { id: invoiceId } = await invoiceAt(world, acme, 0);
    await finalize(world, invoiceId);
    await world.call('invoices.pay', { params: { invoiceId } });
    world.clock.set('2026-04-20T00:00:00Z');
    await world.call('invoices.refund', { params: { invoiceId }, body: { restoreCredits: true } });
    expect((await newest('expiration')).reason).toBe(
      'the grant had expired at 2026-04-15T00:00:00Z already, so what came back to it lapsed at once',
    );
    const reversal = await newest('reversal');
    expect(reversal.reason).toBe('invoice INV-000001 was refunded, so what it had taken went back');
    expect(reversal.target).toMatchObject({ type: 'usage', amountCents: -50 });
    // The usage that was undone is still explained by the invoice as it was.
    const usage = await newest('usage');
    expect(usage.line).toMatchObject({ totalAmountCents: 50, creditCents: 50 });
    expect(usage.reason).toBe(
      'it pays "Tokens - Inference" on invoice INV-000001: number 1 in the order (first in the order), paid until it was used up',
    );
  });

  test('without an expiry comes with the last invoice of the contract', async () => {
    acme = await subscribe(world, { name: 'short', contract: { endDate: '2026-04-01' } });
    await grantPaid(world, acme, { amountCents: 50 });
    world.clock.set('2026-04-02T00:00:00Z');
    await finalize(world, (await invoiceAt(world, acme, 0)).id);
    expect((await newest('expiration')).reason).toBe(
      'the last invoice of the contract is finalized or cancelled, so what was left of the grant lapsed',
    );
  });
});

describe('a reversal', () => {
  test('of usage that became less names the invoice', async () => {
    await grant(world, acme, { amountCents: 50 });
    world.clock.set('2026-03-20T00:00:00Z');
    await useInMarch(50);
    await settle(world, acme);
    await useInMarch(20);
    await settle(world, acme);
    const { invoiceNumber } = await invoiceAt(world, acme, 0);
    expect((await newest('reversal')).reason).toBe(
      `less of invoice ${invoiceNumber} was due from this grant than had been written; what is still due is written again`,
    );
  });

  test('by hand gives the words of whoever did it, and leads to what it undid', async () => {
    const entryId = await grant(world, acme, { amountCents: 50 });
    await world.call('credits.reverse', {
      params: { contractId: acme.contractId, entryId },
      body: { description: 'wrong customer' },
    });
    const explained = await newest('reversal');
    expect(explained.reason).toBe('the grant was undone: wrong customer');
    expect(explained.target).toMatchObject({ id: entryId });
    expect((await explain(entryId)).entry.reversedByEntryId).toBe(explained.entry.id);
  });

  test('of usage on a draft by hand gives these words too, although as much is still due', async () => {
    await grant(world, acme, { amountCents: 50 });
    world.clock.set('2026-03-20T00:00:00Z');
    await useInMarch(50);
    const [usage] = await settle(world, acme);
    await world.call('credits.reverse', {
      params: { contractId: acme.contractId, entryId: usage?.id ?? '' },
      body: { description: 'by mistake' },
    });
    expect((await newest('reversal')).reason).toBe('the usage was undone by hand: by mistake');
  });

  test('of usage on a draft by hand, without words, is not taken for that of a settlement', async () => {
    await grant(world, acme, { amountCents: 50 });
    world.clock.set('2026-03-20T00:00:00Z');
    await useInMarch(50);
    const [usage] = await settle(world, acme);
    const { contractId } = acme;
    await world.call('credits.reverse', { params: { contractId, entryId: usage?.id ?? '' }, body: {} });
    const { entry, reason } = await newest('reversal');
    expect(entry.description).toBe(`Reversal by hand: ${usage?.description}`);
    expect(reason).toBe('the usage was undone by hand');
  });

  test('of prepaid credits that nobody bought names the cancelled invoice and no hand', async () => {
    acme = await subscribe(world, { name: 'prepaid', contract: { creditGrantCents: 500 } });
    const { id, invoiceNumber } = await invoiceAt(world, acme, 0);
    await world.call('invoices.cancel', { params: { invoiceId: id } });
    expect((await newest('reversal')).reason).toBe(
      `the grant was undone: Not bought: invoice ${invoiceNumber} is cancelled`,
    );
  });
});

test('an adjustment gives the words of whoever made it', async () => {
  const grantEntryId = await grant(world, acme, { amountCents: 50 });
  await world.call('credits.adjust', {
    params: { contractId: acme.contractId },
    body: { grantEntryId, amountCents: -20, description: 'granted too much' },
  });
  const explained = await newest('adjustment');
  expect(explained.reason).toBe('the grant was corrected: granted too much');
  expect(explained.grant).toMatchObject({ grantId: grantEntryId, beforeCents: 50, afterCents: 30 });
});

test('an entry of another organization is as unknown as any', async () => {
  const entryId = await grant(world, acme, { amountCents: 50 });
  const stranger = await world.addOrganization('Other');
  const unknown = 'notFound no ledger entry has this id';
  expect(await refusalOf(stranger.call('credits.explain', { params: { entryId } }))).toBe(unknown);
  expect(await refusalOf(explain('nothing'))).toBe(unknown);
});
