import { describe, expect, test } from 'vitest';

import { serviceHeaders } from '../../src/answer-facts.ts';
import { UnauthorizedError } from '../../src/errors.ts';
import { allOperations } from '../../src/operations/all.ts';
import { scopes } from '../../src/operations/operation.ts';
import { createSampleEngine, fullKey, keyFor, startService } from './harness.ts';

const missing = 'Missing or invalid Authorization header. Use: Authorization: Bearer <api_key>';

describe('the Authorization header', () => {
  test.each([
    ['is absent', null],
    ['is empty', ''],
    ['has no key', 'Bearer'],
    ['has an empty key', 'Bearer '],
    ['has another scheme', `Basic ${fullKey}`],
    ['has another scheme before it', `Basic Bearer ${fullKey}`],
    ['separates by a tab', `Bearer\t${fullKey}`],
    ['has letters beyond ASCII', 'Bearer caf\u00e9'],
    ['has a key of 201 characters', `Bearer ${'a'.repeat(201)}`],
    ['is given twice', [`Bearer ${fullKey}`, `Bearer ${fullKey}`]],
  ])('that %s is refused without asking the engine', async (_what, authorization) => {
    const service = await startService();
    const reply = await service.send('/v1/customers', { headers: { authorization } });
    expect([reply.status, reply.message]).toEqual([401, missing]);
    expect(reply.headers['www-authenticate']).toBe('Bearer');
    expect(service.engine.authentications).toEqual([]);
  });

  test('names its scheme in any case', async () => {
    const service = await startService();
    const reply = await service.send('/v1/customers', { headers: { authorization: `bEARER ${fullKey}` } });
    expect(reply.status).toBe(200);
  });

  test('is not made of a header whose value is its name', async () => {
    const service = await startService();
    const reply = await service.send('/v1/customers', { headers: { 'x-about': 'authorization', 'x-other': 'b' } });
    expect(reply.status).toBe(200);
  });

  test('of 100 KiB is not even read', async () => {
    const service = await startService();
    const reply = await service.send('/v1/customers', { headers: { authorization: `Bearer ${'a'.repeat(102_400)}` } });
    expect(reply.status).toBe(400);
  });

  test.each(['Invalid API key', 'API key has been revoked', 'API key has expired'])(
    'the engine may answer: %s',
    async (words) => {
      const engine = createSampleEngine();
      const service = await startService({
        ...engine,
        authenticate: async () => Promise.reject(new UnauthorizedError(words)),
      });
      const reply = await service.send('/v1/customers');
      expect([reply.status, reply.text]).toEqual([
        401,
        JSON.stringify({ error: { message: words, code: 'UNAUTHORIZED' } }),
      ]);
    },
  );

  test('is looked at for every request of a connection', async () => {
    const engine = createSampleEngine();
    const service = await startService(engine);
    await service.send('/v1/customers');
    await service.send('/v1/customers');
    expect(engine.authentications).toEqual([fullKey, fullKey]);
  });
});

describe('order of checks', () => {
  const badBody = { method: 'POST', body: '{"broken' } as const;

  test('without a key nothing else is said', async () => {
    const service = await startService();
    const reply = await service.send('/v1/customers?x=1', { ...badBody, headers: { authorization: null } });
    expect(reply.status).toBe(401);
  });

  test('without the scope neither body, query nor media type is judged', async () => {
    const service = await startService();
    const reply = await service.send('/v1/customers?x=1', {
      ...badBody,
      headers: { authorization: `Bearer ${keyFor('customers:read')}`, 'content-type': 'text/plain' },
    });
    expect([reply.status, reply.message]).toEqual([
      403,
      'API key does not have the required permission: customers:write',
    ]);
    expect(service.engine.calls).toEqual([]);
  });

  test('with both, the body is judged before anything is looked up', async () => {
    const service = await startService();
    const reply = await service.send('/v1/customers', badBody);
    expect(reply.status).toBe(400);
    expect(service.engine.calls).toEqual([]);
  });
});

describe('scopes', () => {
  const routed = allOperations.filter(({ route }) => route !== undefined);

  test.each(scopes)('a key with %s alone opens the operations of that scope and no other', async (scope) => {
    const service = await startService();
    const opened: string[] = [];
    for (const { name, route, scope: needed } of routed) {
      const method = route?.method ?? 'GET';
      const path = (route?.path ?? '').replaceAll(/\{\w+\}/g, 'x');
      const reply = await service.send(path, { method, headers: { authorization: `Bearer ${keyFor(scope)}` } });
      if (reply.status !== 403) opened.push(name);
      else expect(reply.message).toBe(`API key does not have the required permission: ${needed}`);
    }
    const expected = routed.filter((operation) => ['any', scope].includes(operation.scope) || scope === '*');
    expect(opened).toEqual(expected.map(({ name }) => name));
  });
});

describe('browsers', () => {
  test.each(['https://evil.example', 'null', 'http://127.0.0.1:8787'])('a page of %s gets nothing', async (origin) => {
    const service = await startService();
    for (const method of ['GET', 'OPTIONS']) {
      const reply = await service.send('/v1/customers', { method, headers: { origin } });
      expect([reply.status, reply.message]).toEqual([403, 'requests from web pages are not accepted']);
      const hint = decodeURIComponent(String(reply.headers[serviceHeaders.hint]));
      expect(hint).toBe('call the service without an Origin header');
      expect(reply.headers['access-control-allow-origin']).toBeUndefined();
    }
    expect(service.engine.authentications).toEqual([]);
  });

  test.each([
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'localhost_.evil.example',
    'localhost.',
    '[::2]',
    '0.0.0.0',
    'a b',
  ])('a service on loopback does not answer to the name %j', async (host) => {
    const service = await startService();
    const { status, message, headers } = await service.send('/healthz', { headers: { host } });
    expect([status, message]).toEqual([403, 'this service answers only to the names of this machine']);
    expect(decodeURIComponent(String(headers[serviceHeaders.hint]))).toBe('use 127.0.0.1 or localhost in the URL');
  });

  test.each(['localhost', 'LOCALHOST:1', '127.0.0.1:8787', '127.8.9.1', '[::1]', '[::1]:80'])(
    'a service on loopback answers to the name %s',
    async (host) => {
      const service = await startService();
      const reply = await service.send('/healthz', { headers: { host } });
      expect(reply.status).toBe(200);
    },
  );

  test('a service on all addresses answers to any name', async () => {
    const service = await startService(createSampleEngine(), { host: '0.0.0.0', isBehindProxy: true });
    const reply = await service.send('/healthz', { headers: { host: 'billing.example' } });
    expect(reply.status).toBe(200);
  });
});
