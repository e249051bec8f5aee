/** What is sent again, when, and what is not (reliability 10). */

import type { Server } from 'node:net';

import { describe, expect, test } from 'vitest';

import { retryAfterMilliseconds } from '../../src/client/retry.ts';
import { UnsentError, errorFacts, unknownOutcomeMessage } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { worldStart } from '../support/world.ts';
import { envelope, json, okAnswer, okList, reset, startClient, startFakeService, unusedUrl } from './harness.ts';

const grant = { params: { contractId: 'c1' }, body: { expiresAt: '2027-01-01T00:00:00Z', amountCents: 500 } };
const keyed = { eventName: 'llm.request', externalCustomerId: 'acme', idempotencyKey: 'a' };
const repeatableGrant = { ...grant, body: { ...grant.body, externalId: 'promo-1' } };

describe('a busy or failing service', () => {
  test.each([429, 502, 503, 504])('%i once: a reading is repeated', async (status) => {
    const service = await startFakeService(envelope(status, 'busy'), okList);
    const client = startClient(service.url);
    expect((await client.call('customers.list')).status).toBe(200);
    expect(client.retries).toEqual([
      { attempt: 1, triedMilliseconds: 0, delayMilliseconds: 100, reason: `answered ${status}` },
    ]);
  });

  test.each([
    [429, 'rateLimited', 5],
    [502, 'internal', 1],
    [503, 'unavailable', 9],
    [504, 'internal', 1],
  ] as const)('%i always: a reading is tried four times, with growing waits', async (status, kind, exitCode) => {
    const service = await startFakeService(envelope(status, 'busy'));
    const client = startClient(service.url);
    const retryAfterSeconds = kind === 'rateLimited' ? 1 : undefined;
    await expect(client.call('customers.list')).rejects.toMatchObject({ kind, message: 'busy', retryAfterSeconds });
    expect(errorFacts[kind].exitCode).toBe(exitCode);
    expect(service.requests).toHaveLength(limits.requestAttempts);
    expect(client.retries.map(({ delayMilliseconds }) => delayMilliseconds)).toEqual([100, 200, 400]);
  });

  test.each([400, 401, 403, 404, 409, 412, 422, 500, 501])('%i is final', async (status) => {
    const service = await startFakeService(envelope(status, 'no'));
    await expect(startClient(service.url).call('customers.get', { params: { customerId: 'x' } })).rejects.toThrow('no');
    expect(service.requests).toHaveLength(1);
  });

  test.each([
    ['a status that we never give', 418, 'badRequest'],
    ['a failure of its own kind', 507, 'internal'],
  ] as const)('%s keeps its words', async (_what, status, kind) => {
    const service = await startFakeService(envelope(status, 'I am a teapot'));
    await expect(startClient(service.url).call('customers.list')).rejects.toMatchObject({
      kind,
      message: 'I am a teapot',
    });
  });

  test.each([
    [500, false],
    [502, true],
  ])('a page of HTML is not shown for a service or a gateway that fails with %i', async (status, isRetryable) => {
    const body = '<h1>It failed</h1>';
    const service = await startFakeService({ status, headers: { 'content-type': 'text/html' }, body });
    await expect(startClient(service.url).call('customers.list')).rejects.toMatchObject({
      kind: 'internal',
      message: `${service.host} answered ${status}`,
      answeredStatus: status,
      isRetryable,
    });
  });
});

describe('Retry-After', () => {
  /** worldStart is a Sunday, 00:00:00. */
  test.each([
    ['7', 7000],
    ['0', 0],
    ['Sun, 01 Mar 2026 00:00:09 GMT', 9000],
    ['Sat, 28 Feb 2026 00:00:00 GMT', 0],
    ['-1', 100],
    ['1.5', 100],
    ['soon', 100],
    ['Sun, 31 Feb 2026 00:00:00 GMT', 100],
    ['2026-03-01T00:00:09Z', 100],
    ['xSun, 01 Mar 2026 00:00:09 GMT', 100],
    ['Sun, 01 Mar 2026 00:00:09 GMT+1', 100],
  ])('%s waits %i ms', async (header, delay) => {
    expect(worldStart).toBe('2026-03-01T00:00:00.000Z');
    const service = await startFakeService(envelope(429, 'slow down', { 'retry-after': header }), okList);
    const client = startClient(service.url);
    await client.call('customers.list');
    expect(client.retries.map(({ delayMilliseconds }) => delayMilliseconds)).toEqual([delay]);
  });

  test.each([
    ['99999', 99_999],
    ['120', 120],
    ['Tue, 03 Mar 2026 00:00:00 GMT', 172_800],
    ['Tue, 01 Dec 2026 00:00:00 GMT', 275 * 86_400],
  ])('%s is longer than the call may take: the wait is stated instead', async (header, seconds) => {
    const service = await startFakeService(envelope(429, 'slow down', { 'retry-after': header }));
    await expect(startClient(service.url).call('customers.list')).rejects.toMatchObject({
      kind: 'rateLimited',
      message: 'slow down',
      retryAfterSeconds: seconds,
      hint: `wait ${seconds} s, and repeat the command`,
    });
    expect(service.requests).toHaveLength(1);
  });

  test.each(['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'])(
    'a date may be in %s',
    (month) => {
      const date = `Fri, 01 ${month} 2027 00:00:00 GMT`;
      expect(retryAfterMilliseconds(date, 0)).toBe(Date.parse(date));
    },
  );

  test('a call that may take longer than a timer can be set to is waited for, and no wait is longer than that', async () => {
    const service = await startFakeService(
      // A timer that is set to more than there can be goes off at once.
      (response) => void setTimeout(() => response.writeHead(200, json).end('{"data":[]}'), 100),
      envelope(503, 'busy', { 'retry-after': '3000000' }),
    );
    const client = startClient(service.url, { timeoutMilliseconds: 10 ** 10 });
    expect(await client.call('customers.list')).toMatchObject({ status: 200 });
    await expect(client.call('customers.list')).rejects.toMatchObject({ kind: 'unavailable' });
    expect(client.retries).toEqual([]);
  });

  test('all waits together stay within the time of the call', async () => {
    const service = await startFakeService(envelope(503, 'busy', { 'retry-after': '50' }));
    await expect(startClient(service.url).call('customers.list')).rejects.toMatchObject({ kind: 'unavailable' });
    expect(service.requests).toHaveLength(3);
  });
});

describe('writes', () => {
  test.each([
    ['with an externalId', 'credits.grant', repeatableGrant],
    ['that may always be repeated', 'customers.assignCsm', { body: { assignments: [] } }],
    ['of events with keys', 'usage.ingestBatch', { body: { events: [keyed, { ...keyed, idempotencyKey: 'b' }] } }],
  ] as const)('a write %s is repeated', async (_what, name, input) => {
    for (const fault of [envelope(503, 'busy'), envelope(429, 'busy'), reset]) {
      const body = '{"status":"accepted","count":2,"requestId":"r","data":{"id":"x","results":[]}}';
      const service = await startFakeService(fault, { headers: json, body });
      await startClient(service.url).call(name, input);
      expect(service.requests).toHaveLength(2);
    }
  });

  test.each([
    ['lost its answer', reset, true],
    ['was refused for its rate', envelope(429, 'busy'), undefined],
  ])('an entry that is found there after a try that %s', async (_what, fault, followsOpenTry) => {
    const found = { headers: { ...json, 'idempotency-replayed': 'true' }, body: '{"data":{"id":"x"}}' };
    const service = await startFakeService(fault, found);
    const answer = await startClient(service.url).call('credits.grant', repeatableGrant);
    expect([answer.isReplay, answer.followsOpenTry]).toEqual([true, followsOpenTry]);
  });

  test('a batch of which one event has no key is not repeated: the service would make another one', async () => {
    for (const idempotencyKey of [undefined, null]) {
      const service = await startFakeService(reset, okAnswer);
      const input = { body: { events: [keyed, { ...keyed, idempotencyKey }] } };
      await expect(startClient(service.url).call('usage.ingestBatch', input)).rejects.toMatchObject({
        kind: 'network',
      });
      expect(service.requests).toHaveLength(1);
    }
  });

  test('a question asked by POST is repeated like any reading', async () => {
    const cost = { headers: json, body: '{"totalAmount":0}' };
    const service = await startFakeService(reset, envelope(502, 'busy'), cost);
    await startClient(service.url).call('usage.cost', { body: {} });
    expect(service.requests).toHaveLength(3);
  });

  test('an externalId of null is none', async () => {
    const service = await startFakeService(reset, okAnswer);
    const input = { ...grant, body: { ...grant.body, externalId: null } };
    await expect(startClient(service.url).call('credits.grant', input)).rejects.toMatchObject({ kind: 'network' });
    expect(service.requests).toHaveLength(1);
  });

  test('any other write is not sent again once it may have arrived', async () => {
    const unknown = envelope(503, unknownOutcomeMessage);
    for (const fault of [reset, envelope(502, 'busy'), envelope(504, 'busy'), { status: 503, body: '' }, unknown]) {
      const service = await startFakeService(fault, okAnswer);
      await expect(startClient(service.url).call('credits.grant', grant)).rejects.toMatchObject({
        kind: 'network',
        answeredStatus: fault === reset ? undefined : (fault as { status: number }).status,
        message: expect.stringMatching(`^the outcome is unknown: ${service.host}: `),
        hint: 'before repeating the command, check whether it took effect: tally credits ledger c1',
        isRetryable: false,
      });
      expect(service.requests).toHaveLength(1);
    }
  });

  test('an unknown outcome, and an answer that is none, have the id under which the service knows the request', async () => {
    const headers = { ...json, 'x-request-id': 'req-77' };
    for (const body of ['<html>', '{"error":{"code":"UNAVAILABLE","message":"busy"}}']) {
      const service = await startFakeService({ status: body === '<html>' ? 200 : 504, headers, body });
      await expect(startClient(service.url).call('credits.grant', grant)).rejects.toMatchObject({
        kind: 'network',
        requestId: 'req-77',
      });
    }
  });

  test.each([
    ['customers.create', {}, 'tally customers list'],
    ['customers.update', { params: { customerId: 'c1' } }, 'tally customers get c1'],
    ['contracts.cancel', { params: { contractId: 'c1' } }, 'tally contracts get c1'],
    ['budgets.remove', { params: { contractId: 'c1', index: '0' } }, 'tally budgets list c1'],
    ['usage.ingestBatch', {}, 'tally usage events'],
  ] as const)('after %s, the way to check is told', async (name, input, command) => {
    const service = await startFakeService(reset);
    await expect(startClient(service.url).call(name, input)).rejects.toMatchObject({
      hint: `before repeating the command, check whether it took effect: ${command}`,
    });
  });

  test('after a repeatable one, repeating is the way to check', async () => {
    const service = await startFakeService(reset);
    await expect(startClient(service.url).call('credits.grant', repeatableGrant)).rejects.toMatchObject({
      kind: 'network',
      hint: 'repeat the command: sending it twice does no more than sending it once',
      isRetryable: true,
    });
    expect(service.requests).toHaveLength(limits.requestAttempts);
  });

  test('a refusal in the words of the service is no unknown outcome', async () => {
    for (const [status, kind] of [
      [429, 'rateLimited'],
      [503, 'unavailable'],
      [500, 'internal'],
    ] as const) {
      const service = await startFakeService(envelope(status, 'nothing was changed'));
      await expect(startClient(service.url).call('credits.grant', grant)).rejects.toMatchObject({
        kind,
        message: 'nothing was changed',
      });
      expect(service.requests).toHaveLength(1);
    }
  });

  test.each([
    ['customers.list', 429, {}, 'wait 1 s, and repeat the command'],
    ['customers.list', 429, { 'retry-after': 'Fri, 27 Feb 2026 00:00:00 GMT' }, 'wait 1 s, and repeat the command'],
    ['customers.list', 503, {}, 'try again later'],
    ['customers.list', 503, { 'retry-after': '9999' }, 'wait 9999 s, and repeat the command'],
    ['customers.list', 503, { 'tallybook-hint': 'make%20room' }, 'make room'],
    ['customers.list', 500, {}, 'try again later; if it fails again, tell whoever runs the service'],
    [
      'customers.create',
      500,
      { 'x-request-id': 'r-1' },
      'before repeating the command, check whether it took effect: tally customers list; if it fails again, tell whoever runs the service of request r-1',
    ],
  ] as const)('%s answered %i with %j says what next', async (name, status, headers, hint) => {
    const service = await startFakeService(envelope(status, 'no', headers));
    await expect(startClient(service.url).call(name)).rejects.toMatchObject({ hint });
  });

  test('a write that provably never left is sent again', async () => {
    const client = startClient(await unusedUrl());
    await expect(client.call('credits.grant', grant)).rejects.toMatchObject({
      kind: 'network',
      message: expect.not.stringContaining('unknown'),
    });
    expect(client.retries).toHaveLength(limits.requestAttempts - 1);
    await expect(client.call('credits.grant', grant)).rejects.toBeInstanceOf(UnsentError);
  });

  test('one of whose tries may have arrived has an unknown outcome, whatever became of the others', async () => {
    const service = await startFakeService((_response, request) => {
      const { server } = request.socket as typeof request.socket & { readonly server: Server };
      server.close();
      request.socket.destroy();
    });
    const sending = startClient(service.url).call('credits.grant', repeatableGrant);
    await expect(sending).rejects.toThrow(`the outcome is unknown: ${service.host}: nothing answers at this address`);
    await expect(sending).rejects.not.toBeInstanceOf(UnsentError);
    expect(service.requests).toHaveLength(1);
  });

  test.each([401, 403, 404, 409, 422, 429])(
    'one that may have arrived is not refused by a later try with %i',
    async (status) => {
      for (const first of [reset, envelope(504, 'busy')]) {
        const refused = envelope(status, 'no', { 'retry-after': '9999' });
        const service = await startFakeService(first, refused);
        await expect(startClient(service.url).call('credits.grant', repeatableGrant)).rejects.toMatchObject({
          kind: 'network',
          message: `the outcome is unknown: ${service.host}: answered ${status} after a try without an outcome`,
          hint: 'repeat the command: sending it twice does no more than sending it once',
        });
      }
      for (const first of [envelope(503, 'busy'), { status: 429, body: 'busy' }]) {
        const service = await startFakeService(first, envelope(status, 'no', { 'retry-after': '9999' }));
        await expect(startClient(service.url).call('credits.grant', repeatableGrant)).rejects.toThrow(/^no$/);
      }
    },
  );

  test('one that may have arrived is not settled by a later answer that points elsewhere', async () => {
    const service = await startFakeService(reset, { status: 302, headers: { location: 'https://other.example' } });
    await expect(startClient(service.url).call('credits.grant', repeatableGrant)).rejects.toThrow(
      `the outcome is unknown: ${service.host}: answered 302 after a try without an outcome`,
    );
  });

  test('a success that cannot be read says how to check', async () => {
    const service = await startFakeService({ headers: json, body: '{"data":' });
    await expect(startClient(service.url).call('credits.grant', grant)).rejects.toMatchObject({
      kind: 'network',
      hint: expect.stringContaining('tally credits ledger c1'),
    });
  });
});
