import { once } from 'node:events';
import { connect } from 'node:net';

import { describe, expect, onTestFinished, test } from 'vitest';

import { UnavailableError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createClock } from '../support/world.ts';
import { createSampleEngine, fullKey, sendRaw, serverWith, startService } from './harness.ts';

const wrongKey = { headers: { authorization: 'Bearer nobody' } };

describe('the rate limit', () => {
  test('refuses the request after the last allowed one, and says when the next is welcome', async () => {
    const service = await startService(createSampleEngine(), { rateLimitPerMinute: 3 });
    for (let count = 0; count < 3; count += 1) expect((await service.send('/v1/customers')).status).toBe(200);
    const refused = await service.send('/v1/customers');
    expect(refused.status).toBe(429);
    expect(JSON.parse(refused.text)).toEqual({
      error: { message: 'too many requests: at most 3 a minute', code: 'RATE_LIMITED' },
    });
    expect(refused.headers['retry-after']).toBe('20');
    service.clock.advance({ seconds: 19 });
    expect((await service.send('/v1/customers')).headers['retry-after']).toBe('1');
    service.clock.advance({ seconds: 1 });
    expect((await service.send('/v1/customers')).status).toBe(200);
    expect((await service.send('/v1/customers')).status).toBe(429);
  });

  test('is 100 a minute unless told otherwise', async () => {
    const service = await startService(createSampleEngine(), { rateLimitPerMinute: undefined });
    const statuses: number[] = [];
    for (let count = 0; count < 101; count += 1) statuses.push((await service.send('/nowhere')).status);
    expect(statuses.filter((status) => status === 404)).toHaveLength(100);
    expect(statuses.at(-1)).toBe(429);
  });

  test('counts refused requests, unknown paths and the description like any other', async () => {
    const service = await startService(createSampleEngine(), { rateLimitPerMinute: 3 });
    await service.send('/nowhere');
    await service.send('/openapi.json');
    await service.send('/v1/customers', { headers: { authorization: null } });
    expect((await service.send('/v1/customers')).status).toBe(429);
  });

  test('does not count events or questions after health', async () => {
    const engine = createSampleEngine();
    const { now } = createClock();
    const metrics = createMetrics({ engine, version: '1', now });
    const service = await startService(engine, { rateLimitPerMinute: 1, metrics });
    for (let count = 0; count < 5; count += 1) {
      expect((await service.send('/v1/events/batch', { method: 'POST', body: '{}' })).status).toBe(422);
      for (const path of ['/healthz', '/readyz', '/metrics']) expect((await service.send(path)).status).toBe(200);
    }
    expect((await service.send('/v1/customers')).status).toBe(200);
  });

  test('counts the bytes of events instead, and has who sent too many wait until they have come in again', async () => {
    const service = await startService(createSampleEngine(), { rateLimitPerMinute: 1, eventBytesPerMinute: 60 });
    const sendEvents = async () =>
      await service.send('/v1/events/batch', { method: 'POST', body: JSON.stringify({ note: 'x'.repeat(89) }) });
    expect((await sendEvents()).status).toBe(422);
    const refused = await sendEvents();
    expect(refused.status).toBe(429);
    expect(JSON.parse(refused.text).error.message).toBe('too many events: at most 60 bytes of them a minute');
    // A body of 100 bytes leaves 40 to come in, one a second, and one more to begin with.
    expect(refused.headers['retry-after']).toBe('41');
    expect((await service.send('/v1/customers')).status).toBe(200);
    service.clock.advance({ seconds: 40 });
    expect((await sendEvents()).status).toBe(429);
    service.clock.advance({ seconds: 1 });
    expect((await sendEvents()).status).toBe(422);
  });

  test('a clock that goes back gives nobody more', async () => {
    const service = await startService(createSampleEngine(), { rateLimitPerMinute: 1 });
    await service.send('/v1/customers');
    service.clock.advance({ hours: -1 });
    expect((await service.send('/v1/customers')).status).toBe(429);
  });

  test('0 lifts it', async () => {
    const service = await startService(createSampleEngine(), { rateLimitPerMinute: 0 });
    for (let count = 0; count < 120; count += 1) expect((await service.send('/healthz')).status).toBe(200);
    for (let count = 0; count < 12; count += 1)
      expect((await service.send('/v1/customers', wrongKey)).status).toBe(401);
  });

  test('a header cannot make one address into many', async () => {
    const service = await startService(createSampleEngine(), { rateLimitPerMinute: 1 });
    await service.send('/v1/customers', { headers: { 'x-forwarded-for': '10.0.0.1' } });
    const reply = await service.send('/v1/customers', {
      headers: { 'x-forwarded-for': '10.0.0.2', 'x-real-ip': '10.0.0.3' },
    });
    expect(reply.status).toBe(429);
  });

  test.each([
    ['the last address that is no trusted proxy', '10.0.0.1', '9.9.9.9, 10.0.0.1', 429],
    ['another address', '10.0.0.1', '10.0.0.2', 200],
    ['an address of the same IPv6 /64', '2001:db8:1:2::1', '2001:db8:1:2:ffff::2', 429],
    ['an address of another IPv6 /64', '2001:db8:1:2::1', '2001:db8:1:3::1', 200],
    ['an IPv4 address written as IPv6', '10.0.0.1', '::ffff:10.0.0.1', 429],
    ['an address without its port', '10.0.0.1:5000', '10.0.0.1:5001', 429],
    ['an IPv6 address without its port', '[2001:db8:1:2::1]:5000', '[2001:db8:1:2::1]:5001', 429],
  ])('behind a trusted proxy, %s counts', async (_what, first, second, status) => {
    const service = await startService(createSampleEngine(), { rateLimitPerMinute: 1, trustProxy: '127.0.0.1' });
    await service.send('/v1/customers', { headers: { 'x-forwarded-for': first } });
    const reply = await service.send('/v1/customers', { headers: { 'x-forwarded-for': second } });
    expect(reply.status).toBe(status);
  });
});

describe('refused keys', () => {
  test('are refused unread after ten a minute from one address, on every path', async () => {
    const service = await startService(createSampleEngine(), { rateLimitPerMinute: 1000 });
    for (let count = 0; count < 10; count += 1)
      expect((await service.send('/v1/customers', wrongKey)).status).toBe(401);
    const refused = await service.send('/v1/events', { method: 'POST', ...wrongKey });
    expect([refused.status, refused.message]).toEqual([429, 'too many refused keys: at most 10 a minute']);
    expect(refused.headers['retry-after']).toBe('6');
    expect(service.engine.authentications).toHaveLength(10);
    service.clock.advance({ seconds: 6 });
    expect((await service.send('/v1/customers')).status).toBe(200);
  });

  test('are not counted where the header holds no key at all', async () => {
    const service = await startService(createSampleEngine(), { rateLimitPerMinute: 1000 });
    for (let count = 0; count < 12; count += 1) {
      expect((await service.send('/v1/customers', { headers: { authorization: null } })).status).toBe(401);
    }
    expect((await service.send('/v1/customers')).status).toBe(200);
  });

  test('are not what the engine could not look at', async () => {
    const authenticate = async () => await Promise.reject(new UnavailableError('the database is locked'));
    const engine = { ...createSampleEngine(), authenticate };
    const service = await startService(engine, { rateLimitPerMinute: 1000 });
    for (let count = 0; count < 12; count += 1) expect((await service.send('/v1/customers')).status).toBe(503);
  });
});

describe('connections', () => {
  test('a normal client is served while a hundred send their headers one byte at a time', async () => {
    const service = await startService();
    const slow = Array.from({ length: 100 }, () => connect(service.port, '127.0.0.1'));
    onTestFinished(() => slow.forEach((socket) => socket.destroy()));
    await Promise.all(
      slow.map(async (socket) => {
        socket.on('error', () => {});
        await once(socket, 'connect');
        socket.write('GET /v1/customers HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
      }),
    );
    expect((await service.send('/v1/customers')).status).toBe(200);
  });

  test('a refused connection ends, also where the other side goes on sending', async () => {
    const { port } = await startService();
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const sending = setInterval(() => socket.write(' '), 20);
    const answer: Buffer[] = [];
    socket.on('data', (bytes: Buffer) => answer.push(bytes));
    socket.write('no request\r\n\r\n');
    const cut = await new Promise<unknown>((resolve) => socket.once('error', resolve));
    clearInterval(sending);
    expect(Buffer.concat(answer).toString()).toMatch(/^HTTP\/1\.1 400 /);
    expect(cut).toMatchObject({ code: expect.stringMatching(/^(?:EPIPE|ECONNRESET)$/) });
  });

  test('who asks for a tunnel is refused in the envelope, and hung up on', async () => {
    const { port } = await startService();
    const answer = await sendRaw(port, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain('tallybook-version: ');
    const error = { message: 'CONNECT is not offered: this is not a proxy', code: 'BAD_REQUEST' };
    expect(answer.endsWith(`\r\n\r\n${JSON.stringify({ error })}`)).toBe(true);
  });

  test('an expectation that is not met is refused, counted and told of like any other request', async () => {
    const service = await startService(createSampleEngine(), { rateLimitPerMinute: 1 });
    const expecting = { headers: { expect: 'x' } };
    expect(await service.send('/v1/customers', expecting)).toMatchObject({
      status: 400,
      message: 'no Expect other than 100-continue is supported',
    });
    expect((await service.send('/v1/customers', expecting)).status).toBe(429);
    expect(service.log).toMatchObject([{ route: '/v1/customers', status: 400 }, { status: 429 }]);
    expect(service.engine.calls).toEqual([]);
  });

  test('who asks for a tunnel and breaks off does not stop the service', async () => {
    const service = await startService();
    const socket = connect(service.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n');
    await once(socket, 'data');
    socket.resetAndDestroy();
    expect((await service.send('/healthz')).status).toBe(200);
  });

  test('a request without Host is refused in the envelope', async () => {
    const { port } = await startService();
    const answer = await sendRaw(port, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(answer).toContain('{"error":{"message":"exactly one Host header is needed","code":"BAD_REQUEST"}}');
  });

  test('a body that stops arriving ends the connection, and is answered by nothing', async () => {
    const service = await startService(createSampleEngine(), { socketIdleMilliseconds: 50 });
    const head = `POST /v1/customers HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${fullKey}\r\n`;
    const rest = 'Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{';
    expect(await sendRaw(service.port, `${head}${rest}`)).toBe('');
  });

  test('headers that do not arrive in time end the connection', async () => {
    const service = await startService(createSampleEngine(), { headersTimeoutMilliseconds: 50 });
    const answer = await sendRaw(service.port, 'GET /v1/customers HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain('"code":"BAD_REQUEST"');
  });
});

describe('starting', () => {
  test('a port in use is said plainly', async () => {
    const first = await startService();
    const second = serverWith({ port: first.port });
    await expect(second.listen()).rejects.toMatchObject({
      kind: 'unavailable',
      message: `port ${first.port} of 127.0.0.1 is in use by another program`,
      hint: 'choose another with --port or --host',
    });
  });

  test('an address of another machine is said plainly', async () => {
    const server = serverWith({ host: '203.0.113.7', isBehindProxy: true });
    await expect(server.listen()).rejects.toMatchObject({ message: '203.0.113.7 is not an address of this machine' });
  });

  test('the URL names the address, and localhost is 127.0.0.1', async () => {
    const service = await startService(createSampleEngine(), { host: 'localhost' });
    expect(service.url).toBe(`http://127.0.0.1:${service.port}`);
  });

  test('a server that never listened can be closed', async () => {
    await expect(serverWith({}).close()).resolves.toBeUndefined();
  });
});

describe('stopping', () => {
  /** A service with one call under way, which ends when told. */
  async function busyService(drainMilliseconds: number, probes: Parameters<typeof createSampleEngine>[1] = {}) {
    const started = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const list = async () => {
      started.resolve();
      await released.promise;
      return { status: 200, body: {} as never };
    };
    const service = await startService(createSampleEngine({ 'customers.list': list }, probes), { drainMilliseconds });
    return { service, started: started.promise, release: released.resolve };
  }

  async function untilRefused(service: Awaited<ReturnType<typeof startService>>): Promise<void> {
    for (;;) {
      const [{ status }] = await Promise.allSettled([service.send('/healthz')]);
      if (status === 'rejected') return;
    }
  }

  test('finishes the call under way, and then hangs up', async () => {
    const { service, started, release } = await busyService(10_000);
    const underWay = service.send('/v1/customers', { headers: { connection: 'keep-alive' } });
    await started;
    const closed = service.close();
    release();
    const reply = await underWay;
    expect([reply.status, reply.headers.connection]).toEqual([200, 'close']);
    await closed;
  });

  test('answers each request that has come on one connection before it hangs up', async () => {
    const { service, started, release } = await busyService(10_000);
    const [head, end] = [
      'GET /v1/customers HTTP/1.1\r\nHost: 127.0.0.1\r\n',
      `Authorization: Bearer ${fullKey}\r\n\r\n`,
    ];
    const answers = sendRaw(service.port, `${head}${end}`.repeat(3));
    await started;
    await expect.poll(() => service.engine.calls).toHaveLength(3);
    const closed = service.close();
    release();
    expect((await answers).match(/HTTP\/1\.1 \d{3}|connection: \S+/gi)).toEqual([
      'HTTP/1.1 200',
      'Connection: keep-alive',
      'HTTP/1.1 200',
      'Connection: keep-alive',
      'HTTP/1.1 200',
      'connection: close',
    ]);
    await closed;
  });

  test('takes no new connection', async () => {
    const { service } = await busyService(0);
    await service.close();
    await expect(service.send('/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('answers every request that was sent before', async () => {
    const service = await startService(createSampleEngine(), { drainMilliseconds: 10_000 });
    const sockets = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const socket = connect(service.port, '127.0.0.1');
        await once(socket, 'connect');
        return socket;
      }),
    );
    for (const socket of sockets) socket.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
    const closed = service.close();
    const answers = await Promise.all(sockets.map(async (socket) => Buffer.concat(await socket.toArray()).toString()));
    expect(new Set(answers.map((answer) => answer.slice(0, 12)))).toEqual(new Set(['HTTP/1.1 200']));
    await closed;
  });

  test('takes no more connections than can have waited, and answers them all, however many come back', async () => {
    const service = await startService(createSampleEngine(), { drainMilliseconds: 60_000 });
    await service.send('/healthz');
    const closed = service.close();
    await Promise.all(Array.from({ length: 8 }, async () => await untilRefused(service)));
    await closed;
    const { length } = service.log;
    expect(length).toBeGreaterThan(1);
    expect(length).toBeLessThan(1 + limits.waitingConnections + 8);
    expect(service.log.filter(({ isAborted }) => isAborted === true)).toEqual([]);
  });

  test('stops taking connections while there is time to end what it is at', async () => {
    const { service, started, release } = await busyService(2_000, {
      ping: async () => {
        const end = performance.now() + 10;
        while (performance.now() < end);
        await Promise.resolve();
      },
    });
    const underWay = service.send('/v1/customers');
    await started;
    const closed = service.close();
    await Promise.all(Array.from({ length: 8 }, async () => await untilRefused(service)));
    release();
    expect((await underWay).status).toBe(200);
    await closed;
  });

  test('refuses a request whose headers were complete only afterwards', async () => {
    const service = await startService(createSampleEngine(), { drainMilliseconds: 10_000 });
    const socket = connect(service.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('GET /healthz HTTP/1.1\r\n');
    await service.send('/healthz');
    const closed = service.close();
    await untilRefused(service);
    socket.write('Host: 127.0.0.1\r\n\r\n');
    const answer = Buffer.concat(await socket.toArray()).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toContain('"message":"the service cannot answer now; nothing was changed","code":"UNAVAILABLE"');
    await closed;
  });

  test('waits no longer than told for a call that does not end', async () => {
    const { service, started } = await busyService(0);
    const underWay = Promise.allSettled([service.send('/v1/customers')]);
    await started;
    await service.close();
    expect(await underWay).toMatchObject([{ status: 'rejected', reason: { message: 'socket hang up' } }]);
  });

  test('waits no longer than told for headers that do not come', async () => {
    const service = await startService();
    const answer = sendRaw(service.port, 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n');
    await service.send('/healthz');
    await service.close();
    expect(await answer).toBe('');
  });
});
