/**
 * The catalog that contracts of a mirror are billed by. A mirror has no meters. The meters here add up the quantities of
 * lines, each under the id of the lines' real meter, and have the codes of the other catalog.
 */

import { InvalidInputError } from '../../errors.ts';
import type { ResponseBody } from '../../operations/index.ts';
import { priceKey, priceLabel } from '../catalog/definitions.ts';
import type { Catalog, MeterDefinition, PlanDefinition, PriceDefinition } from '../catalog/definitions.ts';
import type { CatalogFile } from '../catalog/file.ts';
import { planOf, priceOf } from '../catalog/live.ts';
import { fileOf, itemsOn, keepPrice, renamed, tailOf } from './history-catalog.ts';
import type { HistoricPlan, HistoryCatalog } from './history-catalog.ts';
import type { MirroredPrice } from './mirror-lines.ts';

export type MirroredPlan = ResponseBody<'plans.get'>['data'];

/** Property with the quantity, in an event that stands for a line. */
export const quantityProperty = 'quantity';

export interface MirroredCatalog {
  /** Those that the service lists, newest first, then further ones of plans: of one name or one meter the first counts. */
  readonly prices: readonly { readonly price: MirroredPrice; readonly isListed: boolean }[];
  readonly plans: readonly MirroredPlan[];
  /** By id of the meter: the group keys that its lines show; no entry for a meter without lines. */
  readonly groupKeys: ReadonlyMap<string, readonly string[]>;
  readonly rates: ReadonlyMap<string, Catalog['rateCards'][number]['rates']>;
}

/** The catalog that was in force, in the form of a history. */
export function historyCatalogOf(mirrored: MirroredCatalog, other: CatalogFile | undefined): HistoryCatalog {
  const meters = meterCodes(mirrored, other);
  const prices = new Map<string, PriceDefinition>();
  for (const { price } of mirrored.prices) keepPrice(prices, price.id, priceOf(price, meters));
  const plans = new Map<string, HistoricPlan>();
  const standIns: PlanDefinition[] = [];
  for (const row of mirrored.plans) {
    const original = planOf(row);
    const pricingIds = row.items.map(({ pricingId }) => pricingId);
    const items = itemsOn(original, pricingIds, prices);
    const isTaken = [...plans.values()].some(({ plan }) => plan.name === original.name);
    // Newer prices have the names of its prices, so a plan with its name on those prices is needed: no mirrored contract is on
    // it.
    const isOutdated = items.some((item, index) => item.price !== original.items[index]?.price);
    if (isOutdated && !isTaken && !standIns.some(({ name }) => name === original.name)) standIns.push(original);
    const isArchived = isTaken || isOutdated;
    plans.set(row.id, {
      plan: { ...(isArchived ? renamed(original, row.id) : original), items },
      original,
      isArchived,
    });
  }
  const pricing = [...prices.values()];
  const rateCards = [...mirrored.rates].flatMap(([id, rates]) =>
    rates.length === 0 ? [] : [{ meter: meters.get(id) ?? id, rates }],
  );
  return {
    file: fileOf({
      products: [...new Set(pricing.map(({ product }) => product))].map((name) => ({ name })),
      meters: [...meters].map(([id, code]) => {
        const wanted = other?.catalog.meters.find((meter) => meter.code === code);
        return adding({ code, ids: [id], groupKeys: mirrored.groupKeys.get(id) ?? wanted?.groupKeys, wanted });
      }),
      rateCards,
      pricing,
      plans: [...[...plans.values()].map(({ plan }) => plan), ...standIns],
    }),
    plans,
    prices,
    meters,
    products: new Map(mirrored.prices.map(({ price }) => [price.productId, price.productName])),
    cards: new Map(rateCards.map(({ meter, rates }) => [meter, { rates }])),
  };
}

/** The other catalog, with meters that add up the lines of its prices. */
export function withAddedMeters(mirrored: MirroredCatalog, other: CatalogFile): CatalogFile {
  const meters = other.catalog.meters.map((wanted) => {
    const ids = metersOf(mirrored, other, wanted.code);
    return adding({ code: wanted.code, ids, groupKeys: wanted.groupKeys, wanted });
  });
  return { ...other, catalog: { ...other.catalog, meters } };
}

/** Prices of the other catalog on a meter by which nothing in the mirror was billed. */
export function withoutUsage(mirrored: MirroredCatalog, other: CatalogFile): string[] {
  return other.catalog.pricing
    .filter(({ meter }) => meter !== undefined && metersOf(mirrored, other, meter).length === 0)
    .map(priceLabel);
}

interface Added {
  readonly code: string;
  readonly ids: readonly string[];
  readonly groupKeys: readonly string[] | undefined;
  readonly wanted: MeterDefinition | undefined;
}

function adding({ code, ids, groupKeys = [], wanted }: Added): MeterDefinition {
  return {
    code,
    displayName: wanted?.displayName ?? code,
    description: wanted?.description,
    aggregationType: 'SUM',
    aggregationKey: quantityProperty,
    eventTypeFilter: { include: ids.length === 0 ? [code] : ids },
    groupKeys,
  };
}

/** A meter's code is that of the other catalog's meter for one of its prices; an unmatched meter gets a generated code. */
function meterCodes(mirrored: MirroredCatalog, other: CatalogFile | undefined): Map<string, string> {
  const codes = new Map<string, string>();
  for (const { price } of mirrored.prices) {
    if (price.meterId === undefined || codes.has(price.meterId)) continue;
    const wanted = wantedMeter(price, other);
    const isFree = wanted !== undefined && ![...codes.values()].includes(wanted);
    codes.set(price.meterId, isFree ? wanted : `METER_${tailOf(price.meterId).toUpperCase().replaceAll(/\W/g, '_')}`);
  }
  for (const [id, code] of meterByRates(mirrored, other)) codes.set(id, code);
  return codes;
}

/**
 * Matches meters for which the other catalog sets rates but none of their prices: by the only meter that groups by the names
 * in its rates. A mirror knows no codes, so several candidates cannot be told apart.
 */
export function meterByRates(mirrored: MirroredCatalog, other: CatalogFile | undefined): Map<string, string> {
  const found = new Map<string, string>();
  if (other === undefined) return found;
  const priced = (code: string | undefined) => other.catalog.pricing.some(({ meter }) => meter === code);
  const left = new Set(
    mirrored.prices.flatMap(({ price, isListed }) =>
      isListed && wantedMeter(price, other) === undefined ? (price.meterId ?? []) : [],
    ),
  );
  for (const [index, { meter, rates }] of other.catalog.rateCards.entries()) {
    if (priced(meter)) continue;
    const names = new Set(rates.flatMap(({ dimensions }) => Object.keys(dimensions)));
    const fitting = [...left].filter((id) => names.isSubsetOf(new Set(mirrored.groupKeys.get(id) ?? [])));
    const [only] = fitting;
    if (only === undefined || fitting.length > 1) {
      const words = `a mirror does not know the codes of meters: name a price of ${meter} under pricing too`;
      throw new InvalidInputError([other.issueAt(['rateCards', index, 'meter'], words)]);
    }
    found.set(only, meter);
  }
  return found;
}

/** The mirror's meters for a code: those whose prices are on it, or whose rates it sets. */
function metersOf(mirrored: MirroredCatalog, other: CatalogFile, code: string): string[] {
  const { prices } = mirrored;
  const rated = [...meterByRates(mirrored, other)].flatMap(([id, known]) => (known === code ? [id] : []));
  if (rated.length > 0) return rated;
  const keys = other.catalog.pricing.filter(({ meter }) => meter === code).map(priceKey);
  const own = prices.filter(({ price }) => keys.includes(keyOf(price)));
  const idsOf = (rows: MirroredCatalog['prices']) => [...new Set(rows.flatMap(({ price }) => price.meterId ?? []))];
  const listed = idsOf(own.filter(({ isListed }) => isListed));
  if (listed.length > 1) {
    const index = other.catalog.pricing.findIndex(({ meter }) => meter === code);
    const words = `${own.map(({ price }) => priceLabel({ product: price.productName, name: price.name })).join(' and ')} were billed by different meters, and a mirror cannot tell what one meter would count for both`;
    throw new InvalidInputError([other.issueAt(['pricing', index, 'meter'], words)]);
  }
  return idsOf(own);
}

/** The meter that the other catalog has for a price. */
function wantedMeter(price: MirroredPrice, other: CatalogFile | undefined): string | undefined {
  return other?.catalog.pricing.find((each) => priceKey(each) === keyOf(price))?.meter;
}

function keyOf({ productName: product, name }: MirroredPrice): string {
  return priceKey({ product, name });
}
