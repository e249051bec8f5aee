/** A second organization with the same names and ids of its own: nothing that happens beside it may touch it (25). */

import type { Billing } from '../../src/operations/index.ts';
import type { CallInput } from '../../src/operations/operation.ts';
import type { World } from '../support/world.ts';

export interface Rival {
  readonly billing: Billing;
  readonly ids: readonly string[];
  /** Everything that it can read, as text. */
  readonly books: string;
}

/** Moves in beside the first organization, and notes its books. */
export async function createRival(world: World): Promise<Rival> {
  const billing = await world.addOrganization('rival');
  const ids: string[] = [];
  const make = async (
    name: 'customers.create' | 'meters.create' | 'pricing.create' | 'plans.create' | 'contracts.create',
    body: unknown,
  ) => {
    const answer = (await billing.call(name, { body })).body as { readonly data: { readonly id: string } };
    ids.push(answer.data.id);
    return answer.data.id;
  };
  const contacts = [{ name: 'Ada', email: 'ada@rival.example', roles: ['accounts_payable'] }];
  const customerId = await make('customers.create', { name: 'customer0', externalCustomerId: 'ext0', contacts });
  const meterId = await make('meters.create', { code: 'METER0', displayName: 'meter0', aggregationKey: 'n' });
  const price = { productName: 'product meter0', name: 'usage0', model: 'USAGE', meterId };
  const pricingId = await make('pricing.create', { ...price, unitAmount: '1', priceInterval: 'MONTH' });
  const planId = await make('plans.create', { name: 'plan0', items: [{ pricingId }] });
  const term = { startDate: '2026-03-01', endDate: '2026-05-01', creditGrantCents: 500 };
  await make('contracts.create', { customerId, planId, ...term });
  await billing.call('usage.ingest', {
    body: {
      eventName: 'llm',
      customerId,
      idempotencyKey: 'key0',
      timestamp: '2026-03-01T00:00:00Z',
      properties: { n: 3 },
    },
  });
  return { billing, ids, books: await booksOf(billing, ids) };
}

/** What the rival reads now; times of reading and what only time changes are left out. */
export async function booksOf(billing: Billing, ids: readonly string[]): Promise<string> {
  const params = { contractId: ids.at(-1) ?? '' };
  const read = async (
    name:
      | 'customers.list'
      | 'meters.list'
      | 'pricing.list'
      | 'plans.list'
      | 'invoices.list'
      | 'usage.events'
      | 'credits.ledger',
    input: CallInput = {},
  ) => (await billing.call(name, input)).body;
  return JSON.stringify([
    await read('customers.list'),
    await read('meters.list'),
    await read('pricing.list'),
    await read('plans.list'),
    await read('invoices.list', { query: { include: 'lineItems' } }),
    await read('usage.events'),
    await read('credits.ledger', { params }),
  ]);
}
