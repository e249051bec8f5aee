/** What a batch of events costs does not grow with the contracts and budgets of its customers times its events. */

import { beforeEach, expect, test, vi } from 'vitest';

import type { MeteredEvent } from '../../src/calculation/metering.ts';
import { exhaustBudgets } from '../../src/engine/usage-exhaust.ts';
import { loadEventOwners } from '../../src/engine/usage-finalized.ts';
import type { CallContext } from '../../src/engine/handler.ts';
import type { NewEvent } from '../../src/store/event-store.ts';
import { watchStatements } from '../reliability/statements.ts';
import { createCustomer, createMeter, createPlan, createPrice, send } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld({ start: '2026-03-15T12:00:00.000Z' });

let customerId: string;
let planId: string;
beforeEach(async () => {
  customerId = await createCustomer(world, 'acme');
  const propertyFilters = [{ name: 'model', include: ['large'] }];
  const meterId = await createMeter(world, 'TOKENS', { propertyFilters });
  planId = await createPlan(world, [await createPrice(world, meterId)]);
});

async function addContracts(count: number, creditSettings: object = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = { planId, customerId, startDate: '2026-01-01', creditSettings };
    ids.push((await world.call('contracts.create', { body })).data.id);
  }
  return ids;
}

/** How many statements that contain these words `work` has the database do. */
async function statementsOf(words: RegExp, work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const stop = watchStatements((sql) => {
    if (words.test(sql)) count += 1;
  });
  await work();
  stop();
  return count;
}

/** Properties, and how often one of them was read. */
function watched(properties: MeteredEvent['properties']) {
  const reads = { count: 0 };
  const proxy = new Proxy(properties, {
    get: (target, key, receiver) => {
      reads.count += 1;
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  return { reads, properties: proxy };
}

async function ownOrgId(): Promise<string> {
  return (await world.engine.owner()).organizationId;
}

test('a meter is asked once whether it counts an event of a billed period, however many contracts have billed it', async () => {
  const named = (await addContracts(12)).at(-1) ?? null;
  await world.call('bill.run', { body: {} });
  const orgId = await ownOrgId();
  const { isFinalized } = await world.store.read(async (tx) => await loadEventOwners({ tx, orgId }, [customerId]));
  const timestampEpochMs = Date.parse('2026-01-10T00:00:00Z');
  for (const contractId of [null, named]) {
    const { reads, properties } = watched({ model: 'small' });
    expect(isFinalized({ customerId, contractId, eventName: 'call', timestampEpochMs, properties })).toBe(false);
    expect(reads.count).toBe(1);
    const large = { model: 'large' };
    expect(isFinalized({ customerId, contractId, eventName: 'call', timestampEpochMs, properties: large })).toBe(true);
  }
});

test('what contracts have billed is found only for an event that is older than the end of it', async () => {
  // More than the terms of contracts that a process remembers.
  for (let days = 0; days < 140; days += 1) {
    const startDate = Temporal.PlainDate.from('2025-10-01').add({ days }).toString();
    await world.call('contracts.create', { body: { planId, customerId, startDate } });
  }
  await world.call('bill.run', { body: {} });
  const orgId = await ownOrgId();
  const calculated = vi.spyOn(Temporal.PlainDate.prototype, 'add');
  const { isFinalized } = await world.store.read(async (tx) => await loadEventOwners({ tx, orgId }, [customerId]));
  const event = { customerId, contractId: null, eventName: 'call', properties: { model: 'large' } };
  const at = (instant: string) => isFinalized({ ...event, timestampEpochMs: Date.parse(instant) });
  const isNewFinal = at('2026-03-15T00:00:00Z');
  const calculatedCount = calculated.mock.calls.length;
  calculated.mockRestore();
  expect({ isNewFinal, calculatedCount }).toEqual({ isNewFinal: false, calculatedCount: 0 });
  expect(at('2026-02-28T23:59:59.999Z')).toBe(true);
});

test('events that another customer had before have its contracts read once', async () => {
  await addContracts(3);
  const globex = await createCustomer(world, 'globex');
  const events = Array.from({ length: 40 }, (_, index) => ({ customerId, idempotencyKey: `k${index}` }));
  await send(world, ...events);
  const taken = events.map((event) => ({ ...event, customerId: globex }));
  const ofContracts = /from "contracts"/i;
  const alone = await statementsOf(ofContracts, async () => send(world, ...taken.slice(0, 1)));
  const together = await statementsOf(ofContracts, async () => send(world, ...taken.slice(1)));
  expect(together).toBe(alone);
});

test('an event that names no contract has what is known of them read once, however many have a budget of it', async () => {
  const budgets = [{ eventPropertyKey: 'model', eventPropertyValue: 'large', maxCreditsCents: 100 }];
  const statements = async (tokens: number) =>
    await statementsOf(/from "contracts".*"customerId" (=|in)/i, async () =>
      send(world, { customerId, properties: { model: 'large', tokens } }),
    );
  const [first = ''] = await addContracts(1, { budgets });
  const ofOne = await statements(1);
  await addContracts(4, { budgets });
  expect(await statements(1)).toBe(ofOne);
  await statements(100);
  const exhausted: string[] = [];
  for (const { id } of (await world.call('contracts.list', { query: { customerId } })).data) {
    const { data } = await world.call('budgets.list', { params: { contractId: id } });
    if (data.budgets[0]?.isExhausted === true) exhausted.push(id);
  }
  expect(exhausted).toEqual([first]);
});

test('a property is looked at once, however many contracts have budgets of it', async () => {
  const budgets = Array.from({ length: 10 }, (_, index) => ({
    eventPropertyKey: 'model',
    eventPropertyValue: `model-${index}`,
    maxCreditsCents: 100,
  }));
  await addContracts(5, { budgets });
  const { reads, properties } = watched({ model: 'large', tokens: 1 });
  const orgId = await ownOrgId();
  await world.store.read(async (tx) => {
    const context = { tx, orgId } as CallContext;
    const owners = await loadEventOwners(context, [customerId]);
    const event = { customerId, contractId: null, timestampEpochMs: 0 } as NewEvent;
    await exhaustBudgets(context, [{ event, properties }], owners);
  });
  expect(reads.count).toBe(2);
});
