/** Who hangs up before the answer has gone is counted and logged like everybody else: what was asked for may have been done. */

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

import { expect, test } from 'vitest';

import { createMetrics } from '../../src/server/metrics.ts';
import { createClock } from '../support/world.ts';
import { createSampleEngine, fullKey, startService } from './harness.ts';
import type { SampleAnswers, SampleEngine } from './harness.ts';

async function startWatched(answers: SampleAnswers, engine: SampleEngine = createSampleEngine(answers)) {
  const metrics = createMetrics({ engine, version: '1.2.3', now: createClock().now });
  const service = await startService(engine, { metrics });
  return { service, read: async () => (await service.send('/metrics')).text };
}

async function begin(port: number, head: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`${head}\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${fullKey}\r\n\r\n`);
  return socket;
}

/** A list of customers that is asked for, and answered after the caller has hung up. */
async function abortList(outcome: () => object) {
  const asked = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const { service, read } = await startWatched({
    'customers.list': async () => {
      asked.resolve();
      await gone.promise;
      return { status: 200, body: outcome() } as never;
    },
  });
  const socket = await begin(service.port, 'GET /v1/customers HTTP/1.1');
  await asked.promise;
  socket.destroy();
  await once(socket, 'close');
  // The service has seen the end of the connection when it has answered a later one.
  await service.send('/healthz');
  gone.resolve();
  await expect.poll(() => service.log.filter(({ route }) => route === '/v1/customers').length).toBe(1);
  return { log: service.log.find(({ route }) => route === '/v1/customers'), metrics: await read() };
}

test('a request whose caller hung up is under way no longer than it takes', async () => {
  const { log, metrics } = await abortList(() => ({}));
  expect(log).toMatchObject({ status: 200, isAborted: true, organizationId: 'org-1' });
  expect(metrics).toContain('tally_http_requests_total{method="GET",route="/v1/customers",status="200"} 1');
  expect(metrics).toContain('tally_http_requests_in_flight 1\n');
});

test('a bug that nobody waited for is in the log all the same', async () => {
  const bug = new TypeError('a bug');
  const { log, metrics } = await abortList(() => {
    throw bug;
  });
  expect(log).toMatchObject({ status: 500, isAborted: true, error: bug });
  expect(metrics).toContain('tally_database_errors_total{kind="internal"} 1');
});

test('an answer that was not read to its end is told once', async () => {
  const body = { text: 'x'.repeat(16_000_000) };
  const { service, read } = await startWatched({ 'customers.list': () => ({ status: 200, body }) as never });
  const socket = await begin(service.port, 'GET /v1/customers HTTP/1.1');
  await once(socket, 'data');
  socket.destroy();
  await expect.poll(() => service.log).toMatchObject([{ status: 200, isAborted: true }]);
  const text = await read();
  expect(text).toContain('tally_http_requests_total{method="GET",route="/v1/customers",status="200"} 1');
  expect(text).toContain('tally_http_requests_in_flight 1\n');
});

test('a body that never came to its end is a request that ended', async () => {
  const { service, read } = await startWatched({});
  const socket = await begin(
    service.port,
    'POST /v1/customers HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9',
  );
  socket.end('{');
  await expect.poll(() => service.log).toMatchObject([{ route: '/v1/customers', status: 400 }]);
  expect(await read()).toContain('tally_http_requests_in_flight 1\n');
});

test('a body that nobody read before its caller hung up is that of a request that ended', async () => {
  const asked = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const engine = createSampleEngine();
  const authenticate = async (key: string) => {
    asked.resolve();
    await gone.promise;
    return await engine.authenticate(key);
  };
  const { service, read } = await startWatched({}, { ...engine, authenticate });
  const head = 'POST /v1/customers HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2';
  const socket = await begin(service.port, head);
  socket.write('{}');
  await asked.promise;
  socket.destroy();
  await once(socket, 'close');
  await service.send('/healthz');
  gone.resolve();
  const ended = expect.objectContaining({ route: '/v1/customers', status: 400, isAborted: true }) as unknown;
  await expect.poll(() => service.log).toContainEqual(ended);
  expect(await read()).toContain('tally_http_requests_in_flight 1\n');
});

// Other systems may forget what came on such a connection.
test.runIf(process.platform === 'linux')(
  'a caller who hung up before being accepted is limited like others',
  async () => {
    const { log, port } = await startService(createSampleEngine(), { rateLimitPerMinute: 1 });
    const request = `GET /v1/customers HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${fullKey}\r\n\r\n`;
    const sending = `const socket = require('node:net').connect(${port}, '127.0.0.1', () =>
    socket.write(${JSON.stringify(request)}, () => socket.resetAndDestroy()))`;
    // Nothing is accepted while this process waits.
    for (let count = 0; count < 2; count += 1) expect(spawnSync(process.execPath, ['-e', sending]).status).toBe(0);
    await expect
      .poll(() => log.map(({ status, isAborted }) => ({ status, isAborted })))
      .toEqual([
        { status: 200, isAborted: true },
        { status: 429, isAborted: true },
      ]);
  },
);

test('a path that is none is counted and logged once', async () => {
  const { service, read } = await startWatched({});
  expect((await service.send('/v1/%')).status).toBe(400);
  expect(service.log).toMatchObject([{ method: 'GET', status: 400, route: undefined }]);
  const text = await read();
  expect(text).toContain('tally_http_requests_total{method="GET",route="none",status="400"} 1');
  expect(text).toContain('tally_http_requests_in_flight 1\n');
});
