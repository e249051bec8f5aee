/**
 * The price snapshot that a contract is billed by: plan items with their pricing, rate cards and the contract's overrides,
 * frozen at creation so that a later change of the catalogue never alters an invoice (semantics 6).
 * Everything in it is JSON: decimal strings, no Big.
 */

import { assert } from '../assert.ts';
import type { BillingMode } from '../operations/catalog.ts';
import { compareText } from '../text-order.ts';
import type { Interval } from './billing-period.ts';
import { decimal, decimalText } from './money.ts';
import type { Price, PricingTier } from './pricing/pricing-model.ts';

/** The price of one combination of group values; dimensions it does not name may have any value. */
export interface DimensionRate {
  readonly dimensions: Readonly<Record<string, string>>;
  /** Decimal string, dollars a unit. */
  readonly unitAmount: string;
}

/** One item that a contract is billed by, as it was priced when the contract was made (semantics 6). */
export interface ContractItem extends Price {
  /** The plan item's id. */
  readonly id: string;
  readonly pricingId: string;
  readonly productId: string;
  readonly productName: string;
  readonly pricingName: string;
  readonly description?: string | undefined;
  /** RECURRING is billed once in each of its intervals, ONE_TIME on the first invoice alone (our choice). */
  readonly billingMode: BillingMode;
  /** Present when RECURRING. */
  readonly interval?: Interval | undefined;
  /** Present when the model is USAGE. */
  readonly meterId?: string | undefined;
  /** Decimal string; not used by USAGE. */
  readonly quantity: string;
  readonly dimensionRates: readonly DimensionRate[];
  readonly fallbackUnitAmount?: string | undefined;
}

/** A plan item with its pricing and its meter's rate card, as they stand when the contract is made. */
export interface PlanItemSource extends Omit<ContractItem, 'dimensionRates' | 'fallbackUnitAmount'> {
  readonly rateCard?:
    | { readonly rates: readonly DimensionRate[]; readonly fallbackUnitAmount?: string | undefined }
    | undefined;
}

/** Replaces parts of one item's price, or adds a rate for one combination of a meter (semantics 6). */
export type PriceOverride =
  | {
      readonly basePricingId: string;
      readonly unitAmount?: string | undefined;
      readonly flatAmount?: string | undefined;
      readonly pricingTiers?: readonly PricingTier[] | undefined;
      readonly quantity?: string | undefined;
    }
  | {
      readonly meterId: string;
      readonly dimensions: Readonly<Record<string, string>>;
      readonly unitAmount: string;
    };

/** What is wrong with the override at `index`: at most one problem each. */
export interface OverrideProblem {
  readonly index: number;
  readonly field: 'basePricingId' | 'meterId' | 'dimensions';
  readonly problem: string;
}

/** What is wrong with overrides: a target that the plan does not have, or the same target twice (semantics 6). */
export function findOverrideProblems(
  sources: readonly PlanItemSource[],
  overrides: readonly PriceOverride[],
): OverrideProblem[] {
  const seen = new Set<string>();
  const problems: OverrideProblem[] = [];
  for (const [index, override] of overrides.entries()) {
    const key = targetKey(override);
    const isPricing = 'basePricingId' in override;
    if (!sources.some((source) => isTarget(source, override))) {
      const problem = isPricing
        ? `${override.basePricingId} is not a pricing of this plan`
        : `${override.meterId} is not a meter of this plan`;
      problems.push({ index, field: isPricing ? 'basePricingId' : 'meterId', problem });
    } else if (seen.has(key)) {
      problems.push({ index, field: isPricing ? 'basePricingId' : 'dimensions', problem: 'is overridden twice' });
    }
    seen.add(key);
  }
  return problems;
}

/** The items that a contract is billed by. Assumes overrides without problems. */
export function buildContractItems(
  sources: readonly PlanItemSource[],
  overrides: readonly PriceOverride[],
): ContractItem[] {
  assert(findOverrideProblems(sources, overrides).length === 0, 'overrides are checked before a contract is priced');
  return sources.map((source) => buildItem(source, overrides));
}

/**
 * The price of one combination of group values: the matching rate with the most dimensions, of equals the one listed first,
 * else the fallback, else the item's own price with its tiers (semantics 5).
 */
export function rateFor(item: ContractItem, groupValues: Readonly<Record<string, string>>): Price {
  const unitAmount = mostSpecificRate(item, groupValues)?.unitAmount ?? item.fallbackUnitAmount;
  if (unitAmount === undefined) return item;
  return { model: item.model, tiering: 'NONE', unitAmount, tiers: [] };
}

/** `rate`: the rate of these dimensions; `fallback`: the rate card's; `price`: the item's own (semantics 5). */
export type RateSource =
  | { readonly source: 'rate'; readonly dimensions: DimensionRate['dimensions'] }
  | { readonly source: 'fallback' | 'price' };

/** Where `rateFor` takes its price from: a rate by its dimensions, the fallback, or the item's own price. */
export function rateSourceOf(item: ContractItem, groupValues: Readonly<Record<string, string>>): RateSource {
  const rate = mostSpecificRate(item, groupValues);
  if (rate !== undefined) return { source: 'rate', dimensions: rate.dimensions };
  return { source: item.fallbackUnitAmount === undefined ? 'price' : 'fallback' };
}

type Amounts = Omit<Price, 'model' | 'tiering'>;

/** Whether two prices of one model ask the same, however their decimals are written. */
export function isSamePrice(one: Amounts, other: Amounts): boolean {
  return samenessOf(one) === samenessOf(other);
}

function samenessOf({ unitAmount, flatAmount, tiers }: Amounts): string {
  const written = (amount: string | undefined) => (amount ? decimalText(decimal(amount)) : '');
  const steps = tiers.map((tier) => [tier.minQty, tier.maxQty, tier.unitAmount, tier.flatAmount].map(written));
  // No flat amount is one of nothing.
  return JSON.stringify([written(unitAmount), written(flatAmount ?? '0'), steps]);
}

function mostSpecificRate(
  { dimensionRates }: ContractItem,
  groupValues: Readonly<Record<string, string>>,
): DimensionRate | undefined {
  let best: ListedRate | undefined;
  for (const { names, rates } of ratesByNames(dimensionRates)) {
    if (best !== undefined && names.length < Object.keys(best.rate.dimensions).length) break;
    const found = names.every((name) => Object.hasOwn(groupValues, name))
      ? rates.get(combinationOf(names, groupValues))
      : undefined;
    if (found !== undefined && (best === undefined || found.place < best.place)) best = found;
  }
  return best?.rate;
}

interface ListedRate {
  readonly rate: DimensionRate;
  readonly place: number;
}

/** Rates that name the same dimensions, by the combination of their values; of equals the one listed first. */
interface RatesOfNames {
  readonly names: readonly string[];
  readonly rates: ReadonlyMap<string, ListedRate>;
}

const knownRates = new WeakMap<readonly DimensionRate[], readonly RatesOfNames[]>();

/** Those of most names first. Made once of a list: an invoice asks for each of its lines, and a card may have many rates. */
function ratesByNames(listed: readonly DimensionRate[]): readonly RatesOfNames[] {
  const known = knownRates.get(listed);
  if (known !== undefined) return known;
  const found = new Map<string, { readonly names: string[]; readonly rates: Map<string, ListedRate> }>();
  for (const [place, rate] of listed.entries()) {
    const names = Object.keys(rate.dimensions).toSorted(compareText);
    const key = JSON.stringify(names);
    const { rates } = found.get(key) ?? { rates: new Map<string, ListedRate>() };
    found.set(key, { names, rates });
    const combination = combinationOf(names, rate.dimensions);
    if (!rates.has(combination)) rates.set(combination, { rate, place });
  }
  const inOrder = [...found.values()].toSorted((one, other) => other.names.length - one.names.length);
  knownRates.set(listed, inOrder);
  return inOrder;
}

/** The same text for values that are the same after NFC. */
function combinationOf(names: readonly string[], values: Readonly<Record<string, string>>): string {
  return JSON.stringify(names.map((name) => values[name]?.normalize('NFC')));
}

function buildItem({ rateCard, ...source }: PlanItemSource, overrides: readonly PriceOverride[]): ContractItem {
  const rates: DimensionRate[] = [];
  let item: Omit<ContractItem, 'dimensionRates' | 'fallbackUnitAmount'> = source;
  for (const override of overrides.filter((candidate) => isTarget(source, candidate))) {
    if ('basePricingId' in override) item = replacePrice(item, override);
    else rates.push({ dimensions: override.dimensions, unitAmount: override.unitAmount });
  }
  const fallback = rateCard?.fallbackUnitAmount;
  return {
    ...item,
    // The contract's own rates come first, so that they win over the card's of equal specificity.
    dimensionRates: [...rates, ...(rateCard?.rates ?? [])],
    ...(fallback === undefined ? {} : { fallbackUnitAmount: fallback }),
  };
}

function replacePrice<Item extends Pick<ContractItem, 'quantity' | 'tiers'>>(
  item: Item,
  override: Extract<PriceOverride, { basePricingId: string }>,
): Item {
  return {
    ...item,
    ...(override.unitAmount === undefined ? {} : { unitAmount: override.unitAmount }),
    ...(override.flatAmount === undefined ? {} : { flatAmount: override.flatAmount }),
    ...(override.pricingTiers === undefined ? {} : { tiers: override.pricingTiers }),
    ...(override.quantity === undefined ? {} : { quantity: override.quantity }),
  };
}

function isTarget(source: Pick<PlanItemSource, 'pricingId' | 'meterId'>, override: PriceOverride): boolean {
  if ('basePricingId' in override) return source.pricingId === override.basePricingId;
  return source.meterId === override.meterId;
}

function targetKey(override: PriceOverride): string {
  if ('basePricingId' in override) return override.basePricingId;
  return `${override.meterId} ${combinationKey(override.dimensions)}`;
}

/** One text for each combination of group values, in whatever order they are named. */
export function combinationKey(dimensions: DimensionRate['dimensions']): string {
  return JSON.stringify(Object.entries(dimensions).toSorted(([a], [b]) => compareText(a, b)));
}
