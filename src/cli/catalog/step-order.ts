/** The steps that bring decided sections about. */

import { planLabel, priceLabel } from './definitions.ts';
import type { Catalog, MeterDefinition, PlanDefinition, PriceDefinition, ProductDefinition } from './definitions.ts';
import type { Live } from './live.ts';
import { goneOf, supersededOf } from './matching.ts';
import type { Decided } from './matching.ts';
import { contains } from './sections.ts';
import type { Sections } from './sections.ts';
import type { Archived, Steps } from './steps.ts';

/** `early` prices go before their successors are created, with the plans that contain them. */
export function stepsOf(
  { products, meters, pricing, plans }: Sections,
  { early, rateCards }: { readonly early: ReadonlySet<string>; readonly rateCards: Catalog['rateCards'] },
): Steps {
  const [earlyPlans, latePlans] = parted(goneOf(plans), contains(early));
  const [earlyPrices, latePrices] = parted(goneOf(pricing), ({ id }) => early.has(id));
  const archivePlans = archiving('plans.archive', 'planId', (plan: PlanDefinition) => `plan ${planLabel(plan)}`);
  const archivePrices = archiving(
    'pricing.archive',
    'pricingId',
    (price: PriceDefinition) => `price ${priceLabel(price)}`,
  );
  const archiveMeters = archiving('meters.archive', 'meterId', ({ code }: MeterDefinition) => `meter ${code}`);
  const archiveProducts = archiving(
    'products.archive',
    'productId',
    ({ name }: ProductDefinition) => `product ${name}`,
  );
  return {
    first: [
      ...archivePlans(earlyPlans),
      ...archivePrices(earlyPrices),
      ...archiveMeters(supersededOf(meters)),
      ...archiveProducts(supersededOf(products)),
    ],
    create: {
      products: createdOf(products),
      meters: createdOf(meters),
      rateCards,
      pricing: createdOf(pricing),
      plans: createdOf(plans),
    },
    last: [
      ...archivePlans(latePlans),
      ...archivePrices(latePrices),
      ...archiveMeters(meters.pruned),
      ...archiveProducts(products.pruned),
    ],
  };
}

function archiving<D>(operation: Archived['operation'], param: string, nameOf: (definition: D) => string) {
  return (rows: readonly Live<D>[]): Archived[] =>
    rows.map(({ id, definition }) => ({ operation, params: { [param]: id }, name: nameOf(definition) }));
}

function parted<T>(rows: readonly T[], isFirst: (row: T) => boolean): [first: T[], rest: T[]] {
  return [rows.filter(isFirst), rows.filter((row) => !isFirst(row))];
}

function createdOf<D>({ matches }: Pick<Decided<D, unknown>, 'matches'>): D[] {
  return matches.flatMap(({ definition, kept }) => (kept === undefined ? [definition] : []));
}
