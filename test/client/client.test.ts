/** The client against a service of ours: a caller cannot tell it from the engine. */

import { describe, expect, test } from 'vitest';

import { factHeaders } from '../../src/answer-facts.ts';
import {
  BillingError,
  errorFacts,
  InvalidInputError,
  NotFoundError,
  RateLimitedError,
  UnsentError,
} from '../../src/errors.ts';
import type { ErrorKind } from '../../src/errors.ts';
import { allOperations } from '../../src/operations/all.ts';
import type { Answer, OperationName } from '../../src/operations/index.ts';
import { createSampleEngine, keyFor, startService } from '../server/harness.ts';
import { json, leastAnswer, okList, startClient, startFakeService } from './harness.ts';

const routed = allOperations.filter(({ route }) => route !== undefined);

describe('through a service of ours', () => {
  test.each(routed.map((operation) => [operation.name, operation] as const))(
    '%s arrives as it was called',
    async (name, operation) => {
      const answered = { status: operation.status, body: leastAnswer(operation.response) as Answer['body'] };
      const service = await startService(createSampleEngine({ [name]: () => answered }));
      const client = startClient(service.url);
      for (const { input } of operation.examples) {
        const answer = await client.call(name as OperationName, input);
        expect(answer).toStrictEqual(answered);
        const { params = {}, query = {}, ...rest } = input;
        const body = operation.body === undefined ? {} : { body: rest.body ?? {} };
        expect(service.engine.calls.at(-1)).toMatchObject({ name, input: { ...rest, ...body, params, query } });
      }
    },
  );

  test('an answer comes back as the engine gave it, digits and all', async () => {
    const given = {
      status: 200,
      body: {
        data: {
          creditAmount: JSON.rawJSON('1.10'),
          big: JSON.rawJSON('9007199254740993'),
          n: 5,
          text: 'é\u0000',
          budgets: [],
        },
      },
      etag: 'v7',
      isReplay: true,
      mismatches: ['amountCents', 'expiresAt'],
      outsideContractCount: 4,
      lateCount: 6,
      knownEvents: { unchanged: 3, replaced: 2 },
    } as unknown as Answer;
    const service = await startService(createSampleEngine({ 'budgets.list': () => given }));
    const answer = await startClient(service.url).call('budgets.list', { params: { contractId: 'x' } });
    expect(JSON.stringify(answer)).toBe(JSON.stringify(given));
  });

  test.each([factHeaders.unchanged.name, factHeaders.replaced.name])(
    'of the events that were known, %s alone says nothing',
    async (header) => {
      const service = await startFakeService({ headers: { ...json, [header]: '3' }, body: '{"status":"accepted"}' });
      expect(await startClient(service.url).call('usage.ingestBatch')).not.toHaveProperty('knownEvents');
    },
  );

  test.each(['-1', '1.5', 'many', '1234567890'])('a count of %s is none', async (count) => {
    const headers = { ...json, [factHeaders.outsideContractCount.name]: count };
    const service = await startFakeService({ headers, body: '{"status":"accepted"}' });
    expect(await startClient(service.url).call('usage.ingestBatch')).not.toHaveProperty('outsideContractCount');
  });

  test('a list in a header may have spaces, as proxies write it', async () => {
    const headers = { ...json, [factHeaders.mismatches.name]: 'amountCents , expiresAt' };
    const service = await startFakeService({ headers, body: '{"data":{"id":"x"}}' });
    const granting = startClient(service.url).call('credits.grant', { params: { contractId: 'x' } });
    expect(await granting).toMatchObject({ mismatches: ['amountCents', 'expiresAt'] });
  });

  test('null is sent as the body that it is, and refused as it is in this process', async () => {
    const { url, engine } = await startService();
    const cancelling = startClient(url).call('contracts.cancel', { params: { contractId: 'x' }, body: null });
    await expect(cancelling).rejects.toMatchObject({ kind: 'invalidInput' });
    expect(engine.calls[0]?.input.body).toBeNull();
  });

  test('the version of an answer goes back as it came', async () => {
    const removed = { status: 200, body: { data: { removed: true } } } as unknown as Answer;
    const service = await startService(createSampleEngine({ 'budgets.remove': () => removed }));
    await startClient(service.url).call('budgets.remove', { params: { contractId: 'x', index: '0' }, ifMatch: 'v7' });
    expect(service.engine.calls[0]?.input.ifMatch).toBe('v7');
  });

  test('a version goes neither where none was given, nor with what has none', async () => {
    const service = await startFakeService({ headers: json, body: '{"data":{"budgets":[]}}' }, okList);
    const client = startClient(service.url);
    await client.call('budgets.list', { params: { contractId: 'x' } });
    await client.call('customers.list', { ifMatch: 'v7' });
    expect(service.headers.map((headers) => headers['if-match'])).toEqual([undefined, undefined]);
  });

  test.each(['"v7"', 'W/"v7"'])('a version is read as %s, which a proxy that packs makes of it', async (etag) => {
    const service = await startFakeService({ headers: { ...json, etag }, body: '{"data":[]}' });
    expect(await startClient(service.url).call('customers.list')).toMatchObject({ etag: 'v7' });
  });

  test.each(['v7', 'x"v7"', '"v7"x'])('%s is no version, since it would not come back as it came', async (etag) => {
    const service = await startFakeService({ headers: { ...json, etag }, body: '{"data":[]}' });
    expect(await startClient(service.url).call('customers.list')).not.toHaveProperty('etag');
  });

  test('a version that no answer carried is not sent', async () => {
    const client = startClient((await startService()).url);
    const call = client.call('budgets.remove', { params: { contractId: 'x', index: '0' }, ifMatch: 'a"\r\nb' });
    await expect(call).rejects.toMatchObject({ kind: 'badRequest' });
  });

  const kinds = (Object.keys(errorFacts) as ErrorKind[]).filter((kind) => {
    const { status } = errorFacts[kind];
    return status !== undefined && !['internal', 'unavailable', 'methodNotAllowed'].includes(kind);
  });

  test.each(kinds)('%s is the same failure on both sides', async (kind) => {
    const message = 'contacts[0].email: "é" is wrong; name: is required';
    const thrown = new BillingError(kind, message, { retryAfterSeconds: 3 });
    const service = await startService(createSampleEngine({ 'customers.get': async () => Promise.reject(thrown) }));
    const call = startClient(service.url).call('customers.get', { params: { customerId: 'x' } });
    const failure: unknown = await call.catch((error: unknown) => error);
    const { isRetryable } = thrown;
    expect(failure).toMatchObject({ kind, message, isRetryable, requestId: expect.stringMatching(/^01900000-/) });
    expect(failure).toBeInstanceOf(BillingError);
  });

  test.each([
    ['invalidInput', InvalidInputError],
    ['notFound', NotFoundError],
    ['rateLimited', RateLimitedError],
  ] as const)('%s comes back as its own class', async (kind, type) => {
    const service = await startService(
      createSampleEngine({ 'customers.get': async () => Promise.reject(new BillingError(kind, 'words')) }),
    );
    const call = startClient(service.url).call('customers.get', { params: { customerId: 'x' } });
    await expect(call).rejects.toBeInstanceOf(type);
  });

  test('the hint of a failure comes along', async () => {
    const hint = 'see them with: tally customers list "é"';
    const service = await startService(
      createSampleEngine({ 'customers.get': async () => Promise.reject(new NotFoundError('words', { hint })) }),
    );
    const call = startClient(service.url).call('customers.get', { params: { customerId: 'x' } });
    await expect(call).rejects.toMatchObject({ hint });
  });

  test('the issues of a refused body come back one by one', async () => {
    const issues = [
      { path: 'contacts[0].email', message: 'must be an email address such as ada@example.com' },
      { path: '', message: 'at least one field is required' },
      { path: '', message: 'one of two: the other is wrong' },
      { path: 'metadata.a', message: 'is wrong: say\nwhy' },
      { path: 'metadata.cost center', message: 'must be text' },
      { path: 'rates[0].dimensions.a b', message: 'is not a group key' },
    ];
    const thrown = new InvalidInputError(issues);
    const service = await startService(createSampleEngine({ 'customers.get': async () => Promise.reject(thrown) }));
    const call = startClient(service.url).call('customers.get', { params: { customerId: 'x' } });
    await expect(call).rejects.toMatchObject({ issues, message: thrown.message });
  });

  test('a bug of the service is an internal failure that says which request it was', async () => {
    const service = await startService(
      createSampleEngine({ 'customers.list': async () => Promise.reject(new Error('secret')) }),
    );
    await expect(startClient(service.url).call('customers.list')).rejects.toMatchObject({
      kind: 'internal',
      message: 'internal error',
      requestId: expect.any(String),
    });
  });

  test('a missing scope is named', async () => {
    const service = await startService();
    const client = startClient(service.url, { key: keyFor('usage:read') });
    await expect(client.call('customers.list')).rejects.toMatchObject({
      kind: 'forbidden',
      message: 'API key does not have the required permission: customers:read',
    });
  });

  test('a refused key says who refused it', async () => {
    const service = await startService();
    const client = startClient(service.url, { key: `other_live_${'0'.repeat(48)}` });
    await expect(client.call('customers.list')).rejects.toMatchObject({
      kind: 'unauthorized',
      message: 'Invalid API key',
      hint: `127.0.0.1:${service.port} refused the key; check it with: tally profile check`,
    });
  });

  test('administration is not offered, and nothing is sent', async () => {
    const service = await startService();
    await expect(startClient(service.url).call('keys.list')).rejects.toMatchObject({
      kind: 'notOffered',
      message: `127.0.0.1:${service.port} does not offer "keys list": only an embedded database does`,
      hint: 'give it where the service runs, on its own database: --database',
    });
    expect(service.log).toEqual([]);
  });

  test('a client that never called closes like any other', async () => {
    const client = startClient('http://127.0.0.1:1');
    await client.close();
    await new Promise(setImmediate);
    expect(client.connection()).toBeUndefined();
  });

  test('a closed client no longer calls', async () => {
    const body = { data: [], hasMore: false, total: 0 };
    const service = await startService(createSampleEngine({ 'customers.list': () => ({ status: 200, body }) }));
    const client = startClient(service.url);
    await client.call('customers.list');
    await client.close();
    await expect(client.call('customers.list')).rejects.toMatchObject({
      kind: 'network',
      message: `127.0.0.1:${service.port}: the client is closed`,
    });
    await expect(client.call('customers.create', { body: {} })).rejects.toBeInstanceOf(UnsentError);
    expect(client.retries).toEqual([]);
  });
});
