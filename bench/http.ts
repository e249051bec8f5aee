/**
 * The service over HTTP, beside a bare server and a bare database in the same run. Costs are the server's processor time, so
 * that neither the load generator nor the rest of the machine is measured; durable rates are by wall clock.
 */

import { join } from 'node:path';

import { bareIngestRate, openBare } from './event-limits.ts';
import { connections, perSecond, processorMicroseconds, routeOf, start } from './http-load.ts';
import type { InstalledPackage } from './installed-package.ts';
import { writeLedgerBook } from './ledger-book.ts';
import { inTurns } from './measure.ts';
import type { Result } from './report.ts';

/** A service runs for days, so it is measured after V8 has compiled its code. */
const untilWarm = 6;
const requestsPerRound = 4_000;
const grantsPerRound = 2_000;
const batchesPerRound = 20;
const eventsPerBatch = 1_000;
const mostRounds = 5;

export async function measureHttp({ folder }: InstalledPackage, rounds: number): Promise<Result[]> {
  const file = join(folder, 'served.db');
  const book = await writeLedgerBook(file, 200);
  const hello = await start();
  const service = await start(file);
  const headers = { authorization: `Bearer ${book.key}`, 'content-type': 'application/json' };
  let sent = 0;
  const measures = {
    hello: async () => await processorMicroseconds(hello, requestsPerRound, () => ({ path: '/' })),
    get: async () =>
      await processorMicroseconds(service, requestsPerRound, (i) => ({
        ...routeOf('customers.get', { customerId: book.customerIds[i % book.customerIds.length] ?? '' }),
        headers,
      })),
    commits: () => bareEventsPerSecond(folder, { count: 2_000, batch: 1 }),
    grants: async () =>
      await perSecond(service, grantsPerRound, (i) => ({
        ...routeOf('credits.grant', { contractId: book.contractIds[i % book.contractIds.length] ?? '' }),
        headers,
        body: JSON.stringify({ amountCents: 1, expiresAt: '2100-01-01T00:00:00Z' }),
      })),
    bareEvents: () => bareEventsPerSecond(folder, { count: 100_000, batch: eventsPerBatch }),
    events: async () =>
      eventsPerBatch *
      (await perSecond(service, batchesPerRound, () => ({
        ...routeOf('usage.ingestBatch', {}),
        headers,
        body: JSON.stringify({ events: batchOf(book.customerIds, (sent += eventsPerBatch)) }),
      }))),
  };
  try {
    for (let turn = 0; turn < untilWarm; turn += 1) {
      for (const name of ['hello', 'get', 'grants', 'events'] as const) await measures[name]();
    }
    return resultsOf(await inTurns(measures, { turns: Math.min(rounds, mostRounds) }));
  } finally {
    for (const { child } of [hello, service]) child.kill();
  }
}

type Figure = 'hello' | 'get' | 'commits' | 'grants' | 'bareEvents' | 'events';

function resultsOf(medians: Readonly<Record<Figure, number>>): Result[] {
  return [
    { name: 'bare node:http, processor time of a request', measured: medians.hello, unit: 'us' },
    {
      name: 'GET of a customer, with key, scope and rate limit',
      measured: medians.get,
      unit: 'us',
      ratio: medians.hello / medians.get,
      ratioTo: 'the bare rate',
      lowestRatio: 0.4,
    },
    { name: 'bare durable inserts, a commit each', measured: medians.commits, unit: 'commits/s' },
    {
      name: `POST of a grant, ${connections} connections`,
      measured: medians.grants,
      unit: 'requests/s',
      ratio: medians.grants / medians.commits,
      ratioTo: 'bare commits',
      lowestRatio: 8,
    },
    {
      name: `bare durable inserts of events, ${eventsPerBatch} a commit`,
      measured: medians.bareEvents,
      unit: 'events/s',
    },
    {
      name: `POST of ${eventsPerBatch} events`,
      measured: medians.events,
      unit: 'events/s',
      ratio: medians.events / medians.bareEvents,
      ratioTo: 'bare inserts',
      lowestRatio: 0.5,
    },
  ];
}

function bareEventsPerSecond(
  folder: string,
  { count, batch }: { readonly count: number; readonly batch: number },
): number {
  const database = openBare(join(folder, 'bare.db'));
  const rate = bareIngestRate(database, { first: 0, last: count, count, batch });
  database.close();
  return rate;
}

function batchOf(customerIds: readonly string[], from: number): unknown[] {
  return Array.from({ length: eventsPerBatch }, (_, place) => ({
    eventName: 'request-0',
    customerId: customerIds[((from + place) * 7919) % customerIds.length],
    properties: { tokens: ((from + place) * 104_729) % 900, model: ['small', 'medium', 'large'][place % 3] },
  }));
}
