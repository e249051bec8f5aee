/**
 * A statement of credits: what a wallet held, every movement within a period, and what it held at its end. Opening and
 * movements add up to the closing balance, in money and in credits, to the last millionth.
 */

import type { ResponseBody } from '../../operations/index.ts';
import { currencyOf, holdingOf, nothing } from '../wire/amounts.ts';
import type { Holding } from '../wire/amounts.ts';

type Entry = ResponseBody<'credits.ledger'>['data']['entries'][number];

export interface Movement extends Holding {
  readonly entry: Entry;
  /** What the wallet holds after the movement. */
  readonly after: Holding;
}

export interface Statement {
  /** As the entries have it; USD without any. */
  readonly currency: string;
  readonly opening: Holding;
  /** Oldest first. */
  readonly movements: readonly Movement[];
  readonly closing: Holding;
  /** Totals by type of entry, in the order in which the types first occur. */
  readonly totals: readonly (Holding & { readonly type: Entry['type']; readonly count: number })[];
}

export interface StatementPeriod {
  /** Inclusive; from the first entry on if undefined. */
  readonly from: Temporal.Instant | undefined;
  /** Exclusive; to the last entry if undefined. */
  readonly to: Temporal.Instant | undefined;
}

/**
 * The statement of a period, from the whole ledger as a service lists it, by the times at which entries were written. Throws a
 * failed check for entries of different currencies, which do not add up.
 */
export function statementOf(newestFirst: readonly Entry[], { from, to }: StatementPeriod): Statement {
  let holding = nothing;
  let opening = nothing;
  const movements: Movement[] = [];
  for (const [createdAt, entry] of inOrderOfTime(newestFirst)) {
    if (to !== undefined && Temporal.Instant.compare(createdAt, to) >= 0) continue;
    const change = holdingOf(entry.amountCents, entry.creditAmount ?? 0);
    holding = sum(holding, change);
    if (from !== undefined && Temporal.Instant.compare(createdAt, from) < 0) opening = holding;
    else movements.push({ ...change, entry, after: holding });
  }
  return { currency: currencyOf(newestFirst), opening, movements, closing: holding, totals: totalsOf(movements) };
}

function totalsOf(movements: readonly Movement[]): Statement['totals'] {
  const byType = Map.groupBy(movements, ({ entry }) => entry.type);
  return [...byType].map(([type, found]) => ({ type, count: found.length, ...found.reduce<Holding>(sum, nothing) }));
}

function inOrderOfTime(newestFirst: readonly Entry[]): (readonly [Temporal.Instant, Entry])[] {
  return newestFirst
    .map((entry) => [Temporal.Instant.from(entry.createdAt), entry] as const)
    .toReversed()
    .sort(([one], [other]) => Temporal.Instant.compare(one, other));
}

function sum(one: Holding, other: Holding): Holding {
  return { cents: one.cents + other.cents, creditMicros: one.creditMicros + other.creditMicros };
}
