/** A book with a due bill run: contracts with usage of the same month, each with a grant, and events for all of them. */

import { type Create, creator } from './creator.ts';
import { openBook } from './engine.ts';

export interface BookSize {
  readonly contracts: number;
  readonly events: number;
}

const month = { startDate: '2026-03-01', endDate: '2026-04-01' };
const monthStart = Temporal.Instant.from('2026-03-01T00:00:00Z').epochMilliseconds;
const monthMilliseconds = 31 * 24 * 60 * 60 * 1000;
const batchSize = 10_000;

/** Writes the book to a new file. */
export async function writeBillingBook(file: string, { contracts, events }: BookSize): Promise<void> {
  const engine = await openBook(file, () => Temporal.Instant.from('2026-04-01T00:00:00Z'));
  const billing = engine.as(await engine.owner());
  const create = creator(billing);
  const planId = await createPlan(create);
  const subscribed: { readonly customerId: string; readonly contractId: string }[] = [];
  for (let i = 0; i < contracts; i += 1) {
    const contacts = [{ name: 'Ada', email: 'ada@example.com', roles: ['primary'] }];
    const customerId = await create('customers.create', { body: { name: `Customer ${i}`, contacts } });
    const contractId = await create('contracts.create', { body: { planId, customerId, ...month } });
    subscribed.push({ customerId, contractId });
  }
  for (const { contractId } of subscribed) {
    const body = { amountCents: 500, expiresAt: '2100-01-01T00:00:00Z' };
    await create('credits.grant', { params: { contractId }, body });
  }
  for (let first = 0; first < events; first += batchSize) {
    const batch = Array.from({ length: Math.min(batchSize, events - first) }, (_, place) => {
      const i = first + place;
      return {
        eventName,
        customerId: subscribed[(i * 7919) % contracts]?.customerId,
        idempotencyKey: `event-${i}`,
        timestamp: timestampOf(i, events),
        properties: { tokens: (i * 104_729) % 900, model: ['small', 'medium', 'large'][i % 3] },
      };
    });
    await billing.call('usage.ingestBatch', { body: { events: batch } });
  }
  await engine.close();
}

function timestampOf(i: number, events: number): string {
  const epochMilliseconds = monthStart + Math.floor((i * monthMilliseconds) / events);
  return Temporal.Instant.fromEpochMilliseconds(epochMilliseconds).toString({ fractionalSecondDigits: 3 });
}

const eventName = 'request';

/** Usage by model, and a fee. */
export async function createPlan(create: Create): Promise<string> {
  const monthly = { priceInterval: 'MONTH' };
  const reads = { eventTypeFilter: { include: [eventName] }, aggregationKey: 'tokens', groupKeys: ['model'] };
  const meterId = await create('meters.create', { body: { code: 'TOKENS', displayName: 'Tokens', ...reads } });
  const usage = await create('pricing.create', {
    body: { productName: 'Inference', name: 'Tokens', model: 'USAGE', meterId, unitAmount: '0.0015', ...monthly },
  });
  const fee = await create('pricing.create', {
    body: { productName: 'Platform', name: 'Fee', model: 'FLAT', unitAmount: '20', ...monthly },
  });
  return await create('plans.create', { body: { name: 'Team', items: [{ pricingId: usage }, { pricingId: fee }] } });
}
