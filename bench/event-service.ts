/** The service itself with the events of `event-data.ts`: customers, meters with prices, and batches through the engine. */

import type { Billing } from '../src/operations/index.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { creator } from './creator.ts';
import { engineOn } from './engine.ts';
import { customerCount, customerName, sentEventAt } from './event-data.ts';
import { type Range, removeDatabase } from './event-limits.ts';

export interface EventService {
  readonly store: Store;
  readonly billing: Billing;
  readonly close: () => Promise<void>;
}

/** Opens a file; if `meters` is given, makes a new one with the customers and that many priced meters. */
export async function openService(file: string, options: { readonly meters?: number } = {}): Promise<EventService> {
  if (options.meters !== undefined) removeDatabase(file);
  const store = await openStore(file);
  const engine = engineOn(store, () => Temporal.Instant.from('2026-04-10T00:00:00Z'));
  const billing = engine.as(await engine.owner());
  if (options.meters !== undefined) await makeCatalog(billing, options.meters);
  return { store, billing, close: async () => await store.close() };
}

async function makeCatalog(billing: Billing, meters: number): Promise<void> {
  const create = creator(billing);
  const customers = Array.from({ length: customerCount }, async (_, customer) => {
    const contacts = [{ name: 'Ada', email: 'ada@example.com', roles: ['primary'] }];
    const name = customerName(customer);
    await create('customers.create', { body: { name, externalCustomerId: name, contacts } });
  });
  await Promise.all(customers);
  const keys = ['seconds', 'tokens', 'tokens'];
  for (let meter = 0; meter < meters; meter += 1) {
    const meterId = await create('meters.create', {
      body: {
        code: `METER_${meter}`,
        displayName: `Meter ${meter}`,
        aggregationType: meter === 2 ? 'MAX' : 'SUM',
        aggregationKey: keys[meter % 3],
        groupKeys: ['model', 'region'],
      },
    });
    const body = {
      productName: `Product ${meter}`,
      name: `Price ${meter}`,
      model: 'USAGE',
      meterId,
      unitAmount: '0.0001',
      priceInterval: 'MONTH',
    };
    await create('pricing.create', { body });
  }
}

/** Events per second that the service makes durable, in requests of `batch`. */
export async function ingestRate({ billing }: EventService, { first, last, count, batch }: Range): Promise<number> {
  let spent = 0;
  for (let start = first; start < last; start += batch) {
    const length = Math.min(batch, last - start);
    const events = Array.from({ length }, (_, place) => sentEventAt(start + place, count));
    const begin = performance.now();
    await billing.call('usage.ingestBatch', { body: { events } });
    spent += performance.now() - begin;
  }
  return ((last - first) / spent) * 1000;
}

/** Milliseconds that a customer's usage cost takes, and the cost. */
export async function costOf(
  { billing }: EventService,
  range: { readonly from: number; readonly to: number },
  propertyFilters: readonly { readonly key: string; readonly value: string }[] = [],
): Promise<{ readonly milliseconds: number; readonly total: string }> {
  const body = {
    externalCustomerId: customerName(0),
    startDate: new Date(range.from).toISOString(),
    endDate: new Date(range.to).toISOString(),
    propertyFilters,
  };
  const begin = performance.now();
  const answer = await billing.call('usage.cost', { body });
  const milliseconds = performance.now() - begin;
  return { milliseconds, total: JSON.stringify(answer.body.totalAmount) };
}
