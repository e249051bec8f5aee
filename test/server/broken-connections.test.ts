/** Connections on which bytes come that are no request: each request has one answer, and its own. */

import { text } from 'node:stream/consumers';
import { connect } from 'node:net';

import { expect, test } from 'vitest';

import { createSampleEngine, fullKey, startService } from './harness.ts';

/** What the service sends until it hangs up. */
async function exchange(port: number, bytes: string): Promise<{ statuses: string[]; text: string }> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  const answer = await text(socket);
  return { statuses: answer.match(/HTTP\/1\.1 \d{3}/g) ?? [], text: answer };
}

function headOf(line: string, ...more: readonly string[]): string {
  return [`${line} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${fullKey}`, ...more, '', ''].join('\r\n');
}

/** A service that has yet to answer when what stands behind a request has come. */
async function startSlow(): Promise<{ readonly done: string[]; readonly port: number }> {
  const done: string[] = [];
  const engine = createSampleEngine({
    'budgets.remove': async () => {
      for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      done.push('removed');
      return { status: 200, body: { data: { removed: null } } } as never;
    },
  });
  const { port } = await startService(engine);
  return { done, port };
}

const removal = headOf('DELETE /v1/contracts/c1/budgets/0');

test.each(['{"reason":"none"}', headOf('CONNECT example.com:443')])(
  'a request that has come whole gets its own answer, whatever comes behind it: %j',
  async (behind) => {
    const { done, port } = await startSlow();
    const answer = await exchange(port, `${removal}${behind}`);
    expect(done).toEqual(['removed']);
    expect(answer.statuses).toEqual(['HTTP/1.1 200']);
  },
);

test.each([
  ['refused', 'application/json', 400],
  ['answered', 'text/plain', 415],
])('so does one with another behind it whose body breaks before that is %s', async (_when, type, status) => {
  const { done, port } = await startSlow();
  const head = headOf('POST /v1/customers', `Content-Type: ${type}`, 'Transfer-Encoding: chunked');
  const answer = await exchange(port, `${removal}${removal}${head}2\r\n{}\r\nno length\r\n`);
  expect(done).toEqual(['removed', 'removed']);
  expect(answer.statuses).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', `HTTP/1.1 ${status}`]);
});

test('a request that was answered before its body broke has no second answer', async () => {
  const { port } = await startService();
  const head = headOf('POST /v1/customers', 'Content-Type: text/plain', 'Transfer-Encoding: chunked');
  const answer = await exchange(port, `${head}2\r\n{}\r\nno length\r\n`);
  expect(answer.statuses).toHaveLength(1);
});

test('a body that breaks before its request is answered is refused', async () => {
  const { port } = await startService();
  const head = headOf('POST /v1/customers', 'Content-Type: application/json', 'Transfer-Encoding: chunked');
  const answer = await exchange(port, `${head}2\r\n{}\r\nno length\r\n`);
  expect(answer.statuses).toEqual(['HTTP/1.1 400']);
  expect(answer.text).toContain('"the request is malformed or did not arrive in time"');
});

test('bytes behind an answered request are refused', async () => {
  const { port } = await startService();
  const socket = connect(port, '127.0.0.1');
  socket.write(headOf('GET /healthz'));
  let received = '';
  for await (const chunk of socket) {
    if (received === '') socket.write('no request\r\n\r\n');
    received += String(chunk);
  }
  expect(received.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
});
