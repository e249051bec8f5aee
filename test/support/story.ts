/** Random stories of one contract: usage, grants, what happens to invoices, and time passing between. */

import fc from 'fast-check';

import { ConflictError, InvalidInputError } from '../../src/errors.ts';
import { invoices, subscribe, use } from './billing-scenario.ts';
import type { Subscription } from './billing-scenario.ts';
import { createWorld } from './world.ts';
import type { World } from './world.ts';

export type Step = (world: World, subscription: Subscription) => Promise<unknown>;

const models = ['large', 'small'];
const day = (count: number) =>
  Temporal.Instant.from('2026-03-01T00:00:00Z')
    .add({ hours: 24 * count })
    .toString();

const usage = fc
  .record({
    tokens: fc.integer({ min: 0, max: 900 }),
    back: fc.integer({ min: 0, max: 40 }),
    model: fc.constantFrom(...models),
    key: fc.constantFrom('a', 'b', undefined),
  })
  .map(({ tokens, back, model, key }): Step => async (world, subscription) => {
    const at = world.clock
      .now()
      .subtract({ hours: 24 * back })
      .toString();
    await use(world, subscription, { tokens, at, model, ...(key === undefined ? {} : { key }) });
  });

const grants = fc
  .record({
    amounts: fc.oneof(
      fc.record({ amountCents: fc.integer({ min: 0, max: 2000 }) }),
      fc.record({ creditRateCents: fc.integer({ min: 0, max: 7 }), creditAmount: fc.integer({ min: 1, max: 300 }) }),
    ),
    expiry: fc.integer({ min: 1, max: 120 }),
    specifiers: fc.constantFrom({}, { properties: { model: 'large' } }),
    isPaid: fc.boolean(),
  })
  .map(({ amounts, expiry, specifiers, isPaid }): Step => async (world, { contractId }) => {
    const expiresAt = world.clock
      .now()
      .add({ hours: 24 * expiry })
      .toString();
    const name = isPaid ? 'credits.grantPaid' : 'credits.grant';
    await world.call(name, { params: { contractId }, body: { ...amounts, expiresAt, specifiers } });
  });

/** Something that happens to the invoice of a place, whether or not its status allows it. */
const actions = fc
  .record({
    name: fc.constantFrom('invoices.finalize', 'invoices.pay', 'invoices.cancel', 'invoices.refund'),
    place: fc.integer({ min: 0, max: 4 }),
  })
  .map(({ name, place }): Step => async (world, subscription) => {
    const invoice = (await invoices(world, subscription))[place];
    const body = name === 'invoices.refund' ? { body: { restoreCredits: true } } : {};
    if (invoice !== undefined) await world.call(name, { params: { invoiceId: invoice.id }, ...body });
  });

const passing = fc.integer({ min: 1, max: 20 }).map((days): Step => async (world) => {
  world.clock.advance({ days });
  await Promise.resolve();
});

/** Steps of which one in twelve is `checking`. */
export function storyOf(checking: Step): fc.Arbitrary<Step[]> {
  return fc.array(
    fc.oneof(
      { weight: 4, arbitrary: usage },
      { weight: 2, arbitrary: grants },
      { weight: 3, arbitrary: passing },
      { weight: 2, arbitrary: actions },
      { weight: 1, arbitrary: fc.constant(checking) },
    ),
    { minLength: 5, maxLength: 24 },
  );
}

const budgets = [{ eventPropertyKey: 'model', eventPropertyValue: 'large', maxCreditsCents: 700 }];

/** Plays a story on a contract of five months, with a budget or without; what the rules refuse is passed over. */
export async function play(
  steps: readonly Step[],
  hasBudget: boolean,
  end: (world: World, subscription: Subscription) => Promise<void>,
): Promise<void> {
  const world = await createWorld({ start: day(0) });
  const creditSettings = { creditRateCents: 3, ...(hasBudget ? { budgets } : {}) };
  const subscription = await subscribe(world, { contract: { endDate: '2026-08-01', creditSettings } });
  for (const step of steps) await step(world, subscription).catch(refusalsAlone);
  await end(world, subscription);
  await world.close();
}

/** Plays a story on a contract of each of several customers, step by step in turn; only the first contract has a budget. */
export async function playTogether(
  stories: readonly (readonly Step[])[],
  end: (world: World, subscriptions: readonly Subscription[]) => Promise<void>,
): Promise<void> {
  const world = await createWorld({ start: day(0) });
  const subscriptions: Subscription[] = [];
  for (const place of stories.keys()) {
    const creditSettings = { creditRateCents: 3, ...(place === 0 ? { budgets } : {}) };
    subscriptions.push(
      await subscribe(world, { name: `c${place}`, contract: { endDate: '2026-08-01', creditSettings } }),
    );
  }
  for (let count = 0; count < Math.max(...stories.map(({ length }) => length)); count += 1) {
    for (const [place, subscription] of subscriptions.entries()) {
      await stories[place]?.[count]?.(world, subscription).catch(refusalsAlone);
    }
  }
  await end(world, subscriptions);
  await world.close();
}

function refusalsAlone(error: unknown): void {
  if (!(error instanceof ConflictError) && !(error instanceof InvalidInputError)) throw error;
}
