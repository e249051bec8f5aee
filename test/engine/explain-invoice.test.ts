import { describe, expect, test } from 'vitest';

import { finalize, grant, invoiceAt, settle, subscribe, use } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { expectSound, explain, explainFirst } from '../support/explanation.ts';
import type { Explained } from '../support/explanation.ts';
import { refusalOf } from '../support/refusal.ts';
import { createPrice } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

const rest = (explained: Explained) => ({ ...explained, basis: '', asOf: '', invoiceNumber: '', status: '' });

describe('a metered line is traced', () => {
  test('to its events: how many, the first, the last, and five of them with their keys', async () => {
    const acme = await subscribe(world);
    world.clock.set('2026-03-20T00:00:00Z');
    for (const day of [3, 4, 5, 6, 7, 8]) {
      await use(world, acme, { tokens: day, at: `2026-03-0${day}T00:00:00Z`, key: `day-${day}` });
    }
    await use(world, acme, { tokens: 'many', at: '2026-03-09T00:00:00Z' });
    const explained = await explainFirst(world, acme);
    expect(explained).toMatchObject({ basis: 'live', status: 'Drafted', lateEventCount: 0 });
    expect(explained.lines[0]).toMatchObject({
      kind: 'metered',
      usage: {
        meterCode: 'TOKENS_ACME',
        aggregationType: 'SUM',
        aggregationKey: 'tokens',
        eventCount: 6,
        skippedCount: 1,
        withoutKeyCount: 0,
        firstAt: '2026-03-03T00:00:00.000Z',
        lastAt: '2026-03-08T00:00:00.000Z',
      },
      meteredQuantity: 33,
      quantity: 33,
      price: { source: 'price', unitAmount: '0.01', tiering: 'NONE' },
      exactAmount: '0.33',
      roundingAmount: '0',
      totalAmountCents: 33,
    });
    const sample = explained.lines[0]?.usage?.sample ?? [];
    expect(sample.map((event) => `${event.idempotencyKey} ${Number(event.value)}`)).toEqual([
      'day-3 3',
      'day-4 4',
      'day-5 5',
      'day-6 6',
      'day-7 7',
    ]);
    expectSound(explained);
  });

  test('to the one event that sets a maximum', async () => {
    const acme = await subscribe(world, { meter: { aggregationType: 'MAX' } });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 3, at: '2026-03-03T00:00:00Z', key: 'small' });
    await use(world, acme, { tokens: 9, at: '2026-03-04T00:00:00Z', key: 'large' });
    await use(world, acme, { tokens: 9, at: '2026-03-05T00:00:00Z', key: 'same' });
    const explained = await explainFirst(world, acme);
    expect(explained.lines[0]?.usage?.decidedBy).toMatchObject({ idempotencyKey: 'large', value: 9 });
  });

  test('to its rounding: the exact amount, what rounding added, the cents', async () => {
    const acme = await subscribe(world);
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: '1000.5', at: '2026-03-03T00:00:00Z' });
    const [line] = (await explainFirst(world, acme)).lines;
    expect([line?.exactAmount, line?.roundingAmount, line?.totalAmountCents]).toEqual(['10.005', '0.005', 1001]);
  });

  test('to the tiers that its quantity cuts, bounds and flat amounts shown', async () => {
    const tiers = [
      { minQty: '0', maxQty: '10', unitAmount: '1', flatAmount: '5' },
      { minQty: '10', maxQty: '', unitAmount: '0.5' },
    ];
    const acme = await subscribe(world, { price: { tiering: 'GRADUATED', pricingTiers: tiers } });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 14, at: '2026-03-03T00:00:00Z' });
    const explained = await explainFirst(world, acme);
    expect(explained.lines[0]?.breakdown).toEqual([
      { from: 0, to: 10, quantity: 10, unitAmount: '1', flatAmount: '5', amount: '15' },
      { from: 10, to: null, quantity: 4, unitAmount: '0.5', flatAmount: '0', amount: '2' },
    ]);
    expect(explained.lines[0]?.price).not.toHaveProperty('unitAmount');
    expectSound(explained);
  });

  test('to the rate of its group values, to the fallback, and to its own events alone', async () => {
    const meter = { groupKeys: ['model'] };
    const acme = await subscribe(world, { meter });
    await world.call('meters.setRateCard', {
      params: { meterId: acme.meterId },
      body: { rates: [{ dimensions: { model: 'large' }, unitAmount: '0.03' }], fallbackUnitAmount: '0.02' },
    });
    const second = await subscribeAgain(acme);
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, second, { tokens: 5, at: '2026-03-03T00:00:00Z', model: 'large', key: 'l' });
    await use(world, second, { tokens: 7, at: '2026-03-03T00:00:00Z', model: 'small', key: 's' });
    const { lines } = await explainFirst(world, second);
    expect(
      lines.map((line) => [
        line.dimensions,
        line.price?.source,
        line.price?.dimensions,
        line.price?.unitAmount,
        line.usage?.sample.map((event) => event.idempotencyKey),
      ]),
    ).toEqual([
      [{ model: 'large' }, 'rate', { model: 'large' }, '0.03', ['l']],
      [{ model: 'small' }, 'fallback', undefined, '0.02', ['s']],
    ]);
  });

  test('to what the contract agreed on in place of its price, of usage and of the flat amount apart', async () => {
    const acme = await subscribe(world, { price: { unitAmount: '0.010', flatAmount: '5' } });
    const sources = async (agreed: Record<string, string>) => {
      const overrides = [{ basePricingId: acme.pricingId, ...agreed }];
      const { lines } = await explainFirst(world, await subscribeAgain(acme, overrides));
      return lines.map(({ kind, price }) => `${kind} ${price?.source} ${price?.unitAmount ?? price?.flatAmount}`);
    };
    expect(await sources({ unitAmount: '0.009' })).toEqual(['metered agreed 0.009', 'fixed price 5']);
    expect(await sources({ flatAmount: '4' })).toEqual(['metered price 0.010', 'fixed agreed 4']);
    expect(await sources({ unitAmount: '0.01' })).toEqual(['metered price 0.01', 'fixed price 5']);
  });

  test('to its price where what was agreed on comes to the same', async () => {
    const acme = await subscribe(world, { price: { unitAmount: '0.010' } });
    const overrides = [{ basePricingId: acme.pricingId, unitAmount: '0.01', flatAmount: '0' }];
    const { lines } = await explainFirst(world, await subscribeAgain(acme, overrides));
    expect(lines.map(({ price }) => price?.source)).toEqual(['price']);
  });

  async function subscribeAgain(
    { customerId, meterId, pricingId }: Subscription,
    overrides: readonly Record<string, string>[] = [],
  ): Promise<Subscription> {
    const { data: plan } = await world.call('plans.create', { body: { name: 'Again', items: [{ pricingId }] } });
    const body = { planId: plan.id, customerId, startDate: '2026-03-01', overrides };
    const { data } = await world.call('contracts.create', { body });
    return { customerId, meterId, pricingId, contractId: data.id };
  }
});

test('a fixed line names its price and the days that prorate it', async () => {
  const acme = await subscribe(world);
  const fee = await createPrice(world, acme.meterId, { model: 'FLAT', meterId: undefined, unitAmount: '31' });
  const { data: plan } = await world.call('plans.create', { body: { name: 'Fee', items: [{ pricingId: fee }] } });
  const { data } = await world.call('contracts.create', {
    body: { planId: plan.id, customerId: acme.customerId, startDate: '2026-03-01', endDate: '2026-03-11' },
  });
  const explained = await explainFirst(world, { ...acme, contractId: data.id });
  expect(explained.lines).toMatchObject([
    {
      kind: 'fixed',
      price: { pricingId: fee, source: 'price', model: 'FLAT', unitAmount: '31' },
      proration: { daysUsed: 10, daysWhole: 31 },
      exactAmount: '10',
      grants: [],
    },
  ]);
  expectSound(explained);
});

describe('a finalized invoice', () => {
  async function billed(): Promise<{ acme: Subscription; draft: Explained; invoiceId: string }> {
    const acme = await subscribe(world, { meter: { groupKeys: ['model'] } });
    await grant(world, acme, { amountCents: 15, expiresAt: '2026-03-15T00:00:00Z' });
    await grant(world, acme, { amountCents: 20 });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 10, at: '2026-03-03T00:00:00Z', model: 'a' });
    await use(world, acme, { tokens: '30.5', at: '2026-03-18T00:00:00Z', model: 'b' });
    world.clock.set('2026-04-02T00:00:00Z');
    const invoiceId = (await invoiceAt(world, acme, 0)).id;
    const draft = await explain(world, invoiceId);
    await finalize(world, invoiceId);
    return { acme, draft, invoiceId };
  }

  test('is explained by its frozen figures, which are those of the draft before it', async () => {
    const { draft, invoiceId } = await billed();
    const frozen = await explain(world, invoiceId);
    expect(frozen).toMatchObject({ basis: 'frozen', status: 'In Progress', asOf: '2026-04-02T00:00:00.000Z' });
    expectSound(frozen);
    const withoutEntries = (explained: Explained) =>
      explained.lines.map((line) => ({ ...line, grants: line.grants.map((each) => ({ ...each, entryIds: [] })) }));
    expect(withoutEntries(frozen)).toEqual(withoutEntries(draft));
    expect({ ...rest(frozen), lines: [] }).toEqual({ ...rest(draft), lines: [] });
  });

  test('reads the same whatever happens later: grants, late events, other prices', async () => {
    const { acme, invoiceId } = await billed();
    const before = await explain(world, invoiceId);
    world.clock.set('2026-04-10T00:00:00Z');
    await grant(world, acme, { amountCents: 500 });
    await use(world, acme, { tokens: 99, at: '2026-03-04T00:00:00Z', model: 'a' });
    await use(world, acme, { tokens: 60, at: '2026-04-04T00:00:00Z', model: 'a' });
    await settle(world, acme);
    const after = await explain(world, invoiceId);
    expect(after.lateEventCount).toBe(1);
    expect({ ...after, lateEventCount: 0 }).toEqual(before);
  });

  test.each([
    ['cancelled', 'invoices.cancel', {}],
    ['refunded with its credits', 'invoices.refund', { restoreCredits: true }],
  ] as const)('that is %s still shows what had paid it', async (_words, operation, body) => {
    const { invoiceId } = await billed();
    const before = await explain(world, invoiceId);
    const isRefund = operation === 'invoices.refund';
    if (isRefund) await world.call('invoices.pay', { params: { invoiceId } });
    await world.call(operation, { params: { invoiceId }, ...(isRefund ? { body } : {}) });
    const after = await explain(world, invoiceId);
    expectSound(after);
    expect({ ...after, status: before.status }).toEqual(before);
  });

  test('that credits had paid until its usage was taken back shows none of them, also when it is refunded later', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 500 });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 50, at: '2026-03-03T00:00:00Z', key: 'k' });
    await settle(world, acme);
    await use(world, acme, { tokens: 0, at: '2026-03-03T00:00:00Z', key: 'k' });
    world.clock.set('2026-04-02T00:00:00Z');
    const [draft, invoiceId] = [await explainFirst(world, acme), (await invoiceAt(world, acme, 0)).id];
    await finalize(world, invoiceId);
    world.clock.set('2026-04-03T00:00:00Z');
    await world.call('invoices.refund', { params: { invoiceId } });
    const refunded = await explain(world, invoiceId);
    expect(refunded.disagreements).toEqual([]);
    expect(refunded.lines).toEqual(draft.lines);
    expectSound(refunded);
  });

  test('the same, settled and taken back at the instant of its finalization, as on a clock that stands still', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 500 });
    world.clock.set('2026-04-02T00:00:00Z');
    await use(world, acme, { tokens: 50, at: '2026-03-03T00:00:00Z', key: 'k' });
    await settle(world, acme);
    await use(world, acme, { tokens: 0, at: '2026-03-03T00:00:00Z', key: 'k' });
    const invoiceId = (await invoiceAt(world, acme, 0)).id;
    await finalize(world, invoiceId);
    const explained = await explain(world, invoiceId);
    expect(explained.lines).toMatchObject([{ creditCents: 0, overageCents: 0, grants: [] }]);
    expectSound(explained);
    await world.call('invoices.refund', { params: { invoiceId } });
    expect(await explain(world, invoiceId)).toEqual({ ...explained, status: 'Refunded' });
  });

  test('settled before it, taken back, and refunded at the instant of its finalization shows none of them', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 500 });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 50, at: '2026-03-03T00:00:00Z', key: 'k' });
    await settle(world, acme);
    world.clock.set('2026-04-02T00:00:00Z');
    await use(world, acme, { tokens: 0, at: '2026-03-03T00:00:00Z', key: 'k' });
    const invoiceId = (await invoiceAt(world, acme, 0)).id;
    await finalize(world, invoiceId);
    await world.call('invoices.refund', { params: { invoiceId } });
    const explained = await explain(world, invoiceId);
    expect(explained.lines).toMatchObject([{ creditCents: 0, overageCents: 0, grants: [] }]);
    expectSound(explained);
  });

  test('reads the same whatever follows at the same instant, as on a clock that stands still', async () => {
    const { acme, invoiceId } = await billed();
    const before = await explain(world, invoiceId);
    await grant(world, acme, { amountCents: 500 });
    expect(await explain(world, invoiceId)).toEqual(before);
  });

  test('says where its frozen figures are not what events and prices give', async () => {
    const { acme, invoiceId } = await billed();
    // Nothing but the database itself can do this: the interface records such an event as late.
    const { organizationId: orgId } = await world.engine.owner();
    await world.store.write(async (tx) => {
      const event = {
        id: '01900000-0000-7000-8000-00000000ffff',
        idempotencyKey: 'smuggled',
        customerId: acme.customerId,
        contractId: acme.contractId,
        eventName: 'call',
        timestampEpochMs: Temporal.Instant.from('2026-03-05T00:00:00Z').epochMilliseconds,
        propertiesJson: '{"model":"a","tokens":1}',
        receivedAtEpochMs: 0,
        isLate: false,
      };
      await world.store.events.append(tx, orgId, [event], () => true);
    });
    const { disagreements, totalCents, lines } = await explain(world, invoiceId);
    const words = disagreements.map((each) => each.replace(/^line \S+ /, ''));
    expect(words).toEqual([
      '(Inference (model=a)): quantity is frozen as 10, events and prices give 11',
      '(Inference (model=a)): exactAmount is frozen as 0.1, events and prices give 0.11',
      '(Inference (model=a)): totalAmountCents is frozen as 10, events and prices give 11',
    ]);
    expect(lines.reduce((sum, line) => sum + Number(line.totalAmountCents), 0)).toBe(Number(totalCents));
  });
});

test('a draft that was cancelled bills nothing, and says that there is nothing to explain', async () => {
  const acme = await subscribe(world);
  const { id } = await invoiceAt(world, acme, 1);
  await world.call('invoices.cancel', { params: { invoiceId: id } });
  expect(await explain(world, id)).toMatchObject({ basis: 'none', totalCents: 0, lines: [], grants: [] });
});

test('an invoice of another organization is as unknown as any', async () => {
  const acme = await subscribe(world);
  const { id: invoiceId } = await invoiceAt(world, acme, 0);
  const stranger = await world.addOrganization('Other');
  const unknown = 'notFound no invoice has this id';
  expect(await refusalOf(stranger.call('invoices.explain', { params: { invoiceId } }))).toBe(unknown);
  expect(await refusalOf(world.call('invoices.explain', { params: { invoiceId: 'nothing' } }))).toBe(unknown);
});
