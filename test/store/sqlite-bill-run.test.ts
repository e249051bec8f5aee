/** What billing many contracts asks SQLite for, and how much of it one transaction does. */

import { expect, test } from 'vitest';

import { limits } from '../../src/limits.ts';
import { watchStatements } from '../reliability/statements.ts';
import { subscribe, use } from '../support/billing-scenario.ts';
import { createContract, send } from '../support/usage-scenario.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

/** Runs, and gives how many invoices had been finalized at the end of each transaction that finalized any. */
async function watchedRun(world: World) {
  const numbersAtCommit: number[] = [];
  let numbers = 0;
  const stop = watchStatements((sql) => {
    if (sql.startsWith('update "organizations" set "nextInvoiceNumber"')) numbers += 1;
    if (sql === 'COMMIT' && numbers > (numbersAtCommit.at(-1) ?? 0)) numbersAtCommit.push(numbers);
  });
  const { data } = await world.call('bill.run', { body: {} });
  stop();
  return { data, numbersAtCommit };
}

test('a transaction of a bill run ends behind the contract whose invoices bring it to a thousand lines', async () => {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z', graceHours: 0 });
  for (const name of ['one', 'two', 'three', 'four']) {
    const contract = { endDate: '2026-04-01' };
    const { customerId } = await subscribe(world, { name, contract, meter: { groupKeys: ['model'] } });
    world.clock.set('2026-03-02T00:00:00Z');
    const lines = name === 'four' ? 1 : limits.billRunBatchLines / 2;
    const events = Array.from({ length: lines }, (_, index) => ({
      eventName: 'request',
      customerId,
      idempotencyKey: `${name} ${index}`,
      timestamp: '2026-03-02T00:00:00Z',
      properties: { tokens: 1, model: `m${index}` },
    }));
    await world.call('usage.ingestBatch', { body: { events } });
  }
  world.clock.set('2026-04-01T00:00:00Z');
  const { data, numbersAtCommit } = await watchedRun(world);
  expect(data).toMatchObject({ finalizedCount: 4, failedCount: 0, totalCents: 1501 });
  expect(numbersAtCommit).toEqual([2, 4]);
  await world.close();
});

test('a transaction of a bill run ends behind the contract whose invoices bring it to a hundred', async () => {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z', graceHours: 0 });
  for (const name of ['one', 'two', 'three']) {
    await subscribe(world, { name, contract: { startDate: '2022-01-01', endDate: '2026-03-01' } });
  }
  const { data, numbersAtCommit } = await watchedRun(world);
  expect(data).toMatchObject({ finalizedCount: 150, failedCount: 0 });
  expect(numbersAtCommit).toEqual([100, 150]);
  await world.close();
});

/** How many questions `work` puts to a table. */
async function questions(table: string, work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const stop = watchStatements((sql) => {
    if (sql.startsWith('select') && sql.includes(` from "${table}" where`)) count += 1;
  });
  await work();
  stop();
  return count;
}

test('what billing reads of many contracts is read together: once for a page of drafts, and once for a bill run', async () => {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z', graceHours: 0 });
  const terms = { startDate: '2026-03-01', endDate: '2026-06-01' };
  const subscription = await subscribe(world, { contract: terms });
  for (let count = 0; count < 5; count += 1) {
    const { customerId, pricingId } = subscription;
    await createContract(world, { customerId, pricingIds: [pricingId], ...terms });
  }
  world.clock.set('2026-06-15T00:00:00Z');
  const page = { query: { customerId: subscription.customerId, limit: '100' } };
  const drafts = async () => expect((await world.call('invoices.list', page)).data).toHaveLength(18);
  for (const table of ['contracts', 'ledgerEntries', 'budgets']) expect(await questions(table, drafts)).toBe(1);
  const run = async () =>
    expect((await world.call('bill.run', { body: {} })).data).toMatchObject({ finalizedCount: 18 });
  // Those that are due, and what they are billed by.
  expect(await questions('contracts', run)).toBe(2);
  await world.close();
});

test('the events of a customer are looked at for many contracts at once, and their number does not matter', async () => {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z', graceHours: 0 });
  const terms = { startDate: '2026-03-01', endDate: '2026-04-01' };
  const first = await subscribe(world, { contract: terms });
  const { customerId, pricingId } = first;
  const subscriptions = [first];
  for (let count = 1; count < 20; count += 1) {
    subscriptions.push({
      ...first,
      contractId: await createContract(world, { customerId, pricingIds: [pricingId], ...terms }),
    });
  }
  world.clock.set('2026-04-01T00:00:00Z');
  for (const [place, each] of subscriptions.entries())
    await use(world, each, { tokens: place, at: '2026-03-02T00:00:00Z' });
  await send(world, { customerId, timestamp: '2026-03-02T00:00:00Z', properties: { tokens: 1000 } });
  let looks = 0;
  const stop = watchStatements((sql) => {
    if (sql.includes('FROM "eventTail"')) looks += 1;
  });
  const page = { query: { customerId, limit: '100' } };
  const totals = (await world.call('invoices.list', page)).data.map(({ totalCents }) => Number(totalCents));
  expect(totals.toReversed()).toEqual([1000, ...Array.from({ length: 19 }, (_, place) => place + 1)]);
  // For the one that takes what names no contract, for the first of the others, and for all that are like it.
  expect(looks).toBe(3);
  expect((await world.call('bill.run', { body: {} })).data).toMatchObject({ finalizedCount: 20, totalCents: 1190 });
  expect(looks).toBe(6);
  stop();
  await world.close();
});
