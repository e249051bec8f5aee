/**
 * What a service counts of its own work, in the text format of Prometheus. Labels are methods, patterns of routes and kinds:
 * nothing that a caller chose, and no organization.
 */

import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

import { errorFacts } from '../errors.ts';
import type { Moment } from '../operations/field-rules.ts';
import type { Engine } from '../operations/index.ts';
import { inTime } from './in-time.ts';
import { ownFailures } from './request-log.ts';
import type { RequestLog } from './request-log.ts';
import type { RunOutcome } from './scheduler.ts';

/** Called for each thing as it happens; only `text` reads the database. */
export interface Metrics {
  readonly requestBegan: () => void;
  readonly requestEnded: (entry: RequestLog) => void;
  readonly eventsAccepted: (count: number) => void;
  readonly billRunEnded: (outcome: RunOutcome) => void;
  /** All metrics as they are now; those read from the database are left out if it does not answer. */
  readonly text: () => Promise<{ readonly contentType: string; readonly body: string }>;
}

/** From a cached read to a bill run, in seconds. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const kindsByStatus = new Map(ownFailures.map((kind) => [errorFacts[kind].status, kind]));

export interface MetricsOptions {
  readonly engine: Pick<Engine, 'vitals'>;
  readonly version: string;
  readonly now: () => Moment;
  /** How long a look at the database may take. Default: `limits.probeMilliseconds`. */
  readonly probeMilliseconds?: number | undefined;
}

/** The counters of one server, all at zero. */
export function createMetrics({ engine, version, now, probeMilliseconds }: MetricsOptions): Metrics {
  const registry = new Registry();
  // Without `register`, prom-client counts into one registry for all servers of a process.
  collectDefaultMetrics({ register: registry, prefix: 'tally_' });
  const registers = [registry];
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers });

  gauge('tally_build_info', 'The version that answers.', ['version']).set({ version }, 1);
  const requests = counter('tally_http_requests_total', 'Requests answered.', ['method', 'route', 'status']);
  const durations = new Histogram({
    name: 'tally_http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer.',
    labelNames: ['method', 'route'],
    buckets: durationBuckets,
    registers,
  });
  const underWay = gauge('tally_http_requests_in_flight', 'Requests that are being answered.');
  const failures = counter('tally_database_errors_total', 'Answers that failed because of the database or a bug.', [
    'kind',
  ]);
  const events = counter('tally_events_accepted_total', 'Usage events acknowledged.');
  const databaseUp = gauge('tally_database_up', '1 when the database answered just now, else 0.');
  const pending = gauge('tally_transactions_pending', 'Transactions that run or wait for their turn.');
  const deliveriesDue = gauge('tally_webhook_deliveries_due', 'Deliveries that are due and that no sender has taken.');
  const oldestDelivery = gauge('tally_webhook_oldest_due_seconds', 'How long the oldest of them has been due.');
  const billRuns = counter('tally_bill_runs_total', 'Bill runs of this process.', ['outcome']);
  const lastBillRun = gauge(
    'tally_bill_run_last_success_timestamp_seconds',
    'When the last one ended without a failure.',
  );
  // Prometheus sees an increase only from an earlier value, so the counters that alerts watch start at 0.
  for (const kind of ownFailures) failures.inc({ kind }, 0);
  for (const outcome of ['done', 'failed']) billRuns.inc({ outcome }, 0);
  const finalized = counter('tally_invoices_finalized_total', 'Invoices that bill runs of this process finalized.');

  async function look(): Promise<void> {
    try {
      const { pendingTransactions, dueDeliveries, oldestDueAt } = await inTime(engine.vitals(), probeMilliseconds);
      const waited = oldestDueAt === undefined ? 0 : now().epochMilliseconds - Date.parse(oldestDueAt);
      databaseUp.set(1);
      pending.set(pendingTransactions);
      deliveriesDue.set(dueDeliveries);
      oldestDelivery.set(Math.max(0, waited) / 1000);
    } catch {
      databaseUp.set(0);
      for (const unknown of [pending, deliveriesDue, oldestDelivery]) unknown.remove();
    }
  }

  return {
    requestBegan: () => underWay.inc(),
    requestEnded({ method, route = 'none', status, milliseconds, isLeaving = false, error }) {
      underWay.dec();
      requests.inc({ method, route, status });
      durations.observe({ method, route }, milliseconds / 1000);
      const kind = kindsByStatus.get(status);
      if (kind !== undefined && (!isLeaving || error !== undefined)) failures.inc({ kind });
    },
    eventsAccepted: (count) => events.inc(count),
    billRunEnded({ report, error }) {
      const isClean = error === undefined && report?.failedCount === 0;
      billRuns.inc({ outcome: isClean ? 'done' : 'failed' });
      finalized.inc(report?.finalizedCount ?? 0);
      if (isClean) lastBillRun.set(now().epochMilliseconds / 1000);
    },
    async text() {
      await look();
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}
