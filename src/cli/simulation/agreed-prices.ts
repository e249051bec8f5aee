/** What a contract agreed on beside its plan, as overrides of the contract that is made in its place. */

import { saySame } from '../catalog/comparison.ts';
import type { PriceDefinition } from '../catalog/definitions.ts';
import type { HistoricContract } from './history.ts';
import type { HistoryCatalog } from './history-catalog.ts';

type Item = HistoricContract['contract']['terms']['items'][number];

/** Ids at the service on which the contract is made anew. */
export interface PlaceOf {
  /** Undefined where the plan has no such price. */
  readonly price: (price: PriceDefinition) => string | undefined;
  readonly meter: (code: string) => string | undefined;
}

/**
 * Prices that differ from the plan's own. `isOtherCatalog`: rates are those of the other catalog, but for combinations that
 * the rate card never had, which only this contract can have agreed on.
 */
export function overridesOf(
  { contract }: HistoricContract,
  catalog: HistoryCatalog,
  { place, isOtherCatalog }: { readonly place: PlaceOf; readonly isOtherCatalog: boolean },
): object[] {
  const quantities = new Map(
    catalog.plans
      .get(contract.planId)
      ?.plan.items.map((item) => [`${item.product}\n${item.price}`, item.defaultQuantity]),
  );
  const seen = new Set<string>();
  return contract.terms.items.flatMap((item): object[] => {
    const price = catalog.prices.get(item.pricingId);
    if (price === undefined) return [];
    const changed = changedPrice(item, price, quantities.get(`${price.product}\n${price.name}`) ?? '1');
    const basePricingId = place.price(price);
    const own = Object.keys(changed).length === 0 || basePricingId === undefined ? [] : [{ basePricingId, ...changed }];
    const code = price.meter;
    const meterId = code === undefined ? undefined : place.meter(code);
    // Two prices on one meter have the same rates.
    if (code === undefined || meterId === undefined || seen.has(code)) return own;
    seen.add(code);
    const card = catalog.rates.get(code) ?? [];
    const rates = item.rates.filter(({ dimensions, unitAmount }) => {
      const listed = card.find((rate) => saySame(rate.dimensions, dimensions));
      return listed === undefined || (!isOtherCatalog && !saySame({ unitAmount: listed.unitAmount }, { unitAmount }));
    });
    return [...own, ...rates.map((rate) => ({ meterId, ...rate }))];
  });
}

function changedPrice(item: Item, price: PriceDefinition, quantity: string): object {
  const tiers = item.pricingTiers.map(({ maxQty, unitAmount, flatAmount }) => ({
    maxQty: maxQty === '' ? undefined : maxQty,
    unitAmount,
    flatAmount,
  }));
  const isSame = (name: 'unitAmount' | 'flatAmount') =>
    saySame({ [name]: item[name] ?? '0' }, { [name]: price[name] ?? '0' });
  return {
    ...(isSame('unitAmount') || item.unitAmount === null ? {} : { unitAmount: item.unitAmount }),
    ...(isSame('flatAmount') || item.flatAmount === null ? {} : { flatAmount: item.flatAmount }),
    ...(tiers.length === 0 || saySame({ tiers }, { tiers: price.pricingTiers ?? [] })
      ? {}
      : { pricingTiers: item.pricingTiers }),
    ...(price.model === 'USAGE' || saySame({ maxQty: item.quantity }, { maxQty: quantity })
      ? {}
      : { quantity: item.quantity }),
  };
}
