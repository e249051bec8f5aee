/** What is done and undone leaves the books as if it had never been (semantics 9, Reversal, Adjustment). */

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { grant, ledger, subscribe } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { booksOf, carryOut, historyOf } from '../support/history.ts';
import type { Act } from '../support/history.ts';
import { createContract } from '../support/usage-scenario.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

/** Does something and undoes it; gives the grants that stay in the ledger of it. */
type Undone = (world: World, subscription: Subscription) => Promise<readonly string[]>;

const undone: Readonly<Record<string, Undone>> = {
  'a grant that is reversed': async (world, acme) => {
    const now = world.clock.now();
    const ids: string[] = [];
    for (const [days, rest] of [
      [2, { amountCents: 50, specifiers: { properties: { model: 'large' } } }],
      [9, { creditAmount: 7, creditRateCents: 9, specifiers: { eventNames: ['call'] } }],
    ] as const) {
      const id = await grant(world, acme, { ...rest, expiresAt: now.add({ hours: 24 * days }).toString() });
      await world.call('credits.reverse', { params: { contractId: acme.contractId, entryId: id }, body: {} });
      ids.push(id);
    }
    return ids;
  },
  'a budget that is removed': async (world, { contractId }) => {
    const body = { eventPropertyKey: 'model', eventPropertyValue: 'small', maxCreditsCents: 1 };
    await world.call('budgets.add', { params: { contractId }, body });
    await world.call('budgets.remove', { params: { contractId, index: '1' } });
    return [];
  },
  'an adjustment that is reversed': async (world, acme) => {
    const params = { contractId: acme.contractId };
    const { blocks } = (await world.call('credits.balance', { params })).data;
    const block = blocks.find(({ status, remainingCents }) => status === 'active' && Number(remainingCents) > 1);
    if (block === undefined) return [];
    const body = { grantEntryId: block.id, amountCents: -1, description: 'by mistake' };
    await world.call('credits.adjust', { params, body });
    const entryId = (await ledger(world, acme)).findLast(({ type }) => type === 'adjustment')?.id ?? '';
    await world.call('credits.reverse', { params: { ...params, entryId }, body: {} });
    return [];
  },
  'a contract that is cancelled before its start': async (world, { customerId, pricingId }) => {
    const startDate = world.clock.now().add({ hours: 72 }).toString().slice(0, 10);
    const terms = { customerId, pricingIds: [pricingId], startDate, endDate: undefined, creditGrantCents: 300 };
    await world.call('contracts.cancel', { params: { contractId: await createContract(world, terms) } });
    return [];
  },
  'a settlement before its time': async (world, { contractId }) => {
    await world.call('credits.settle', { params: { contractId } });
    return [];
  },
};

const budgets = [{ eventPropertyKey: 'model', eventPropertyValue: 'large', maxCreditsCents: 300 }];

async function told(history: readonly Act[], between: Undone): Promise<unknown> {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z' });
  const acme = await subscribe(world, { meter: { groupKeys: ['model'] }, contract: { creditSettings: { budgets } } });
  const without = new Set<string>();
  for (const [index, act] of history.entries()) {
    world.clock.advance({ hours: act.hours });
    await world.call('bill.run');
    await carryOut(world, acme, act, index);
    for (const id of await between(world, acme)) without.add(id);
  }
  world.clock.advance({ hours: 24 * 70 });
  await world.call('bill.run');
  const books = await booksOf(world, acme, without);
  await world.close();
  return books;
}

test.each(Object.entries(undone))(
  '%s leaves nothing behind',
  async (_name, between) => {
    await fc.assert(
      fc.asyncProperty(historyOf({ pastDays: 40 }), async (history) => {
        expect(await told(history, between)).toEqual(await told(history, async () => await Promise.resolve([])));
      }),
      { numRuns: 10 },
    );
  },
  60_000,
);
