/** The first exchanges with a service on this machine go over bare sockets: whatever comes, it means what it means to Node's http. */

import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

import * as fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';

import { plainHeadOf } from '../../src/client/plain-answer.ts';
import { limits } from '../../src/limits.ts';
import { listenOnLoopback } from '../support/free-port.ts';
import { okAnswer, startClient, startFakeService } from './harness.ts';

const list = '{"data":[]}';
const answer = (head: string, body = list) => `${head}\r\n\r\n${body}`;
const plain = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11';

/** Answers each connection with these pieces, one after the other, and then ends it or not. */
async function startService(script: { pieces: readonly string[]; isEnding: boolean }): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      const send = (place: number): void => {
        const piece = script.pieces[place];
        if (piece !== undefined) socket.write(piece, 'latin1', () => setImmediate(() => send(place + 1)));
        else if (script.isEnding) socket.end();
      };
      send(0);
    });
  });
  const port = await listenOnLoopback(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${port}`;
}

/** What a first and a third call come to: the first goes over a bare socket, the third through Node's http. */
async function bothOutcomes(url: string): Promise<readonly [unknown, unknown]> {
  const client = startClient(url, { timeoutMilliseconds: 1_000 });
  const outcome = async () =>
    await client.call('credits.grant', { params: { contractId: 'c' }, body: { amountCents: 5 } }).then(
      ({ status, body, ...facts }) => ({ status, body, facts, connection: Object.keys(client.connection() ?? {}) }),
      (error: unknown) => {
        const { kind, message, hint, status, requestId } = error as Readonly<Record<string, unknown>>;
        return { kind, message, hint, status, requestId };
      },
    );
  const first = await outcome();
  await outcome();
  return [first, await outcome()];
}

const created = '{"data":{"id":"x"}}';
const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

test.each([
  ['of the plainest form', answer('HTTP/1.1 201 Created\r\nContent-Length: 19', created)],
  ['with spaces around a value', answer('HTTP/1.1 201 Created\r\nContent-Length:   19  \r\nX-Empty:', created)],
  ['in chunks', answer('HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked', chunked(created))],
  ['that ends with its connection', answer('HTTP/1.1 201 Created\r\nConnection: close', created)],
  ['of HTTP/1.0', answer('HTTP/1.0 201 Created\r\nContent-Length: 19', created)],
  ['without a reason', answer('HTTP/1.1 201\r\nContent-Length: 19', created)],
  [
    'after a hint',
    `HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n${answer('HTTP/1.1 201 Created\r\nContent-Length: 19', created)}`,
  ],
  [
    'with a header twice',
    answer('HTTP/1.1 409 No\r\nX-Request-Id: a\r\nX-Request-Id: b\r\nContent-Length: 26', '{"error":{"message":"no"}}'),
  ],
  ['with two lengths', answer('HTTP/1.1 201 Created\r\nContent-Length: 19\r\nContent-Length: 20', created)],
  [
    'of a length and of chunks',
    answer('HTTP/1.1 201 Created\r\nContent-Length: 19\r\nTransfer-Encoding: chunked', chunked(created)),
  ],
  ['of a length that is none', answer('HTTP/1.1 201 Created\r\nContent-Length: -19', created)],
  ['of a length that is too large', answer('HTTP/1.1 201 Created\r\nContent-Length: 99999999999', created)],
  ['that is longer than it says', answer('HTTP/1.1 201 Created\r\nContent-Length: 18', created)],
  ['with a folded header', answer('HTTP/1.1 201 Created\r\nX-Folded: a\r\n b\r\nContent-Length: 19', created)],
  ['with a space before a colon', answer('HTTP/1.1 201 Created\r\nContent-Length : 19', created)],
  ['with a character of control', answer('HTTP/1.1 201 Created\r\nX-Bad: a\u0001b\r\nContent-Length: 19', created)],
  ['with a header that is not ASCII', answer('HTTP/1.1 201 Created\r\nX-Name: \u00e9\r\nContent-Length: 19', created)],
  ['of lines that end without a return', answer('HTTP/1.1 201 Created\nContent-Length: 19', created)],
  [
    'with too many headers',
    answer(`HTTP/1.1 201 Created\r\nX-Long: ${'x'.repeat(limits.responseHeaderBytes)}\r\nContent-Length: 19`, created),
  ],
  ['without content', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n'],
  ['that is unchanged', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n'],
  [
    'that changes the protocol',
    answer('HTTP/1.1 200 OK\r\nConnection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 19', created),
  ],
  ['of a redirect', answer('HTTP/1.1 302 Found\r\nLocation: http://evil.example/\r\nContent-Length: 0', '')],
  ['of a status that is none', answer('HTTP/1.1 999 Odd\r\nContent-Length: 19', created)],
  ['of another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['of nothing', ''],
  ['of half a head', 'HTTP/1.1 201 Created\r\nContent-Le'],
  ['of half a body', answer('HTTP/1.1 201 Created\r\nContent-Length: 19', '{"data":{"i')],
])('an answer %s, whole or in pieces', async (_what, text) => {
  const cuts = [[], [1], [12], [text.indexOf('\r\n\r\n') + 2], [text.length - 3], [5, 20, 40]];
  for (const cut of cuts.map((places) => places.filter((place) => place > 0 && place < text.length))) {
    const bounds = [0, ...cut, text.length];
    const pieces = cut
      .concat(text.length)
      .map((end, place) => text.slice(bounds[place], end))
      .filter((piece) => piece !== '');
    const [first, second] = await bothOutcomes(await startService({ pieces, isEnding: true }));
    expect({ pieces, outcome: first }).toEqual({ pieces, outcome: second });
  }
});

test('a plain answer is there as soon as its last byte is, though the connection stays open', async () => {
  const url = await startService({ pieces: [plain, '\r\n\r\n', list], isEnding: false });
  await expect(startClient(url, { timeoutMilliseconds: 5_000 }).call('customers.list')).resolves.toMatchObject({
    body: { data: [] },
  });
});

test.each([
  ['changes its protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n'],
  ['does not end, though its end would be that of the answer', answer('HTTP/1.1 200 OK')],
])('a connection that %s brings no answer: the call ends with its time', async (_what, text) => {
  const client = startClient(await startService({ pieces: [text], isEnding: false }), { timeoutMilliseconds: 50 });
  await expect(client.call('customers.list')).rejects.toThrow('no answer within 0.05 seconds');
});

test('what has come is no answer if the client is closed before the connection ends, though that would be its end', async () => {
  const client = startClient(await startService({ pieces: [answer('HTTP/1.1 200 OK')], isEnding: false }));
  const outcome = client.call('customers.list').catch((error: unknown) => (error as Error).message);
  // The answer has begun to be read by then.
  for (let turn = 0; turn < 50; turn += 1) await nextTurn();
  await client.close();
  expect(await outcome).toContain('the client is closed');
});

test('any bytes mean the same, and plain ones are what a parser makes of them', async () => {
  const line = fc.constantFrom(
    'Content-Length: 11',
    'content-length:11',
    'X-A: b',
    'X-A: c',
    'Transfer-Encoding: chunked',
    'X: \u0080',
    ' folded',
    'no colon',
    'Date: now',
    'Connection: keep-alive',
  );
  const heads = fc.tuple(
    fc.constantFrom('HTTP/1.1 200 OK', 'HTTP/1.1 404 ', 'HTTP/1.1 100 Continue', 'HTTP/2 200 OK'),
    fc.array(line, { maxLength: 4 }),
  );
  const script = { pieces: [''], isEnding: true };
  const url = await startService(script);
  await fc.assert(
    fc.asyncProperty(heads, fc.constantFrom(list, '', chunked(list)), async ([first, lines], body) => {
      script.pieces = [answer([first, ...lines].join('\r\n'), body)];
      const [one, other] = await bothOutcomes(url);
      expect(one).toEqual(other);
    }),
    { numRuns: 150 },
  );
});

test('the head of an answer', () => {
  const headOf = (text: string) => plainHeadOf(Buffer.from(text, 'latin1'));
  expect(headOf(answer(`${plain}\r\nX-A:  b c `))).toEqual({
    status: 200,
    headers: { 'content-type': 'application/json', 'content-length': '11', 'x-a': 'b c' },
    start: 83,
    end: 94,
  });
  expect(headOf(plain)).toBeUndefined();
});

test.each([
  ['GET', 'customers.list', {}, undefined],
  ['POST', 'meters.create', { body: { label: 'é' } }, '14'],
  ['DELETE', 'keys.revoke', { params: { keyId: 'k' } }, undefined],
] as const)('a first %s says how long its body is', async (_method, name, input, length) => {
  const service = await startFakeService({
    ...okAnswer,
    headers: { ...okAnswer.headers, 'tallybook-version': '1.2.3' },
  });
  await startClient(service.url)
    .call(name, input)
    .catch(() => undefined);
  expect(service.headers.at(-1)?.['content-length']).toBe(length);
});
