/** What monitoring of a service wants to know of its database. */

import type { Vitals } from '../operations/index.ts';
import { countDueDeliveries } from '../store/records/webhook-queue.ts';
import type { EngineDependencies } from './dependencies.ts';
import { wireTimestamp } from './wire.ts';

/** Counted on one snapshot, by the real clock, because deliveries go by it. */
export async function readVitals({ store, now }: Pick<EngineDependencies, 'store' | 'now'>): Promise<Vitals> {
  const { pendingTransactions } = store;
  const { count, oldestDueAt } = await store.read(async (tx) => await countDueDeliveries(tx, wireTimestamp(now())));
  return { pendingTransactions, dueDeliveries: count, ...(oldestDueAt === null ? {} : { oldestDueAt }) };
}
