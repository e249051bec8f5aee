import { describe, expect, test } from 'vitest';

import { allOperations } from '../../src/operations/all.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { createSampleEngine, fullKey, startService } from './harness.ts';

const routed = allOperations.filter(({ route }) => route !== undefined);

function pathOf(operation: Operation, index: number): string {
  const input = operation.examples[index]?.input ?? {};
  const path = (operation.route?.path ?? '').replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(input.params?.[name] ?? 'x'),
  );
  const query = new URLSearchParams(input.query ?? {}).toString();
  return query === '' ? path : `${path}?${query}`;
}

describe('routes', () => {
  test.each(routed.map((operation) => [operation.name, operation] as const))(
    '%s reaches the engine with what was sent, and answers with its status',
    async (name, operation) => {
      const service = await startService();
      for (const [index, { input }] of operation.examples.entries()) {
        const reply = await service.send(pathOf(operation, index), {
          method: operation.route?.method ?? 'GET',
          ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
        });
        expect(reply.message).toBeUndefined();
        expect(reply.status).toBe(operation.status);
        expect(service.engine.calls.at(-1)).toMatchObject({
          name,
          input: {
            params: input.params ?? {},
            query: input.query ?? {},
            ...(input.body === undefined ? {} : { body: input.body }),
          },
          caller: { organizationId: 'org-1', isLocal: false },
        });
      }
      expect(operation.examples.length).toBeGreaterThan(0);
    },
  );

  test('operations without a route are not to be had', async () => {
    const service = await startService();
    const reply = await service.send('/v1/keys', { method: 'POST', body: '{}' });
    expect(reply.status).toBe(404);
  });

  test.each([
    ['a slash inside an id', 'a%2Fb', 'a/b'],
    ['dots', '%2E%2E', '..'],
    ['a line break', 'a%0D%0Ab', 'a\r\nb'],
    ['a letter beyond ASCII', '%C3%A9', 'é'],
    ['a plus', 'a+b', 'a+b'],
  ])('%s reaches the engine as the id that was meant', async (_what, sent, meant) => {
    const service = await startService();
    await service.send(`/v1/customers/${sent}`);
    expect(service.engine.calls.at(-1)?.input.params).toEqual({ customerId: meant });
  });

  test('an id of 10,000 characters is for the engine to look up', async () => {
    const service = await startService();
    await service.send(`/v1/customers/${'a'.repeat(10_000)}`);
    expect(service.engine.calls.at(-1)?.input.params?.['customerId']).toHaveLength(10_000);
  });

  test('a path that is not valid percent-encoding is malformed', async () => {
    const service = await startService();
    const reply = await service.send('/v1/customers/%E0%A4%A');
    expect([reply.status, reply.message]).toEqual([400, 'the request is malformed']);
    expect(reply.headers['tallybook-version']).toBe('1.2.3');
  });

  test.each([
    '/',
    '/v1',
    '/v2/customers',
    '/V1/customers',
    '/v1/customers/a/b',
    '//v1/customers',
    '/v1/Customers',
    '/openapi_json',
  ])('the path %s is unknown', async (path) => {
    const service = await startService();
    const reply = await service.send(path, { headers: { authorization: null } });
    expect(reply.status).toBe(404);
    expect(reply.text).toBe('{"error":{"message":"this service has no such path","code":"NOT_FOUND"}}');
  });

  test.each([
    ['PUT', '/v1/customers', 'GET, HEAD, OPTIONS, POST'],
    ['DELETE', '/v1/customers/x', 'GET, HEAD, OPTIONS, PATCH'],
    ['GET', '/v1/usage/cost', 'OPTIONS, POST'],
    ['GET', '/v1/contracts/x/credits/promotional/grant?a=b', 'OPTIONS, POST'],
    ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/openapi.json', 'GET, HEAD, OPTIONS'],
    ['PUT', '/v1/%63ustomers', 'GET, HEAD, OPTIONS, POST'],
    ['PUT', '/v1/customers/a%2Fb', 'GET, HEAD, OPTIONS, PATCH'],
    ['PUT', '/v1/customers#%E0', 'GET, HEAD, OPTIONS, POST'],
  ])('%s %s is answered with the methods that the path takes', async (method, path, allow) => {
    const service = await startService();
    const reply = await service.send(path, { method });
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toBe(allow);
    expect(JSON.parse(reply.text)).toEqual({
      error: { message: `this path takes ${allow}`, code: 'METHOD_NOT_ALLOWED' },
    });
  });

  test.each(['GET', 'PUT', 'OPTIONS', 'PROPFIND', 'TRACE'])(
    '%s of a path that cannot be decoded is a bad request',
    async (method) => {
      const service = await startService();
      expect((await service.send('/v1/customers/%E0', { method })).status).toBe(400);
    },
  );

  test('OPTIONS says which methods a path takes, and nothing to other origins', async () => {
    const service = await startService();
    const reply = await service.send('/v1/customers', { method: 'OPTIONS', headers: { authorization: null } });
    expect([reply.status, reply.headers.allow, reply.text]).toEqual([204, 'GET, HEAD, OPTIONS, POST', '']);
    expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect((await service.send('/v1/nothing', { method: 'OPTIONS' })).status).toBe(404);
  });

  test('HEAD is GET without the body, and needs the key too', async () => {
    const service = await startService(
      createSampleEngine({ 'customers.list': () => ({ status: 200, body: { a: 1 } as never }) }),
    );
    const reply = await service.send('/v1/customers', { method: 'HEAD' });
    expect([reply.status, reply.headers['content-length'], reply.text]).toEqual([200, '7', '']);
    const refused = await service.send('/v1/customers', { method: 'HEAD', headers: { authorization: null } });
    expect(refused.status).toBe(401);
  });
});

describe('answers', () => {
  test('every answer names the version and the request, and is stored by nobody on its way', async () => {
    const service = await startService();
    for (const path of ['/v1/customers', '/healthz', '/nowhere', '/v1/customers?limit=0']) {
      const { headers } = await service.send(path);
      expect(headers['tallybook-version']).toBe('1.2.3');
      expect(headers['x-request-id']).toMatch(/^01900000-0000-7000-8000-[0-9a-f]{12}$/);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
  });

  test('a request id that the caller sends is not taken over', async () => {
    const service = await startService();
    const { headers } = await service.send('/v1/customers', {
      headers: { 'x-request-id': 'mine', 'request-id': 'mine' },
    });
    expect(headers['x-request-id']).not.toBe('mine');
  });

  test('numbers go out with the digits that the engine gave', async () => {
    const body = { data: { creditAmount: JSON.rawJSON('1.10'), amountCents: 9_007_199_254_740_991 } } as never;
    const service = await startService(createSampleEngine({ 'contracts.get': () => ({ status: 200, body }) }));
    const reply = await service.send('/v1/contracts/x');
    expect(reply.text).toBe('{"data":{"creditAmount":1.10,"amountCents":9007199254740991}}');
  });

  test('a replay says that it is one, and what differs', async () => {
    const answer = {
      status: 200,
      body: {} as never,
      isReplay: true,
      mismatches: ['amountCents', 'a\r\nSet-Cookie: x', 'expiresAt'],
    };
    const service = await startService(createSampleEngine({ 'credits.grant': () => answer }));
    const reply = await service.send('/v1/contracts/x/credits/promotional/grant', {
      method: 'POST',
      body: '{"expiresAt":"2027-01-01T00:00:00Z","amountCents":500,"externalId":"a"}',
    });
    expect(reply.status).toBe(200);
    expect(reply.headers['idempotency-replayed']).toBe('true');
    expect(reply.headers['idempotency-mismatch']).toBe('amountCents,expiresAt');
    expect(reply.headers['set-cookie']).toBeUndefined();
  });

  test('a first answer carries no replay headers', async () => {
    const service = await startService();
    const { headers } = await service.send('/v1/customers');
    expect(headers['idempotency-replayed']).toBeUndefined();
    expect(headers['idempotency-mismatch']).toBeUndefined();
  });

  test('the version of an answer is its ETag, and comes back in If-Match', async () => {
    const service = await startService(
      createSampleEngine({ 'budgets.list': () => ({ status: 200, body: {} as never, etag: 'v7' }) }),
    );
    const read = await service.send('/v1/contracts/x/budgets');
    expect(read.headers.etag).toBe('"v7"');
    await service.send('/v1/contracts/x/budgets/0', { method: 'DELETE', headers: { 'if-match': '"v7"' } });
    expect(service.engine.calls.at(-1)?.input.ifMatch).toBe('v7');
    await service.send('/v1/contracts/x/budgets/0', { method: 'DELETE', headers: { 'if-match': '*' } });
    expect(service.engine.calls.at(-1)?.input).not.toHaveProperty('ifMatch');
  });

  test.each(['v7', 'W/"v7"', '"a", "b"', '""', '"a\u0007"'])('If-Match %j is refused', async (header) => {
    const service = await startService();
    const value = header.replaceAll('\u0007', '\u00e9');
    const reply = await service.send('/v1/contracts/x/budgets/0', { method: 'DELETE', headers: { 'if-match': value } });
    const words = 'If-Match must be one ETag as it was given, in double quotes';
    expect([reply.status, reply.message, service.engine.calls.length]).toEqual([400, words, 0]);
  });
});

describe('the service itself', () => {
  test('says that it is well without a key', async () => {
    const service = await startService();
    const reply = await service.send('/healthz', { headers: { authorization: null } });
    expect([reply.status, reply.text]).toEqual([200, '{"status":"ok","version":"1.2.3"}']);
  });

  test('serves its OpenAPI document without a key', async () => {
    const service = await startService();
    const reply = await service.send('/openapi.json', { headers: { authorization: null } });
    expect(JSON.parse(reply.text)).toMatchObject({ openapi: '3.1.1', info: { version: '1.2.3' } });
  });

  test('logs the route and the outcome, never what the caller chose', async () => {
    const service = await startService();
    await service.send('/v1/customers/secret-id?limit=secret', { headers: { authorization: `Bearer ${fullKey}` } });
    await service.send('/secret-path');
    expect(service.log).toMatchObject([
      { method: 'GET', route: '/v1/customers/:customerId', status: 400, organizationId: 'org-1' },
      { method: 'GET', route: undefined, status: 404, organizationId: undefined },
    ]);
    expect(JSON.stringify(service.log)).not.toContain('secret');
  });
});
