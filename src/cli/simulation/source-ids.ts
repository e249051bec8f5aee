/** Ids at the service of a replay, for ids at the source. */

import { type PriceDefinition, priceKey } from '../catalog/definitions.ts';
import type { LiveCatalog } from '../catalog/live.ts';
import type { History } from './history.ts';

export function idByCode(live: LiveCatalog, code: string | undefined): string | undefined {
  return live.meters.find(({ definition }) => definition.code === code)?.id;
}

/** The id among `prices` of the one with the product and name of `price`. */
export function idByPrice(prices: LiveCatalog['pricing'], price: PriceDefinition | undefined): string | undefined {
  return prices.find(({ definition }) => price !== undefined && priceKey(definition) === priceKey(price))?.id;
}

/** Replaces ids of the source by those with the same names. */
export function specifiersOf(
  { history, live }: { readonly history: History; readonly live: LiveCatalog },
  paysFor: Readonly<Record<string, unknown>>,
): object {
  const { catalog } = history;
  const idOf: Readonly<Record<string, (id: string) => string | undefined>> = {
    meterIds: (id) => idByCode(live, catalog.meters.get(id)),
    productIds: (id) => live.products.find(({ definition }) => definition.name === catalog.products.get(id))?.id,
    pricingIds: (id) => idByPrice(live.pricing, catalog.prices.get(id)),
  };
  return Object.fromEntries(
    Object.entries(paysFor).map(([name, value]) => {
      const toId = idOf[name];
      return [name, toId === undefined ? value : (value as readonly string[]).map((id) => toId(id) ?? id)];
    }),
  );
}
