/** Services of other makers, and older ones of ours: what they are asked, and what they do not offer (semantics 3). */

import { describe, expect, test } from 'vitest';

import { UnsentError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { fullKey } from '../server/harness.ts';
import { envelope, json, okAnswer, reset, startClient, startFakeService, unusedUrl } from './harness.ts';

describe('services of other makers', () => {
  test.each(['two words', 'x'.repeat(101), 'caf\u00e9'])(
    'what calls itself %s is no id, and no version',
    async (given) => {
      const headers = { 'x-request-id': given, 'tallybook-version': given };
      const service = await startFakeService(envelope(404, 'no such customer', headers));
      const client = startClient(service.url);
      const failure = await client
        .call('customers.get', { params: { customerId: 'x' } })
        .catch((error: unknown) => error as { readonly message: string; readonly requestId?: string });
      expect(failure).toMatchObject({ kind: 'notFound', requestId: undefined });
      expect(client.connection()).not.toHaveProperty('version');
    },
  );

  test('the key, and what was asked, is all that they get', async () => {
    const service = await startFakeService();
    await startClient(`${service.url}/billing/`).call('customers.list', {
      query: { externalCustomerId: 'a b&c=d', limit: '5' },
    });
    expect(service.requests).toEqual(['GET /billing/v1/customers?externalCustomerId=a+b%26c%3Dd&limit=5']);
    expect(service.headers[0]).toEqual({
      host: service.host,
      connection: 'close',
      accept: 'application/json',
      'user-agent': 'tallybook',
      authorization: `Bearer ${fullKey}`,
    });
  });

  test.each([
    ['a collection that is not there', 404, 'customers.list', {}],
    ['a method that is not there', 405, 'customers.get', { params: { customerId: 'x' } }],
    ['an operation that is not there', 404, 'usage.cost', { body: {} }],
  ] as const)('%s is not offered', async (_what, status, name, input) => {
    for (const [answer, why] of [
      [envelope(status, 'Not Found'), 'Not Found'],
      [{ status, headers: { 'content-type': 'text/html' }, body: 'Cannot GET' }, `answered ${status}`],
    ] as const) {
      const service = await startFakeService(answer);
      await expect(startClient(service.url).call(name, input)).rejects.toMatchObject({
        kind: 'notOffered',
        message: `${service.host} does not offer "${name.replace('.', ' ')}": ${why}`,
        hint: 'check the base URL of the profile, or use an embedded database',
      });
      expect(service.requests).toHaveLength(1);
    }
  });

  test('a resource that is not there is not found', async () => {
    const service = await startFakeService(envelope(404, 'Customer not found'));
    await expect(startClient(service.url).call('customers.get', { params: { customerId: 'x' } })).rejects.toMatchObject(
      {
        kind: 'notFound',
        message: 'Customer not found',
      },
    );
  });

  test('of words without end, only so many are kept', async () => {
    const service = await startFakeService(envelope(409, 'no '.repeat(1_000_000)));
    const failure = startClient(service.url).call('customers.get', { params: { customerId: 'x' } });
    await expect(failure).rejects.toSatisfy(
      ({ message }: Error) => message.length === limits.responseMessageCharacters,
    );
  });

  test('an older service of ours, without the path, does not offer it', async () => {
    const service = await startFakeService(envelope(404, 'this service has no such path'));
    await expect(startClient(service.url).call('customers.get', { params: { customerId: 'x' } })).rejects.toMatchObject(
      { kind: 'notOffered' },
    );
  });

  test('a refused key without a word of JSON is still a refused key', async () => {
    const service = await startFakeService({ status: 401, body: 'Unauthorized' });
    await expect(startClient(service.url).call('customers.list')).rejects.toMatchObject({
      kind: 'unauthorized',
      message: `${service.host} answered 401`,
      hint: `${service.host} refused the key; check it with: tally profile check`,
    });
  });

  test('published extensions are simply sent', async () => {
    const service = await startFakeService();
    await startClient(service.url).call('contracts.list');
    expect(service.requests).toEqual(['GET /v1/contracts']);
  });

  test('a balance that stands in no `data`, as semantics 1 shows it, is read like ours', async () => {
    const balance = { balance: { balanceCents: 5 }, blocks: [] };
    const input = { params: { contractId: 'x' } };
    for (const body of [balance, { data: balance }]) {
      const service = await startFakeService({ status: 200, headers: json, body: JSON.stringify(body) });
      expect((await startClient(service.url).call('credits.balance', input)).body).toEqual({ data: balance });
    }
  });

  test('a count is a plain number, however they write it; amounts stay as they are written', async () => {
    const list = '{"data":[{"id":"x","totalCents":700.0,"extra":1.0}],"hasMore":true,"total":11.0}';
    const service = await startFakeService({ status: 200, headers: json, body: list });
    const { body } = await startClient(service.url).call('invoices.list');
    expect(JSON.stringify(body)).toBe(list.replace('11.0', '11'));
    const block = '"blocks":[{"id":"x","daysUntilExpiry":9.00,"originalCents":5.0},{"id":"y","daysUntilExpiry":null}]';
    const balance = `{"data":{"balance":{"blockCount":2.50},${block}}}`;
    const other = await startFakeService({ status: 200, headers: json, body: balance });
    const found = await startClient(other.url).call('credits.balance', { params: { contractId: 'x' } });
    expect(JSON.stringify(found.body)).toBe(balance.replace('9.00', '9'));
    const prices = '{"data":[{"id":"x","priceIntervalCount":3.0},{"id":"y"}],"hasMore":false,"total":2}';
    const third = await startFakeService({ status: 200, headers: json, body: prices });
    expect(JSON.stringify((await startClient(third.url).call('pricing.list')).body)).toBe(prices.replace('3.0', '3'));
  });

  test('paths of our own invention are not sent to them, and the key stays at home', async () => {
    const service = await startFakeService(envelope(404, 'Not Found'));
    const client = startClient(service.url);
    for (let count = 0; count < 2; count += 1) {
      await expect(client.call('customers.resume', { params: { customerId: 'x' } })).rejects.toMatchObject({
        kind: 'notOffered',
        message: `${service.host} does not offer "customers resume": it does not identify itself as a tallybook service`,
      });
    }
    expect(service.requests).toEqual(['GET /healthz']);
    expect(service.headers[0]).not.toHaveProperty('authorization');
  });

  test('they are sent after one question, or none, where it names itself one of ours', async () => {
    const ours = { ...okAnswer, headers: { ...json, 'tallybook-version': '1.2.3' } };
    const asked = await startFakeService(ours);
    const client = startClient(asked.url);
    await client.call('customers.resume', { params: { customerId: 'x' } });
    await client.call('customers.resume', { params: { customerId: 'x' } });
    expect(asked.requests).toEqual(['GET /healthz', 'POST /v1/customers/x/resume', 'POST /v1/customers/x/resume']);

    const known = await startFakeService(ours);
    const second = startClient(known.url);
    await second.call('customers.get', { params: { customerId: 'x' } });
    await second.call('customers.resume', { params: { customerId: 'x' } });
    expect(known.requests).toEqual(['GET /v1/customers/x', 'POST /v1/customers/x/resume']);
  });

  test.each([
    [503, limits.requestAttempts, { kind: 'unavailable', hint: 'wait 1 s, and repeat the command' }],
    [502, limits.requestAttempts, { kind: 'internal' }],
    [504, limits.requestAttempts, { kind: 'internal' }],
    [429, limits.requestAttempts, { kind: 'rateLimited', retryAfterSeconds: 1 }],
    [500, 1, { kind: 'internal' }],
    [522, 1, { kind: 'internal' }],
  ])('a proxy that answers %i in front of one of ours does not make it foreign', async (status, tries, failure) => {
    const ours = { ...okAnswer, headers: { ...json, 'tallybook-version': '1.2.3' } };
    const refusal = { status, headers: { 'retry-after': '1' }, body: '<html>later</html>' };
    const service = await startFakeService(...Array.from({ length: tries }, () => refusal), ours);
    const client = startClient(service.url);
    const resume = async () => await client.call('customers.resume', { params: { customerId: 'x' } });
    await expect(resume()).rejects.toMatchObject({ ...failure, message: `${service.host} answered ${status}` });
    await resume();
    expect(service.requests.filter((request) => request !== 'GET /healthz')).toEqual(['POST /v1/customers/x/resume']);
  });

  test('one of ours that is not well answers for itself', async () => {
    const ours = { ...okAnswer, headers: { ...json, 'tallybook-version': '1.2.3' } };
    const unwell = { ...ours, status: 503 };
    const service = await startFakeService(...Array.from({ length: limits.requestAttempts }, () => unwell), ours);
    await startClient(service.url).call('customers.resume', { params: { customerId: 'x' } });
    expect(service.requests.at(-1)).toBe('POST /v1/customers/x/resume');
  });

  test('a service that cannot be asked is unreachable, not foreign', async () => {
    const client = startClient(await unusedUrl());
    await expect(client.call('customers.resume', { params: { customerId: 'x' } })).rejects.toMatchObject({
      kind: 'network',
    });
  });

  test('a question that breaks off leaves it certain that the write behind it never left', async () => {
    const service = await startFakeService(reset);
    const resuming = startClient(service.url).call('customers.resume', { params: { customerId: 'x' } });
    await expect(resuming).rejects.toBeInstanceOf(UnsentError);
    expect(new Set(service.requests)).toEqual(new Set(['GET /healthz']));
  });
});
