import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { createEngine } from '../../src/engine/engine.ts';
import { ConstraintViolation } from '../../src/store/constraint-violation.ts';
import {
  endOfMarch,
  finalize,
  grant,
  invoiceAt,
  invoices,
  linesOf,
  movements,
  refusal,
  settle,
  subscribe,
  use,
} from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import type { OperationName } from '../../src/operations/index.ts';
import { createContract } from '../support/usage-scenario.ts';
import { countedBytes, countedIds, createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

let world: World;
let acme: Subscription;
beforeEach(async () => {
  world = await createWorld({ start: '2026-03-01T00:00:00.000Z' });
  acme = await subscribe(world);
});
afterEach(async () => {
  await world.close();
});

type Body = Record<string, unknown>;

async function invoiceId(index: number): Promise<string> {
  return (await invoiceAt(world, acme, index)).id;
}

async function act(name: OperationName, id: string, body?: Body): Promise<string> {
  return await refusal(world, name, { params: { invoiceId: id }, ...(body === undefined ? {} : { body }) });
}

describe('finalization', () => {
  test('numbers, freezes and dates the invoice', async () => {
    await grant(world, acme, { amountCents: 100, description: 'Welcome' });
    const id = await endOfMarch(world, acme);
    const before = await invoiceAt(world, acme, 0);
    expect(await finalize(world, id)).toMatchObject({
      invoiceNumber: 'INV-000001',
      status: 'In Progress',
      totalCents: 200,
      invoiceDate: '2026-04-01',
      dueDate: '2026-05-01',
    });
    const after = await invoiceAt(world, acme, 0);
    expect(after.lineItems).toEqual(before.lineItems);
    expect(linesOf(after)).toEqual(['Tokens 300', 'Credits applied -100']);
    expect(await movements(world, acme)).toEqual(['grant 100 0', 'usage -100 0']);
  });

  test('is never undone by events, grants or prices that come later', async () => {
    const id = await endOfMarch(world, acme);
    await finalize(world, id);
    const before = await invoiceAt(world, acme, 0);
    await use(world, acme, { tokens: 500, at: '2026-03-15T00:00:00Z' });
    await grant(world, acme, { amountCents: 1000 });
    await world.call('meters.setRateCard', {
      params: { meterId: acme.meterId },
      body: { rates: [], fallbackUnitAmount: '9' },
    });
    await settle(world, acme);
    expect(await invoiceAt(world, acme, 0)).toEqual(before);
  });

  test('cannot be written around: the database keeps finalized invoices and their lines', async () => {
    const id = await endOfMarch(world, acme);
    await finalize(world, id);
    const changes = [
      async () => {
        await world.store.write(
          async (tx) => await tx.updateTable('invoices').set({ totalCents: 1n }).where('id', '=', id).execute(),
        );
      },
      async () => {
        await world.store.write(
          async (tx) => await tx.deleteFrom('invoiceLines').where('invoiceId', '=', id).execute(),
        );
      },
      async () => {
        await world.store.write(async (tx) => await tx.deleteFrom('ledgerEntries').execute());
      },
    ];
    await grant(world, acme, { amountCents: 100 });
    for (const change of changes) await expect(change()).rejects.toThrow(ConstraintViolation);
  });

  test.each([
    ['2026-04-01', 'with usage', {}],
    ['2026-03-01', 'of fixed prices alone', { model: 'FLAT', meterId: undefined, unitAmount: '31' }],
  ])('waits for %s and the hours of grace %s', async (day, _prices, price) => {
    await world.close();
    world = await createWorld({ start: '2026-02-28T00:00:00.000Z', graceHours: 12 });
    const draft = await invoiceAt(world, await subscribe(world, { price }), 0);
    world.clock.set(`${day}T11:59:59.999Z`);
    expect(await act('invoices.finalize', draft.id)).toContain(`cannot be finalized before ${day}T12:00:00.000Z`);
    world.clock.set(`${day}T12:00:00.000Z`);
    expect(await act('invoices.finalize', draft.id)).toBe('accepted');
  });

  test('waits for these hours in an engine that is told of none', async () => {
    const draft = await invoiceAt(world, acme, 0);
    const { store, clock } = world;
    const engine = createEngine({ store, now: clock.now, newId: countedIds(), randomBytes: countedBytes() });
    clock.set('2026-04-01T11:59:59.999Z');
    const finalizing = engine.as(await engine.owner()).call('invoices.finalize', { params: { invoiceId: draft.id } });
    await expect(finalizing).rejects.toThrow('cannot be finalized before 2026-04-01T12:00:00.000Z');
  });

  test('goes in the order of periods', async () => {
    world.clock.set('2026-05-01T00:00:00Z');
    const [march, april] = [await invoiceAt(world, acme, 0), await invoiceAt(world, acme, 1)];
    expect(await act('invoices.finalize', april.id)).toBe(
      `409 invoice ${april.invoiceNumber} waits for ${march.invoiceNumber}, an earlier draft of its contract`,
    );
    await act('invoices.cancel', march.id);
    expect(await act('invoices.finalize', april.id)).toBe('accepted');
  });

  test('numbers invoices 1, 2, 3 in the order in which they are finalized, whatever fails between', async () => {
    const other = await subscribe(world, { name: 'other' });
    world.clock.set('2026-06-01T00:00:00Z');
    const ids = [await invoiceId(0), (await invoiceAt(world, other, 0)).id, await invoiceId(1)];
    expect(await act('invoices.finalize', ids[2] ?? '')).toContain('409');
    const numbers: string[] = [];
    for (const id of ids) numbers.push((await finalize(world, id)).invoiceNumber);
    expect(numbers).toEqual(['INV-000001', 'INV-000002', 'INV-000003']);
  });

  test('over nothing is paid at once, on its own date', async () => {
    world.clock.set('2026-04-07T00:00:00Z');
    expect(await finalize(world, await invoiceId(0))).toMatchObject({
      status: 'Paid',
      totalCents: 0,
      latestPaymentDate: '2026-04-01',
    });
  });

  test('over a cent is to be paid', async () => {
    await use(world, acme, { tokens: 1, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-01T00:00:00Z');
    expect(await finalize(world, await invoiceId(0))).toMatchObject({ status: 'In Progress', totalCents: 1 });
  });

  test('that credits cover in full is paid at once', async () => {
    await grant(world, acme, { amountCents: 1000 });
    expect(await finalize(world, await endOfMarch(world, acme))).toMatchObject({ status: 'Paid', totalCents: 0 });
  });

  test.each([
    ['its total', [700, 701], 0, 1401],
    ['a line, of which credits leave nothing to pay', [1100], 2, 1100],
  ])(
    'over more than 10^15 cents is refused, and leaves the draft to be cancelled: %s',
    async (_what, lines, grants, found) => {
      const rich = await subscribe(world, { name: 'rich', meter: { groupKeys: ['model'] } });
      for (let count = 0; count < grants; count += 1) await grant(world, rich, { amountCents: 1e15 });
      for (const [index, trillions] of lines.entries()) {
        await use(world, rich, { tokens: `${trillions}000000000000`, at: '2026-03-01T00:00:00Z', model: `m${index}` });
      }
      world.clock.set('2026-04-01T00:00:00Z');
      const draft = await invoiceAt(world, rich, 0);
      expect(await act('invoices.finalize', draft.id)).toBe(
        `409 invoice ${draft.invoiceNumber} cannot be finalized over ${found}000000000000 cents, more than 1000000000000000`,
      );
      expect(await act('invoices.cancel', draft.id)).toBe('accepted');
    },
  );

  test('over 10^15 cents is the most that there can be', async () => {
    await use(world, acme, { tokens: '1000000000000000', at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-01T00:00:00Z');
    expect(await finalize(world, (await invoiceAt(world, acme, 0)).id)).toMatchObject({ totalCents: 1e15 });
  });

  test('over more than 10^15 cents is refused where that is no number of JavaScript either', async () => {
    await use(world, acme, { tokens: '9007199254740993', at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-01T00:00:00Z');
    const draft = await invoiceAt(world, acme, 0);
    expect(draft.totalCents).toEqual(JSON.rawJSON('9007199254740993'));
    expect(await act('invoices.finalize', draft.id)).toContain('over 9007199254740993 cents');
  });

  test('by a price of as many digits as there may be is no matter of what the price alone comes to', async () => {
    const dear = await subscribe(world, { name: 'dear', price: { unitAmount: '999999999999999.999999999999' } });
    await use(world, dear, { tokens: '0.001', at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-01T00:00:00Z');
    const { id } = await invoiceAt(world, dear, 0);
    await finalize(world, id);
    const { lineItems = [] } = await invoiceAt(world, dear, 0);
    expect(lineItems.map(({ totalAmountCents, unitPriceCents }) => [totalAmountCents, unitPriceCents])).toEqual([
      [100_000_000_000_000, 1_000_000_000_000_000],
    ]);
    const verified = await world.call('credits.verify', { params: { contractId: dear.contractId } });
    expect(verified.data.findings).toEqual([]);
  });

  test('makes the drafts that were to be made by then', async () => {
    const id = await endOfMarch(world, acme);
    world.clock.set('2026-05-20T00:00:00Z');
    await finalize(world, id);
    const drafts = (await invoices(world, acme)).filter(({ status }) => status === 'Drafted');
    expect(drafts.map(({ invoiceDate }) => invoiceDate)).toEqual(['2026-05-01', '2026-06-01', '2026-07-01']);
  });

  test('a second time changes nothing', async () => {
    const id = await endOfMarch(world, acme);
    const first = await finalize(world, id);
    world.clock.advance({ hours: 1 });
    expect(await finalize(world, id)).toEqual(first);
    const again = await world.billing.call('invoices.finalize', { params: { invoiceId: id } });
    expect([again.status, again.isReplay]).toEqual([200, true]);
  });

  test('names the legal number in the entries that it writes', async () => {
    await grant(world, acme, { amountCents: 100 });
    await finalize(world, await endOfMarch(world, acme));
    const { data } = await world.call('invoices.creditReport', { params: { invoiceId: await invoiceId(0) } });
    expect(data.entries.map((entry) => entry.description)).toEqual(['Usage of TOKENS_ACME on invoice INV-000001']);
    expect(data.summary).toEqual({ totalCredits: 0, totalCents: 100, entryCount: 1 });
  });

  test('bills prepaid credits with the first invoice', async () => {
    const paid = await subscribe(world, { name: 'paid', contract: { creditGrantCents: 1000 } });
    await use(world, paid, { tokens: 300, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-01T00:00:00Z');
    const { id } = await invoiceAt(world, paid, 0);
    expect(await finalize(world, id)).toMatchObject({ totalCents: 1000 });
  });
});

describe('sending', () => {
  test('waits while the customer is paused', async () => {
    const id = await endOfMarch(world, acme);
    await world.call('customers.pause', { params: { customerId: acme.customerId } });
    await finalize(world, id);
    expect(await act('invoices.send', id)).toBe(
      `409 customer ${acme.customerId} is paused, so invoice INV-000001 waits`,
    );
    await world.call('customers.resume', { params: { customerId: acme.customerId } });
    expect(await act('invoices.send', id)).toBe('accepted');
    expect(await act('invoices.send', id)).toBe('accepted');
  });

  /** What the store holds: whether an invoice was sent, and whether it is kept back. */
  async function sending(id: string) {
    return await world.store.read(
      async (tx) =>
        await tx.selectFrom('invoices').select(['sentAt', 'isHeld']).where('id', '=', id).executeTakeFirstOrThrow(),
    );
  }

  test('happens at finalization, also of what credits did not cover', async () => {
    await grant(world, acme, { amountCents: 100 });
    const id = await endOfMarch(world, acme);
    await finalize(world, id);
    expect(await sending(id)).toEqual({ sentAt: '2026-04-01T00:00:00.000Z', isHeld: 0n });
  });

  test('is by hand where the plan says so', async () => {
    const { data } = await world.call('plans.create', {
      body: {
        name: 'By hand',
        items: [{ pricingId: acme.pricingId }],
        metadata: { invoiceSendMethod: 'manual' },
      },
    });
    const contract = await world.call('contracts.create', {
      body: { planId: data.id, customerId: acme.customerId, startDate: '2026-03-01', endDate: '2026-04-01' },
    });
    const manual = { ...acme, contractId: contract.data.id };
    world.clock.set('2026-04-01T00:00:00Z');
    const { id } = await invoiceAt(world, manual, 0);
    await finalize(world, id);
    expect(await sending(id)).toEqual({ sentAt: null, isHeld: 1n });
    await act('invoices.send', id);
    world.clock.set('2026-04-02T00:00:00Z');
    expect(await act('invoices.send', id)).toBe('accepted');
    expect(await sending(id)).toEqual({ sentAt: '2026-04-01T00:00:00.000Z', isHeld: 0n });
  });

  test('is possible while a payment is on its way', async () => {
    const id = await endOfMarch(world, acme);
    await finalize(world, id);
    await act('invoices.pay', id, { status: 'initiated' });
    expect(await act('invoices.send', id)).toBe('accepted');
  });

  test.each([
    ['credits did not cover usage', 100, 300, true],
    ['they lacked a cent', 100, 101, true],
    ['credits covered it, though not that of the next period', 100, 100, false],
    ['there were never any', undefined, 300, false],
  ])('is held on a contract of alert_only when %s', async (_when, amountCents, tokens, isHeld) => {
    const contractId = await createContract(world, {
      customerId: acme.customerId,
      pricingIds: [acme.pricingId],
      startDate: '2026-03-01',
      creditSettings: { onDepletion: 'alert_only' },
    });
    const alerting = { ...acme, contractId };
    if (amountCents !== undefined) await grant(world, alerting, { amountCents });
    await use(world, alerting, { tokens, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-01T00:00:00Z');
    await use(world, alerting, { tokens: 50, at: '2026-04-01T00:00:00Z' });
    const { id } = await finalize(world, (await invoiceAt(world, alerting, 0)).id);
    expect((await sending(id)).isHeld).toBe(isHeld ? 1n : 0n);
  });

  test('is refused of a draft', async () => {
    expect(await act('invoices.send', await invoiceId(0))).toBe('409 invoice is Drafted; cannot send');
  });
});
