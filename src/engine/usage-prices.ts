/** The prices that usage has without a contract: the newest unarchived one of each active meter (semantics 11). */

import { assert } from '../assert.ts';
import { createEventMatcher } from '../calculation/metering.ts';
import { buildContractItems, type ContractItem } from '../calculation/rate-card.ts';
import { onceUnchanged } from '../store/prepared.ts';
import { type Pricing, listPricingsOfMeters } from '../store/records/catalog.ts';
import { findRateCard, listActiveMeters, type Meter, type StoredRateCard } from '../store/records/meters.ts';
import type { CallContext } from './handler.ts';
import { priceSourceOf } from './price-source.ts';

export interface MeterPrice {
  readonly meter: Meter;
  readonly item: ContractItem;
}

/** Active meters with their prices, oldest meter first; a meter without a price is left out. */
export async function currentPrices({ tx, orgId }: Pick<CallContext, 'tx' | 'orgId'>): Promise<readonly MeterPrice[]> {
  return await pricesOf(tx, orgId);
}

const pricesOf = onceUnchanged(async (tx, orgId): Promise<readonly MeterPrice[]> => {
  const meters = await listActiveMeters(tx, orgId);
  const meterIds = meters.map((meter) => meter.id);
  const newestFirst = await listPricingsOfMeters(tx, orgId, meterIds);
  const newest = new Map(newestFirst.toReversed().map((pricing) => [pricing.meterId, pricing]));
  const prices: MeterPrice[] = [];
  for (const meter of meters) {
    const pricing = newest.get(meter.id);
    if (pricing === undefined) continue;
    const rateCard = await findRateCard(tx, orgId, meter.id);
    prices.push({ meter, item: itemOf(pricing, rateCard) });
  }
  return prices;
});

/** Whether a meter counts one of these event names: all meters do without a list, none with an empty one (interface 4.18). */
export function isMeterOf(meter: Meter, eventNames: readonly string[] | undefined): boolean {
  if (eventNames === undefined) return true;
  const takesName = createEventMatcher({ eventTypeFilter: meter.eventTypeFilter, propertyFilters: [] });
  return eventNames.some((eventName) => takesName({ eventName, properties: {} }));
}

/** A price as if a contract had it. */
function itemOf(pricing: Pricing, rateCard: StoredRateCard | undefined): ContractItem {
  const [item] = buildContractItems([priceSourceOf(pricing, rateCard, { id: pricing.id, quantity: '1' })], []);
  assert(item !== undefined, 'one price makes one item');
  return item;
}
