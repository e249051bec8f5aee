/**
 * The price snapshot that a contract is billed by: plan items with their pricing, rate cards and the contract's overrides,
 * frozen at creation so that a later change of the catalogue never alters an invoice (semantics 6).
 * Everything in it is JSON: decimal strings, no Big.
 */

import { assert } from '../assert.ts';
import { inNfc } from '../normal-text.ts';
import type { BillingMode } from '../operations/wire-values.ts';
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
  /** RECURRING is billed once in each of its intervals, ONE_TIME on the first invoice alone (our choice); usage always recurs. */
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
 * The price of one combination of group values: the matching rate with the most dimensions (the first listed among equals),
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

/** Whether two prices of one model are the same, however their decimals are written. */
export function isSamePrice(one: Amounts, other: Amounts): boolean {
  return samenessOf(one) === samenessOf(other);
}

function samenessOf({ unitAmount, flatAmount, tiers }: Amounts): string {
  const written = (amount: string | undefined) => (amount ? decimalText(decimal(amount)) : '');
  const steps = tiers.map((tier) => [tier.minQty, tier.maxQty, tier.unitAmount, tier.flatAmount].map(written));
  // A missing flat amount is the same as 0.
  return JSON.stringify([written(unitAmount), written(flatAmount ?? '0'), steps]);
}

function mostSpecificRate(
  { dimensionRates }: ContractItem,
  groupValues: Readonly<Record<string, string>>,
): DimensionRate | undefined {
  if (dimensionRates.length === 0) return undefined;
  const values = inOrderOfNames(groupValues);
  let best: ListedRate | undefined;
  const look = ({ rate, next }: RateStep, from: number) => {
    if (rate !== undefined && (best === undefined || isBefore(rate, best))) best = rate;
    if (next.size === 0) return;
    for (let place = from; place < values.length; place += 1) {
      const [name, value] = values[place] ?? ['', ''];
      const step = next.get(name)?.get(value);
      if (step !== undefined) look(step, place + 1);
    }
  };
  look(stepsOf(dimensionRates), 0);
  return best?.rate;
}

interface ListedRate {
  readonly rate: DimensionRate;
  /** How many dimensions it names. */
  readonly count: number;
  readonly place: number;
}

function isBefore(one: ListedRate, other: ListedRate): boolean {
  return one.count > other.count || (one.count === other.count && one.place < other.place);
}

/**
 * The rate whose dimensions end here, and the next steps by name and value. Dimensions are in the order of their names, so
 * that looking up a combination of group values meets no rates of other values, however many there are.
 */
interface RateStep {
  rate?: ListedRate;
  readonly next: Map<string, Map<string, RateStep>>;
}

const knownSteps = new WeakMap<readonly DimensionRate[], RateStep>();

/** Made once for each list: an invoice looks up a rate for each of its lines, and a card may have many rates. */
function stepsOf(listed: readonly DimensionRate[]): RateStep {
  return knownSteps.getOrInsertComputed(listed, () => {
    const first = newStep();
    for (const [place, rate] of listed.entries()) {
      const dimensions = inOrderOfNames(rate.dimensions);
      let step = first;
      for (const [name, value] of dimensions) {
        step = step.next.getOrInsertComputed(name, () => new Map()).getOrInsertComputed(value, newStep);
      }
      step.rate ??= { rate, count: dimensions.length, place };
    }
    return first;
  });
}

function newStep(): RateStep {
  return { next: new Map() };
}

/** Values that are equal in NFC are the same value. */
function inOrderOfNames(values: Readonly<Record<string, string>>): (readonly [name: string, value: string])[] {
  return Object.entries(values)
    .map(([name, value]) => [name, inNfc(value)] as const)
    .toSorted(([one], [other]) => compareText(one, other));
}

function buildItem({ rateCard, ...source }: PlanItemSource, overrides: readonly PriceOverride[]): ContractItem {
  const rates: DimensionRate[] = [];
  let item = source;
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

function replacePrice<Item extends Pick<ContractItem, 'unitAmount' | 'flatAmount' | 'tiers' | 'quantity'>>(
  item: Item,
  override: Extract<PriceOverride, { basePricingId: string }>,
): Item {
  const { unitAmount = item.unitAmount, flatAmount = item.flatAmount, pricingTiers = item.tiers } = override;
  return { ...item, unitAmount, flatAmount, tiers: pricingTiers, quantity: override.quantity ?? item.quantity };
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
