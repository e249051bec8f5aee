/** Entries of a file in the full form of definitions.ts: what a service would fill in is filled in. */

import { usualTiering } from './definitions.ts';
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

function priceOf({ pricingTiers, ...entry }: Parsed<'pricing'>): PriceDefinition {
  const { priceInterval, priceIntervalCount = priceInterval && 1, tiering = usualTiering(pricingTiers) } = entry;
  const tiers = pricingTiers?.map(({ maxQty, unitAmount = '0', flatAmount = '0' }) => ({
    maxQty,
    unitAmount,
    flatAmount,
  }));
  return { ...entry, tiering, priceIntervalCount, pricingTiers: tiers };
}

function planOf({ metadata, ...entry }: Parsed<'plans'>): PlanDefinition {
  const cents = metadata?.defaultCreditGrantCents;
  return {
    ...entry,
    metadata: {
      defaultAutoPayEnabled: false,
      invoiceSendMethod: 'auto',
      ...metadata,
      defaultCreditGrantCents: cents === undefined ? undefined : Number(cents),
    },
  };
}
