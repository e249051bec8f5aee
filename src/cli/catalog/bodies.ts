/** The request bodies that create what a definition says. */

import type {
  MeterDefinition,
  PlanDefinition,
  PriceDefinition,
  ProductDefinition,
  RateCardDefinition,
} from './definitions.ts';

export function productBody(product: ProductDefinition) {
  return given({ ...product });
}

export function meterBody({ propertyFilters, ...meter }: MeterDefinition) {
  return given({ ...meter, propertyFilters: propertyFilters?.map(given) });
}

/** A rate card is always sent whole: missing parts are cleared. */
export function rateCardBody({ rates, fallbackUnitAmount }: Pick<RateCardDefinition, 'rates' | 'fallbackUnitAmount'>) {
  return { rates, fallbackUnitAmount: fallbackUnitAmount ?? null };
}

export function priceBody(
  definition: PriceDefinition,
  ids: { readonly productId: string; readonly meterId: string | undefined },
) {
  const { product: _product, meter: _meter, pricingTiers, ...price } = definition;
  const tiers = pricingTiers?.map(({ maxQty = '', unitAmount, flatAmount }, index) => ({
    minQty: pricingTiers[index - 1]?.maxQty ?? '0',
    maxQty,
    unitAmount,
    flatAmount,
  }));
  return given({ ...price, ...ids, pricingTiers: tiers });
}

/** `pricingIds` in the order of the items. */
export function planBody({ metadata, items, ...plan }: PlanDefinition, pricingIds: readonly string[]) {
  return given({
    ...plan,
    metadata: given(metadata),
    items: items.map(({ defaultQuantity }, index) => ({ pricingId: pricingIds[index] ?? '', defaultQuantity })),
  });
}

/** Leaves out members without a value. */
function given<T extends object>(body: T): Partial<T> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as Partial<T>;
}
