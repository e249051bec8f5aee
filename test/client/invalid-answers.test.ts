/** Answers that are none, whatever their status says (reliability 10; security 3, SEC-12). */

import { gzipSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { BillingError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { json, okList, startClient, startFakeService, startRawService } from './harness.ts';
import type { FakeAnswer } from './harness.ts';

describe('answers that are none', () => {
  const cases: readonly (readonly [string, FakeAnswer, string])[] = [
    [
      'a page of HTML',
      { headers: { 'content-type': 'text/html' }, body: '<!doctype html>\n<h1>Welcome</h1>' },
      'it begins "<!doctype html> <h1>Welcome</h1>"',
    ],
    [
      'JSON that calls itself a text',
      { headers: { 'content-type': 'text/plain' }, body: '{"data":{}}' },
      'it begins "{\\"data\\":{}}", and it is text/plain',
    ],
    ['nothing', { headers: json, body: '' }, 'it is empty'],
    [
      'JSON cut short',
      { headers: json, body: '{"data":{"id"' },
      'it begins "{\\"data\\":{\\"id\\"", and it is not JSON',
    ],
    ['a byte order mark', { headers: json, body: '\uFEFF{}' }, 'it begins "{}", and a byte order mark comes before it'],
    [
      'bytes that are not UTF-8',
      { headers: json, body: Buffer.from([0x7b, 0xff, 0x7d]) },
      'it begins "{\uFFFD}", and it is not UTF-8',
    ],
    [
      'a name given twice',
      { headers: json, body: '{"data":1,"data":2}' },
      'it begins "{\\"data\\":1,\\"data\\":2}", and the JSON gives "data" twice in one object',
    ],
    ['a name that touches prototypes', { headers: json, body: '{"__proto__":{"isAdmin":true}}' }, 'it begins'],
    [
      '65 levels',
      { headers: json, body: `{"data":{"id":"x","deep":${'['.repeat(63)}${']'.repeat(63)}}}` },
      'it begins "{\\"data\\":{\\"id\\":\\"x\\",\\"deep\\":[[[',
    ],
    ['a million levels', { headers: json, body: '['.repeat(1_000_000) }, 'it begins'],
    [
      'compressed JSON that nobody asked for',
      { headers: { ...json, 'content-encoding': 'gzip' }, body: gzipSync('{"data":{"id":"x"}}') },
      'it begins',
    ],
    [
      'JSON that calls itself compressed',
      { headers: { ...json, 'content-encoding': 'gzip' }, body: '{"data":{"id":"x"}}' },
      'it begins "{\\"data\\":{\\"id\\":\\"x\\"}}", and it is compressed, as gzip',
    ],
    [
      'what its type says at length',
      { headers: { 'content-type': `text/${'x'.repeat(5000)}` }, body: '{}' },
      `it begins "{}", and it is text/${'x'.repeat(195)}`,
    ],
    [
      'what it is packed by at length',
      { headers: { ...json, 'content-encoding': 'x'.repeat(5000) }, body: '{}' },
      `it begins "{}", and it is compressed, as ${'x'.repeat(200)}`,
    ],
    [
      'a type that ends as that of JSON',
      { headers: { 'content-type': 'x-application/json' }, body: '{}' },
      'it begins "{}", and it is x-application/json',
    ],
    [
      'a refusal in HTML',
      { status: 403, headers: { 'content-type': 'text/html' }, body: 'blocked by the firewall' },
      'it begins "blocked by the firewall"',
    ],
  ];

  test.each(cases)('%s is not a valid response', async (_what, answer, words) => {
    const service = await startFakeService(answer);
    const failure: unknown = await startClient(service.url)
      .call('customers.get', { params: { customerId: 'x' } })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      kind: 'network',
      message: expect.stringContaining(
        `${service.host} answered ${answer.status ?? 200} with what is not a valid response: ${words}`,
      ),
    });
    expect((failure as Error).message.length).toBeLessThan(550);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });

  test.each<[FakeAnswer, string]>([
    [{ headers: json, body: '' }, 'it is empty'],
    [{ status: 403, headers: json, body: '{"a":1}' }, 'it begins "{\\"a\\":1}"'],
    [{ status: 403, headers: json, body: '{"error":{"message":5}}' }, 'it begins "{\\"error\\":{\\"message\\":5}}"'],
  ])('%j is told without a reason that says no more, and with what to do', async (answer, words) => {
    const service = await startFakeService(answer);
    const asking = startClient(service.url).call('customers.get', { params: { customerId: 'x' } });
    await expect(asking).rejects.toMatchObject({
      message: `${service.host} answered ${answer.status ?? 200} with what is not a valid response: ${words}`,
      hint: 'check that the base URL of the profile is that of the service',
    });
  });

  test('64 levels are none too many', async () => {
    const body = `{"data":{"id":"x","deep":${'['.repeat(62)}${']'.repeat(62)}}}`;
    const service = await startFakeService({ headers: json, body });
    const answer = await startClient(service.url).call('customers.get', { params: { customerId: 'x' } });
    expect(JSON.stringify(answer.body)).toBe(body);
  });

  test('at most 200 characters of it are shown, none of which a terminal would act on', async () => {
    const body = `\u001b[2J\u0007\u009b31m\u202e\r\n\u0000${'x'.repeat(1000)}`;
    const service = await startFakeService({ headers: json, body });
    const failure: unknown = await startClient(service.url)
      .call('customers.list')
      .catch((error: unknown) => error);
    const { message } = failure as Error;
    expect(message).toContain(`"[2J 31m ${'x'.repeat(192)}"`);
    expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  test('what JSON of ours never holds is shown as it is: unknown fields, names, nulls', async () => {
    const body =
      '{"data":[{"id":null,"status":"Brand New","extra":{"a":[1.50]}}],"hasMore":false,"total":1,"next":"x"}';
    const service = await startFakeService({ headers: json, body });
    const answer = await startClient(service.url).call('invoices.list');
    expect(JSON.stringify(answer.body)).toBe(body);
  });

  test.each([
    ['invoices.list', 'invoices list', {}],
    ['customers.get', 'customers get', { params: { customerId: 'x' } }],
    ['credits.ledger', 'credits ledger', { params: { contractId: 'x' } }],
    ['usage.cost', 'usage cost', { body: {} }],
    ['budgets.update', 'budgets update', { params: { contractId: 'x', index: '0' }, body: {} }],
    ['budgets.add', 'budgets add', { params: { contractId: 'x' }, body: {} }],
    ['customers.billingAddress', 'customers billing-address', { params: { customerId: 'x' } }],
    [
      'credits.grant',
      'credits grant',
      { params: { contractId: 'x' }, body: { amountCents: 5, expiresAt: '2099-01-01T00:00:00Z' } },
    ],
  ] as const)('JSON that is no answer of %s is none of its successes', async (name, words, input) => {
    const bodies = [
      'null',
      '5',
      'true',
      '"x"',
      '[]',
      '{}',
      '{"error":{"message":"no","code":"X"}}',
      '{"data":null}',
      '{"data":"x"}',
      '{"data":1.10}',
      '{"id":"x"}',
      ...(name === 'invoices.list' ? ['{"data":[5]}', '{"data":[1.10]}'] : ['{"data":[]}', '{"data":{}}']),
    ];
    const isAnswer = (body: string) => name === 'customers.billingAddress' && body === '{"data":null}';
    for (const body of bodies.filter((each) => !isAnswer(each))) {
      const service = await startFakeService({ headers: { ...json, 'tallybook-version': '1.2.3' }, body });
      await expect(startClient(service.url).call(name, input)).rejects.toMatchObject({
        kind: 'network',
        message: `${service.host} answered 200 with what is not a valid response: it begins ${JSON.stringify(body)}, and it lacks fields of an answer to "${words}"`,
      });
    }
  });

  test.each(['{"data":{"city":"Paris"}}', '{"data":null}'])(
    'that there may be none is an answer, too: %s',
    async (body) => {
      const service = await startFakeService({ headers: { ...json, 'tallybook-version': '1.2.3' }, body });
      const answer = await startClient(service.url).call('customers.billingAddress', { params: { customerId: 'x' } });
      expect(JSON.stringify(answer.body)).toBe(body);
    },
  );

  test.each(['000', '099'])('a status of %s is no success', async (status) => {
    const bytes = `HTTP/1.1 ${status} OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"data":[]}`;
    const service = await startRawService(bytes, (socket) => socket.end());
    await expect(startClient(service.url).call('customers.list')).rejects.toBeInstanceOf(BillingError);
  });

  test.each([200, 201, 202, 299])('%i is a success', async (status) => {
    const service = await startFakeService({ ...okList, status });
    expect((await startClient(service.url).call('customers.list')).status).toBe(status);
  });

  test.each(['application/json', 'application/json;charset=UTF-8', 'application/problem+json', undefined])(
    'the Content-Type %s is JSON',
    async (type) => {
      const service = await startFakeService({
        headers: type === undefined ? {} : { 'content-type': type },
        body: '{"data":[]}',
      });
      expect((await startClient(service.url).call('customers.list')).body).toEqual({ data: [] });
    },
  );

  test('a body of more than 32 MiB is not read to its end', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 0x20);
    let sent = 0;
    let isOver = false;
    const service = await startFakeService((response) => {
      response.writeHead(200, json).once('close', () => (isOver = true));
      const more = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += 1;
      };
      response.on('drain', more);
      more();
    });
    await expect(startClient(service.url).call('customers.list')).rejects.toThrow(
      'not a valid response: more than 33554432 bytes',
    );
    expect(service.requests).toHaveLength(1);
    expect(sent).toBeLessThan(64);
    await expect.poll(() => isOver).toBe(true);
  });

  test.each([
    ['is no HTTP', 'hello\r\n\r\n', 'not a valid response: it is not HTTP'],
    [
      'has headers of 20 KiB',
      `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(20_480)}\r\n\r\n`,
      'not a valid response: more than 16384 bytes of headers',
    ],
    [
      'has a broken chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      'not a valid response: it is not HTTP',
    ],
  ])('an answer that %s is not a valid response', async (_what, bytes, words) => {
    const service = await startRawService(bytes, () => {});
    await expect(startClient(service.url).call('customers.list')).rejects.toMatchObject({
      kind: 'network',
      message: `${service.host}: ${words}`,
    });
    expect(service.requests).toHaveLength(1);
  });

  test.each([
    ['before the headers', ''],
    ['inside the headers', 'HTTP/1.1 200 OK\r\nContent-Type: app'],
    ['inside the body', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"data":'],
  ])('an answer that ends %s is asked for again, and then given up', async (_what, bytes) => {
    const service = await startRawService(bytes, (socket) => socket.end());
    await expect(startClient(service.url).call('customers.list')).rejects.toMatchObject({
      kind: 'network',
      message: `${service.host}: the connection broke before the whole answer came`,
    });
    expect(service.requests).toHaveLength(limits.requestAttempts);
  });

  test.each([
    ['headers that never come', ''],
    ['a body that never ends', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'],
  ])('%s are waited for no longer than the call may take', async (_what, bytes) => {
    const service = await startRawService(bytes, () => {});
    await expect(startClient(service.url, { timeoutMilliseconds: 100 }).call('customers.list')).rejects.toMatchObject({
      kind: 'network',
      message: `${service.host}: no answer within 0.1 seconds`,
    });
  });
});
