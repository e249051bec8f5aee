/** The catalog of a service, read through its lists: definitions by name, with their ids. */

import { BillingError, ConflictError } from '../../errors.ts';
import { textOfNumber } from '../../exact-json.ts';
import type { Billing } from '../../operations/index.ts';
import { compareText } from '../../text-order.ts';
import { everyRow, type RowOf } from '../every-row.ts';
import { planKey, planLabel, priceKey, priceLabel } from './definitions.ts';
import type {
  Catalog,
  MeterDefinition,
  PlanDefinition,
  PriceDefinition,
  ProductDefinition,
  RateCardDefinition,
  TierDefinition,
} from './definitions.ts';

export interface Live<D> {
  readonly id: string;
  readonly definition: D;
}

export interface LivePrice extends Live<PriceDefinition> {
  readonly productId: string;
  readonly meterId: string | undefined;
}

export interface LivePlan extends Live<PlanDefinition> {
  readonly pricingIds: readonly string[];
}

/** Only what is not archived, newest first. */
export interface LiveCatalog {
  readonly products: readonly Live<ProductDefinition>[];
  readonly meters: readonly Live<MeterDefinition>[];
  /** Those with prices; the id is that of the meter. */
  readonly rateCards: readonly Live<RateCardDefinition>[];
  readonly pricing: readonly LivePrice[];
  readonly plans: readonly LivePlan[];
}

/** Throws ConflictError for a price on an archived meter, which a file cannot name. */
export async function readCatalog(billing: Billing): Promise<LiveCatalog> {
  const products = await everyRow(billing, 'products.list');
  const meters = await everyRow(billing, 'meters.list');
  const pricing = await everyRow(billing, 'pricing.list');
  const plans = await everyRow(billing, 'plans.list');
  const rateCards: Live<RateCardDefinition>[] = [];
  for (const { id, code } of meters) {
    const definition = await rateCardOf(billing, id, code);
    if (definition !== undefined) rateCards.push({ id, definition });
  }
  const codeOf = new Map(meters.map(({ id, code }) => [id, code]));
  return {
    products: products.map(({ id, name, description }) => ({ id, definition: { name, description } })),
    meters: meters.map((row) => ({ id: row.id, definition: meterOf(row) })),
    rateCards,
    pricing: pricing.map((row) => ({
      id: row.id,
      productId: row.productId,
      meterId: row.meterId,
      definition: priceOf(row, codeOf),
    })),
    plans: plans.map((row) => ({
      id: row.id,
      pricingIds: row.items.map(({ pricingId }) => pricingId),
      definition: planOf(row),
    })),
  };
}

/** Undefined for a rate card without prices, and if a service has no rate cards at all. */
async function rateCardOf(billing: Billing, meterId: string, meter: string): Promise<RateCardDefinition | undefined> {
  try {
    const { data } = (await billing.call('meters.rateCard', { params: { meterId } })).body;
    if (data.rates.length === 0 && data.fallbackUnitAmount === null) return undefined;
    return { meter, rates: data.rates, fallbackUnitAmount: data.fallbackUnitAmount ?? undefined };
  } catch (error) {
    if (error instanceof BillingError && error.kind === 'notOffered') return undefined;
    throw error;
  }
}

/** A meter without what else a service or a file says of it: with `sql` no other rule holds. */
export function meterOf(row: MeterDefinition): MeterDefinition {
  const { code, displayName, description, sql } = row;
  if (sql !== undefined) return { code, displayName, description, sql };
  const { aggregationType, aggregationKey, eventTypeFilter, propertyFilters, groupKeys } = row;
  return {
    code,
    displayName,
    description,
    aggregationType,
    aggregationKey,
    eventTypeFilter,
    propertyFilters,
    groupKeys,
  };
}

export function priceOf(row: RowOf<'pricing.list'>, codeOf: ReadonlyMap<string, string>): PriceDefinition {
  const { productName: product, name, description, model, billingMode, tiering, meterId, pricingTiers } = row;
  const { unitAmount, flatAmount, priceInterval, priceIntervalCount } = row;
  const meter = meterId === undefined ? undefined : codeOf.get(meterId);
  if (meterId !== undefined && meter === undefined) {
    throw new ConflictError(`the price ${priceLabel({ product, name })} (${row.id}) is on a meter that is archived`, {
      hint: `take it out of use with: tally pricing archive ${row.id}`,
    });
  }
  return {
    product,
    name,
    description,
    model,
    billingMode,
    tiering,
    unitAmount,
    flatAmount,
    priceInterval,
    priceIntervalCount,
    meter,
    pricingTiers: pricingTiers?.map(tierOf),
  };
}

/** A tier as a file has it: a service shows its beginning, too, and an empty end of the last one. */
export function tierOf({ maxQty, unitAmount, flatAmount }: Required<TierDefinition>): TierDefinition {
  return { maxQty: maxQty === '' ? undefined : maxQty, unitAmount, flatAmount };
}

export function planOf(row: RowOf<'plans.list'>): PlanDefinition {
  const { name, externalId, description, netTerms, metadata, items } = row;
  const { defaultAutoPayEnabled, invoiceSendMethod, defaultCreditSettings, defaultCreditGrantCents } = metadata;
  return {
    name,
    externalId,
    description,
    netTerms,
    metadata: {
      defaultAutoPayEnabled,
      invoiceSendMethod,
      defaultCreditSettings,
      defaultCreditGrantCents:
        defaultCreditGrantCents === undefined ? undefined : Number(textOfNumber(defaultCreditGrantCents)),
    },
    items: items.map(({ productName, pricingName, defaultQuantity }) => ({
      product: productName,
      price: pricingName,
      defaultQuantity,
    })),
  };
}

/** The catalog as a file would have it, sorted by name. Throws ConflictError if one name stands for two things. */
export function catalogOf(live: LiveCatalog): Catalog {
  checkNames('prices', live.pricing, { keyOf: priceKey, labelOf: priceLabel });
  checkNames('plans', live.plans, { keyOf: planKey, labelOf: planLabel });
  return {
    products: sorted(live.products, ({ name }) => [name]),
    meters: sorted(live.meters, ({ code }) => [code]),
    rateCards: sorted(live.rateCards, ({ meter }) => [meter]),
    pricing: sorted(live.pricing, ({ product, name }) => [product, name]),
    plans: sorted(live.plans, ({ name, externalId = '' }) => [name, externalId]),
  };
}

function checkNames<D>(
  noun: string,
  rows: readonly Live<D>[],
  { keyOf, labelOf }: { readonly keyOf: (definition: D) => string; readonly labelOf: (definition: D) => string },
): void {
  for (const same of Map.groupBy(rows, ({ definition }) => keyOf(definition)).values()) {
    const [first, second] = same;
    if (first === undefined || second === undefined) continue;
    const ids = same.map(({ id }) => id).join(', ');
    throw new ConflictError(`${same.length} ${noun} are called ${labelOf(first.definition)}: ${ids}`, {
      hint: `a file tells things apart by name: take all but one out of use with: tally ${noun === 'plans' ? noun : 'pricing'} archive ID`,
    });
  }
}

function sorted<D>(rows: readonly Live<D>[], keyOf: (definition: D) => readonly string[]): D[] {
  return rows
    .map(({ definition }) => ({ definition, key: JSON.stringify(keyOf(definition)) }))
    .toSorted((one, other) => compareText(one.key, other.key))
    .map(({ definition }) => definition);
}
