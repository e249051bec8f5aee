/** Health, readiness and counters: they say what is so, and nothing about who uses the service. */

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';

import { describe, expect, test } from 'vitest';

import { BillingError, UnavailableError } from '../../src/errors.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import type { Metrics } from '../../src/server/metrics.ts';
import type { RequestLog } from '../../src/server/request-log.ts';
import { makeCertificate } from '../support/certificate.ts';
import { createClock } from '../support/world.ts';
import { createSampleEngine, keyFor, startService } from './harness.ts';
import type { SampleEngine, Service } from './harness.ts';

const open = { headers: { authorization: null } };

async function startWatched(
  engine: SampleEngine = createSampleEngine(),
  options: Parameters<typeof startService>[1] = {},
): Promise<{
  readonly service: Service;
  readonly metrics: Metrics;
  readonly read: () => Promise<Map<string, string>>;
}> {
  const metrics = createMetrics({ engine, version: '1.2.3', now: createClock().now });
  const service = await startService(engine, { metrics, ...options });
  return { service, metrics, read: async () => samplesOf((await service.send('/metrics', open)).text) };
}

/** A request as it is told when it ends. */
const ended: RequestLog = {
  requestId: 'r',
  method: 'GET',
  route: '/v1/plans',
  status: 200,
  milliseconds: 1,
  organizationId: undefined,
};

function samplesOf(text: string): Map<string, string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), line.slice(line.lastIndexOf(' ') + 1)]));
}

describe('readiness', () => {
  test('is given while the database can be written', async () => {
    const { service } = await startWatched();
    const reply = await service.send('/readyz', open);
    expect([reply.status, JSON.parse(reply.text)]).toEqual([200, { status: 'ready' }]);
  });

  test.each([
    [
      'database is locked',
      'checkWritable',
      new UnavailableError('the database /home/ada/billing.db is locked'),
      'the database cannot be written now',
    ],
    ['database breaks', 'checkWritable', new Error('disk image is malformed: /home/ada/b.db'), 'the database failed'],
    [
      'database is damaged',
      'checkWritable',
      new BillingError('internal', 'the database /home/ada/billing.db is damaged'),
      'the database failed',
    ],
    [
      'database of events is away',
      'checkEvents',
      new UnavailableError('the events at ada.example cannot be reached'),
      'the database of events does not answer',
    ],
    ['database of events breaks', 'checkEvents', new Error('of /home/ada'), 'the database of events failed'],
  ] as const)(
    'is not given while the %s, though it lives, and its place is not told',
    async (_, probe, error, reason) => {
      const { service } = await startWatched(createSampleEngine({}, { [probe]: async () => Promise.reject(error) }));
      const reply = await service.send('/readyz', open);
      expect([reply.status, JSON.parse(reply.text)]).toEqual([503, { status: 'notReady', reason }]);
      // A balancer then sends no request whose failure would tell the cause.
      expect(service.log).toMatchObject([{ route: '/readyz', status: 503, error }]);
      expect((await service.send('/healthz', open)).status).toBe(200);
    },
  );

  test('is looked for few times, however many ask without a key', async () => {
    let looks = 0;
    const { service } = await startWatched(createSampleEngine({}, { checkWritable: async () => void (looks += 1) }));
    const replies = await Promise.all(Array.from({ length: 200 }, async () => await service.send('/readyz', open)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(looks).toBeLessThan(50);
  });

  test('is told as it is when it is asked for, and not as it was', async () => {
    let isLocked = false;
    const checkWritable = async () => {
      if (isLocked) throw new UnavailableError('locked');
    };
    const { service } = await startWatched(createSampleEngine({}, { checkWritable }));
    const statuses: number[] = [];
    for (isLocked of [false, true, false]) statuses.push((await service.send('/readyz', open)).status);
    expect(statuses).toEqual([200, 503, 200]);
  });
});

describe('a database that hangs', () => {
  const never = async () => await new Promise<never>(() => {});

  test('is told to those who watch, long before a request that needs it is given up', async () => {
    const engine = createSampleEngine({}, { ping: never, checkWritable: never, vitals: never });
    const metrics = createMetrics({ engine, version: '1.2.3', now: createClock().now, probeMilliseconds: 20 });
    const service = await startService(engine, { metrics, probeMilliseconds: 20 });
    expect((await service.send('/healthz', open)).status).toBe(503);
    const ready = await service.send('/readyz', open);
    expect([ready.status, JSON.parse(ready.text)]).toEqual([
      503,
      { status: 'notReady', reason: 'the database cannot be written now' },
    ]);
    const counters = await service.send('/metrics', open);
    expect([counters.status, samplesOf(counters.text).get('tally_database_up')]).toEqual([200, '0']);
  });

  test('of events keeps the service from being ready', async () => {
    const service = await startService(createSampleEngine({}, { checkEvents: never }), { probeMilliseconds: 20 });
    expect(JSON.parse((await service.send('/readyz', open)).text)).toEqual({
      status: 'notReady',
      reason: 'the database of events does not answer',
    });
  });
});

describe('notice of leaving', () => {
  test('is given by readiness, while requests are answered; then connections are refused', async () => {
    const { service, read } = await startWatched(createSampleEngine(), { noticeMilliseconds: 400 });
    const began = performance.now();
    const closed = service.close();
    const ready = await service.send('/readyz', open);
    expect([ready.status, JSON.parse(ready.text)]).toEqual([
      503,
      { status: 'notReady', reason: 'the service is closing' },
    ]);
    const { status, headers } = await service.send('/v1/customers', { headers: { connection: 'keep-alive' } });
    expect([status, headers.connection]).toEqual([200, 'close']);
    expect((await service.send('/healthz', open)).status).toBe(200);
    // Nobody is to be called because a service ends as it should.
    expect((await read()).get('tally_database_errors_total{kind="unavailable"}')).toBe('0');
    await closed;
    expect(performance.now() - began).toBeGreaterThan(390);
    await expect(service.send('/v1/customers')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('counters', () => {
  test('count requests by method, route and status, and never what a caller chose', async () => {
    const { service, read } = await startWatched();
    await service.send('/v1/customers/secret-name');
    await service.send('/v1/customers/another', { headers: { authorization: null } });
    await service.send('/v1/nowhere/secret-name');
    const samples = await read();
    const total = (labels: string): string | undefined => samples.get(`tally_http_requests_total{${labels}}`);
    expect(total('method="GET",route="/v1/customers/:customerId",status="200"')).toBe('1');
    expect(total('method="GET",route="/v1/customers/:customerId",status="401"')).toBe('1');
    expect(total('method="GET",route="none",status="404"')).toBe('1');
    expect([...samples.keys()].filter((name) => name.includes('secret-name'))).toEqual([]);
    expect(
      samples.get('tally_http_request_duration_seconds_count{method="GET",route="/v1/customers/:customerId"}'),
    ).toBe('2');
    expect(samples.get('tally_http_requests_in_flight')).toBe('1');
  });

  test('count the events that were acknowledged, one by one and in batches, and not those refused', async () => {
    const accepted = { status: 202, body: { status: 'accepted', count: 3, requestId: 'r' } } as never;
    const engine = createSampleEngine({ 'usage.ingestBatch': () => accepted });
    const { service, read } = await startWatched(engine);
    const event = { eventName: 'x', customerId: 'c' };
    await service.send('/v1/events', { method: 'POST', body: JSON.stringify(event) });
    await service.send('/v1/events/batch', { method: 'POST', body: JSON.stringify({ events: [event, event, event] }) });
    await service.send('/v1/events', { method: 'POST', body: '{}' });
    expect((await read()).get('tally_events_accepted_total')).toBe('4');
  });

  test('show the queue of the database and how long the oldest webhook has waited', async () => {
    const now = createClock().now();
    const vitals = { pendingTransactions: 5, dueDeliveries: 2, oldestDueAt: now.subtract({ seconds: 90 }).toString() };
    const { read } = await startWatched(createSampleEngine({}, { vitals: async () => Promise.resolve(vitals) }));
    const samples = await read();
    expect(samples.get('tally_database_up')).toBe('1');
    expect(samples.get('tally_transactions_pending')).toBe('5');
    expect(samples.get('tally_webhook_deliveries_due')).toBe('2');
    expect(samples.get('tally_webhook_oldest_due_seconds')).toBe('90');
  });

  test('say that the database is down, and nothing of what only it could tell', async () => {
    let isThere = true;
    const vitals = async () => {
      if (!isThere) throw new UnavailableError('gone');
      return await Promise.resolve({ pendingTransactions: 5, dueDeliveries: 2 });
    };
    const { read } = await startWatched(createSampleEngine({}, { vitals }));
    expect((await read()).get('tally_database_up')).toBe('1');
    isThere = false;
    const samples = await read();
    expect(samples.get('tally_database_up')).toBe('0');
    expect([...samples.keys()].filter((name) => /tally_webhook|tally_transactions/.test(name))).toEqual([]);
  });

  test('count what the database spoilt, bill runs, and what those finalized', async () => {
    const engine = createSampleEngine({
      'customers.list': async () => Promise.reject(new UnavailableError('locked')),
      'plans.list': async () => Promise.reject(new Error('a bug')),
    });
    const { service, metrics, read } = await startWatched(engine);
    await service.send('/v1/customers');
    await service.send('/v1/plans');
    metrics.billRunEnded({ report: { finalizedCount: 1, failedCount: 1, failures: [] } });
    metrics.billRunEnded({ error: new Error('no') });
    metrics.billRunEnded({ report: { finalizedCount: 2, failedCount: 0, failures: [] }, error: new Error('midway') });
    expect((await read()).get('tally_bill_run_last_success_timestamp_seconds')).toBe('0');
    metrics.billRunEnded({ report: { finalizedCount: 7, failedCount: 0, failures: [] } });
    const samples = await read();
    expect(samples.get('tally_database_errors_total{kind="unavailable"}')).toBe('1');
    expect(samples.get('tally_database_errors_total{kind="internal"}')).toBe('1');
    expect(samples.get('tally_bill_runs_total{outcome="done"}')).toBe('1');
    expect(samples.get('tally_bill_runs_total{outcome="failed"}')).toBe('3');
    expect(samples.get('tally_invoices_finalized_total')).toBe('10');
    const at = String(createClock().now().epochMilliseconds / 1000);
    expect(samples.get('tally_bill_run_last_success_timestamp_seconds')).toBe(at);
  });

  test('of what alerts wait for are 0 before the first, which would be no increase of what was not there', async () => {
    const { read } = await startWatched();
    const samples = await read();
    for (const kind of ['unavailable', 'internal'])
      expect(samples.get(`tally_database_errors_total{kind="${kind}"}`)).toBe('0');
    for (const outcome of ['done', 'failed'])
      expect(samples.get(`tally_bill_runs_total{outcome="${outcome}"}`)).toBe('0');
  });

  test('tell times in seconds, and no wait of a webhook that is noted for later', async () => {
    const oldestDueAt = createClock().now().add({ hours: 1 }).toString();
    const vitals = async () => await Promise.resolve({ pendingTransactions: 0, dueDeliveries: 1, oldestDueAt });
    const { metrics, read } = await startWatched(createSampleEngine({}, { vitals }));
    metrics.requestEnded({ ...ended, milliseconds: 250 });
    const samples = await read();
    expect(samples.get('tally_http_request_duration_seconds_sum{method="GET",route="/v1/plans"}')).toBe('0.25');
    expect(samples.get('tally_webhook_oldest_due_seconds')).toBe('0');
  });

  test('count what went wrong while the service ends, and not that it ends', async () => {
    const { metrics, read } = await startWatched();
    metrics.requestEnded({ ...ended, status: 503, isLeaving: true });
    metrics.requestEnded({ ...ended, status: 503, isLeaving: true, error: new UnavailableError('locked') });
    expect((await read()).get('tally_database_errors_total{kind="unavailable"}')).toBe('1');
  });

  test('are open on loopback alone, which others cannot reach', async () => {
    const certificate = makeCertificate();
    const { service } = await startWatched(createSampleEngine(), { host: '0.0.0.0', tls: certificate });
    const asked = request(`https://127.0.0.1:${service.port}/metrics`, { ca: certificate.cert });
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(401);
  });

  test('take a key that may do everything behind a proxy', async () => {
    const { service } = await startWatched(createSampleEngine(), { trustProxy: '127.0.0.1' });
    const statusOf = async (headers: Record<string, string | null>): Promise<number> =>
      (await service.send('/metrics', { headers })).status;
    expect(await statusOf({ authorization: null })).toBe(401);
    expect(await statusOf({ authorization: `Bearer ${keyFor('usage:read')}` })).toBe(403);
    expect(await statusOf({ authorization: `Bearer ${keyFor('*')}` })).toBe(200);
  });

  test('are what Prometheus reads', async () => {
    const { service } = await startWatched();
    const reply = await service.send('/metrics', open);
    expect(reply.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    const described = new Set([...reply.text.matchAll(/^# TYPE (\w+) /gm)].map((match) => match[1]));
    const named = [...samplesOf(reply.text).keys()].map((name) => name.replace(/\{.*$/, ''));
    expect(
      named.filter((name) => !described.has(name) && !described.has(name.replace(/_(bucket|sum|count)$/, ''))),
    ).toEqual([]);
  });
});
