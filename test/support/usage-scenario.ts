/** Customers, meters, prices, contracts and events with what a test does not care about filled in. */

import type { World } from './world.ts';

type Body = Record<string, unknown>;

/** A customer; gives its id. */
export async function createCustomer(world: World, externalCustomerId: string): Promise<string> {
  const contacts = [{ name: 'Ada Lovelace', email: 'ada@acme.example', roles: ['accounts_payable'] }];
  const { data } = await world.call('customers.create', { body: { name: 'Acme', externalCustomerId, contacts } });
  return data.id;
}

/** A SUM meter of `tokens` unless `body` says otherwise; gives its id. */
export async function createMeter(world: World, code: string, body: Body = {}): Promise<string> {
  const isCount = body['aggregationType'] === 'COUNT';
  const key = isCount ? {} : { aggregationKey: 'tokens' };
  return (await world.call('meters.create', { body: { code, displayName: code, ...key, ...body } })).data.id;
}

/** A monthly USAGE price of one cent a unit unless `body` says otherwise; gives its id. */
export async function createPrice(world: World, meterId: string, body: Body = {}): Promise<string> {
  const unit = 'pricingTiers' in body ? {} : { unitAmount: '0.01' };
  const { data } = await world.call('pricing.create', {
    body: {
      productName: 'Inference',
      name: 'Tokens',
      model: 'USAGE',
      meterId,
      priceInterval: 'MONTH',
      ...unit,
      ...body,
    },
  });
  return data.id;
}

/** A monthly FLAT price of 31 dollars a seat unless `body` says otherwise; gives its id. */
export async function createFlatPrice(world: World, body: Body = {}): Promise<string> {
  const { data } = await world.call('pricing.create', {
    body: { productName: 'Seats', name: 'Seat', model: 'FLAT', unitAmount: '31', priceInterval: 'MONTH', ...body },
  });
  return data.id;
}

export async function createPlan(world: World, pricingIds: readonly string[]): Promise<string> {
  const items = pricingIds.map((pricingId) => ({ pricingId }));
  return (await world.call('plans.create', { body: { name: 'Pay as you go', items } })).data.id;
}

/** A contract on a plan of these prices, of the year 2026 unless `body` says otherwise; gives its id. */
export async function createContract(
  world: World,
  { customerId, pricingIds, ...body }: { readonly customerId: string; readonly pricingIds: readonly string[] } & Body,
): Promise<string> {
  const planId = await createPlan(world, pricingIds);
  const { data } = await world.call('contracts.create', {
    body: { planId, customerId, startDate: '2026-01-01', endDate: '2027-01-01', ...body },
  });
  return data.id;
}

/** The invoices of a contract in the order of their periods. */
export async function invoicesOf(world: World, contractId: string) {
  const { data } = await world.call('invoices.list', { query: { limit: '100', include: 'lineItems' } });
  const own = data.filter((invoice) => invoice.contractId === contractId);
  return own.toSorted((a, b) => (a.invoiceDate < b.invoiceDate ? -1 : 1));
}

export interface SentEvent {
  readonly customerId?: string;
  readonly externalCustomerId?: string;
  readonly contractId?: string;
  readonly eventName?: string;
  readonly idempotencyKey?: string;
  readonly timestamp?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Sends one batch; events are of the name `call` unless they say otherwise. */
export async function send(world: World, ...events: readonly SentEvent[]): Promise<void> {
  await world.call('usage.ingestBatch', { body: { events: events.map((event) => ({ eventName: 'call', ...event })) } });
}

/** A customer with a meter of `tokens` and its price, and the calls by which tests ask what usage costs. */
export async function meteredCustomer(world: World) {
  const customerId = await createCustomer(world, 'acme');
  const meterId = await createMeter(world, 'TOKENS');
  const pricingId = await createPrice(world, meterId);
  const cost = async (contractId: string, body: Body = {}) =>
    await world.call('usage.cost', { body: { contractId, ...body } });
  return {
    customerId,
    meterId,
    pricingId,
    contractOf: async (body: Body = {}) =>
      await createContract(world, { customerId, pricingIds: [pricingId], ...body }),
    cost,
    total: async (contractId: string, body: Body = {}) => (await cost(contractId, body)).totalAmount,
    /** Tokens used at noon of a day. */
    use: async (date: string, tokens: number, more: Body = {}) =>
      await send(world, { customerId, timestamp: `${date}T12:00:00Z`, properties: { tokens }, ...more }),
  };
}

export type MeteredCustomer = Awaited<ReturnType<typeof meteredCustomer>>;
