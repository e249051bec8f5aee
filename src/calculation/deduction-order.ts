/** Which grant pays first, and why (interface 4.15 rule 5, semantics 9). */

import { compareText } from '../text-order.ts';

/** The properties of a grant that decide its place in the order. */
export interface Deductible {
  readonly grantId: string;
  readonly expiresAt: Temporal.Instant | undefined;
  readonly isPromotional: boolean;
  readonly purchaseRateCents: bigint;
  readonly createdAt: Temporal.Instant;
}

/** A grant's place in the order, and what put it behind the one before. */
export interface DeductionPlace<Grant> {
  readonly grant: Grant;
  /** From 1. */
  readonly rank: number;
  readonly reason: string;
}

interface Rule {
  readonly compare: (a: Deductible, b: Deductible) => number;
  readonly reason: (earlier: Deductible, later: Deductible) => string;
}

/** Soonest expiry (none last), promotional before paid, lower purchase rate, older, id: a total order. */
const rules: readonly Rule[] = [
  {
    compare: (a, b) => expiryOf(a) - expiryOf(b),
    reason: (earlier, later) =>
      `expires ${later.expiresAt?.toString() ?? 'never'}, after ${earlier.expiresAt?.toString()}`,
  },
  {
    compare: (a, b) => Number(b.isPromotional) - Number(a.isPromotional),
    reason: () => 'same expiry, but paid: promotional credits go first',
  },
  {
    compare: (a, b) => sign(a.purchaseRateCents - b.purchaseRateCents),
    reason: (earlier, later) =>
      `same expiry and kind, bought at ${later.purchaseRateCents} cents a credit, above ${earlier.purchaseRateCents}`,
  },
  {
    compare: (a, b) => a.createdAt.epochMilliseconds - b.createdAt.epochMilliseconds,
    reason: (earlier, later) =>
      `otherwise equal, but granted ${later.createdAt.toString()}, after ${earlier.createdAt.toString()}`,
  },
  {
    compare: (a, b) => compareText(a.grantId, b.grantId),
    reason: () => 'equal and granted at the same instant: ordered by id',
  },
];

/** Negative when `a` pays before `b`. */
export function compareDeduction(a: Deductible, b: Deductible): number {
  return decidingRule(a, b)?.compare(a, b) ?? 0;
}

/** Every grant's place, with the rule that put it behind the grant before it. */
export function explainDeductionOrder<Grant extends Deductible>(grants: readonly Grant[]): DeductionPlace<Grant>[] {
  const ordered = grants.toSorted(compareDeduction);
  return ordered.map((grant, index) => {
    const earlier = ordered[index - 1];
    const reason = earlier === undefined ? 'first in the order' : reasonBehind(earlier, grant);
    return { grant, rank: index + 1, reason };
  });
}

function reasonBehind(earlier: Deductible, later: Deductible): string {
  return decidingRule(earlier, later)?.reason(earlier, later) ?? 'the same grant';
}

function decidingRule(a: Deductible, b: Deductible): Rule | undefined {
  return rules.find((rule) => rule.compare(a, b) !== 0);
}

/** Finite, because two grants without an expiry must compare as equal. */
function expiryOf(grant: Deductible): number {
  return grant.expiresAt?.epochMilliseconds ?? Number.MAX_SAFE_INTEGER;
}

function sign(difference: bigint): number {
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}
