import { once } from 'node:events';
import { connect } from 'node:net';

import { describe, expect, test } from 'vitest';

import {
  BillingError,
  ConflictError,
  errorFacts,
  InvalidInputError,
  NotFoundError,
  UnavailableError,
  UnknownOutcomeError,
  unknownOutcomeMessage,
} from '../../src/errors.ts';
import type { ErrorKind } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { createSampleEngine, fullKey, sendRaw, startService } from './harness.ts';
import type { Service } from './harness.ts';

/** A service whose list of customers fails. */
async function failing(failure: unknown): Promise<Service> {
  const fail = async (): Promise<never> => Promise.reject(failure);
  return startService(createSampleEngine({ 'customers.list': fail }));
}

describe('failures of the engine', () => {
  const kinds = (Object.keys(errorFacts) as ErrorKind[]).filter(
    (kind) => errorFacts[kind].status !== undefined && kind !== 'internal' && kind !== 'unavailable',
  );

  test.each(kinds)('%s comes with its status, its code and the words of the engine, and nothing else', async (kind) => {
    const service = await failing(
      new BillingError(kind, 'contacts[0].email: "é" is wrong', { hint: 'a hint', requestId: 'r' }),
    );
    const reply = await service.send('/v1/customers');
    const { status, code } = errorFacts[kind];
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.text)).toEqual({ error: { message: 'contacts[0].email: "é" is wrong', code } });
  });

  test.each([
    ['a text that was thrown', 'SELECT * FROM secrets'],
    ['a bug', new TypeError("cannot read 'password' of undefined")],
    ['a broken promise of the engine', new BillingError('internal', 'table customers is gone')],
    ['a kind that exists only at the shell', new BillingError('refused', 'no')],
    ['an error that claims a status', Object.assign(new Error('secret'), { statusCode: 500 })],
    ['a conflict that carries its cause', new ConflictError('taken', { cause: new Error('secret') })],
  ])('%s shows nothing of the inside', async (what, error) => {
    const service = await failing(error);
    const reply = await service.send('/v1/customers');
    const words = what.includes('conflict')
      ? { message: 'taken', code: 'CONFLICT' }
      : { message: 'internal error', code: 'INTERNAL_ERROR' };
    expect(JSON.parse(reply.text)).toEqual({ error: words });
    expect(JSON.stringify(reply.headers)).not.toContain('secret');
  });

  test('what stays inside is in the log, under the id that the caller got', async () => {
    const bug = new TypeError('a bug');
    const service = await failing(bug);
    const reply = await service.send('/v1/customers');
    expect(service.log).toMatchObject([{ status: 500, requestId: reply.headers['x-request-id'], error: bug }]);
  });

  test('an expected failure is no error in the log', async () => {
    const service = await failing(new NotFoundError('no'));
    await service.send('/v1/customers');
    expect(service.log[0]).not.toHaveProperty('error');
    expect(String(service.log[0]?.milliseconds)).toMatch(/^\d+(?:\.\d{1,3})?$/);
  });

  test.each([
    [undefined, '1'],
    [7, '7'],
  ])('a busy database says when to come back (%s), and not where it is', async (retryAfterSeconds, header) => {
    const options = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    const locked = new UnavailableError('the database /home/ada/billing.db is locked', { ...options, hint: 'wait' });
    const service = await failing(locked);
    const reply = await service.send('/v1/customers');
    expect([reply.status, reply.headers['retry-after']]).toEqual([503, header]);
    expect(reply.message).toBe('the service cannot answer now; nothing was changed');
    expect(reply.headers).not.toHaveProperty('tallybook-hint');
    expect(service.log).toMatchObject([{ error: locked }]);
  });

  test('a commit whose outcome is not known is not told as one that changed nothing', async () => {
    const lost = new UnknownOutcomeError('the connection to the database postgres://ada@db/b was lost', {
      hint: 'read',
    });
    const service = await failing(lost);
    const reply = await service.send('/v1/customers');
    expect([reply.status, reply.message]).toEqual([503, unknownOutcomeMessage]);
    expect(decodeURIComponent(String(reply.headers['tallybook-hint']))).toBe(
      'read what was to be changed before you repeat the request',
    );
    expect(service.log).toMatchObject([{ error: lost }]);
  });

  const nothingChanged = 'the service cannot answer now; nothing was changed';
  test.each([
    ['a list', 'customers.list', '/v1/customers', {}, nothingChanged],
    ['a change', 'invoices.send', '/v1/invoices/1/send', { method: 'POST' }, unknownOutcomeMessage],
    [
      'what only reads',
      'meters.test',
      '/v1/meters/1/test',
      {
        method: 'POST',
        body: '{"startDate":"2026-03-01T00:00:00Z","endDate":"2026-03-02T00:00:00Z","customerId":"1"}',
      },
      nothingChanged,
    ],
  ] as const)(
    'who waits too long for %s is answered, and told what is known',
    async (_case, name, path, sent, message) => {
      const { promise: isOver, resolve: end } = Promise.withResolvers<undefined>();
      const service = await startService(createSampleEngine({ [name]: async () => isOver }), {
        socketIdleMilliseconds: 500,
      });
      const reply = await service.send(path, sent);
      expect([reply.status, reply.message]).toEqual([503, message]);
      expect(service.log).toMatchObject([{ status: 503, requestId: reply.headers['x-request-id'] }]);
      end(undefined);
      await service.send('/healthz');
      expect(service.log.map(({ status }) => status)).toEqual([503, 200]);
    },
  );

  test('health is unavailable while the database does not answer', async () => {
    const ping = async (): Promise<void> => Promise.reject(new UnavailableError('the database is gone'));
    const service = await startService(createSampleEngine({}, { ping }));
    const reply = await service.send('/healthz');
    expect([reply.status, reply.message]).toEqual([503, 'the service cannot answer now; nothing was changed']);
  });

  test('what to do next goes in a header of its own, and a hint that everyone has does not', async () => {
    const hinted = await failing(new NotFoundError('no', { hint: 'see them with: tally customers list\r\né\ud800' }));
    const { headers } = await hinted.send('/v1/customers');
    expect(headers['tallybook-hint']).toBe('see%20them%20with%3A%20tally%20customers%20list%0D%0A%C3%A9%EF%BF%BD');
    const common = await failing(new BillingError('preconditionFailed', 'no'));
    expect((await common.send('/v1/customers')).headers).not.toHaveProperty('tallybook-hint');
  });

  test('all issues of a body are named', async () => {
    const issues = [
      { path: 'a', message: 'is required' },
      { path: 'b[0]', message: 'must be text' },
    ];
    const service = await failing(new InvalidInputError(issues));
    const reply = await service.send('/v1/customers');
    expect([reply.status, reply.message]).toEqual([422, 'a: is required; b[0]: must be text']);
  });
});

describe('bodies', () => {
  const customers = { method: 'POST' } as const;

  test.each([
    ['broken', '{"name":', 400],
    ['only spaces', '  ', 400],
    ['two values', '{} {}', 400],
    ['a trailing comma', '{"a":1,}', 400],
    ['a name given twice', '{"name":"a","name":"b"}', 400],
    ['a name given twice by an escape', '{"name":"a","n\\u0061me":"b"}', 400],
    ['a byte order mark', '\uFEFF{}', 400],
    ['deeper than 32 levels', '['.repeat(33) + ']'.repeat(33), 400],
    ['200,000 levels deep', '['.repeat(200_000), 400],
    ['10,001 names', `{${Array.from({ length: 10_001 }, (_each, index) => `"k${index}":0`).join(',')}}`, 400],
    ['10,001 names of as many objects', `[${Array.from({ length: 10_001 }, () => '{"k":0}').join(',')}]`, 400],
    ['__proto__', '{"__proto__":{"isAdmin":true}}', 422],
    ['constructor', '{"constructor":{"prototype":{}}}', 422],
    ['an unknown field', '{"ammountCents":1}', 422],
    ['a list', '[]', 422],
    ['null', 'null', 422],
    ['a number', '5', 422],
  ])('JSON that is %s is refused', async (_what, body, status) => {
    const service = await startService();
    const reply = await service.send('/v1/customers', { ...customers, body });
    expect(reply.status).toBe(status);
    expect(reply.message).toBeTypeOf('string');
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });

  test('a batch of events may have more names than other bodies', async () => {
    const service = await startService();
    const properties = { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8 };
    const events = Array.from({ length: 1_000 }, () => ({ eventName: 'a', customerId: 'c', properties }));
    const reply = await service.send('/v1/events/batch', { ...customers, body: JSON.stringify({ events }) });
    expect(reply.status).toBe(202);
  });

  test('but one of its objects may not', async () => {
    const service = await startService();
    const properties = Object.fromEntries(Array.from({ length: 10_001 }, (_each, index) => [`k${index}`, index]));
    const events = [{ eventName: 'a', customerId: 'c', properties }];
    const reply = await service.send('/v1/events/batch', { ...customers, body: JSON.stringify({ events }) });
    expect([reply.status, reply.message]).toEqual([400, 'an object of the JSON has more than 10000 names']);
  });

  test('bytes that are not UTF-8 are refused, not replaced', async () => {
    const service = await startService();
    const reply = await service.send('/v1/customers', { ...customers, body: Buffer.from([0x22, 0xff, 0xfe, 0x22]) });
    expect([reply.status, reply.message]).toEqual([400, 'the body is not valid UTF-8']);
  });

  test('an empty body is an empty object where no field is required', async () => {
    const service = await startService();
    for (const headers of [
      {},
      { 'content-type': 'application/json' },
      { 'content-type': 'application/json', 'content-length': '0' },
    ]) {
      const reply = await service.send('/v1/customers/x/pause', { ...customers, headers });
      expect(reply.status).toBe(200);
      expect(service.engine.calls.at(-1)?.input).not.toHaveProperty('body');
    }
  });

  test('numbers reach the engine with the digits that they were sent with', async () => {
    const service = await startService();
    await service.send('/v1/events', {
      ...customers,
      body: '{"eventName":"a","customerId":"c","properties":{"n":0.10,"m":1e3}}',
    });
    const body = service.engine.calls.at(-1)?.input.body;
    expect(JSON.stringify(body)).toBe('{"eventName":"a","customerId":"c","properties":{"n":0.10,"m":1e3}}');
  });

  test.each([
    'text/plain',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/merge-patch+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'nonsense',
    '',
  ])('the Content-Type %j is refused', async (type) => {
    const service = await startService();
    const reply = await service.send('/v1/customers', { ...customers, body: '{}', headers: { 'content-type': type } });
    const words = 'the body must have the Content-Type application/json, in UTF-8';
    expect([reply.status, reply.message, service.engine.calls.length]).toEqual([415, words, 0]);
  });

  test.each(['application/json', 'application/json;charset=utf-8', 'Application/JSON; Charset="UTF-8"'])(
    'the Content-Type %s is taken',
    async (type) => {
      const service = await startService();
      await service.send('/v1/customers', { ...customers, body: '{}', headers: { 'content-type': type } });
      expect(service.engine.calls).toHaveLength(1);
    },
  );

  test('a body without a Content-Type is refused', async () => {
    const service = await startService();
    const reply = await service.send('/v1/customers', { ...customers, body: '{}', headers: { 'content-type': null } });
    expect(reply.status).toBe(415);
  });

  test.each(['gzip', 'br', 'deflate', 'identity, gzip'])('the Content-Encoding %s is refused', async (encoding) => {
    const service = await startService();
    const reply = await service.send('/v1/customers', {
      ...customers,
      body: '{}',
      headers: { 'content-encoding': encoding },
    });
    const words = 'the body must be sent without a Content-Encoding';
    expect([reply.status, reply.message, service.engine.calls.length]).toEqual([415, words, 0]);
  });

  test('a Transfer-Encoding beneath chunks is refused', async () => {
    const service = await startService();
    const reply = await service.send('/v1/customers', {
      ...customers,
      body: '{}',
      headers: { 'content-length': null, 'transfer-encoding': 'gzip, chunked' },
    });
    const words = 'the body must be sent without a Transfer-Encoding other than chunked';
    expect([reply.status, reply.message, service.engine.calls.length]).toEqual([415, words, 0]);
  });

  test.each([
    ['of JSON that is broken', { 'content-type': 'application/json' }],
    ['of another type', { 'content-type': 'text/plain' }],
    ['that is encoded', { 'content-encoding': 'gzip' }],
  ])('one of a GET, %s, is not looked at', async (_what, headers) => {
    const service = await startService();
    const reply = await service.send('/v1/customers', { method: 'GET', body: '{', headers });
    expect([reply.status, service.engine.calls.length]).toEqual([200, 1]);
  });

  test.each([
    ['a call', '/v1/customers', limits.bodyBytes],
    ['events', '/v1/events/batch', limits.eventsBodyBytes],
  ])('%s may have so many bytes and no more', async (_what, path, most) => {
    const service = await startService();
    const fitting = await service.send(path, { ...customers, body: `{}${' '.repeat(most - 2)}` });
    expect(fitting.status).toBe(422);
    const tooLarge = await service.send(path, { ...customers, body: `{}${' '.repeat(most - 1)}` });
    expect([tooLarge.status, tooLarge.message]).toEqual([413, `the body is larger than ${most} bytes`]);
  });

  test('one that is too large is read to its end, so that its sender gets the answer and may go on', async () => {
    const { port } = await startService();
    const head = `Host: 127.0.0.1\r\nAuthorization: Bearer ${fullKey}\r\nContent-Type: application/json\r\n`;
    const large = `POST /v1/customers HTTP/1.1\r\n${head}Content-Length: ${2 * limits.bodyBytes}\r\n\r\n`;
    const next = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n';
    const answer = await sendRaw(port, `${large}${' '.repeat(2 * limits.bodyBytes)}${next}`);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });

  test('one that is announced to be too large is refused before any of it has come', async () => {
    const { port } = await startService();
    const head = `Host: 127.0.0.1\r\nAuthorization: Bearer ${fullKey}\r\nContent-Type: application/json\r\n`;
    const socket = connect(port, '127.0.0.1');
    socket.write(`POST /v1/customers HTTP/1.1\r\n${head}Content-Length: ${limits.bodyBytes + 1}\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  test('a body sent in chunks is counted as it comes', async () => {
    const service = await startService();
    const reply = await service.send('/v1/customers', {
      ...customers,
      body: `{}${' '.repeat(limits.bodyBytes)}`,
      headers: { 'content-length': null, 'transfer-encoding': 'chunked' },
    });
    expect(reply.status).toBe(413);
  });
});

describe('queries', () => {
  test.each([
    ['an unknown parameter', 'x=1', 'x: unknown parameter'],
    ['a parameter given twice', 'limit=1&limit=2', 'limit: is given twice'],
    ['a parameter given twice by an escape', 'limit=1&l%69mit=2', 'limit: is given twice'],
    ['a parameter that would touch prototypes', '__proto__=1', '__proto__: unknown parameter'],
    ['broken percent-encoding', 'externalCustomerId=%E0%A4', 'the query is not valid percent-encoded UTF-8'],
    ['a limit out of range', 'limit=101', 'limit: must be from 1 to 100'],
    ['a limit of another form', 'limit=1e1', 'limit: must be a whole number, 1 or more'],
    ['an offset below 0', 'offset=-1', 'offset: must be a whole number, 0 or more'],
    ['a list by brackets', 'limit[]=1', 'limit[]: unknown parameter'],
  ])('%s is refused', async (_what, query, message) => {
    const service = await startService();
    const reply = await service.send(`/v1/customers?${query}`);
    expect([reply.status, reply.message]).toEqual([400, message]);
  });

  test.each([
    ['externalCustomerId=a+b%2Bc', { externalCustomerId: 'a b+c' }],
    ['externalCustomerId=a=b', { externalCustomerId: 'a=b' }],
    ['&limit=5&', { limit: '5' }],
    ['', {}],
  ])('%j reads as it was meant', async (query, meant) => {
    const service = await startService();
    await service.send(`/v1/customers?${query}`);
    expect(service.engine.calls.at(-1)?.input.query).toEqual(meant);
  });
});
