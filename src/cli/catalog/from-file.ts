/** Entries of a file in the full form of definitions.ts: what a service would fill in is filled in. */

import type {
  Catalog,
  PlanDefinition,
  PriceDefinition,
  ProductDefinition,
  RateCardDefinition,
  Section,
} from './definitions.ts';
import type { Parsed } from './file-schema.ts';
import { meterOf } from './live.ts';

/** Converts one entry of each section. */
export const definitionOf: { readonly [S in Section]: (entry: Parsed<S>) => Catalog[S][number] } = {
  products: (entry): ProductDefinition => entry,
  meters: (entry) => meterOf({ ...entry, aggregationType: entry.aggregationType ?? 'SUM' }),
  rateCards: (entry): RateCardDefinition => entry,
  pricing: priceOf,
  plans: planOf,
};

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
