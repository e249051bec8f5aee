/** Which credits of all contracts expire soon, and what usage leaves of them. */

import { expect, onTestFinished, test } from 'vitest';

import { createEngine } from '../../src/engine/engine.ts';
import { UnreadableMeterError } from '../../src/errors.ts';
import { textOfNumber } from '../../src/exact-json.ts';
import { limits } from '../../src/limits.ts';
import type { Billing, ResponseBody } from '../../src/operations/index.ts';
import { createMeterSql } from '../../src/store/open-meter-sql.ts';
import {
  balance,
  endOfMarch,
  finalize,
  grant,
  grantPaid,
  settle,
  subscribe,
  use,
} from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { refusal, refusalOf } from '../support/refusal.ts';
import { createContract } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';
import { countedBytes, countedIds } from '../support/world.ts';

useWorld();

type Data = ResponseBody<'credits.expiring'>['data'];

async function expiring(query: Record<string, string> = {}, billing: Billing = world.billing): Promise<Data> {
  return (await billing.call('credits.expiring', { query })).body.data;
}

/** What is listed, as `expiry cents credits`: what usage leaves. */
async function left(query: Record<string, string> = {}): Promise<string[]> {
  return (await expiring(query)).grants.map(
    ({ expiresAt, projected }) =>
      `${expiresAt?.slice(0, 10)} ${textOfNumber(projected.remainingCents)} ${textOfNumber(projected.remainingCredits)}`,
  );
}

const day = (date: number, month = 3): string =>
  `2026-${String(month).padStart(2, '0')}-${String(date).padStart(2, '0')}T00:00:00Z`;

async function subscribeTwo(): Promise<readonly [Subscription, Subscription]> {
  return [await subscribe(world), await subscribe(world, { name: 'globex' })];
}

/** Another limit, for the running test. */
function limitTo(name: 'expiringContracts' | 'readingsReadAhead', value: number): void {
  const changed = limits as Record<typeof name, number>;
  const usual = changed[name];
  changed[name] = value;
  onTestFinished(() => void (changed[name] = usual));
}

test('grants of all contracts are listed as balances show them, the earliest expiry first', async () => {
  const [acme, globex] = await subscribeTwo();
  await grant(world, acme, { amountCents: 700, expiresAt: day(20) });
  const id = await grantPaid(world, globex, { creditAmount: 50, creditRateCents: 10, expiresAt: day(10) });
  await grant(world, globex, { amountCents: 900, expiresAt: day(20), description: 'Apology' });
  const data = await expiring();
  expect(data).toMatchObject({ expiresBefore: '2026-03-31T00:00:00.000Z', asOf: '2026-03-01T00:00:00.000Z' });
  expect(data.totalCount).toBe(3);
  const { contractId, customerId } = globex;
  expect(data.grants[0]).toEqual({
    contractId,
    customerId,
    grantEntryId: id,
    daysUntilExpiry: 9,
    originalCents: 500,
    originalCredits: 50,
    remainingCents: 500,
    remainingCredits: 50,
    creditRateCents: 10,
    currency: 'USD',
    description: 'Credit purchase',
    isPromotional: false,
    expiresAt: '2026-03-10T00:00:00.000Z',
    createdAt: '2026-03-01T00:00:00.000Z',
    projected: { remainingCents: 500, remainingCredits: 50 },
  });
  // Of one instant: by contract.
  expect(data.grants.map((each) => [each.contractId, each.description])).toEqual([
    [globex.contractId, 'Credit purchase'],
    [acme.contractId, 'Promotional credit grant'],
    [globex.contractId, 'Apology'],
  ]);
  for (const { contractId: own, customerId: owner } of [acme, globex]) {
    const { blocks } = (await world.call('credits.balance', { params: { contractId: own } })).data;
    const held = blocks.map(({ id: grantEntryId, status: _status, priority: _priority, ...block }) => ({
      contractId: own,
      customerId: owner,
      grantEntryId,
      ...block,
      projected: { remainingCents: block.remainingCents, remainingCredits: block.remainingCredits },
    }));
    expect(data.grants.filter((row) => row.contractId === own)).toEqual(held);
  }
});

test('a grant is listed that expires before the instant asked for, a day at its beginning, 30 days ahead unless told', async () => {
  const acme = await subscribe(world);
  for (const [amountCents, expiresAt] of [
    [1, '2026-03-19T23:59:59.999Z'],
    [2, day(20)],
    [3, '2026-03-30T23:59:59.999Z'],
    [4, day(31)],
  ]) {
    await grant(world, acme, { amountCents, expiresAt });
  }
  await grantPaid(world, acme, { amountCents: 5 });
  expect(await left({ expiresBefore: '2026-03-20' })).toEqual(['2026-03-19 1 0']);
  expect(await left({ expiresBefore: '2026-03-20T02:00:00.001+02:00' })).toEqual(['2026-03-19 1 0', '2026-03-20 2 0']);
  expect(await left()).toEqual(['2026-03-19 1 0', '2026-03-20 2 0', '2026-03-30 3 0']);
  expect(await left({ expiresBefore: '2100-01-01' })).toHaveLength(4);
  expect(await left({ expiresBefore: '2026-03-01' })).toEqual([]);
});

test('what has expired is not listed, whether or not its expiration is written', async () => {
  const acme = await subscribe(world);
  await grant(world, acme, { amountCents: 1, expiresAt: day(10) });
  await grant(world, acme, { amountCents: 2, expiresAt: day(20) });
  world.clock.set(day(10));
  expect(await left()).toEqual(['2026-03-20 2 0']);
  await settle(world, acme);
  expect(await left()).toEqual(['2026-03-20 2 0']);
  world.clock.set('2026-03-19T23:59:59.999Z');
  expect((await expiring()).grants.map(({ daysUntilExpiry }) => daysUntilExpiry)).toEqual([0]);
  world.clock.set(day(20));
  expect(await left()).toEqual([]);
});

test('usage that is not settled takes from what is left, and nothing is written', async () => {
  const acme = await subscribe(world);
  const first = await grant(world, acme, { amountCents: 100, expiresAt: day(20) });
  await grant(world, acme, { creditAmount: 60, creditRateCents: 5, expiresAt: day(25) });
  world.clock.set(day(5));
  await use(world, acme, { tokens: 30, at: day(2) });
  expect(await left()).toEqual(['2026-03-20 70 0', '2026-03-25 300 60']);
  await use(world, acme, { tokens: 90, at: day(3), key: 'more' });
  // The first one is used up, though its balance still shows 100.
  expect(await left()).toEqual(['2026-03-25 280 56']);
  expect((await balance(world, acme)).blocks.find(({ id }) => id === first)?.remainingCents).toBe(100);
  expect((await expiring()).grants[0]).toMatchObject({ remainingCents: 300, remainingCredits: 60 });
  await settle(world, acme);
  expect(await left()).toEqual(['2026-03-25 280 56']);
  expect((await expiring()).grants[0]).toMatchObject({ remainingCents: 280, remainingCredits: 56 });
  // Usage that drafts had settled may become less again.
  await use(world, acme, { tokens: 10, at: day(3), key: 'more' });
  expect(await left()).toEqual(['2026-03-20 60 0', '2026-03-25 300 60']);
});

test('usage of a period that nobody has drafted yet counts, and so does usage of a finalized one', async () => {
  const acme = await subscribe(world);
  await grant(world, acme, { amountCents: 1000, expiresAt: day(1, 9) });
  await finalize(world, await endOfMarch(world, acme));
  world.clock.set(day(20, 7));
  await use(world, acme, { tokens: 50, at: day(19, 7) });
  expect(await left({ expiresBefore: '2027-01-01' })).toEqual(['2026-09-01 650 0']);
});

test('usage that a grant is not for takes nothing from it, and free credits count by themselves', async () => {
  const acme = await subscribe(world, { contract: { creditSettings: { creditRateCents: 2 } } });
  await grant(world, acme, {
    amountCents: 100,
    expiresAt: day(20),
    specifiers: { properties: { model: 'large' } },
  });
  await grant(world, acme, { creditAmount: 30, creditRateCents: 0, expiresAt: day(25) });
  world.clock.set(day(5));
  await use(world, acme, { tokens: 20, at: day(2), model: 'small' });
  expect(await left()).toEqual(['2026-03-20 100 0', '2026-03-25 0 20']);
  await use(world, acme, { tokens: 30, at: day(2), model: 'large' });
  expect(await left()).toEqual(['2026-03-20 70 0', '2026-03-25 0 20']);
});

test('credits that a contract began with are listed before their invoice is paid, until that is cancelled', async () => {
  const acme = await subscribe(world, {
    contract: { creditGrantCents: 5000, creditSettings: { expiresAt: day(20) } },
  });
  expect(await left()).toEqual(['2026-03-20 5000 0']);
  expect((await expiring()).grants).toMatchObject([{ isPromotional: false }]);
  const { data } = await world.call('invoices.list', { query: { customerId: acme.customerId, limit: '100' } });
  for (const { id } of data) await world.call('invoices.cancel', { params: { invoiceId: id } });
  expect(await left()).toEqual([]);
});

test('the list can be had of one customer, and in parts', async () => {
  const [acme, globex] = await subscribeTwo();
  const second = await createContract(world, {
    customerId: acme.customerId,
    pricingIds: [acme.pricingId],
    startDate: '2026-03-01',
  });
  await grant(world, acme, { amountCents: 1, expiresAt: day(20) });
  await grant(world, globex, { amountCents: 2, expiresAt: day(10) });
  await grant(world, { ...acme, contractId: second }, { amountCents: 3, expiresAt: day(5) });
  expect(await left()).toEqual(['2026-03-05 3 0', '2026-03-10 2 0', '2026-03-20 1 0']);
  expect(await left({ customerId: acme.customerId })).toEqual(['2026-03-05 3 0', '2026-03-20 1 0']);
  expect(await left({ externalCustomerId: 'globex' })).toEqual(['2026-03-10 2 0']);
  expect(await left({ externalCustomerId: 'globex', customerId: acme.customerId })).toEqual([]);
  expect(await left({ limit: '1', offset: '1' })).toEqual(['2026-03-10 2 0']);
  expect(await left({ offset: '1' })).toEqual(['2026-03-10 2 0', '2026-03-20 1 0']);
  expect(await left({ offset: '3' })).toEqual([]);
  expect((await expiring({ limit: '1', offset: '7' })).totalCount).toBe(3);
  for (const query of [
    { limit: '0' },
    { limit: '101' },
    { expiresBefore: '2026-02-30' },
    { expiresAfter: '2026-03-01' },
  ]) {
    expect(await refusalOf(expiring(query))).toMatch(/^badRequest /);
  }
});

test('an organization sees its own, and a key needs to read contracts', async () => {
  const acme = await subscribe(world);
  await grant(world, acme, { amountCents: 1, expiresAt: day(20) });
  const stranger = await world.addOrganization('eu');
  expect((await expiring({}, stranger)).totalCount).toBe(0);
  expect((await expiring({ customerId: acme.customerId }, stranger)).totalCount).toBe(0);
  const { organizationId } = await world.engine.owner();
  const reader = world.engine.as({ organizationId, scopes: ['usage:read', 'invoices:read'], isLocal: false });
  expect(await refusalOf(expiring({}, reader))).toBe(
    'forbidden API key does not have the required permission: contracts:read',
  );
});

test('no more contracts are metered than are allowed for, and grants that are used up for good are not', async () => {
  limitTo('expiringContracts', 1);
  const [acme, globex] = await subscribeTwo();
  await grant(world, acme, { amountCents: 300, expiresAt: day(20, 4) });
  await finalize(world, await endOfMarch(world, acme));
  await grant(world, globex, { amountCents: 2, expiresAt: day(21, 4) });
  expect(await left()).toEqual(['2026-04-21 2 0']);
  await grant(world, acme, { amountCents: 1, expiresAt: day(20, 4) });
  const error = await refusal(expiring());
  expect([error.kind, error.message, error.hint]).toEqual([
    'conflict',
    'more than 1 contract hold credits that expire before 2026-05-01T00:00:00.000Z',
    'ask for fewer days, or for one customer at a time',
  ]);
  expect(await left({ externalCustomerId: 'acme' })).toEqual(['2026-04-20 1 0']);
});

/** Contracts of one customer with usage of 1 and a grant of each amount; gives how often their events are read for the list. */
async function readingsFor(amounts: readonly number[]): Promise<number> {
  const { customerId, pricingId, ...acme } = await subscribe(world);
  world.clock.set(day(5));
  for (const amountCents of amounts) {
    const terms = { customerId, pricingIds: [pricingId], startDate: '2026-03-01' };
    const own = { ...acme, customerId, pricingId, contractId: await createContract(world, terms) };
    await grant(world, own, { amountCents, expiresAt: day(20) });
    await use(world, own, { tokens: 1, at: day(2) });
  }
  let readings = 0;
  const { store, clock } = world;
  const { events } = store;
  const counting: typeof events = {
    ...events,
    aggregateNamed: async (...question) => {
      readings += 1;
      return await events.aggregateNamed(...question);
    },
  };
  const parts = { store: { ...store, events: counting }, now: clock.now, newId: countedIds() };
  const engine = createEngine({ ...parts, randomBytes: countedBytes(), finalizationGraceHours: 0 });
  const { grants } = await expiring({}, engine.as(await engine.owner()));
  expect(grants.map(({ projected }) => projected.remainingCents)).toEqual(
    amounts.filter((amount) => amount > 1).map((amount) => amount - 1),
  );
  return readings;
}

test('the events of all contracts of a customer are read together: for the first, then for all that follow', async () => {
  expect(await readingsFor(Array<number>(limits.billRunBatch + 20).fill(9))).toBe(2);
});

test('what was read ahead for a contract that has nothing left takes no room from the others', async () => {
  limitTo('readingsReadAhead', 10);
  expect(await readingsFor([9, 9, 0, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9])).toBe(3);
});

const strict = { sql: `SELECT max(properties['tokens']) AS value FROM events` };

test('no transaction waits for the queries of SQL meters, however many contracts need one', async () => {
  const acme = await subscribe(world, { meter: strict });
  const others = [];
  for (let count = 0; count < 5; count += 1) {
    const { customerId, pricingId } = acme;
    const contractId = await createContract(world, { customerId, pricingIds: [pricingId], startDate: '2026-03-01' });
    others.push({ ...acme, contractId });
  }
  world.clock.set(day(5));
  for (const [place, each] of [acme, ...others].entries()) {
    await grant(world, each, { amountCents: 100, expiresAt: day(10 + place) });
    await use(world, each, { tokens: 10 * place, at: day(2) });
  }
  const real = createMeterSql();
  onTestFinished(() => real.close());
  let runs = 0;
  const meterSql: typeof real = {
    ...real,
    run: async (run) => {
      runs += 1;
      // Only outside of a transaction there is a turn to write.
      await world.call('customers.update', { params: { customerId: acme.customerId }, body: { tags: [String(runs)] } });
      return await real.run(run);
    },
  };
  const { store, clock } = world;
  const parts = { store, now: clock.now, newId: countedIds(), randomBytes: countedBytes(), meterSql };
  const engine = createEngine({ ...parts, finalizationGraceHours: 0 });
  const { grants } = await expiring({}, engine.as(await engine.owner()));
  expect(grants.map(({ projected }) => projected.remainingCents)).toEqual([100, 90, 80, 70, 60, 50]);
  expect(runs).toBe(6);
});

test('a meter that gives no number is named with the contract that it is of', async () => {
  const [acme, globex] = [await subscribe(world), await subscribe(world, { name: 'globex', meter: strict })];
  for (const each of [acme, globex]) await grant(world, each, { amountCents: 100, expiresAt: day(20) });
  await use(world, globex, { tokens: 'many', at: day(1) });
  const error = await refusal(expiring());
  expect(error).toBeInstanceOf(UnreadableMeterError);
  expect(error.message).toMatch(
    `contract ${globex.contractId}: the meter TOKENS_GLOBEX (${globex.meterId}) gave no quantity: value must be a number`,
  );
  expect(error.hint).toBe('correct the events that its sql fails on, or price a meter with other sql');
  expect(await left({ externalCustomerId: 'acme' })).toEqual(['2026-03-20 100 0']);
});
