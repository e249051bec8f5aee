/** When a bill run comes decides nothing (semantics 7 and 9): what falls due is done as of its instant. */

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { subscribe } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { booksOf, carryOut, historyOf } from '../support/history.ts';
import type { Act } from '../support/history.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

/** How time passes until an instant. */
type Passing = (world: World, until: Temporal.Instant) => Promise<void>;

const sleepy: Passing = async (world, until) => {
  await Promise.resolve(world.clock.set(until.toString()));
};

const late: Passing = async (world, until) => {
  world.clock.set(until.toString());
  await world.call('bill.run');
};

const timely: Passing = async (world, until) => {
  for (;;) {
    const { nextDueAt } = (await world.call('clock.show')).data;
    if (nextDueAt === null || Temporal.Instant.compare(nextDueAt, until) > 0) break;
    if (Temporal.Instant.compare(nextDueAt, world.clock.now()) > 0) world.clock.set(nextDueAt);
    await world.call('bill.run');
  }
  await late(world, until);
};

const budgets = [{ eventPropertyKey: 'model', eventPropertyValue: 'large', maxCreditsCents: 300 }];

async function told(history: readonly Act[], priceInterval: 'MONTH' | 'YEAR', pass: Passing): Promise<unknown> {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z' });
  const acme: Subscription = await subscribe(world, {
    price: { priceInterval },
    meter: { groupKeys: ['model'] },
    contract: { creditSettings: { budgets } },
  });
  for (const [index, act] of history.entries()) {
    await pass(world, world.clock.now().add({ hours: act.hours }));
    await carryOut(world, acme, act, index);
  }
  await timely(world, world.clock.now().add({ hours: 24 * 70 }));
  const books = await booksOf(world, acme);
  await world.close();
  return books;
}

test('runs at each instant that is due make the same books as one before each write', async () => {
  await fc.assert(
    fc.asyncProperty(historyOf({ pastDays: 40 }), async (history) => {
      expect(await told(history, 'MONTH', late)).toEqual(await told(history, 'MONTH', timely));
    }),
    { numRuns: 25 },
  );
}, 60_000);

test('expiries come to the same whether runs come in time or at last, whatever is granted and capped meanwhile', async () => {
  const short = historyOf({ pastDays: 0 }).filter(
    (history) => history.reduce((sum, { hours }) => sum + hours, 0) < 24 * 200,
  );
  await fc.assert(
    fc.asyncProperty(short, async (history) => {
      expect(await told(history, 'YEAR', sleepy)).toEqual(await told(history, 'YEAR', timely));
    }),
    { numRuns: 25 },
  );
}, 60_000);
