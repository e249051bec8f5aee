/**
 * Events make the same books in whatever order and batches they come, how often, and whatever their keys said before, as long
 * as their periods are open (invariant 19).
 */

import { expect, test } from 'vitest';

import type { CallInput } from '../../src/operations/operation.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';
import { opening } from './commands.ts';
import { bind, comparable, createNames, inOrderOf, withIds } from './compare.ts';
import type { Names } from './compare.ts';
import { createRandom } from './random.ts';
import type { Random } from './random.ts';

const start = '2026-03-01T00:00:00.000Z';

/** Events of two months, each with a key of its own. */
function eventsOf(random: Random) {
  return Array.from({ length: 30 }, (_value, index) => ({
    eventName: random.pick(['llm', 'llm', 'api']),
    customerId: 'customer0',
    idempotencyKey: `key${index}`,
    timestamp: `2026-0${3 + random.below(2)}-${String(1 + random.below(30)).padStart(2, '0')}T0${random.below(10)}:00:00Z`,
    properties: {
      n: random.pick([0, 1, 2.5, '4', -1, 100, 0.1, 'many']),
      ...(random.chance(80) ? { model: random.pick(['large', 'small']) } : {}),
      ...(random.chance(40) ? { tenant: random.pick(['x', 'y']) } : {}),
    },
  }));
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const left = [...list];
  return list.map(() => left.splice(random.below(left.length), 1)[0] as T);
}

/** As they come where senders repeat and correct themselves: some as another version first, and some batches twice. */
function batchesWithRepetitions(events: readonly { readonly properties: object }[], random: Random): object[][] {
  const earlier = events
    .filter(() => random.chance(40))
    .map((event) => ({ ...event, properties: { ...event.properties, n: random.pick([3, 77, 'many']) } }));
  const final = batchesOf(shuffled(events, random), random);
  return [...batchesOf(earlier, random), ...final.flatMap((batch) => (random.chance(30) ? [batch, batch] : [batch]))];
}

function batchesOf<T>(list: readonly T[], random: Random): T[][] {
  const batches: T[][] = [];
  for (let at = 0; at < list.length; at += batches.at(-1)?.length ?? 1) {
    batches.push(list.slice(at, at + 1 + random.below(8)));
  }
  return batches;
}

/** Everything that the contract shows once the events are in and two months are billed. */
async function booksAfter(seed: number, batches: readonly (readonly object[])[]): Promise<unknown> {
  const world = await createWorld({ start });
  const names = createNames();
  try {
    for (const { name, as, input } of opening(createRandom(seed))) {
      const answer = await world.billing.call(name, withIds(input, names) as CallInput);
      const { data } = answer.body as { readonly data: { readonly id?: string } };
      if (as !== undefined && data.id !== undefined) bind(names, as, data.id);
    }
    const contractId = await subscribe(world, names);
    world.clock.set('2026-05-01T12:00:00.000Z');
    for (const events of batches) {
      await world.call('usage.ingestBatch', { body: withIds({ events }, names) });
    }
    await world.call('bill.run', { body: {} });
    return await booksOf(world, names, contractId);
  } finally {
    await world.close();
  }
}

async function subscribe(world: World, names: Names): Promise<string> {
  const terms = { startDate: '2026-03-01', endDate: '2026-06-01', creditGrantCents: 700 };
  const budgets = [{ eventPropertyKey: 'model', eventPropertyValue: 'large', maxCreditsCents: 900 }];
  const body = withIds({ customerId: 'customer0', planId: 'plan0', ...terms, creditSettings: { budgets } }, names);
  const { data } = await world.call('contracts.create', { body });
  const grants = [
    { amountCents: 250, expiresAt: '2026-03-15T00:00:00Z', specifiers: { eventNames: ['llm'] } },
    { creditAmount: 33.333333, creditRateCents: 7, expiresAt: '2026-04-20T00:00:00Z' },
    {
      creditAmount: 3,
      creditRateCents: 0,
      expiresAt: '2026-04-20T00:00:00Z',
      specifiers: { properties: { tenant: 'x' } },
    },
  ];
  for (const [index, grant] of grants.entries()) {
    const answer = await world.call('credits.grant', { params: { contractId: data.id }, body: grant });
    bind(names, `grant${index}`, answer.data.id);
  }
  bind(names, 'contract', data.id);
  return data.id;
}

async function booksOf(world: World, names: Names, contractId: string): Promise<unknown> {
  const params = { contractId };
  const invoices = (await world.call('invoices.list', { query: { include: 'lineItems' } })).data;
  for (const [index, invoice] of invoices.entries()) bind(names, `invoice${index}`, invoice.id);
  const { entries } = (await world.call('credits.ledger', { params })).data;
  const { queriedAt: _at, budgets, ...usage } = (await world.call('budgets.usage', { params })).data;
  const amounts = ['type', 'grantEntryId', 'invoiceId', 'amountCents', 'creditAmount', 'description'];
  return {
    invoices: comparable(
      invoices.map(({ lineItems, ...invoice }) => [invoice, lineItems?.map(({ id: _id, ...line }) => line)]),
      names,
    ),
    entries: inOrderOf(
      amounts,
      comparable(
        entries.map(({ id: _id, ...entry }) => entry),
        names,
      ) as unknown[],
    ),
    usage: comparable(usage, names),
    // An alert stays fired, also where what reached the cap was corrected.
    budgets: comparable(
      budgets.map(({ isExhausted: _isExhausted, ...budget }) => budget),
      names,
    ),
  };
}

test.each(Array.from({ length: 12 }, (_value, index) => index + 1))('of seed %i', async (seed) => {
  const random = createRandom(seed * 1000);
  const events = eventsOf(random);
  const one = await booksAfter(
    seed,
    events.map((event) => [event]),
  );
  const other = await booksAfter(seed, batchesOf(shuffled(events, random), random));
  expect(other).toEqual(one);
  const corrected = await booksAfter(seed, batchesWithRepetitions(events, random));
  expect(corrected).toEqual(one);
});
