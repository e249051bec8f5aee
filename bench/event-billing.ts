/** Goal 5: billing a month of events for a thousand customers with five meters, beside a loop that reads as many daily sums. */

import { closeSync, copyFileSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';

import { creator } from './creator.ts';
import { customerCount, customerName, eventNames } from './event-data.ts';
import { removeDatabase, rollUpMilliseconds } from './event-limits.ts';
import type { EventService } from './event-service.ts';
import type { InstalledPackage } from './installed-package.ts';
import { median } from './measure.ts';
import type { Result } from './report.ts';

const month = { startDate: '2026-02-01', endDate: '2026-03-01' };
const madeAtOnce = 100;
const rounds = 3;

interface FilledService {
  readonly service: EventService;
  readonly file: string;
  readonly count: number;
}

/** Adds meters, prices and contracts to the service, and bills copies of it with the installed program. */
export async function measureBillingOfEvents(
  { folder, run }: InstalledPackage,
  { service, file, count }: FilledService,
): Promise<Result[]> {
  await subscribeAll(service);
  await service.close();
  const copy = join(folder, 'billed-events.db');
  const milliseconds = median(Array.from({ length: rounds }, () => billOnce(run, file, copy)));
  removeDatabase(copy);
  const loopMilliseconds = rollUpMilliseconds(join(folder, 'days.db')) * customerCount * eventNames.length;
  const contracts = customerCount.toLocaleString('en-US');
  return [
    {
      name: `goal 5: tally bill run, ${contracts} contracts x ${eventNames.length} meters, at ${count / 1e6} million`,
      measured: milliseconds,
      unit: 'ms',
      ratio: milliseconds / loopMilliseconds,
      ratioTo: 'a loop over daily sums',
      highestRatio: 2,
    },
    {
      name: 'goal 5: its invoices, written durably',
      measured: (customerCount / milliseconds) * 1000,
      unit: 'contracts/s',
      lowest: 1_000,
    },
  ];
}

/** A meter with a price for each event name, and for each customer a contract with all of them. */
async function subscribeAll({ billing }: EventService): Promise<void> {
  const create = creator(billing);
  const items: { pricingId: string }[] = [];
  for (const eventName of eventNames) {
    const reads = { eventTypeFilter: { include: [eventName] }, aggregationType: 'SUM', aggregationKey: 'tokens' };
    const code = `BILLED_${eventName.toUpperCase()}`;
    const meterId = await create('meters.create', { body: { code, displayName: eventName, ...reads } });
    const price = { productName: eventName, name: eventName, model: 'USAGE', meterId, unitAmount: '0.0001' };
    items.push({ pricingId: await create('pricing.create', { body: { ...price, priceInterval: 'MONTH' } }) });
  }
  const planId = await create('plans.create', { body: { name: 'Everything', items } });
  const subscribe = async (customer: number): Promise<void> => {
    const query = { externalCustomerId: customerName(customer) };
    const { body } = await billing.call('customers.list', { query });
    await create('contracts.create', { body: { planId, customerId: body.data[0]?.id, ...month } });
  };
  for (let first = 0; first < customerCount; first += madeAtOnce) {
    await Promise.all(Array.from({ length: madeAtOnce }, async (_, place) => await subscribe(first + place)));
  }
}

function billOnce(run: InstalledPackage['run'], file: string, copy: string): number {
  removeDatabase(copy);
  copyFileSync(file, copy);
  makeDurable(copy);
  const { milliseconds, stdout } = run('--database', copy, 'bill', 'run', '-o', 'json');
  const { finalizedCount } = JSON.parse(stdout).data;
  if (finalizedCount !== customerCount) throw new Error(`${finalizedCount} of ${customerCount} were finalized`);
  return milliseconds;
}

/** So that the command does not wait for pending writes of the copy. */
function makeDurable(file: string): void {
  const handle = openSync(file, 'r+');
  fsyncSync(handle);
  closeSync(handle);
}
