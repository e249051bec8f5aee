/** What a contract agreed on besides its plan, as overrides of the contract that replaces it. */

import { saySame } from '../catalog/comparison.ts';
import { type PriceDefinition, itemKey, priceKey } from '../catalog/definitions.ts';
import { tierOf } from '../catalog/live.ts';
import type { HistoricContract } from './history.ts';
import type { HistoryCatalog } from './history-catalog.ts';

type Item = HistoricContract['contract']['terms']['items'][number];

/** The prices that differ from the plan's. `idOf` returns a price's id at the new service; undefined if the plan lacks it. */
export function overridesOf(
  { contract }: HistoricContract,
  catalog: HistoryCatalog,
  idOf: (price: PriceDefinition) => string | undefined,
): object[] {
  const quantities = new Map(
    catalog.plans.get(contract.planId)?.plan.items.map((item) => [itemKey(item), item.defaultQuantity]),
  );
  return contract.terms.items.flatMap((item): object[] => {
    const price = catalog.prices.get(item.pricingId);
    if (price === undefined) return [];
    const changed = changedPrice(item, price, quantities.get(priceKey(price)) ?? '1');
    const basePricingId = idOf(price);
    return Object.keys(changed).length === 0 || basePricingId === undefined ? [] : [{ basePricingId, ...changed }];
  });
}

function changedPrice(item: Item, price: PriceDefinition, quantity: string): object {
  const tiers = item.pricingTiers.map(tierOf);
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
