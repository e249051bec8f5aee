/** The catalog that contracts of a service were created with: what is in use, and what is archived but still billed by. */

import type { Billing } from '../../operations/index.ts';
import { planKey, sections } from '../catalog/definitions.ts';
import type { Catalog, PlanDefinition, PriceDefinition, RateCardDefinition } from '../catalog/definitions.ts';
import type { CatalogFile } from '../catalog/file.ts';
import { meterOf, planOf, priceOf, readCatalog } from '../catalog/live.ts';

export interface HistoricPlan {
  /** As it is in the file; `original` is as it was called. */
  readonly plan: PlanDefinition;
  readonly original: PlanDefinition;
  readonly isArchived: boolean;
}

export interface HistoryCatalog {
  /** As a file. Of several things with one name, the newest in use keeps it, and the others get another. */
  readonly file: CatalogFile;
  readonly plans: ReadonlyMap<string, HistoricPlan>;
  /** Prices by id, as they are in the file. */
  readonly prices: ReadonlyMap<string, PriceDefinition>;
  /** Codes of meters by id, as they are in the file. */
  readonly meters: ReadonlyMap<string, string>;
  readonly products: ReadonlyMap<string, string>;
  /** Rate cards as they are today, by code of the meter. */
  readonly cards: ReadonlyMap<string, HistoricCard>;
}

export interface HistoricCard {
  readonly rates: RateCardDefinition['rates'];
  /** When it was set; null for never, undefined in a mirror, which has no rate cards. */
  readonly updatedAt?: string | null;
}

/** Reads the catalog; `planIds` are the plans of contracts. */
export async function readHistoryCatalog(billing: Billing, planIds: ReadonlySet<string>): Promise<HistoryCatalog> {
  const live = await readCatalog(billing);
  const products = live.products.map(({ definition }) => definition);
  const meters = live.meters.map(({ definition }) => definition);
  const rateCards = live.rateCards.map(({ definition }) => definition);
  const productNames = new Map(live.products.map(({ id, definition }) => [id, definition.name]));
  const meterCodes = new Map(live.meters.map(({ id, definition }) => [id, definition.code]));
  const prices = new Map<string, PriceDefinition>();
  const plans = new Map<string, HistoricPlan>();

  const addPrice = async (id: string): Promise<void> => {
    const row = (await billing.call('pricing.get', { params: { pricingId: id } })).body.data;
    if (row.meterId !== undefined && !meterCodes.has(row.meterId)) {
      const definition = meterOf((await billing.call('meters.get', { params: { meterId: row.meterId } })).body.data);
      const taken = meters.map(({ code }) => code);
      const code = free(definition.code, taken, `_${tailOf(row.meterId).toUpperCase()}`);
      meters.push({ ...definition, code });
      meterCodes.set(row.meterId, code);
    }
    if (!products.some(({ name }) => name === row.productName)) products.push({ name: row.productName });
    productNames.set(row.productId, row.productName);
    keepPrice(prices, id, priceOf(row, meterCodes));
  };
  const keepPlan = (id: string, original: PlanDefinition, ids: readonly string[], isArchived: boolean): void => {
    const kept = [...plans.values()].map(({ plan }) => plan);
    const isTaken = kept.some((each) => planKey(each) === planKey(original) || each.name === original.name);
    const plan = { ...(isTaken ? renamed(original, id) : original), items: itemsOn(original, ids, prices) };
    plans.set(id, { plan, original, isArchived });
  };

  for (const { id, definition } of live.pricing) keepPrice(prices, id, definition);
  for (const { id, definition, pricingIds } of live.plans) keepPlan(id, definition, pricingIds, false);
  for (const planId of planIds) {
    if (plans.has(planId)) continue;
    const row = (await billing.call('plans.get', { params: { planId } })).body.data;
    const ids = row.items.map(({ pricingId }) => pricingId);
    for (const id of ids) if (!prices.has(id)) await addPrice(id);
    keepPlan(planId, planOf(row), ids, true);
  }
  const cards = new Map<string, HistoricCard>();
  for (const [meterId, code] of meterCodes) {
    cards.set(code, (await billing.call('meters.rateCard', { params: { meterId } })).body.data);
  }
  const pricing = [...prices.values()];
  return {
    file: fileOf({ products, meters, rateCards, pricing, plans: [...plans.values()].map(({ plan }) => plan) }),
    plans,
    prices,
    meters: meterCodes,
    products: productNames,
    cards,
  };
}

/** A file with every section, so that it leaves nothing to what a service already has. */
export function fileOf(catalog: Catalog): CatalogFile {
  const issueAt: CatalogFile['issueAt'] = (path, message) => ({ path: path.map(String).join('.'), message });
  return { catalog, sections: new Set(sections), issueAt };
}

/** Stores a price by its id, under a name that no other price of its product has. */
export function keepPrice(prices: Map<string, PriceDefinition>, id: string, definition: PriceDefinition): void {
  const taken = [...prices.values()].filter(({ product }) => product === definition.product).map(({ name }) => name);
  prices.set(id, { ...definition, name: free(definition.name, taken, ` (${tailOf(id)})`) });
}

/** The items of a plan, with the names under which its prices were stored; `pricingIds` are in the order of the items. */
export function itemsOn(
  { items }: PlanDefinition,
  pricingIds: readonly string[],
  prices: ReadonlyMap<string, PriceDefinition>,
): PlanDefinition['items'] {
  return items.map((item, index) => {
    const { product, name } = prices.get(pricingIds[index] ?? '') ?? { product: item.product, name: item.price };
    return { ...item, product, price: name };
  });
}

/** The plan under another name, because its own name and external id are taken. */
export function renamed(plan: PlanDefinition, id: string): PlanDefinition {
  return { ...plan, name: `${plan.name} (${tailOf(id)})`, externalId: undefined };
}

/** The name, with the ending if it is taken. */
function free(name: string, taken: readonly string[], ending: string): string {
  return taken.includes(name) ? `${name}${ending}` : name;
}

/** The end of an id, which is its random part. */
export function tailOf(id: string): string {
  return id.slice(-8);
}
