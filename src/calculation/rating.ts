/** Metered quantities x rate card -> metered lines, one for each combination of group values (semantics 5). */

import { compareText } from '../text-order.ts';
import { type Big, centsOfDollars, zero } from './money.ts';
import { priceQuantity } from './pricing/index.ts';
import type { PricedQuantity } from './pricing/pricing-model.ts';
import { type ContractItem, rateFor } from './rate-card.ts';

/** A value for each of a meter's group keys, in their order; the value of a missing key is empty (semantics 8). */
export type GroupValues = Readonly<Record<string, string>>;

/** What a meter read for one combination of group values; `{}` where the meter has no group keys. */
export interface MeteredQuantity {
  readonly groupValues: GroupValues;
  readonly quantity: Big;
}

/** A metered line before credits: one combination of group values of one item. */
export interface RatedLine extends PricedQuantity {
  /** The item's id and the group values: the same line has the same key on every reading of an invoice. */
  readonly lineKey: string;
  readonly pricingId: string;
  readonly productId: string;
  readonly meterId: string | undefined;
  readonly groupValues: GroupValues;
  readonly name: string;
  readonly description: string;
  /** What the meter read, which may be negative where `quantity` is 0. */
  readonly meteredQuantity: Big;
  /** `exactAmount` half-up: rounded once for the line (semantics 12). */
  readonly totalCents: bigint;
}

/**
 * One line for each combination, ordered by group values (code units). Tiers apply to each combination by itself.
 * A meter without usage still gives one line of quantity 0, which owes the first tier's flat amount (semantics 5).
 */
export function rateUsage(item: ContractItem, quantities: readonly MeteredQuantity[]): RatedLine[] {
  if (quantities.length === 0) return [rateOne(item, { groupValues: {}, quantity: zero })];
  return quantities.toSorted(byGroupValues).map((quantity) => rateOne(item, quantity));
}

/** The key of a line: the item, and the combination of group values where there is one. */
function lineKeyOf(itemId: string, groupValues: GroupValues): string {
  return Object.keys(groupValues).length === 0 ? itemId : `${itemId} ${groupKeyOf(groupValues)}`;
}

/** Whether a line key belongs to this item, for any combination of group values. */
export function isLineOf(itemId: string, lineKey: string): boolean {
  return lineKey === itemId || lineKey.startsWith(`${itemId} [`);
}

/** One text for each combination of group values, in the order of the meter's group keys. */
export function groupKeyOf(groupValues: GroupValues): string {
  return JSON.stringify(Object.entries(groupValues));
}

/** The description of an item's line, with the combination that it is for. A missing group key shows as an empty value. */
export function descriptionOf(item: ContractItem, groupValues: GroupValues = {}): string {
  const base = item.description ?? item.productName;
  const combination = Object.entries(groupValues).map(([key, value]) => `${key}=${value}`);
  return combination.length === 0 ? base : `${base} (${combination.join(', ')})`;
}

/** What one combination costs: the price of its line, without the line. */
export function priceUsage(item: ContractItem, { groupValues, quantity }: MeteredQuantity): PricedQuantity {
  return priceQuantity(rateFor(item, groupValues), quantity);
}

function rateOne(item: ContractItem, metered: MeteredQuantity): RatedLine {
  const { groupValues, quantity } = metered;
  const priced = priceUsage(item, metered);
  return {
    ...priced,
    lineKey: lineKeyOf(item.id, groupValues),
    pricingId: item.pricingId,
    productId: item.productId,
    meterId: item.meterId,
    groupValues,
    name: item.pricingName,
    description: descriptionOf(item, groupValues),
    meteredQuantity: quantity,
    totalCents: centsOfDollars(priced.exactAmount),
  };
}

function byGroupValues(a: MeteredQuantity, b: MeteredQuantity): number {
  for (const key of Object.keys(a.groupValues)) {
    const order = compareText(a.groupValues[key] ?? '', b.groupValues[key] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}
