import { createServer } from 'node:https';
import { setImmediate } from 'node:timers/promises';

import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';

import { createWebhookOutbox } from '../../src/engine/webhooks-outbox.ts';
import { limits } from '../../src/limits.ts';
import type { DeliveryOutcome, WebhookOutbox } from '../../src/operations/webhook-outbox.ts';
import type { ResolveHost } from '../../src/server/webhook-address.ts';
import { makeCertificate } from '../support/certificate.ts';
import { startOldService } from '../support/old-tls.ts';
import { outboxOf, senderFor, signersOf, startReceiver, webhookCalls } from '../support/webhook-receiver.ts';
import type { WebhookCalls, WebhookReceiver } from '../support/webhook-receiver.ts';
import { createWorld } from '../support/world.ts';
import { listenOnLoopback } from '../support/free-port.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

let { register, trigger, triggeredAt, onlyDelivery } = {} as WebhookCalls;
beforeEach(async () => {
  ({ register, trigger, triggeredAt, onlyDelivery } = webhookCalls(world));
});

describe('addresses are checked at each delivery', () => {
  test('a sender that was not told to allow it reaches nothing private', async () => {
    const receiver = await startReceiver();
    await triggeredAt(receiver);
    await senderFor(world, { allowPrivate: false }).deliverDue();
    expect((await onlyDelivery()).error).toBe(
      'not sent: the address must begin with https:// unless private addresses are allowed; the endpoint allows it, and the sender has to as well (--allow-private-webhooks)',
    );
    expect(receiver.received).toEqual([]);
  });

  test.each([
    ['10.0.0.7', false],
    ['127.0.0.1', false],
    ['::1', false],
    ['169.254.169.254', false],
    // Of an endpoint that was registered for public addresses, whatever others of the database were registered for.
    ['169.254.169.254', true],
  ])(
    'a name that leads to %s by now is not connected to (a sender that may send to private addresses: %s)',
    async (address, allowPrivate) => {
      await world.call('webhooks.create', { body: { url: 'https://hooks.example.com/' } });
      await trigger();
      const hosts = { 'hooks.example.com': ['93.184.215.14', address] };
      await senderFor(world, { allowPrivate, hosts }).deliverDue();
      expect((await onlyDelivery()).error).toBe(
        'not sent: the address leads to a private address, where webhooks are sent only if that is allowed',
      );
    },
  );

  test('an endpoint for public addresses reaches nothing private, also after one that may', async () => {
    await triggeredAt(await startReceiver());
    const sender = senderFor(world, { hosts: { 'hooks.example.com': ['127.0.0.1'] } });
    await sender.deliverDue();
    expect((await onlyDelivery()).status).toBe('delivered');
    await world.call('webhooks.create', { body: { url: 'https://hooks.example.com/' } });
    await trigger();
    await sender.deliverDue();
    const { data } = await world.call('webhooks.deliveries', { query: { status: 'pending' } });
    expect(data.map(({ error }) => error)).toEqual([
      'not sent: the address leads to a private address, where webhooks are sent only if that is allowed',
    ]);
  });

  test('plain http stays on this machine, in a simulation too', async () => {
    await expect(register('http://hooks.example.com/')).rejects.toThrow('must begin with https://');
    await register('http://127.0.0.1:4000/');
  });

  test('by plain http to a name that leads elsewhere by now, nothing is sent', async () => {
    const receiver = await startReceiver();
    const moved = await createWorld({ hosts: { 'moved.example.com': ['127.0.0.1'] } });
    onTestFinished(async () => await moved.close());
    const calls = webhookCalls(moved);
    await calls.triggeredAt({ ...receiver, url: receiver.url.replace('127.0.0.1', 'moved.example.com') });
    // An address of no machine, by which this one would be reached.
    await senderFor(moved, { hosts: { 'moved.example.com': ['0.0.0.0'] } }).deliverDue();
    expect((await calls.onlyDelivery()).error).toBe(
      'not sent: the address must begin with https:// unless it is on this machine',
    );
    expect(receiver.received).toEqual([]);
  });

  test('a name is looked up once for a connection, which goes to the address that was checked', async () => {
    const receiver = await startReceiver();
    const port = new URL(receiver.url).port;
    const rebinding = await createWorld({ hosts: { 'rebound.example.com': ['127.0.0.1'] } });
    await rebinding.call('webhooks.create', {
      body: { url: `http://rebound.example.com:${port}/`, allowPrivate: true },
    });
    await rebinding.call('webhooks.trigger', { params: { eventType: 'customer.created' } });
    const resolve = vi.fn<ResolveHost>(async () => await Promise.resolve([{ address: '127.0.0.1', family: 4 }]));
    await senderFor(rebinding, { resolve }).deliverDue();
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]?.headers.host).toBe(`rebound.example.com:${port}`);
    expect(resolve).toHaveBeenCalledTimes(1);
    await rebinding.close();
  });
});

describe('by https', () => {
  test.each([undefined, '0'])(
    'nothing is sent to a certificate that nobody vouches for, with NODE_TLS_REJECT_UNAUTHORIZED=%s',
    async (unchecked) => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', unchecked);
      vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
      onTestFinished(() => {
        vi.unstubAllEnvs();
        vi.restoreAllMocks();
      });
      const { cert, key } = makeCertificate();
      let requests = 0;
      const server = createServer({ cert, key }, () => (requests += 1));
      onTestFinished(() => void server.close());
      const port = await listenOnLoopback(server);
      await register(`https://127.0.0.1:${port}/`);
      await trigger();
      await senderFor(world).deliverDue();
      expect((await onlyDelivery()).error).toBe('the connection failed (DEPTH_ZERO_SELF_SIGNED_CERT)');
      expect(requests).toBe(0);
    },
  );

  test('TLS 1.1 is not spoken, whatever Node was told', async () => {
    const old = await startOldService();
    await register(`${old.url}/`);
    await trigger();
    await senderFor(world).deliverDue();
    expect((await onlyDelivery()).error).toMatch(/^the connection failed \(ERR_SSL_\w*PROTOCOL\w*\)$/);
    expect(old.count()).toBe(0);
  });
});

test('an answer with more than 16 KiB of headers is none', async () => {
  const receiver = await startReceiver((_request, response) =>
    response.writeHead(200, { 'x-more': 'x'.repeat(17_000) }).end(),
  );
  await triggeredAt(receiver);
  await senderFor(world).deliverDue();
  expect(await onlyDelivery()).toMatchObject({ status: 'pending', error: expect.stringContaining('HEADERS') });
});

describe('rotation', () => {
  test('both secrets sign until the old one ends, then the new one alone', async () => {
    const receiver = await startReceiver();
    const { id, secret: old } = await register(receiver.url);
    const validUntil = '2026-03-02T12:00:00.000Z';
    const { data } = await world.call('webhooks.rotate', { params: { endpointId: id }, body: { validUntil } });
    expect(data.previousSecretValidUntil).toBe(validUntil);
    const sender = senderFor(world);
    for (const at of ['2026-03-02T11:59:59.999Z', validUntil]) {
      world.clock.set(at);
      await trigger();
      await sender.deliverDue();
    }
    expect(receiver.received.map((received) => signersOf(received, [data.secret, old]))).toEqual([
      [true, true],
      [true, false],
    ]);
  });

  test('the old secret ends by the clock of the machine, also where time is simulated', async () => {
    await world.call('clock.set', { body: { to: '2027-01-01T00:00:00Z' } });
    const receiver = await startReceiver();
    const { id, secret: old } = await register(receiver.url);
    const validUntil = '2026-03-02T12:00:00.000Z';
    const { data } = await world.call('webhooks.rotate', { params: { endpointId: id }, body: { validUntil } });
    expect(data.previousSecretValidUntil).toBe(validUntil);
    await trigger();
    await senderFor(world).deliverDue();
    world.clock.set(validUntil);
    expect((await world.call('webhooks.list')).data[0]?.previousSecretValidUntil).toBeNull();
    await trigger();
    await senderFor(world).deliverDue();
    expect(receiver.received.map((received) => signersOf(received, [data.secret, old]))).toEqual([
      [true, true],
      [true, false],
    ]);
  });

  test('a second one ends the first secret at once', async () => {
    const receiver = await startReceiver();
    const { id, secret: first } = await register(receiver.url);
    const rotate = async () => (await world.call('webhooks.rotate', { params: { endpointId: id } })).data.secret;
    const [second, third] = [await rotate(), await rotate()];
    await trigger();
    await senderFor(world).deliverDue();
    expect(receiver.received.map((received) => signersOf(received, [third, second, first]))).toEqual([
      [true, true, false],
    ]);
  });
});

describe('several senders', () => {
  /** An attempt so slow that another sender makes one of its own meanwhile; gives what ends the slow one. */
  async function overtaken(receiver: WebhookReceiver): Promise<(outcome: DeliveryOutcome) => Promise<unknown>> {
    await triggeredAt(receiver);
    const slow = outboxOf(world);
    const [held] = await slow.lease(10);
    if (held === undefined) throw new Error('nothing was due');
    world.clock.advance({ minutes: 2 });
    await senderFor(world).deliverDue();
    return async (outcome) => await slow.record(held, outcome);
  }

  test('do not send what another holds', async () => {
    await triggeredAt(await startReceiver());
    const [one, other] = [outboxOf(world), outboxOf(world)];
    expect(await one.lease(10)).toHaveLength(1);
    expect(await other.lease(10)).toEqual([]);
  });

  test('send again what one that died held, a minute later', async () => {
    const receiver = await startReceiver();
    await triggeredAt(receiver);
    await outboxOf(world).lease(10);
    world.clock.advance({ seconds: 59 });
    expect(await senderFor(world).deliverDue()).toEqual({ delivered: 0, retrying: 0, failed: 0 });
    world.clock.advance({ seconds: 1 });
    expect(await senderFor(world).deliverDue()).toEqual({ delivered: 1, retrying: 0, failed: 0 });
    expect(receiver.received).toHaveLength(1);
  });

  test('do not wait for a day that a clock had come to which ran ahead', async () => {
    const receiver = await startReceiver(500, 200);
    await triggeredAt(receiver);
    const now = world.clock.now().toString();
    world.clock.set('2100-01-01T00:00:00Z');
    expect(await senderFor(world).deliverDue()).toEqual({ delivered: 0, retrying: 1, failed: 0 });
    world.clock.advance({ minutes: 1 });
    expect(await outboxOf(world).lease(10)).toHaveLength(1);
    world.clock.set(now);
    expect(await senderFor(world).deliverDue()).toEqual({ delivered: 1, retrying: 0, failed: 0 });
  });

  test.each([
    ['failure', { error: 'no answer within 10 seconds' }],
    ['410', { error: 'answered 410', responseStatus: 410 }],
    ['success', { responseStatus: 299 }],
  ])('a late %s does not undo what the other has delivered', async (_what, outcome) => {
    const endSlow = await overtaken(await startReceiver());
    world.clock.advance({ minutes: 2 });
    await endSlow(outcome);
    expect(await onlyDelivery()).toMatchObject({
      status: 'delivered',
      attempts: 1,
      error: null,
      responseStatus: 200,
      lastAttemptAt: '2026-03-01T00:02:00.000Z',
    });
    expect((await world.call('webhooks.list')).data).toMatchObject([{ isEnabled: true }]);
  });

  test('a late success delivers what the other could not', async () => {
    const endSlow = await overtaken(await startReceiver(500));
    await endSlow({ responseStatus: 200 });
    expect(await onlyDelivery()).toMatchObject({ status: 'delivered', nextAttemptAt: null, error: null });
  });

  test('a late failure does not count beside the attempt of the other', async () => {
    const endSlow = await overtaken(await startReceiver(500));
    await endSlow({ error: 'no answer within 10 seconds' });
    expect(await onlyDelivery()).toMatchObject({ status: 'pending', attempts: 1, error: 'answered 500' });
  });

  test('together deliver each event, and none twice while both live', async () => {
    const receiver = await startReceiver();
    await register(receiver.url);
    for (let count = 0; count < 30; count += 1) await trigger();
    const [one, other] = [senderFor(world), senderFor(world)];
    const counts = await Promise.all([one.deliverDue(), other.deliverDue()]);
    expect(counts.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(30);
    expect(receiver.received).toHaveLength(30);
  });

  test('whose clocks are far apart send what they are sending once each, though each takes the lease of the other for over', async () => {
    const waiting: (() => void)[] = [];
    const receiver = await startReceiver((_request, response) => {
      waiting.push(() => response.end());
    });
    await triggeredAt(receiver);
    const looks = [0, 0];
    const senders = looks.map((_looks, index) => {
      const now = () => world.clock.now().add({ minutes: 11 * index });
      const outbox = createWebhookOutbox({ store: world.store, now, random: () => 0.5 });
      const lease: WebhookOutbox['lease'] = async (...asked) => {
        looks[index] = (looks[index] ?? 0) + 1;
        return await outbox.lease(...asked);
      };
      return senderFor(world, { pollMilliseconds: 1, outbox: { ...outbox, lease } });
    });
    const ends = Promise.all(senders.map(async (sender) => await sender.deliverDue()));
    await expect.poll(() => Math.min(waiting.length, ...looks)).toBeGreaterThan(1);
    const seen = Math.max(...looks);
    await expect.poll(() => Math.min(...looks)).toBeGreaterThan(seen + 10);
    expect(receiver.received).toHaveLength(2);
    for (const answer of waiting) answer();
    expect(await ends).toEqual([1, 1].map((delivered) => ({ delivered, retrying: 0, failed: 0 })));
    expect(await onlyDelivery()).toMatchObject({ status: 'delivered', attempts: 1 });
  });
});

test('a sender that cannot keep how an attempt ended begins no more of them', async () => {
  const receiver = await startReceiver();
  await register(receiver.url);
  for (let count = 0; count < 2 * limits.webhookConcurrencyPerEndpoint; count += 1) await trigger();
  const record = async () => await Promise.reject(new Error('the database is locked'));
  const sender = senderFor(world, { pollMilliseconds: 1, outbox: { ...outboxOf(world), record } });
  await expect(sender.deliverDue()).rejects.toThrow('the database is locked');
  expect(receiver.received).toHaveLength(limits.webhookConcurrencyPerEndpoint);
});

describe('a sender that goes on', () => {
  test('sends what falls due until it is closed, and waits for what is under way', async () => {
    const receiver = await startReceiver();
    await register(receiver.url);
    const sender = senderFor(world, { pollMilliseconds: 1 });
    sender.start();
    await trigger();
    await expect.poll(() => receiver.received.length).toBe(1);
    await sender.close();
    expect(await onlyDelivery()).toMatchObject({ status: 'delivered' });
    await trigger();
    await setImmediate();
    expect(receiver.received).toHaveLength(1);
  });

  test('tells a failure of the database and looks again', async () => {
    const receiver = await startReceiver();
    await triggeredAt(receiver);
    const outbox = outboxOf(world);
    const failures: unknown[] = [];
    let looks = 0;
    const sender = senderFor(world, {
      pollMilliseconds: 1,
      onFailure: (error) => failures.push(error),
      outbox: {
        ...outbox,
        lease: async (count) => {
          looks += 1;
          if (looks === 1) throw new Error('the database is locked');
          return await outbox.lease(count);
        },
      },
    });
    sender.start();
    await expect.poll(() => receiver.received.length).toBe(1);
    await sender.close();
    expect(failures).toEqual([new Error('the database is locked')]);
  });

  test('looks ever more seldom for a database that is away, and as often as before once it is back', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let isAway = true;
    let looks = 0;
    const lease = async () => {
      looks += 1;
      return isAway ? await Promise.reject(new Error('away')) : await Promise.resolve([]);
    };
    const outbox = { ...outboxOf(world), lease };
    senderFor(world, { pollMilliseconds: 1_000, onFailure: () => undefined, outbox }).start();
    const looksWithin = async (seconds: number) => {
      const before = looks;
      await vi.advanceTimersByTimeAsync(seconds * 1_000);
      return looks - before;
    };
    // After 2, 4, 8, 16 and 32 seconds, and each 32 from there on.
    expect([await looksWithin(63), await looksWithin(64)]).toEqual([5, 2]);
    isAway = false;
    expect([await looksWithin(32), await looksWithin(10)]).toEqual([2, 10]);
  });

  test('looks no more once it is closed during a look', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { promise: looked, resolve: end } = Promise.withResolvers<void>();
    const lease = async () => {
      await looked;
      return [];
    };
    const sender = senderFor(world, { outbox: { ...outboxOf(world), lease } });
    sender.start();
    const closing = sender.close();
    end();
    await closing;
    expect(vi.getTimerCount()).toBe(0);
  });
});
