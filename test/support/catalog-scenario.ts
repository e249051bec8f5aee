/** Meters, prices and plans as their answers show them, with what a test does not care about filled in. */

import type { World } from './world.ts';

type Body = Record<string, unknown>;

/** A monthly FLAT price. */
export const flat = {
  productName: 'Support',
  name: 'Support, monthly',
  model: 'FLAT',
  unitAmount: '99.50',
  priceInterval: 'MONTH',
};

/** The calls of a catalog; each gives the resource. */
export function catalogCalls(world: World) {
  return {
    /** A COUNT meter. */
    createMeter: async (code = 'TOKENS') =>
      (await world.call('meters.create', { body: { code, displayName: code, aggregationType: 'COUNT' } })).data,
    /** As `flat` unless `body` says otherwise. */
    createPricing: async (body: Body = {}) => (await world.call('pricing.create', { body: { ...flat, ...body } })).data,
    createPlan: async (pricingIds: readonly string[], body: Body = {}) => {
      const items = pricingIds.map((pricingId) => ({ pricingId }));
      return (await world.call('plans.create', { body: { name: 'Plan', items, ...body } })).data;
    },
    archive: async (pricingId: string) => (await world.call('pricing.archive', { params: { pricingId } })).data,
  };
}

export type CatalogCalls = ReturnType<typeof catalogCalls>;
