/** Hosts that cannot be reached, waiting, redirects (reliability 10; security 3, SEC-11). */

import { describe, expect, onTestFinished, test } from 'vitest';

import { UnsentError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { json, okAnswer, okList, startClient, startFakeService, startRawService, unusedUrl } from './harness.ts';

const grant = { params: { contractId: 'c1' }, body: { expiresAt: '2027-01-01T00:00:00Z', amountCents: 500 } };

test.each(['meters.archive', 'meters.get', 'meters.create'] as const)('%s has the length of its body', async (name) => {
  const service = await startFakeService(okAnswer);
  const client = startClient(service.url);
  for (const body of [{ label: 'é' }, { label: 'e' }]) await client.call(name, { params: { meterId: 'm1' }, body });
  expect(service.headers.map((headers) => headers['content-length'])).toEqual(['14', '13']);
});

describe('hosts that cannot be reached', () => {
  test('nothing listens at the address', async () => {
    const url = await unusedUrl();
    await expect(startClient(url).call('customers.list')).rejects.toMatchObject({
      kind: 'network',
      message: `${new URL(url).host}: nothing answers at this address`,
      hint: 'check the base URL of the profile and the network',
    });
  });

  test('an address in brackets is no name that is looked up', async () => {
    await expect(startClient('http://[::1]:1').call('customers.list')).rejects.toMatchObject({
      kind: 'network',
      message: expect.not.stringContaining('there is no host of this name') as string,
    });
  });

  test('there is no such name; it is asked for once', async () => {
    const client = startClient('https://billing.invalid');
    await expect(client.call('customers.list')).rejects.toMatchObject({
      kind: 'network',
      message: expect.stringMatching(/^billing\.invalid: /),
    });
  });

  test('a service that speaks no TLS is refused, once', async () => {
    const service = await startRawService('HTTP/1.1 400 Bad Request\r\n\r\n', (socket) => socket.end());
    const client = startClient(service.url.replace('http:', 'https:'));
    await expect(client.call('credits.grant', grant)).rejects.toMatchObject({ kind: 'network' });
    expect(service.requests.join()).not.toContain('Bearer');
  });
});

describe('waiting', () => {
  /** A limit that is shorter until the test ends. */
  function shorten(name: 'connectTimeoutMilliseconds' | 'responseHeadersTimeoutMilliseconds'): void {
    const usual = limits[name];
    Object.assign(limits, { [name]: 50 });
    onTestFinished(() => void Object.assign(limits, { [name]: usual }));
  }

  test('a handshake that never ends is given up, and a write may be sent again', async () => {
    shorten('connectTimeoutMilliseconds');
    const service = await startRawService('', () => {});
    const client = startClient(service.url.replace('http:', 'https:'));
    await expect(client.call('credits.grant', grant)).rejects.toMatchObject({
      kind: 'network',
      message: expect.stringMatching(/: no connection within 0\.05 seconds$/),
    });
    expect(client.retries).toHaveLength(limits.requestAttempts - 1);
  });

  test('what had no connection when its time was over never left', async () => {
    const service = await startRawService('', () => {});
    const client = startClient(service.url.replace('http:', 'https:'), { timeoutMilliseconds: 100 });
    const granting = client.call('credits.grant', grant);
    await expect(granting).rejects.toThrow(`${service.host}: no answer within 0.1 seconds`);
    await expect(granting).rejects.toBeInstanceOf(UnsentError);
  });

  test('the time that it was given is told, and not what was left of it', async () => {
    const service = await startRawService('', () => {});
    let now = 0;
    const client = startClient(service.url, { timeoutMilliseconds: 100, now: () => (now += 1) });
    await expect(client.call('customers.list')).rejects.toThrow(`${service.host}: no answer within 0.1 seconds`);
  });

  test('nor what an earlier try left of it', async () => {
    shorten('responseHeadersTimeoutMilliseconds');
    const service = await startRawService('', () => {});
    const client = startClient(service.url, { timeoutMilliseconds: 120 });
    await expect(client.call('customers.list')).rejects.toThrow(`${service.host}: no answer within 0.12 seconds`);
    expect(service.requests).toHaveLength(2);
  });

  test('a request that begins when the time is over tells no negative time', async () => {
    const service = await startRawService('', () => {});
    const client = startClient(service.url, { timeoutMilliseconds: -20 });
    await expect(client.call('customers.list')).rejects.toThrow(`${service.host}: no answer within 0.01 seconds`);
  });

  test('a write whose handshake breaks off is sent again', async () => {
    const service = await startRawService('', (socket) => socket.resetAndDestroy());
    const client = startClient(service.url.replace('http:', 'https:'));
    await expect(client.call('credits.grant', grant)).rejects.toBeInstanceOf(UnsentError);
    expect(service.requests).toHaveLength(limits.requestAttempts);
  });

  test('an answer on a connection that was kept may take longer than connecting', async () => {
    const service = await startFakeService(okList, okList, okList, (response) => {
      setTimeout(() => response.writeHead(200, json).end('{"data":[]}'), 3 * limits.connectTimeoutMilliseconds);
    });
    const client = startClient(service.url);
    for (let call = 0; call < 3; call += 1) await client.call('customers.list');
    shorten('connectTimeoutMilliseconds');
    await client.call('customers.list');
    expect(client.retries).toEqual([]);
  });

  test('so may one on a connection that was made for it', async () => {
    shorten('connectTimeoutMilliseconds');
    const service = await startFakeService((response) => {
      setTimeout(() => response.writeHead(200, json).end('{"data":[]}'), 3 * limits.connectTimeoutMilliseconds);
    });
    const client = startClient(service.url);
    await client.call('customers.list');
    expect(client.retries).toEqual([]);
  });

  test('calls one after another share a connection, but for the first two', async () => {
    const sockets = new Set<unknown>();
    const service = await startFakeService((response, request) => {
      sockets.add(request.socket);
      response.writeHead(200, json).end('{"data":[]}');
    });
    const client = startClient(service.url);
    for (let call = 0; call < 5; call += 1) await client.call('customers.list');
    expect(sockets.size).toBe(3);
  });

  test('a client that is closed hangs up: of a reading under way there is no answer, and of a write no outcome', async () => {
    const service = await startRawService('', () => {});
    for (const [name, input, words] of [
      ['customers.list', {}, 'the client is closed'],
      ['credits.grant', grant, 'the outcome is unknown'],
    ] as const) {
      const client = startClient(service.url);
      const before = service.requests.length;
      const calling = client.call(name, input).catch((error: unknown) => error);
      await expect.poll(() => service.requests.length).toBe(before + 1);
      await client.close();
      expect(await calling).toMatchObject({ kind: 'network', message: expect.stringContaining(words) });
    }
  });

  test('more requests at a time than a service takes connections of one address wait here', async () => {
    const sockets = new Set<unknown>();
    const service = await startFakeService((response, request) => {
      sockets.add(request.socket);
      response.writeHead(200, json).end('{"data":[]}');
    });
    const client = startClient(service.url);
    const calls = Array.from({ length: 2 * limits.socketsPerClient }, async () => await client.call('customers.list'));
    await Promise.all(calls);
    expect(service.requests).toHaveLength(calls.length);
    expect(sockets.size).toBeLessThanOrEqual(2 + limits.socketsPerClient);
  });

  test('an answer that stops coming is given up: a reading is sent again, and a write is not', async () => {
    shorten('responseHeadersTimeoutMilliseconds');
    const service = await startRawService('HTTP/1.1 200 OK\r\n', () => {});
    await expect(startClient(service.url).call('credits.grant', grant)).rejects.toMatchObject({
      kind: 'network',
      message: `the outcome is unknown: ${service.host}: the answer stopped coming`,
    });
    expect(service.requests).toHaveLength(1);
    await expect(startClient(service.url).call('customers.list')).rejects.toThrow('the answer stopped coming');
    expect(service.requests).toHaveLength(1 + limits.requestAttempts);
  });
});

describe('redirects', () => {
  test.each([300, 301, 302, 303, 307, 308, 399])('%i is never followed', async (status) => {
    const elsewhere = await startFakeService();
    for (const location of [
      `${elsewhere.url}/v1/customers`,
      '/v1/elsewhere',
      'http://evil.example/',
      '//evil.example',
      'nonsense:',
      'http://[',
      '',
    ]) {
      const service = await startFakeService({ status, headers: { location } });
      const failure = startClient(service.url).call('customers.list');
      await expect(failure).rejects.toMatchObject({
        kind: 'network',
        message: expect.stringContaining('redirects are not followed'),
        isRetryable: false,
      });
      expect(service.requests).toEqual(['GET /v1/customers']);
    }
    expect(elsewhere.requests).toEqual([]);
  });

  test('the host that it points to is named', async () => {
    const service = await startFakeService({ status: 307, headers: { location: 'https://evil.example/v1/x?secret' } });
    await expect(startClient(service.url).call('credits.grant', grant)).rejects.toThrow(
      `${service.host} answered 307 and points to evil.example; redirects are not followed`,
    );
    expect(service.requests).toHaveLength(1);
  });

  test('one that points to nothing is not said to point to the service itself', async () => {
    const service = await startFakeService({ status: 304 });
    await expect(startClient(service.url).call('customers.list')).rejects.toThrow(
      `${service.host} answered 304 and points to nowhere; redirects are not followed`,
    );
  });
});
