/** Limits of connections and of what comes on them, lowered where a test would otherwise take as long as they are. */

import { once } from 'node:events';
import { connect } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { limits } from '../../src/limits.ts';
import { createSampleEngine, fullKey, sendRaw, startService } from './harness.ts';

/** A limit that is lower until the test ends. */
function lower(name: 'maxSockets' | 'requestTimeoutMilliseconds' | 'socketIdleMilliseconds', value: number): void {
  const usual = limits[name];
  Object.assign(limits, { [name]: value });
  onTestFinished(() => void Object.assign(limits, { [name]: usual }));
}

const slowBody = `POST /v1/customers HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${fullKey}\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{`;

test('connections beyond those that the service holds at a time are hung up, whoever opens them', async () => {
  lower('maxSockets', 2);
  const service = await startService();
  const open = async () => {
    const socket = connect(service.port, '127.0.0.1').on('error', () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  const [first] = [await open(), await open()];
  await once(await open(), 'close');
  first.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
  expect(Buffer.concat(await first.toArray()).toString()).toMatch(/^HTTP\/1\.1 200 /);
});

test('a request that takes longer than it may is refused, and its connection ends, however steadily it comes', async () => {
  lower('requestTimeoutMilliseconds', 50);
  const service = await startService(createSampleEngine(), { headersTimeoutMilliseconds: 50 });
  const answer = await sendRaw(service.port, slowBody);
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(answer).toContain('did not arrive in time');
});

test('a request with more headers than one may have is refused in the envelope', async () => {
  const { port } = await startService();
  const others = Array.from({ length: limits.maxHeaders - 3 }, (_, index) => `X-${index}: x\r\n`).join('');
  const ask = async (more: string) =>
    await sendRaw(
      port,
      `GET /v1/customers HTTP/1.1\r\nHost: 127.0.0.1\r\n${others}${more}Authorization: Bearer ${fullKey}\r\nConnection: close\r\n\r\n`,
    );
  expect(await ask('')).toMatch(/^HTTP\/1\.1 200 /);
  const refusal = await ask('X-More: x\r\n');
  expect(refusal).toMatch(/^HTTP\/1\.1 400 /);
  expect(refusal).toContain('"code":"BAD_REQUEST"');
});

test.each([
  ['in the middle of a request', '', slowBody, ''],
  ['after an answer', 'HTTP/1.1 200 OK', 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', '}'],
])('a connection on which nothing moves is cut %s', async (_when, first, bytes, last) => {
  lower('socketIdleMilliseconds', 50);
  const service = await startService();
  const answer = await sendRaw(service.port, bytes);
  expect([answer.split('\r\n', 1)[0], answer.at(-1) ?? '']).toEqual([first, last]);
});

test('a caller who stops reading an answer does not keep its connection', async () => {
  lower('socketIdleMilliseconds', 50);
  const answer = { status: 200, body: { text: 'x'.repeat(16_000_000) } } as never;
  const service = await startService(createSampleEngine({ 'customers.list': () => answer }));
  const socket = connect(service.port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(`GET /v1/customers HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${fullKey}\r\n\r\n`);
  await expect.poll(() => service.log).toMatchObject([{ status: 200, isAborted: true }]);
});
