/** Events and the cost of usage in the model (semantics 8, 11). */

import { isExactNumber, textOfNumber } from '../../src/exact-json.ts';
import { dayOf, dayOfInstant, instantOf, instantOfQuery, midnight, timestampOf } from './calendar.ts';
import { add, divide, halfUp, multiply, scaledText, whole, zero } from './fraction.ts';
import type { Fraction } from './fraction.ts';
import { billedContract, billedEvents, endOfService, matches, propertyText, quantities } from './metering.ts';
import { markExhausted } from './model-budgets.ts';
import { centsOf, dollarsOf, priceUsage, usageWindows, windowsTouching } from './rating.ts';
import { named, Refusal, refuseIf } from './refusal.ts';
import type { ModelCall } from './refusal.ts';
import type { Contract, Customer, Event, Item, Meter, State } from './state.ts';
import { standingGrants } from './grants.ts';
import { eventWire } from './wire.ts';

const hour = 3_600_000;

function customerOf(state: State, body: { customerId?: string; externalCustomerId?: string }): Customer {
  if (body.customerId !== undefined) return named(state.customers, body.customerId, 'invalidInput');
  const found = state.customers.find((customer) => customer.externalCustomerId === body.externalCustomerId);
  if (found === undefined) throw new Refusal('invalidInput');
  return found;
}

/** Whether an event falls into what a finalized invoice has billed. */
function isFinalized(state: State, event: Event): boolean {
  return state.meters.some((meter) => {
    if (!matches(meter, event)) return false;
    const contract = billedContract(state, event, meter);
    return contract?.invoices.some(
      (invoice) =>
        invoice.number !== undefined &&
        usageWindows(invoice).some((w) => w.item.pricing.meter === meter && event.at >= w.from && event.at < w.to),
    );
  });
}

function contentOf(event: Event): string {
  const properties = Object.entries(event.properties).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([event.name, event.customer.id, event.contract?.id, event.at, properties]);
}

/** Events that a request would store, and the old versions that they replace; refusals change nothing. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever a caller may send
function store(state: State, bodies: readonly any[]): void {
  for (const body of bodies) check(state, body);
  const before = [...state.events];
  const versions: Event[] = [];
  try {
    for (const body of bodies) versions.push(...storeOne(state, body));
  } catch (error) {
    state.events.splice(0, state.events.length, ...before);
    throw error;
  }
  // What one event of a request has replaced of another has come as well.
  const stored = [
    ...state.events.filter((event) => bodies.some((body) => body.idempotencyKey === event.key)),
    ...versions,
  ];
  for (const contract of state.contracts) {
    const own = stored.filter(
      (event) => event.customer === contract.customer && (event.contract ?? contract) === contract,
    );
    const isTouched = contract.budgets.some(
      (budget) =>
        !budget.isExhausted &&
        (budget.maxMicros !== null || budget.maxCents !== null) &&
        own.some((event) => propertyText(event, budget.key) === budget.value),
    );
    if (isTouched) for (const budget of contract.budgets) markExhausted(state, contract, budget);
  }
}

/** What an event names, and when it was; refused where the request alone is wrong. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever a caller may send
function check(state: State, body: any): { customer: Customer; contract: Contract | undefined; at: number } {
  const customer = customerOf(state, body);
  const contract = body.contractId === undefined ? undefined : named(state.contracts, body.contractId, 'invalidInput');
  refuseIf(contract !== undefined && contract.customer !== customer, 'invalidInput');
  const at = body.timestamp === undefined ? state.now : instantOf(body.timestamp);
  refuseIf(at > state.now + hour, 'invalidInput');
  return { customer, contract, at };
}

/** The version that it makes, if it is another one than there is. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever a caller may send
function storeOne(state: State, body: any): Event[] {
  const { customer, contract, at } = check(state, body);
  const index = state.events.findIndex((each) => each.key === body.idempotencyKey);
  const old = state.events[index];
  const event: Event = {
    key: body.idempotencyKey,
    name: body.eventName,
    customer,
    contract,
    at,
    properties: Object.fromEntries(
      Object.entries((body.properties ?? {}) as Record<string, Event['properties'][string]>).map(([name, value]) => [
        name,
        isExactNumber(value) ? { number: textOfNumber(value) } : value,
      ]),
    ),
    version: (old?.version ?? 0) + 1,
    isLate: false,
    receivedAt: state.now,
  };
  if (old !== undefined && contentOf(old) === contentOf(event)) return [];
  const isLate = isFinalized(state, event);
  refuseIf(old !== undefined && (isLate || old.isLate || isFinalized(state, old)), 'conflict');
  const version = { ...event, isLate };
  if (old === undefined) state.events.push(version);
  else state.events[index] = version;
  return [version];
}

interface CostFilter {
  readonly eventNames: readonly string[] | undefined;
  readonly conditions: readonly { readonly key: string; readonly value: string }[];
}

/** A meter that includes names keeps to its own; one that counts every name keeps to those that are asked for. */
function select(meter: Meter, events: readonly Event[], filter: CostFilter): Event[] {
  return events.filter(
    (event) =>
      (filter.eventNames === undefined || meter.include.length > 0 || filter.eventNames.includes(event.name)) &&
      filter.conditions.every((condition) => propertyText(event, condition.key) === condition.value),
  );
}

const concerns = (meter: Meter, filter: CostFilter): boolean =>
  filter.eventNames === undefined ||
  filter.eventNames.some(
    (name) => (meter.include.length === 0 || meter.include.includes(name)) && !meter.exclude.includes(name),
  );

/** By the contract's periods and prices, each line rounded to cents as on the invoice. */
function contractCost(
  state: State,
  contract: Contract,
  range: { from: number; to: number },
  filter: CostFilter,
): Fraction {
  let cents = 0n;
  const isPart = filter.eventNames !== undefined || filter.conditions.length > 0;
  const days = { start: dayOfInstant(range.from), end: dayOfInstant(range.to - 1) + 1 };
  for (const window of windowsTouching(contract, days.start, days.end)) {
    const { item } = window;
    const { meter } = item.pricing;
    const from = Math.max(window.from, range.from);
    const to = Math.min(window.to, range.to);
    if (meter === undefined || from >= to || !concerns(meter, filter)) continue;
    const read = quantities(meter, select(meter, billedEvents(state, contract, meter, from, to), filter));
    if (read.size === 0 && !isPart) read.set('[]', zero);
    for (const [group, quantity] of read) cents += centsOf(priceUsage(item, groupsOf(group), quantity).amount);
  }
  return dollarsOf(cents);
}

/** By the newest price of each meter, not rounded. */
function customerCost(
  state: State,
  customer: Customer,
  range: { from: number; to: number },
  filter: CostFilter,
): Fraction {
  let amount = zero;
  for (const meter of state.meters) {
    if (meter.isArchived || !concerns(meter, filter)) continue;
    const pricing = state.pricings.findLast((each) => each.meter === meter && !each.isArchived);
    if (pricing === undefined) continue;
    const item: Item = { ...pricing, pricing, quantity: zero, rates: meter.rates, fallback: meter.fallback };
    const events = state.events.filter(
      (event) => !event.isLate && event.customer === customer && event.at >= range.from && event.at < range.to,
    );
    for (const [group, quantity] of quantities(meter, select(meter, events, filter))) {
      amount = add(amount, priceUsage(item, groupsOf(group), quantity).amount);
    }
  }
  return amount;
}

const groupsOf = (group: string): Record<string, string> => Object.fromEntries(JSON.parse(group) as [string, string][]);

/** Cents per credit of the customer's newest grant that has a rate and was not reversed. */
function newestRate(state: State, customer: Customer): bigint | undefined {
  return state.contracts
    .filter((contract) => contract.customer === customer)
    .flatMap((contract) => standingGrants(contract).filter((grant) => grant.rateCents > 0n))
    .sort((a, b) => b.seq - a.seq)[0]?.rateCents;
}

export const usageCalls: Readonly<Record<string, ModelCall>> = {
  'usage.ingest': (state, { body }) => {
    store(state, [body]);
    return { status: 'accepted', idempotencyKey: body.idempotencyKey };
  },

  'usage.ingestBatch': (state, { body }) => {
    store(state, body.events);
    return { status: 'accepted', count: String(body.events.length) };
  },

  'usage.events': (state, { query }) => ({
    data: state.events
      .filter(
        (event) =>
          (query['eventName'] === undefined || event.name === query['eventName']) &&
          (query['customerId'] === undefined || event.customer.id === query['customerId']) &&
          (query['start'] === undefined || event.at >= instantOfQuery(query['start'])) &&
          (query['end'] === undefined || event.at < instantOfQuery(query['end'])),
      )
      .reverse()
      .map(eventWire),
  }),

  'usage.cost': (state, { body }) => {
    const contract =
      body.contractId === undefined ? undefined : named(state.contracts, body.contractId, 'invalidInput');
    const hasCustomer = body.customerId !== undefined || body.externalCustomerId !== undefined;
    const customer = hasCustomer || contract === undefined ? customerOf(state, body) : contract.customer;
    refuseIf(contract !== undefined && contract.customer !== customer, 'invalidInput');
    const end = contract === undefined ? undefined : endOfService(contract);
    const from = body.startDate === undefined ? midnight(dayOf(contract?.start ?? '')) : instantOf(body.startDate);
    const to =
      body.endDate === undefined
        ? end === undefined
          ? Math.max(from, state.now)
          : midnight(end)
        : instantOf(body.endDate);
    refuseIf(from >= to && (body.startDate !== undefined || body.endDate !== undefined), 'invalidInput');
    const filter = { eventNames: body.eventNames, conditions: body.propertyFilters ?? [] };
    const dollars =
      contract === undefined
        ? customerCost(state, customer, { from, to }, filter)
        : contractCost(state, contract, { from, to }, filter);
    const rate = body.unit === 'credits' ? newestRate(state, customer) : undefined;
    const range = { startDate: timestampOf(from), endDate: timestampOf(to), queriedAt: timestampOf(state.now) };
    return {
      totalAmount:
        rate === undefined
          ? scaledText(halfUp(dollars, 12), 12)
          : scaledText(halfUp(divide(multiply(dollars, whole(100n)), whole(rate)), 6), 6),
      ...(rate === undefined ? { currency: 'USD' } : { creditRateCents: String(rate) }),
      unit: rate === undefined ? 'currency' : 'credits',
      ...range,
      ...(contract === undefined ? {} : { contractId: contract.id }),
    };
  },
};
