/** Random histories of one contract as data, so that each can be told in two ways that must come to the same books. */

import fc from 'fast-check';

import { BillingError } from '../../src/errors.ts';
import { textOfNumber } from '../../src/exact-json.ts';
import { balance, invoices, ledger, use } from './billing-scenario.ts';
import type { Subscription } from './billing-scenario.ts';
import type { World } from './world.ts';

/** What is done, some hours behind what was done before. */
export interface Act {
  readonly hours: number;
  readonly name: 'credits.grant' | 'credits.grantPaid' | 'credits.settle' | 'budgets.update' | 'use';
  readonly body: Readonly<Record<string, unknown>>;
  /** Until a grant expires, or since usage happened. */
  readonly days: number;
}

const hours = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 24 * 20 }));
const model = fc.constantFrom('large', 'small');
const specifiers = fc.constantFrom({}, { properties: { model: 'large' } });

/** `pastDays` is how far usage may lie back. */
const usage = (pastDays: number): fc.Arbitrary<Act> =>
  fc.record({
    hours,
    name: fc.constant('use' as const),
    body: fc.record({ tokens: fc.integer({ min: 0, max: 300 }), model }),
    days: fc.integer({ min: 0, max: pastDays }),
  });

const amounts = fc.oneof(
  fc.record({ amountCents: fc.integer({ min: 0, max: 500 }), specifiers }),
  fc.record({
    creditRateCents: fc.integer({ min: 0, max: 7 }),
    creditAmount: fc.integer({ min: 1, max: 80 }),
    specifiers,
  }),
);

const grants: fc.Arbitrary<Act> = fc.record({
  hours,
  name: fc.constantFrom('credits.grant' as const, 'credits.grantPaid' as const),
  body: amounts,
  days: fc.integer({ min: 1, max: 60 }),
});

const settlements: fc.Arbitrary<Act> = fc.record({
  hours,
  name: fc.constant('credits.settle' as const),
  body: fc.constant({}),
  days: fc.constant(0),
});

const caps: fc.Arbitrary<Act> = fc.record({
  hours,
  name: fc.constant('budgets.update' as const),
  body: fc.record({ maxCreditsCents: fc.constantFrom(0, 100, 400, null), maxCredits: fc.constantFrom(2, null) }),
  days: fc.constant(0),
});

export function historyOf({ pastDays }: { readonly pastDays: number }): fc.Arbitrary<Act[]> {
  const act = fc.oneof(
    { weight: 5, arbitrary: usage(pastDays) },
    { weight: 4, arbitrary: grants },
    { weight: 2, arbitrary: settlements },
    { weight: 1, arbitrary: caps },
  );
  return fc.array(act, { minLength: 5, maxLength: 20 });
}

/** Does it now; `at` gives events their names. What the rules refuse is passed over. */
export async function carryOut(world: World, subscription: Subscription, act: Act, at: number): Promise<void> {
  const params = { contractId: subscription.contractId };
  const when = (sign: 1 | -1) =>
    world.clock
      .now()
      .add({ hours: sign * 24 * act.days })
      .toString();
  try {
    if (act.name === 'use') {
      const { tokens, model: of } = act.body as { readonly tokens: number; readonly model: string };
      await use(world, subscription, { tokens, model: of, at: when(-1), key: `event ${at}` });
    } else if (act.name === 'credits.settle') await world.call(act.name, { params });
    else if (act.name === 'budgets.update')
      await world.call(act.name, { params: { ...params, index: '0' }, body: act.body });
    else await world.call(act.name, { params, body: { ...act.body, expiresAt: when(1) } });
  } catch (error) {
    if (!(error instanceof BillingError) || error.kind === 'internal') throw error;
  }
}

/** What is owed, left and consumed once usage is settled, but not when it was written; without what these grants did. */
export async function booksOf(
  world: World,
  subscription: Subscription,
  without: ReadonlySet<string> = new Set(),
): Promise<unknown> {
  const params = { contractId: subscription.contractId };
  await world.call('credits.settle', { params });
  const entries = await ledger(world, subscription);
  const kept = entries.filter(({ id, grantEntryId }) => !without.has(grantEntryId ?? id));
  const places = new Map(kept.filter(({ type }) => type === 'grant').map(({ id }, index) => [id, `grant ${index}`]));
  const shown = await invoices(world, subscription);
  const numbers = new Map(shown.map(({ id }, index) => [id, `invoice ${index}`]));
  const sums = new Map<string, [number, number]>();
  for (const entry of kept) {
    const isCorrection = entry.type === 'adjustment' || entry.type === 'reversal';
    const what = entry.invoiceId === null ? (isCorrection ? 'corrections' : entry.type) : numbers.get(entry.invoiceId);
    const place = `${places.get(entry.grantEntryId ?? entry.id)}: ${what}`;
    const [cents, credits] = sums.get(place) ?? [0, 0];
    sums.set(place, [cents + amount(entry.amountCents), credits + Math.round(amount(entry.creditAmount) * 1e6)]);
  }
  const { balanceCents, creditBalance } = (await balance(world, subscription)).balance;
  const { budgets } = (await world.call('budgets.usage', { params })).data;
  return {
    balance: [balanceCents, creditBalance],
    budgets,
    invoices: shown.map(({ status, totalCents, invoiceDate, lineItems }) => [
      status,
      totalCents,
      invoiceDate,
      lineItems?.map((line) => `${line.name} ${line.description} ${textOfNumber(line.totalAmountCents)}`).toSorted(),
    ]),
    sums: Object.fromEntries([...sums].filter(([, [cents, credits]]) => cents !== 0 || credits !== 0)),
  };
}

const amount = (value: Parameters<typeof textOfNumber>[0]): number => Number(textOfNumber(value));
