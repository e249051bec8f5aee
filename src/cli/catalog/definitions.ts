/**
 * What a catalog says, by names instead of ids, in one full form: defaults are filled in, and derived members are left out.
 * Files and services are both read into this form, so that they can be compared.
 */

import type {
  AggregationType,
  BillingMode,
  PriceInterval,
  PricingModelName,
  Tiering,
} from '../../operations/wire-values.ts';

export interface ProductDefinition {
  readonly name: string;
  readonly description?: string | undefined;
}

export interface MeterDefinition {
  readonly code: string;
  readonly displayName: string;
  readonly description?: string | undefined;
  /** Absent with `sql`, which overrides the other rules. */
  readonly aggregationType?: AggregationType | undefined;
  readonly aggregationKey?: string | undefined;
  readonly eventTypeFilter?: NameFilter | undefined;
  readonly propertyFilters?: readonly PropertyFilter[] | undefined;
  readonly groupKeys?: readonly string[] | undefined;
  readonly sql?: string | undefined;
}

/** An absent member has no entries. */
export interface NameFilter {
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
}

export interface PropertyFilter extends NameFilter {
  readonly name: string;
  readonly exists?: boolean | undefined;
}

export interface RateCardDefinition {
  /** Code of the meter. */
  readonly meter: string;
  /** In the order in which ties are broken. */
  readonly rates: readonly { readonly dimensions: Readonly<Record<string, string>>; readonly unitAmount: string }[];
  readonly fallbackUnitAmount?: string | undefined;
}

export interface PriceDefinition {
  /** Name of the product. */
  readonly product: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly model: PricingModelName;
  readonly billingMode: BillingMode;
  readonly tiering: Tiering;
  readonly unitAmount?: string | undefined;
  readonly flatAmount?: string | undefined;
  /** Present when RECURRING, together with its count. */
  readonly priceInterval?: PriceInterval | undefined;
  readonly priceIntervalCount?: number | undefined;
  /** Code of the meter. */
  readonly meter?: string | undefined;
  readonly pricingTiers?: readonly TierDefinition[] | undefined;
}

/** A tier begins where the previous one ends. */
export interface TierDefinition {
  /** Absent in the last tier. */
  readonly maxQty?: string | undefined;
  readonly unitAmount: string;
  readonly flatAmount: string;
}

export interface PlanDefinition {
  readonly name: string;
  readonly externalId?: string | undefined;
  readonly description?: string | undefined;
  /** Whole days as text. */
  readonly netTerms: string;
  readonly metadata: PlanDefaults;
  /** In the order of invoice lines. */
  readonly items: readonly PlanItemDefinition[];
}

export interface PlanDefaults {
  readonly defaultAutoPayEnabled: boolean;
  readonly invoiceSendMethod: string;
  readonly defaultCreditSettings?: { readonly onDepletion: string } | undefined;
  readonly defaultCreditGrantCents?: number | undefined;
}

export interface PlanItemDefinition {
  readonly product: string;
  /** Name of the price, within its product. */
  readonly price: string;
  readonly defaultQuantity: string;
}

/** In the order of creation: each refers only to what comes before it. */
export interface Catalog {
  readonly products: readonly ProductDefinition[];
  readonly meters: readonly MeterDefinition[];
  readonly rateCards: readonly RateCardDefinition[];
  readonly pricing: readonly PriceDefinition[];
  readonly plans: readonly PlanDefinition[];
}
export type Section = keyof Catalog;
export const sections = ['products', 'meters', 'rateCards', 'pricing', 'plans'] as const satisfies readonly Section[];

/** The tiering of a price for which none is given. */
export function usualTiering(tiers: readonly unknown[] | undefined): Tiering {
  return tiers === undefined ? 'NONE' : 'GRADUATED';
}

/** What identifies a price in a file. */
export function priceKey(price: { readonly product: string; readonly name: string }): string {
  return JSON.stringify([price.product, price.name]);
}

/** The key of the price that an item names. */
export function itemKey({ product, price: name }: PlanItemDefinition): string {
  return priceKey({ product, name });
}

/** The label of a price for people: `Inference / Tokens`. */
export function priceLabel(price: { readonly product: string; readonly name: string }): string {
  return `${price.product} / ${price.name}`;
}

/** The label of a plan: `Team (team-2026)`, or only the name. */
export function planLabel({ name, externalId }: Pick<PlanDefinition, 'name' | 'externalId'>): string {
  return externalId === undefined ? name : `${name} (${externalId})`;
}

/** What identifies a plan: its externalId, or its name if it has none. */
export function planKey({ name, externalId }: Pick<PlanDefinition, 'name' | 'externalId'>): string {
  return externalId === undefined ? `name ${name}` : `externalId ${externalId}`;
}
