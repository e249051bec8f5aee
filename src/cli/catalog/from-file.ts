/** Entries of a file in the full form of definitions.ts: what a service would fill in is filled in. */

import type {
  Catalog,
  MeterDefinition,
  PlanDefinition,
  PriceDefinition,
  ProductDefinition,
  RateCardDefinition,
  Section,
} from './definitions.ts';
import type { Parsed } from './file-schema.ts';

/** Converts one entry of each section. */
export const definitionOf: { readonly [S in Section]: (entry: Parsed<S>) => Catalog[S][number] } = {
  products: (entry): ProductDefinition => entry,
  meters: meterOf,
  rateCards: (entry): RateCardDefinition => entry,
  pricing: priceOf,
  plans: planOf,
};

function meterOf(entry: Parsed<'meters'>): MeterDefinition {
  const { code, displayName, description, sql } = entry;
  if (sql !== undefined) return { code, displayName, description, sql };
  return {
    code,
    displayName,
    description,
    aggregationType: entry.aggregationType ?? 'SUM',
    aggregationKey: entry.aggregationKey,
    eventTypeFilter: entry.eventTypeFilter,
    propertyFilters: entry.propertyFilters,
    groupKeys: entry.groupKeys,
  };
}

function priceOf(entry: Parsed<'pricing'>): PriceDefinition {
  const { product, name, description, model, billingMode, unitAmount, flatAmount, priceInterval, meter } = entry;
  const tiers = entry.pricingTiers?.map((tier) => ({
    maxQty: tier.maxQty,
    unitAmount: tier.unitAmount ?? '0',
    flatAmount: tier.flatAmount ?? '0',
  }));
  return {
    product,
    name,
    description,
    model,
    billingMode,
    tiering: entry.tiering ?? (tiers === undefined ? 'NONE' : 'GRADUATED'),
    unitAmount,
    flatAmount,
    priceInterval,
    priceIntervalCount: entry.priceIntervalCount ?? (priceInterval === undefined ? undefined : 1),
    meter,
    pricingTiers: tiers,
  };
}

function planOf(entry: Parsed<'plans'>): PlanDefinition {
  const { name, externalId, description, netTerms, items } = entry;
  const defaultCreditGrantCents = entry.metadata?.defaultCreditGrantCents;
  return {
    name,
    externalId,
    description,
    netTerms,
    metadata: {
      defaultAutoPayEnabled: entry.metadata?.defaultAutoPayEnabled ?? false,
      invoiceSendMethod: entry.metadata?.invoiceSendMethod ?? 'auto',
      defaultCreditSettings: entry.metadata?.defaultCreditSettings,
      defaultCreditGrantCents: defaultCreditGrantCents === undefined ? undefined : Number(defaultCreditGrantCents),
    },
    items,
  };
}
