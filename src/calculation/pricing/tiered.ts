/**
 * Tiers (semantics 5): GRADUATED sums the slices that a quantity cuts from each tier, VOLUME prices all of it at the tier
 * that holds it. Upper bounds are inclusive.
 */

import { assert } from '../../assert.ts';
import { limits } from '../../limits.ts';
import type { Tiering } from '../../operations/wire-values.ts';
import { type Big, decimal, decimalText, divideHalfUp, zero } from '../money.ts';
import type { PricingModel, PricingTier, TierShare } from './pricing-model.ts';

/** A tier as somebody wrote it; without `minQty` it begins where the one before it ends. */
export interface TierInput {
  readonly unitAmount?: string | undefined;
  readonly minQty?: string | undefined;
  readonly maxQty?: string | undefined;
  readonly flatAmount?: string | undefined;
}

/** Tiers as they are stored, or the first problem, by the index of its tier and the field. */
export type NormalisedTiers =
  | { readonly tiers: readonly PricingTier[] }
  | { readonly problem: string; readonly index: number; readonly field: 'minQty' | 'maxQty' };

type Tier = Omit<TierShare, 'quantity' | 'exactAmount'>;

/**
 * Tiers in the stored form, or the first problem with its index: at least one tier, the first from 0, each from where the
 * last ended, ascending, the last without an end. A tier may also start at the whole number after the last bound
 * (`1-1000`, `1001-`), as many price lists are written (semantics 5).
 */
export function normaliseTiers(inputs: readonly TierInput[]): NormalisedTiers {
  if (inputs.length === 0) return { problem: 'at least one tier is needed', index: 0, field: 'minQty' };
  const tiers: PricingTier[] = [];
  let bound = '0';
  for (const [index, input] of inputs.entries()) {
    const { unitAmount = '0', minQty = bound, maxQty = '', flatAmount = '0' } = input;
    const isLast = index === inputs.length - 1;
    if (!startsAt(minQty, bound, index)) return { problem: startProblem(bound, index), index, field: 'minQty' };
    if ((maxQty === '') !== isLast) return { problem: endProblem(isLast), index, field: 'maxQty' };
    if (!isLast && !decimal(maxQty).gt(decimal(bound))) {
      return { problem: `must be above ${bound}, where the tier starts`, index, field: 'maxQty' };
    }
    const end = isLast ? '' : decimalText(decimal(maxQty));
    tiers.push({ unitAmount, minQty: bound, maxQty: end, flatAmount });
    bound = end;
  }
  return { tiers };
}

/**
 * Asserts that the price has tiers and a tiering. At quantity 0 or below `unitPrice` is the first tier's unit amount.
 */
export const tiered: PricingModel = {
  price(price, quantity) {
    assert(price.tiering !== 'NONE', 'a tiered price says how its tiers add up');
    const tiers = price.tiers.map(parseTier);
    const first = tiers[0];
    assert(first !== undefined, 'a tiered price has tiers');
    if (quantity.lt(zero)) return { quantity: zero, exactAmount: zero, unitPrice: first.unitAmount, breakdown: [] };
    const breakdown = sharesOf[price.tiering](tiers, quantity);
    const exactAmount = breakdown.reduce((sum, share) => sum.plus(share.exactAmount), zero);
    // Nothing to divide by at 0: the price of the first unit says more than 0 would.
    const unitPrice = quantity.eq(zero)
      ? first.unitAmount
      : divideHalfUp(exactAmount, quantity, limits.decimalFractionDigits);
    return { quantity, exactAmount, unitPrice, breakdown };
  },
};

const sharesOf: Readonly<Record<Exclude<Tiering, 'NONE'>, (tiers: readonly Tier[], quantity: Big) => TierShare[]>> = {
  GRADUATED: graduatedShares,
  VOLUME: volumeShares,
};

/** A tier's flat amount is owed once its slice is above 0; the first tier's also at quantity 0. */
function graduatedShares(tiers: readonly Tier[], quantity: Big): TierShare[] {
  return tiers
    .filter((tier, index) => index === 0 || quantity.gt(tier.from))
    .map((tier) => {
      const top = tier.to === undefined || quantity.lt(tier.to) ? quantity : tier.to;
      return shareOf(tier, top.minus(tier.from));
    });
}

function volumeShares(tiers: readonly Tier[], quantity: Big): TierShare[] {
  const holder = tiers.find((tier) => tier.to === undefined || quantity.lte(tier.to));
  assert(holder !== undefined, 'the last tier has no upper bound');
  return [shareOf(holder, quantity)];
}

function shareOf(tier: Tier, quantity: Big): TierShare {
  return { ...tier, quantity, exactAmount: quantity.times(tier.unitAmount).plus(tier.flatAmount) };
}

function parseTier(tier: PricingTier): Tier {
  return {
    from: decimal(tier.minQty),
    to: tier.maxQty === '' ? undefined : decimal(tier.maxQty),
    unitAmount: decimal(tier.unitAmount),
    flatAmount: decimal(tier.flatAmount),
  };
}

function startsAt(minQty: string, bound: string, index: number): boolean {
  if (minQty === '') return false;
  const start = decimal(minQty);
  if (start.eq(decimal(bound))) return true;
  return index > 0 && isWhole(decimal(bound)) && start.eq(decimal(bound).plus(1));
}

function isWhole(value: Big): boolean {
  return value.mod(1).eq(zero);
}

function startProblem(bound: string, index: number): string {
  if (index === 0) return 'must be 0 in the first tier';
  return `must be ${bound}, where the previous tier ends`;
}

function endProblem(isLast: boolean): string {
  return isLast ? 'must be empty in the last tier, which has no end' : 'is required in every tier but the last';
}
