/** The four kinds of things with ids, each decided: what stays, what goes, what is left alone. */

import type { MeterDefinition, PlanDefinition, PriceDefinition, ProductDefinition } from './definitions.ts';
import type { Live, LivePlan, LivePrice } from './live.ts';
import type { Decided } from './matching.ts';

export interface Sections {
  readonly products: Decided<ProductDefinition, Live<ProductDefinition>>;
  readonly meters: Decided<MeterDefinition, Live<MeterDefinition>>;
  readonly pricing: Decided<PriceDefinition, LivePrice>;
  readonly plans: Decided<PlanDefinition, LivePlan>;
}

export function idsOf(rows: readonly { readonly id: string }[]): Set<string> {
  return new Set(rows.map(({ id }) => id));
}

/** Whether a price belongs to one of these products or meters. */
export function hangsOn(bases: ReadonlySet<string>): (row: LivePrice) => boolean {
  return ({ productId, meterId }) => bases.has(productId) || (meterId !== undefined && bases.has(meterId));
}

/** Whether a plan contains one of these prices. */
export function contains(prices: ReadonlySet<string>): (row: LivePlan) => boolean {
  return ({ pricingIds }) => pricingIds.some((id) => prices.has(id));
}
