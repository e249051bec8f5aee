/** SQL meters in bills, costs and estimates (semantics 8, `sql`; security 6, point 6). */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { createEngine } from '../../src/engine/engine.ts';
import type { Billing } from '../../src/operations/index.ts';
import { createMeterSql } from '../../src/store/open-meter-sql.ts';
import type { MeterSql } from '../../src/store/meter-sql.ts';
import {
  balance,
  finalize,
  grant,
  invoiceAt,
  linesOf,
  movements,
  settle,
  subscribe,
  type Subscription,
  use,
} from '../support/billing-scenario.ts';
import { refusalOf } from '../support/refusal.ts';
import { createCustomer, createMeter, createPrice, send } from '../support/usage-scenario.ts';
import { countedBytes, countedIds } from '../support/world.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

const sum = { sql: `SELECT sum(properties['tokens']) AS value FROM events` };
const users = { sql: `SELECT count(DISTINCT properties['user']) AS value FROM events` };
/** Fails on a text, which SUM would pass over. */
const strict = { sql: `SELECT max(properties['tokens']) AS value FROM events` };
const march = { startDate: '2026-03-01T00:00:00Z', endDate: '2026-04-01T00:00:00Z' };

async function useUser(acme: Subscription, user: string, at: string): Promise<void> {
  await use(world, acme, { tokens: 1, user, at });
}

async function cost(body: Record<string, unknown>) {
  return (await world.call('usage.cost', { body: { ...march, ...body } })).totalAmount;
}

describe('an SQL meter', () => {
  test('bills what the same SUM bills', async () => {
    const bills = [];
    for (const [name, meter] of Object.entries({ sum: {}, sql: sum })) {
      const subscription = await subscribe(world, { name, meter });
      world.clock.set('2026-03-20T00:00:00Z');
      await use(world, subscription, { tokens: 300, at: '2026-03-05T00:00:00Z' });
      await use(world, subscription, { tokens: '12.5', at: '2026-03-06T00:00:00Z' });
      await use(world, subscription, { tokens: 40, at: '2026-02-28T23:59:59.999Z' });
      const { totalCents, lineItems } = await invoiceAt(world, subscription, 0);
      bills.push({
        totalCents,
        quantity: lineItems?.[0]?.quantity,
        cost: await cost({ contractId: subscription.contractId }),
      });
    }
    expect(bills[1]).toEqual(bills[0]);
    expect(bills[1]).toMatchObject({ totalCents: 313, cost: 3.13 });
  });

  test('reads each billing period on its own', async () => {
    const acme = await subscribe(world, { meter: users });
    world.clock.set('2026-04-20T00:00:00Z');
    await useUser(acme, 'ada', '2026-03-05T00:00:00Z');
    await useUser(acme, 'bob', '2026-03-31T23:59:59.999Z');
    await useUser(acme, 'ada', '2026-04-01T00:00:00Z');
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(2);
    expect((await invoiceAt(world, acme, 1)).totalCents).toBe(1);
  });

  test('is read anew up to the expiry of a grant, which pays for what was read by then', async () => {
    const acme = await subscribe(world, { meter: users });
    await grant(world, acme, { amountCents: 100, expiresAt: '2026-03-10T00:00:00Z' });
    world.clock.set('2026-03-20T00:00:00Z');
    await useUser(acme, 'ada', '2026-03-05T00:00:00Z');
    await useUser(acme, 'bob', '2026-03-06T00:00:00Z');
    await useUser(acme, 'ada', '2026-03-11T00:00:00Z');
    await useUser(acme, 'eve', '2026-03-12T00:00:00Z');
    await settle(world, acme);
    expect(await movements(world, acme)).toEqual(['grant 100 0', 'usage -2 0', 'expiration -98 0']);
    expect(linesOf(await invoiceAt(world, acme, 0))).toEqual(['Tokens 3', 'Credits applied -2']);
  });

  test('sees only the events of its customer and contract', async () => {
    const acme = await subscribe(world, { name: 'acme', meter: sum });
    const other = await subscribe(world, { name: 'other', meter: sum });
    world.clock.set('2026-03-20T00:00:00Z');
    await use(world, acme, { tokens: 5, at: '2026-03-05T00:00:00Z' });
    await use(world, other, { tokens: 700, at: '2026-03-05T00:00:00Z' });
    expect((await invoiceAt(world, acme, 0)).totalCents).toBe(5);
    expect((await invoiceAt(world, other, 0)).totalCents).toBe(700);
  });

  test('that gives NULL or 0 without events bills nothing, not even a flat amount in the cost of usage', async () => {
    const customerId = await createCustomer(world, 'acme');
    const tiers = [{ minQty: '0', unitAmount: '0.01', flatAmount: '5' }];
    for (const [code, meter] of Object.entries({ NULL: sum, ZERO: { sql: 'SELECT count(*) AS value FROM events' } })) {
      const price = { tiering: 'GRADUATED', pricingTiers: tiers };
      await createPrice(world, await createMeter(world, code, meter), price);
    }
    expect(await cost({ customerId })).toBe(0);
  });

  test('is rounded half-up at the twelfth decimal', async () => {
    const customerId = await createCustomer(world, 'acme');
    const meterId = await createMeter(world, 'THIRD', { sql: 'SELECT count(*) * 2 / 3.0 AS value FROM events' });
    await createPrice(world, meterId, { unitAmount: '1' });
    await send(world, { customerId, properties: {} });
    expect(await cost({ customerId })).toBe(0.666666666667);
  });

  test('reads the events that a cost is asked for', async () => {
    const customerId = await createCustomer(world, 'acme');
    await createPrice(world, await createMeter(world, 'SQL', sum), { unitAmount: '1' });
    await send(
      world,
      { customerId, properties: { tokens: 1, model: 'small' } },
      { customerId, properties: { tokens: 20, model: 'large' } },
      { customerId, eventName: 'embedding', properties: { tokens: 300, model: 'large' } },
    );
    expect(await cost({ customerId })).toBe(321);
    expect(await cost({ customerId, eventNames: ['call'] })).toBe(21);
    expect(await cost({ customerId, propertyFilters: [{ key: 'model', value: 'large' }] })).toBe(320);
  });

  test('reads the events of an estimate', async () => {
    await createPrice(world, await createMeter(world, 'SQL', sum), { unitAmount: '0.000002' });
    const events = [
      { eventName: 'call', properties: { tokens: 1 } },
      { eventName: 'call', properties: { tokens: 2 } },
    ];
    const { data } = await world.call('pricing.estimate', { body: { events } });
    expect(data).toMatchObject({ totalAmount: 0.000006, lines: [{ meterCode: 'SQL', quantity: 3 }] });
  });
});

describe('an SQL meter that gives no number', () => {
  let acme: Subscription;
  let invoiceId: string;
  beforeEach(async () => {
    acme = await subscribe(world, { meter: strict });
    await grant(world, acme, { amountCents: 100 });
    world.clock.set('2026-04-02T00:00:00Z');
    await use(world, acme, { tokens: 7, at: '2026-03-05T00:00:00Z' });
    invoiceId = (await invoiceAt(world, acme, 0)).id;
    await use(world, acme, { tokens: 'many', key: 'bad', at: '2026-03-06T00:00:00Z' });
  });

  const complaint = /^unavailable the meter TOKENS_ACME \(.*\) gave no quantity: value must be a number, but is text/;

  test('stops what would bill it, and changes nothing', async () => {
    expect(await refusalOf(finalize(world, invoiceId))).toMatch(complaint);
    expect(await refusalOf(world.call('invoices.list'))).toMatch(complaint);
    expect(await refusalOf(settle(world, acme))).toMatch(complaint);
    expect(await refusalOf(world.call('usage.cost', { body: { contractId: acme.contractId } }))).toMatch(complaint);
    expect(await refusalOf(balance(world, acme, { include: 'projected' }))).toMatch(complaint);
    expect(await movements(world, acme)).toEqual(['grant 100 0']);
  });

  test('bills as soon as the event is corrected', async () => {
    await use(world, acme, { tokens: 9, key: 'bad', at: '2026-03-06T00:00:00Z' });
    await finalize(world, invoiceId);
    expect(linesOf(await invoiceAt(world, acme, 0))).toEqual(['Tokens 9', 'Credits applied -9']);
  });

  test('does not keep events out, nor budgets of other meters from being watched', async () => {
    const budget = { eventPropertyKey: 'team', eventPropertyValue: 'a', maxCreditsCents: 100 };
    await world.call('budgets.add', { params: { contractId: acme.contractId }, body: budget });
    await use(world, acme, { tokens: 5, team: 'a', at: '2026-04-01T12:00:00Z' });
    const { data } = await world.call('budgets.usage', { params: { contractId: acme.contractId } });
    expect(data.budgets).toMatchObject([{ consumedCents: 0 }]);
  });
});

describe('while a query runs', () => {
  let runs: number;
  let billing: Billing;
  let meterSql: MeterSql;
  let customerId: string;

  /** An engine on the same store, to which an event comes during each of the first queries. */
  async function receiveDuring(count: number): Promise<void> {
    const real = createMeterSql();
    runs = 0;
    meterSql = {
      ...real,
      run: async (run) => {
        runs += 1;
        if (runs <= count) await send(world, { customerId, properties: { tokens: 1 } });
        return await real.run(run);
      },
    };
    const { store, clock } = world;
    const dependencies = { store, now: clock.now, newId: countedIds(), randomBytes: countedBytes(), meterSql };
    const engine = createEngine({ ...dependencies, finalizationGraceHours: 0 });
    billing = engine.as(await engine.owner());
    customerId = await createCustomer(world, 'acme');
    await createPrice(world, await createMeter(world, 'SQL', sum), { unitAmount: '1' });
    await send(world, { customerId, properties: { tokens: 10 } });
  }
  afterEach(() => meterSql.close());

  async function costMeanwhile() {
    return (await billing.call('usage.cost', { body: { customerId, ...march } })).body.totalAmount;
  }

  test('nobody waits for the database, and what arrives is counted by another query', async () => {
    await receiveDuring(1);
    expect(await costMeanwhile()).toBe(11);
    expect(runs).toBe(2);
  });

  test('and events never cease, the last query has the database for itself', async () => {
    await receiveDuring(3);
    expect(await costMeanwhile()).toBe(13);
    expect(runs).toBe(4);
  });
});
