/** A batch of a bill run that fails, or is told to stop, midway: what is kept of it, what is told, and what the next run does. */

import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';

import { UnknownOutcomeError } from '../../src/errors.ts';
import { subscribe, use } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { billUntilStopped, createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';
import { watchStatements } from './statements.ts';

let world: World;
/** Contracts whose March is due, which one transaction works off in this order. */
let due: readonly Subscription[];

beforeEach(async () => {
  world = await createWorld({ start: '2026-03-01T00:00:00.000Z' });
  const made = [];
  for (const name of ['one', 'two', 'three']) {
    const each = await subscribe(world, { name, contract: { endDate: '2026-04-01' } });
    await use(world, each, { tokens: 10, at: '2026-03-01T00:00:00Z' });
    made.push(each);
  }
  due = made;
  world.clock.set('2026-05-01T00:00:00Z');
});
afterEach(async () => {
  await world.close();
});

const run = async () => (await world.call('bill.run', { body: {} })).data;

/** Makes the second contract one that cannot be billed: it owes more than an invoice holds. */
async function spoilSecond(): Promise<void> {
  const [, second] = due;
  if (second !== undefined) await use(world, second, { tokens: 9e15, at: '2026-03-01T00:00:00Z', key: 'much' });
}

/** The numbers of the contracts' invoices; a draft's begins with DRAFT. */
async function numbers(): Promise<string[]> {
  const rows = await world.store.read(
    async (tx) => await tx.selectFrom('invoices').select(['number', 'contractId']).execute(),
  );
  const byContract = new Map(rows.map(({ contractId, number }) => [contractId, number.replace(/^DRAFT-.*/, 'DRAFT')]));
  return due.map(({ contractId }) => byContract.get(contractId) ?? '');
}

/** From here on the `place`th statement that `isMeant` of the `transaction`th write fails: there is no room for it. */
function fillDiskAt(transaction: number, isMeant: (sql: string) => boolean, place = 1): void {
  let writes = 0;
  let met = 0;
  let isWriting = false;
  const stop = watchStatements((sql) => {
    if (sql.startsWith('BEGIN')) isWriting = sql === 'BEGIN IMMEDIATE';
    if (sql === 'BEGIN IMMEDIATE') writes += 1;
    if (!isWriting || writes !== transaction || !isMeant(sql)) return;
    met += 1;
    if (met === place) throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
  });
  onTestFinished(stop);
}

const isUpdateOfInvoice = (sql: string) => sql.startsWith('update "invoices"');

async function isSound(): Promise<boolean> {
  const found = due.map(
    async ({ contractId }) => (await world.call('credits.verify', { params: { contractId } })).data.findings,
  );
  return (await Promise.all(found)).flat().length === 0;
}

test('a database that fails in the middle of a batch ends the run, and nothing of the batch is kept', async () => {
  fillDiskAt(1, isUpdateOfInvoice, 2);
  const error: unknown = await run().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: 'unavailable', message: expect.stringMatching(/^no space is left/) });
  expect(error).not.toBeInstanceOf(UnknownOutcomeError);
  expect(await numbers()).toEqual(['DRAFT', 'DRAFT', 'DRAFT']);
  expect(await run()).toMatchObject({ finalizedCount: 3, totalCents: 30, endedContractCount: 3, failedCount: 0 });
  expect(await numbers()).toEqual(['INV-000001', 'INV-000002', 'INV-000003']);
  expect(await isSound()).toBe(true);
});

test('a batch that the database does not commit is not told as done', async () => {
  fillDiskAt(1, (sql) => sql === 'COMMIT');
  await expect(run()).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.not.stringContaining('what the run had done is kept'),
  });
  expect(await numbers()).toEqual(['DRAFT', 'DRAFT', 'DRAFT']);
  expect(await run()).toMatchObject({ finalizedCount: 3, endedContractCount: 3 });
});

test('of a batch in which a contract fails, each is done by itself, and no more than once', async () => {
  await spoilSecond();
  let writes = 0;
  const stop = watchStatements((sql) => {
    if (sql === 'BEGIN IMMEDIATE') writes += 1;
  });
  onTestFinished(stop);
  expect(await run()).toMatchObject({ finalizedCount: 2, totalCents: 20, endedContractCount: 2, failedCount: 1 });
  // The batch, each contract, and the one that fails up to its earliest instant.
  expect(writes).toBe(1 + due.length + 1);
  expect(await numbers()).toEqual(['INV-000001', 'DRAFT', 'INV-000002']);
  expect(await isSound()).toBe(true);
});

test('a database that fails while each is done by itself ends the run, which keeps what was done before', async () => {
  await spoilSecond();
  fillDiskAt(5, isUpdateOfInvoice);
  const error: unknown = await run().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UnknownOutcomeError);
  expect(error).toMatchObject({
    message: expect.stringMatching(/^what the run had done is kept \(finalized invoices: 1\); .*no space is left/),
  });
  expect(await numbers()).toEqual(['INV-000001', 'DRAFT', 'DRAFT']);
  expect(await run()).toMatchObject({ finalizedCount: 1, endedContractCount: 1, failedCount: 1 });
  expect(await numbers()).toEqual(['INV-000001', 'DRAFT', 'INV-000002']);
});

test('a run that is told to stop while each is done by itself does no other, and the next run does the rest', async () => {
  await spoilSecond();
  expect(await billUntilStopped(world)).toMatchObject({ finalizedCount: 1, failedCount: 0, failures: [] });
  expect(await numbers()).toEqual(['INV-000001', 'DRAFT', 'DRAFT']);
  expect(await run()).toMatchObject({ finalizedCount: 1, endedContractCount: 1, failedCount: 1 });
  expect(await numbers()).toEqual(['INV-000001', 'DRAFT', 'INV-000002']);
});
