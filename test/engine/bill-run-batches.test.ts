/** More contracts, and more drafts of a contract, than one transaction works off. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { createEngine } from '../../src/engine/engine.ts';
import { limits } from '../../src/limits.ts';
import { grant, movements, subscribe, use } from '../support/billing-scenario.ts';
import { createCustomer, send } from '../support/usage-scenario.ts';
import { billUntilStopped, countedBytes, createClock, createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

test('a bill run works contracts off by batches, and misses none', async () => {
  const others = 2 * limits.billRunBatch;
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z', graceHours: 12 });
  const first = await subscribe(world, { contract: { endDate: '2026-04-01' } });
  const { planId } = (await world.call('contracts.get', { params: { contractId: first.contractId } })).data;
  for (let index = 0; index < others; index += 1) {
    const customerId = await createCustomer(world, `customer ${index}`);
    await world.call('contracts.create', {
      body: { customerId, planId, startDate: '2026-03-01', endDate: '2026-04-01' },
    });
  }
  world.clock.set('2026-05-01T00:00:00Z');
  expect((await world.call('bill.run', { body: {} })).data).toMatchObject({
    finalizedCount: others + 1,
    endedContractCount: others + 1,
    failedCount: 0,
  });
  await world.close();
});

test('a bill run counts what it did for all contracts of a batch together', async () => {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z' });
  for (const name of ['one', 'two', 'three']) {
    const each = await subscribe(world, { name });
    await grant(world, each, { amountCents: 100, expiresAt: '2026-03-20T00:00:00Z' });
    await use(world, each, { tokens: 130, at: '2026-03-01T00:00:00Z' });
  }
  world.clock.set('2026-04-01T00:00:00Z');
  expect((await world.call('bill.run', { body: {} })).data).toMatchObject({
    finalizedCount: 3,
    totalCents: 90,
    draftedCount: 3,
    expiredGrantCount: 3,
    endedContractCount: 0,
  });
  await world.close();
});

describe('a contract with more due drafts than one transaction finalizes', () => {
  const startDate = '2024-01-01';
  const endDate = '2026-03-02';
  /** From the first to the last day there are 113 weeks; the second transaction begins with this one. */
  const weeks = 113;
  const rest = weeks - limits.billRunBatch;

  let world: World;
  beforeEach(async () => {
    const clock = createClock('2026-03-01T00:00:00.000Z');
    // Time goes on, so that each transaction has an instant of its own.
    const now = () => {
      clock.advance({ milliseconds: 1 });
      return clock.now();
    };
    world = await createWorld({ clock: { ...clock, now } });
  });
  afterEach(async () => {
    await world.close();
  });

  const subscribeForWeeks = async (name: string) =>
    await subscribe(world, { name, price: { priceInterval: 'WEEK' }, contract: { startDate, endDate } });

  async function storedInvoices(contractId: string) {
    return await world.store.read(
      async (tx) =>
        await tx
          .selectFrom('invoices')
          .select(['number', 'status', 'finalizedAt'])
          .where('contractId', '=', contractId)
          .orderBy('periodIndex')
          .execute(),
    );
  }

  const run = async (body: Record<string, unknown> = {}) => (await world.call('bill.run', { body })).data;

  test('is done in several, in the order of its periods, and its end is told behind the last', async () => {
    const acme = await subscribeForWeeks('acme');
    const other = await subscribe(world, { name: 'other', contract: { endDate: '2026-04-01' } });
    await grant(world, acme, { amountCents: 1000, expiresAt: '2026-03-20T00:00:00Z' });
    await use(world, acme, { tokens: 30, at: '2024-01-05T00:00:00Z' });
    await use(world, acme, { tokens: 50, at: '2026-02-26T00:00:00Z' });
    world.clock.set('2026-05-01T00:00:00Z');
    expect(await run()).toMatchObject({
      finalizedCount: weeks + 1,
      totalCents: 0,
      expiredGrantCount: 1,
      endedContractCount: 2,
      failures: [],
    });
    const all = await storedInvoices(acme.contractId);
    expect(all.map(({ number }) => number)).toEqual(
      all.map((_invoice, index) => `INV-${String(index + 1).padStart(6, '0')}`),
    );
    const transactions = Map.groupBy(all, ({ finalizedAt }) => finalizedAt);
    expect([...transactions.values()].map(({ length }) => length)).toEqual([limits.billRunBatch, rest]);
    expect(await movements(world, acme)).toEqual(['grant 1000 0', 'usage -30 0', 'usage -50 0', 'expiration -920 0']);
    const [otherInvoice] = await storedInvoices(other.contractId);
    expect(otherInvoice?.number).toBe(`INV-${String(weeks + 1).padStart(6, '0')}`);
    const { terminatedAt } = await world.store.read(
      async (tx) =>
        await tx
          .selectFrom('contracts')
          .select('terminatedAt')
          .where('id', '=', acme.contractId)
          .executeTakeFirstOrThrow(),
    );
    expect(terminatedAt).toBe(all.at(-1)?.finalizedAt);
  });

  test('is rehearsed as a whole', async () => {
    const acme = await subscribeForWeeks('acme');
    await use(world, acme, { tokens: 30, at: '2026-02-26T00:00:00Z' });
    world.clock.set('2026-05-01T00:00:00Z');
    const all = { finalizedCount: weeks, totalCents: 30, endedContractCount: 1, failures: [] };
    expect(await run({ rehearse: true })).toMatchObject({ ...all, isRehearsal: true });
    expect(await run()).toMatchObject({ ...all, isRehearsal: false });
  });

  test('is billed up to one that cannot be finalized, and holds up no other contract', async () => {
    const acme = await subscribeForWeeks('acme');
    const other = await subscribe(world, { name: 'other', contract: { endDate: '2026-04-01' } });
    world.clock.set('2026-05-01T00:00:00Z');
    const failing = limits.billRunBatch + 5;
    const at = Temporal.PlainDate.from(startDate).add({ weeks: failing }).toString();
    await use(world, acme, { tokens: 9e15, at: `${at}T00:00:00Z` });
    const { finalizedCount, endedContractCount, failures } = await run();
    expect({ finalizedCount, endedContractCount }).toEqual({ finalizedCount: failing + 1, endedContractCount: 1 });
    expect(failures).toEqual([
      {
        organizationId: expect.any(String),
        contractId: acme.contractId,
        message: expect.stringContaining('cannot be finalized over'),
      },
    ]);
    const open = (await storedInvoices(acme.contractId)).filter(({ status }) => status === 'Drafted');
    expect(open).toHaveLength(weeks - failing);
    expect((await storedInvoices(other.contractId)).map(({ status }) => status)).toEqual(['Paid']);
  });

  test('is done as a whole behind one of its batch that cannot be billed', async () => {
    const broken = await subscribe(world, { name: 'broken', contract: { endDate: '2026-04-01' } });
    await use(world, broken, { tokens: 9e15, at: '2026-03-01T00:00:00Z' });
    const acme = await subscribeForWeeks('acme');
    world.clock.set('2026-05-01T00:00:00Z');
    expect(await run()).toMatchObject({ finalizedCount: weeks, endedContractCount: 1, failedCount: 1 });
    expect((await storedInvoices(acme.contractId)).every(({ status }) => status === 'Paid')).toBe(true);
  });

  test('and thousands of open lines has a quarter of these done at a time, since each transaction meters them all', async () => {
    const months = 8;
    const acme = await subscribe(world, {
      meter: { groupKeys: ['user'] },
      contract: { startDate: '2025-07-01', endDate: '2026-03-01' },
    });
    for (let month = 0; month < months; month += 1) {
      const timestamp = `${Temporal.PlainDate.from('2025-07-05').add({ months: month }).toString()}T00:00:00Z`;
      const events = Array.from({ length: 1_000 }, (_, user) => ({
        customerId: acme.customerId,
        timestamp,
        properties: { tokens: 1, user: `u${user}` },
      }));
      await send(world, ...events);
    }
    expect(await run()).toMatchObject({ finalizedCount: months, totalCents: 1_000 * months });
    const transactions = Map.groupBy(await storedInvoices(acme.contractId), ({ finalizedAt }) => finalizedAt);
    // A quarter of 8,000 lines, and of 6,000; and then the thousand behind which any transaction ends.
    expect([...transactions.values()].map(({ length }) => length)).toEqual([2, 2, 1, 1, 1, 1]);
  });

  test('is left to another server that is at its run, without an error', async () => {
    await subscribeForWeeks('acme');
    world.clock.set('2026-05-01T00:00:00Z');
    const engine = createEngine({
      store: { ...world.store, exclusively: async () => await Promise.resolve(undefined) },
      now: world.clock.now,
      newId: () => '',
      randomBytes: countedBytes(),
      finalizationGraceHours: 0,
    });
    expect(await engine.billDue()).toMatchObject({ finalizedCount: 0, draftedCount: 0, failures: [] });
  });

  test('is left in the middle by a run that is told to stop, and finished by the next one', async () => {
    const acme = await subscribeForWeeks('acme');
    world.clock.set('2026-05-01T00:00:00Z');
    expect(await billUntilStopped(world)).toMatchObject({
      finalizedCount: limits.billRunBatch,
      endedContractCount: 0,
      failures: [],
    });
    expect(await run()).toMatchObject({ finalizedCount: rest, endedContractCount: 1, failures: [] });
    expect((await storedInvoices(acme.contractId)).every(({ status }) => status === 'Paid')).toBe(true);
  });
});
