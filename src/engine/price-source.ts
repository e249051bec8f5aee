/** A price of the catalog, as it stands today, in the form from which calculation makes a contract item. */

import type { Interval } from '../calculation/billing-period.ts';
import { centsOfDollars, decimal } from '../calculation/money.ts';
import { priceQuantity } from '../calculation/pricing/index.ts';
import type { Price } from '../calculation/pricing/pricing-model.ts';
import type { PlanItemSource } from '../calculation/rate-card.ts';
import { limits } from '../limits.ts';
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

/**
 * Why no invoice could hold what a price asks apart from usage: with this quantity it comes to more than
 * `limits.centsMaximum` (SEC-71). Undefined where it does not.
 */
export function amountProblem(price: Price, quantity: string): string | undefined {
  const { flatAmount = '0' } = price;
  const dollars = price.model === 'USAGE' ? decimal(flatAmount) : priceQuantity(price, decimal(quantity)).exactAmount;
  const cents = centsOfDollars(dollars);
  if (cents <= limits.centsMaximum) return undefined;
  return `comes to ${cents} cents with this price, more than ${limits.centsMaximum}`;
}
