/** Customers, meters, prices and plans of the model (semantics 4, 5, 8, 14). */

import { dateOf, dayOf, dayOfInstant } from './calendar.ts';
import { decimal } from './fraction.ts';
import { gridOf, tiersOf } from './rating.ts';
import { named, refuseIf } from './refusal.ts';
import type { ModelCall } from './refusal.ts';
import type { Customer, Interval, Meter, Plan, Pricing, Rate, State } from './state.ts';
import { customerWire } from './wire.ts';

export const newestFirst = <T>(list: readonly T[]): T[] => [...list].reverse();

function refuseTaken(state: State, externalId: unknown, self?: Customer): void {
  if (typeof externalId !== 'string') return;
  const owner = state.customers.find((customer) => customer.externalCustomerId === externalId);
  refuseIf(owner !== undefined && owner !== self, 'conflict');
}

export const catalogCalls: Readonly<Record<string, ModelCall>> = {
  'customers.create': (state, { body, as }) => {
    refuseTaken(state, body.externalCustomerId);
    const customer: Customer = {
      id: as,
      name: body.name,
      legalName: body.legalName ?? null,
      tags: body.tags ?? [],
      externalCustomerId: body.externalCustomerId ?? null,
      paused: undefined,
      contacts: body.contacts,
      createdAt: state.now,
      updatedAt: state.now,
    };
    state.customers.push(customer);
    return { data: customerWire(state, customer, true) };
  },

  'customers.update': (state, { params, body }) => {
    const customer = named(state.customers, params['customerId'], 'notFound');
    refuseTaken(state, body.externalCustomerId, customer);
    noting(state, customer, () => Object.assign(customer, body));
    return { data: customerWire(state, customer) };
  },

  'customers.pause': (state, { params, body }) => {
    const customer = named(state.customers, params['customerId'], 'notFound');
    const until: string | null = body.until ?? null;
    refuseIf(until !== null && dayOf(until) <= dayOfInstant(state.now), 'invalidInput');
    const isOn = customerWire(state, customer).isPaused;
    noting(state, customer, () => {
      customer.paused = { at: isOn ? (customer.paused?.at ?? state.now) : state.now, until };
    });
    return { data: customerWire(state, customer) };
  },

  'customers.resume': (state, { params }) => {
    const customer = named(state.customers, params['customerId'], 'notFound');
    if (customerWire(state, customer).isPaused) customer.updatedAt = state.now;
    customer.paused = undefined;
    return { data: customerWire(state, customer) };
  },

  'customers.get': (state, { params }) => ({
    data: customerWire(state, named(state.customers, params['customerId'], 'notFound')),
  }),

  'customers.list': (state, { query }) => ({
    data: newestFirst(state.customers)
      .filter(
        (each) => query['externalCustomerId'] === undefined || each.externalCustomerId === query['externalCustomerId'],
      )
      .map((customer) => customerWire(state, customer)),
  }),

  'meters.create': (state, { body, as }) => {
    refuseIf(
      state.meters.some((meter) => meter.code === body.code && !meter.isArchived),
      'conflict',
    );
    const meter: Meter = {
      id: as,
      code: body.code,
      aggregation: body.aggregationType ?? 'SUM',
      include: body.eventTypeFilter?.include ?? [],
      exclude: body.eventTypeFilter?.exclude ?? [],
      filters: body.propertyFilters ?? [],
      key: body.aggregationKey,
      groupKeys: body.groupKeys ?? [],
      rates: [],
      fallback: undefined,
      isArchived: false,
    };
    state.meters.push(meter);
    return {};
  },

  'meters.archive': (state, { params }) => {
    const meter = named(state.meters, params['meterId'], 'notFound');
    const isPriced = state.pricings.some((pricing) => pricing.meter === meter && !pricing.isArchived);
    refuseIf(!meter.isArchived && isPriced, 'conflict');
    meter.isArchived = true;
    return {};
  },

  'meters.setRateCard': (state, { params, body }) => {
    const meter = named(state.meters, params['meterId'], 'notFound');
    const rates: Rate[] = body.rates.map((rate: { dimensions: Record<string, string>; unitAmount: string }) => ({
      dimensions: rate.dimensions,
      unit: decimal(rate.unitAmount),
    }));
    const keys = rates.flatMap((rate) => Object.keys(rate.dimensions));
    refuseIf(
      keys.some((key) => !meter.groupKeys.includes(key)),
      'invalidInput',
    );
    const combinations = rates.map((rate) =>
      JSON.stringify(
        Object.keys(rate.dimensions)
          .sort(byText)
          .map((key) => [key, rate.dimensions[key]]),
      ),
    );
    refuseIf(new Set(combinations).size < combinations.length, 'invalidInput');
    meter.rates = rates;
    const fallback: string | null | undefined = body.fallbackUnitAmount;
    meter.fallback = fallback === null || fallback === undefined ? undefined : decimal(fallback);
    return {};
  },

  'pricing.create': (state, { body, as }) => {
    const meter: Meter | undefined =
      body.meterId === undefined ? undefined : named(state.meters, body.meterId, 'invalidInput');
    refuseIf(meter?.isArchived === true, 'invalidInput');
    const tiers = body.pricingTiers === undefined ? undefined : tiersOf(body.pricingTiers);
    if (typeof tiers === 'string') refuseIf(true, 'invalidInput');
    const productId = `product of ${body.productName}`;
    const pricing: Pricing = {
      id: as,
      productId,
      name: body.name,
      model: body.model,
      tiering: body.tiering ?? (tiers === undefined ? 'NONE' : 'GRADUATED'),
      unit: body.unitAmount === undefined ? undefined : decimal(body.unitAmount),
      flat: body.flatAmount === undefined ? undefined : decimal(body.flatAmount),
      tiers: typeof tiers === 'string' ? undefined : tiers,
      interval: intervalOf(body),
      meter,
      isArchived: false,
    };
    state.pricings.push(pricing);
    return {};
  },

  'pricing.archive': (state, { params }) => {
    const pricing = named(state.pricings, params['pricingId'], 'notFound');
    refuseIf(
      state.plans.some((plan) => plan.items.some((item) => item.pricing === pricing)),
      'conflict',
    );
    pricing.isArchived = true;
    return {};
  },

  'pricing.list': (state, { query }) => ({
    data: newestFirst(state.pricings)
      .filter((pricing) => !pricing.isArchived && (query['model'] === undefined || pricing.model === query['model']))
      .map((pricing) => ({ id: pricing.id, model: pricing.model, tiering: pricing.tiering, name: pricing.name })),
  }),

  'plans.create': (state, { body, as }) => {
    const items: Plan['items'] = body.items.map((item: { pricingId: string; defaultQuantity?: string }) => ({
      pricing: named(state.pricings, item.pricingId, 'invalidInput'),
      quantity: decimal(item.defaultQuantity ?? '1'),
    }));
    refuseIf(
      items.some((item) => item.pricing.isArchived),
      'invalidInput',
    );
    const intervals = items.flatMap((item) => item.pricing.interval ?? []);
    refuseIf(intervals.length > 0 && gridOf(intervals) === undefined, 'invalidInput');
    const grant: number | undefined = body.metadata?.defaultCreditGrantCents;
    state.plans.push({
      id: as,
      name: body.name,
      netTerms: Number((body.netTerms ?? '30').replaceAll(/\D/g, '')),
      grantCents: grant === undefined ? undefined : BigInt(grant),
      items,
    });
    return {};
  },
};

/** What changes nothing leaves `updatedAt`, too. */
function noting(state: State, customer: Customer, change: () => void): void {
  const before = JSON.stringify(customerWire(state, customer));
  change();
  if (JSON.stringify(customerWire(state, customer)) !== before) customer.updatedAt = state.now;
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function intervalOf(body: { priceInterval?: Interval['unit']; priceIntervalCount?: number }): Interval | undefined {
  return body.priceInterval === undefined
    ? undefined
    : { unit: body.priceInterval, count: body.priceIntervalCount ?? 1 };
}

export const today = (state: State): string => dateOf(dayOfInstant(state.now));
