/** A price of the catalog, as it stands today, in the form from which calculation makes an item of a contract. */

import type { Interval } from '../calculation/billing-period.ts';
import type { PlanItemSource } from '../calculation/rate-card.ts';
import type { Pricing } from '../store/records/catalog.ts';
import type { StoredRateCard } from '../store/records/meters.ts';

/** `rateCard` is that of the price's meter; `id` becomes the item's. */
export function priceSourceOf(
  pricing: Pricing,
  rateCard: StoredRateCard | undefined,
  { id, quantity }: Pick<PlanItemSource, 'id' | 'quantity'>,
): PlanItemSource {
  const { description, unitAmount, flatAmount, meterId } = pricing;
  const interval = intervalOf(pricing);
  return {
    pricingId: pricing.id,
    productId: pricing.productId,
    productName: pricing.productName,
    pricingName: pricing.name,
    model: pricing.model,
    tiering: pricing.tiering,
    tiers: pricing.pricingTiers,
    billingMode: pricing.billingMode,
    ...(description === null ? {} : { description }),
    ...(unitAmount === null ? {} : { unitAmount }),
    ...(flatAmount === null ? {} : { flatAmount }),
    ...(interval === undefined ? {} : { interval }),
    ...(meterId === null ? {} : { meterId }),
    id,
    quantity,
    rateCard: rateCard && { rates: rateCard.rates, fallbackUnitAmount: rateCard.fallbackUnitAmount ?? undefined },
  };
}

/** Undefined for a price that is billed once. */
export function intervalOf({ priceInterval, priceIntervalCount }: Pricing): Interval | undefined {
  return priceInterval === null ? undefined : { unit: priceInterval, count: priceIntervalCount ?? 1 };
}
