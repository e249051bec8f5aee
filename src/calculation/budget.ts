/** Budgets: how much of a cap on one usage dimension is used (semantics 10). */

import { type Big, decimal, decimalOfInteger, divideHalfUp, sumOf, wholePartOf, zero } from './money.ts';
import { limits } from '../limits.ts';
import { inNfc } from '../normal-text.ts';

/** Interface 2.7. An absent or null cap caps nothing; of two caps, the one reached first counts (semantics 10). */
export interface BudgetCaps {
  /** Decimal text of credits. */
  readonly maxCredits?: string | null | undefined;
  readonly maxCreditsCents?: bigint | null | undefined;
}

/** The usage that a budget counts: usage whose property has this text, compared in NFC (semantics 10). */
export interface BudgetDimension {
  readonly eventPropertyKey: string;
  readonly eventPropertyValue: string;
  /** Absent or null: every meter. */
  readonly meterId?: string | null | undefined;
}

/** A budget as the burn-down needs it. */
export interface BudgetCap extends BudgetCaps, BudgetDimension {
  /** Rated usage of the dimension on finalized invoices, in cents. */
  readonly consumedBeforeCents: bigint;
}

/** How much of a budget is used, in the figures of interface 2.7. */
export interface BudgetUse {
  /** Credits, half-up at six decimals; 0 where the contract has no credit rate. */
  readonly consumedUnits: Big;
  readonly consumedCents: bigint;
  /** Half-up at two decimals; may exceed 100; 100 for a cap of 0, 0 without a cap. With both caps the larger share counts. */
  readonly percentConsumed: Big;
  /** Whether a cap is reached: consumed >= cap. */
  readonly isReached: boolean;
}

const percentFractionDigits = 2;

/** How much of a budget `consumedCents` of rated usage has used; credits are valued at `creditRateCents`. */
export function budgetUse(caps: BudgetCaps, consumedCents: bigint, creditRateCents: bigint | undefined): BudgetUse {
  const consumed = decimalOfInteger(consumedCents);
  const limitsInCents = capsInCents(caps, creditRateCents);
  const shares = limitsInCents.map((cap) => percentOf(consumed, cap));
  return {
    consumedUnits: creditRateCents === undefined ? zero : creditsOf(consumed, creditRateCents),
    consumedCents,
    percentConsumed: shares.reduce((largest, share) => (share.gt(largest) ? share : largest), zero),
    isReached: limitsInCents.some((cap) => consumed.gte(cap)),
  };
}

/**
 * How many cents of credits a budget lets its dimension use: the lower of its caps, with any fraction of a cent dropped.
 * Undefined without a cap. On a contract without a credit rate nothing is counted in credits, so a cap in credits caps
 * nothing there (our choice), except a cap of 0, which is 0 cents at any rate.
 */
export function budgetCapCents(caps: BudgetCaps, creditRateCents: bigint | undefined): bigint | undefined {
  const [first, ...rest] = capsInCents(caps, creditRateCents);
  if (first === undefined) return undefined;
  const lowest = rest.reduce((cap, other) => (other.lt(cap) ? other : cap), first);
  return wholePartOf(lowest);
}

/** Whether usage counts towards a budget: the property has the budget's value, and the meter is the budget's if it names one. */
export function isOfBudget(
  budget: BudgetDimension,
  usage: { readonly meterId: string | undefined; readonly properties: Readonly<Record<string, string>> },
): boolean {
  if (budget.meterId !== undefined && budget.meterId !== null && budget.meterId !== usage.meterId) return false;
  return usage.properties[budget.eventPropertyKey] === inNfc(budget.eventPropertyValue);
}

/** Rated usage of a budget's dimension among these parts, in cents. */
export function budgetCents(
  budget: BudgetDimension,
  usage: readonly (Parameters<typeof isOfBudget>[1] & { readonly cents: bigint })[],
): bigint {
  return sumOf(usage.filter((part) => isOfBudget(budget, part)).map(({ cents }) => cents));
}

function capsInCents(caps: BudgetCaps, creditRateCents: bigint | undefined): Big[] {
  const found: Big[] = [];
  if (caps.maxCreditsCents !== undefined && caps.maxCreditsCents !== null) {
    found.push(decimalOfInteger(caps.maxCreditsCents));
  }
  if (caps.maxCredits !== undefined && caps.maxCredits !== null) {
    const credits = decimal(caps.maxCredits);
    if (creditRateCents !== undefined) found.push(credits.times(decimalOfInteger(creditRateCents)));
    else if (credits.eq(zero)) found.push(zero);
  }
  return found;
}

function percentOf(consumed: Big, cap: Big): Big {
  if (cap.eq(zero)) return decimal('100');
  return divideHalfUp(consumed.times(100), cap, percentFractionDigits);
}

function creditsOf(cents: Big, creditRateCents: bigint): Big {
  return divideHalfUp(cents, decimalOfInteger(creditRateCents), limits.creditFractionDigits);
}
