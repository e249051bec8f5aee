import { setImmediate } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import type { ResponseBody } from '../../src/operations/index.ts';
import type { CallInput } from '../../src/operations/operation.ts';
import type { ResolveHost } from '../../src/server/webhook-address.ts';
import { createWorld, worldStart } from '../support/world.ts';
import type { World } from '../support/world.ts';
import { outboxOf, senderFor, signersOf, startReceiver } from '../support/webhook-receiver.ts';
import type { WebhookReceiver } from '../support/webhook-receiver.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(async () => {
  await world.close();
});

type Endpoint = ResponseBody<'webhooks.create'>['data'];

async function register(url: string, more: Record<string, unknown> = {}): Promise<Endpoint> {
  return (await world.call('webhooks.create', { body: { url, allowPrivate: true, ...more } })).data;
}

async function trigger(eventType = 'customer.created'): Promise<string> {
  return (await world.call('webhooks.trigger', { params: { eventType } })).data.eventId;
}

async function deliveries(query: CallInput['query'] = {}) {
  return (await world.call('webhooks.deliveries', { query })).data;
}

async function onlyDelivery() {
  const [delivery, ...others] = await deliveries();
  if (delivery === undefined || others.length > 0) throw new Error('there is not one delivery');
  return delivery;
}

async function triggeredAt(receiver: WebhookReceiver): Promise<Endpoint> {
  const endpoint = await register(receiver.url);
  await trigger();
  return endpoint;
}

describe('a delivery', () => {
  test('is posted as it was kept, signed by the convention', async () => {
    const receiver = await startReceiver();
    const { secret } = await register(receiver.url);
    const eventId = await trigger('credit.budget.exhausted');
    expect(await senderFor(world).deliverDue()).toEqual({ delivered: 1, retrying: 0, failed: 0 });
    const [received] = receiver.received;
    if (received === undefined) throw new Error('nothing came');
    expect(received.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': eventId,
      'webhook-timestamp': String(Date.parse(worldStart) / 1000),
    });
    expect(signersOf(received, [secret])).toEqual([true]);
    expect(signersOf({ ...received, body: `${received.body} ` }, [secret])).toEqual([false]);
    expect(Object.keys(JSON.parse(received.body))).toEqual(['type', 'timestamp', 'data']);
    expect(await onlyDelivery()).toMatchObject({ status: 'delivered', attempts: 1, responseStatus: 200, error: null });
  });

  test('is made once', async () => {
    const receiver = await startReceiver();
    await triggeredAt(receiver);
    const sender = senderFor(world);
    await sender.deliverDue();
    world.clock.advance({ days: 1 });
    expect(await sender.deliverDue()).toEqual({ delivered: 0, retrying: 0, failed: 0 });
    expect(receiver.received).toHaveLength(1);
  });

  test('goes to every endpoint that takes its type, with one id', async () => {
    const [all, some, none] = [await startReceiver(), await startReceiver(), await startReceiver()];
    await register(all.url);
    await register(some.url, { eventTypes: ['customer.created', 'customer.updated'] });
    await register(none.url, { eventTypes: ['invoice.created'] });
    const eventId = await trigger();
    await senderFor(world).deliverDue();
    expect([all, some, none].map(({ received }) => received.map(({ headers }) => headers['webhook-id']))).toEqual([
      [eventId],
      [eventId],
      [],
    ]);
  });

  test('of more than a round holds are all sent', async () => {
    const receiver = await startReceiver();
    await register(receiver.url);
    for (let count = 0; count < 25; count += 1) await trigger();
    expect(await senderFor(world).deliverDue()).toEqual({ delivered: 25, retrying: 0, failed: 0 });
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(25);
  });
});

describe('an attempt that fails', () => {
  test('is followed by five more, after 15 s, 30 s, 1 m, 2 m and 5 m, with the same bytes', async () => {
    const receiver = await startReceiver(500);
    await triggeredAt(receiver);
    const sender = senderFor(world);
    const waits = [];
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      expect(await sender.deliverDue()).toEqual({ delivered: 0, retrying: 1, failed: 0 });
      const { nextAttemptAt, attempts } = await onlyDelivery();
      expect(attempts).toBe(attempt);
      const next = Temporal.Instant.from(nextAttemptAt ?? '');
      waits.push(next.since(world.clock.now()).total('seconds'));
      world.clock.set(next.subtract({ milliseconds: 1 }).toString());
      expect(await sender.deliverDue()).toEqual({ delivered: 0, retrying: 0, failed: 0 });
      world.clock.set(next.toString());
    }
    expect(waits).toEqual([15, 30, 60, 120, 300]);
    expect(await sender.deliverDue()).toEqual({ delivered: 0, retrying: 0, failed: 1 });
    expect(await onlyDelivery()).toMatchObject({ status: 'failed', attempts: 6, nextAttemptAt: null });
    world.clock.advance({ days: 1 });
    expect(await sender.deliverDue()).toEqual({ delivered: 0, retrying: 0, failed: 0 });
    expect(receiver.received).toHaveLength(6);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(6);
  });

  test.each([
    [0, 12_000],
    [0.25, 13_500],
    [0.999_999, 18_000],
  ])('with %d by chance waits %d ms: a fifth less or more', async (random, milliseconds) => {
    await triggeredAt(await startReceiver(503));
    await senderFor(world, { outbox: outboxOf(world, () => random) }).deliverDue();
    const { nextAttemptAt } = await onlyDelivery();
    const wait = Temporal.Instant.from(nextAttemptAt ?? '').since(world.clock.now());
    expect(wait.total('milliseconds')).toBe(milliseconds);
  });

  test('is forgotten once a later one arrives', async () => {
    await triggeredAt(await startReceiver(500, 204));
    const sender = senderFor(world);
    await sender.deliverDue();
    world.clock.advance({ seconds: 15 });
    expect(await sender.deliverDue()).toEqual({ delivered: 1, retrying: 0, failed: 0 });
    expect(await onlyDelivery()).toMatchObject({ status: 'delivered', attempts: 2, responseStatus: 204, error: null });
  });

  test('is made again by hand, with all attempts', async () => {
    const receiver = await startReceiver(500);
    await triggeredAt(receiver);
    const sender = senderFor(world);
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      await sender.deliverDue();
      world.clock.advance({ hours: 1 });
    }
    const { id } = await onlyDelivery();
    const { data } = await world.call('webhooks.resend', { params: { deliveryId: id } });
    expect(data).toMatchObject({ status: 'pending', attempts: 0, nextAttemptAt: null });
    expect(await sender.deliverDue()).toEqual({ delivered: 0, retrying: 1, failed: 0 });
    expect(receiver.received).toHaveLength(7);
  });
});

describe('what counts as failed', () => {
  test.each([
    [500, 'answered 500'],
    [400, 'answered 400'],
    [429, 'answered 429'],
  ])('%d', async (status, error) => {
    await triggeredAt(await startReceiver(status));
    await senderFor(world).deliverDue();
    expect(await onlyDelivery()).toMatchObject({ status: 'pending', responseStatus: status, error });
  });

  test.each([301, 302, 303, 307, 308])('a redirect with %d, which is not followed', async (status) => {
    const target = await startReceiver();
    await triggeredAt(
      await startReceiver((_request, response) => response.writeHead(status, { location: target.url }).end()),
    );
    await senderFor(world).deliverDue();
    expect(await onlyDelivery()).toMatchObject({
      status: 'pending',
      responseStatus: status,
      error: `answered ${status}: redirects are not followed`,
    });
    expect(target.received).toEqual([]);
  });

  test('an answer that does not come in time', async () => {
    await triggeredAt(await startReceiver(() => undefined));
    await senderFor(world, { timeoutMilliseconds: 50 }).deliverDue();
    expect(await onlyDelivery()).toMatchObject({ status: 'pending', error: 'no answer within 0.05 seconds' });
  });

  test('an answer that stops half-way', async () => {
    await triggeredAt(await startReceiver((_request, response) => void response.writeHead(200).write('half')));
    await senderFor(world, { timeoutMilliseconds: 50 }).deliverDue();
    expect(await onlyDelivery()).toMatchObject({ status: 'pending', error: 'no answer within 0.05 seconds' });
  });

  test('a connection that breaks', async () => {
    await triggeredAt(await startReceiver((request) => void request.socket.destroy()));
    await senderFor(world).deliverDue();
    expect((await onlyDelivery()).error).toBe('the connection broke before an answer came');
  });

  test('a machine where nobody listens', async () => {
    await register('http://127.0.0.1:1/');
    await trigger();
    await senderFor(world).deliverDue();
    expect((await onlyDelivery()).error).toBe('nothing answers at this address');
  });

  test('a name without an address', async () => {
    await register('https://gone.example.com/');
    await trigger();
    await senderFor(world, { hosts: { 'gone.example.com': [] } }).deliverDue();
    expect((await onlyDelivery()).error).toBe('there is no host of this name');
  });
});

describe('an endpoint that is gone', () => {
  test('is disabled by its 410, and gets nothing more until it is enabled', async () => {
    const receiver = await startReceiver(410, 200);
    const { id } = await triggeredAt(receiver);
    const sender = senderFor(world);
    expect(await sender.deliverDue()).toEqual({ delivered: 0, retrying: 0, failed: 1 });
    const [endpoint] = (await world.call('webhooks.list')).data;
    expect(endpoint).toMatchObject({ isEnabled: false, disabledReason: 'answered 410: gone' });
    await expect(trigger()).rejects.toThrow('no enabled endpoint takes customer.created');
    const deliveryId = (await onlyDelivery()).id;
    await expect(world.call('webhooks.resend', { params: { deliveryId } })).rejects.toThrow('is disabled');
    const { data } = await world.call('webhooks.update', { params: { endpointId: id }, body: { isEnabled: true } });
    expect(data).toMatchObject({ isEnabled: true, disabledReason: null });
    await trigger();
    expect(await sender.deliverDue()).toEqual({ delivered: 1, retrying: 0, failed: 0 });
  });

  test('gets what waited for it when it is enabled again', async () => {
    const receiver = await startReceiver();
    const { id } = await triggeredAt(receiver);
    const endpointId = { params: { endpointId: id } };
    await world.call('webhooks.update', { ...endpointId, body: { isEnabled: false } });
    const sender = senderFor(world);
    expect(await sender.deliverDue()).toEqual({ delivered: 0, retrying: 0, failed: 0 });
    await world.call('webhooks.update', { ...endpointId, body: { isEnabled: true } });
    expect(await sender.deliverDue()).toEqual({ delivered: 1, retrying: 0, failed: 0 });
  });

  test('fails what waited for it when it is removed', async () => {
    const receiver = await startReceiver();
    const { id } = await triggeredAt(receiver);
    await world.call('webhooks.remove', { params: { endpointId: id } });
    expect(await onlyDelivery()).toMatchObject({ status: 'failed', error: 'the endpoint was removed' });
    expect(await senderFor(world).deliverDue()).toEqual({ delivered: 0, retrying: 0, failed: 0 });
    const params = { deliveryId: (await onlyDelivery()).id };
    await expect(world.call('webhooks.resend', { params })).rejects.toThrow('was removed');
  });
});

describe('what is answered', () => {
  test('is kept to 4 KiB, on one line and without what a terminal would act on', async () => {
    const answer = `\u001b[31mred\u0000\n\u202e${'x'.repeat(10_000)}`;
    await triggeredAt(await startReceiver((_request, response) => response.writeHead(500).end(answer)));
    await senderFor(world).deliverDue();
    const { responseBody } = await onlyDelivery();
    expect(responseBody).toMatch(/^\[31mred {3}x+$/);
    expect(Buffer.byteLength(responseBody ?? '')).toBeLessThanOrEqual(4096);
  });

  test('is not waited for beyond 4 KiB', async () => {
    const endless = await startReceiver((_request, response) => {
      response.writeHead(200);
      const pour = () => {
        while (!response.destroyed && response.write('y'.repeat(65_536)));
      };
      response.on('drain', pour);
      pour();
    });
    await triggeredAt(endless);
    expect(await senderFor(world).deliverDue()).toEqual({ delivered: 1, retrying: 0, failed: 0 });
  });
});

describe('addresses are checked at each delivery', () => {
  test('a sender that was not told to allow it reaches nothing private', async () => {
    const receiver = await startReceiver();
    await triggeredAt(receiver);
    await senderFor(world, { allowPrivate: false }).deliverDue();
    expect((await onlyDelivery()).error).toBe('not sent: the address must begin with https://');
    expect(receiver.received).toEqual([]);
  });

  test.each([['10.0.0.7'], ['127.0.0.1'], ['::1'], ['169.254.169.254']])(
    'a name that leads to %s by now is not connected to',
    async (address) => {
      await world.call('webhooks.create', { body: { url: 'https://hooks.example.com/' } });
      await trigger();
      const hosts = { 'hooks.example.com': ['93.184.215.14', address] };
      await senderFor(world, { allowPrivate: false, hosts }).deliverDue();
      expect((await onlyDelivery()).error).toBe(
        'not sent: the address leads to a private address, where webhooks are not sent',
      );
    },
  );

  test('plain http stays on this machine, in a simulation too', async () => {
    await expect(register('http://hooks.example.com/')).rejects.toThrow('must begin with https://');
    await register('http://127.0.0.1:4000/');
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

  test('a late failure does not undo what the other has delivered', async () => {
    await triggeredAt(await startReceiver());
    const slow = outboxOf(world);
    const [held] = await slow.lease(10);
    if (held === undefined) throw new Error('nothing was due');
    world.clock.advance({ minutes: 2 });
    await senderFor(world).deliverDue();
    await slow.record(held, { error: 'no answer within 10 seconds' });
    expect(await onlyDelivery()).toMatchObject({ status: 'delivered', attempts: 1, error: null });
  });

  test('a late failure does not count beside the attempt of the other', async () => {
    await triggeredAt(await startReceiver(500));
    const slow = outboxOf(world);
    const [held] = await slow.lease(10);
    if (held === undefined) throw new Error('nothing was due');
    world.clock.advance({ minutes: 2 });
    await senderFor(world).deliverDue();
    await slow.record(held, { error: 'no answer within 10 seconds' });
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
});

describe('a sender that goes on', () => {
  test('sends what falls due until it is closed, and waits for what is under way', async () => {
    const receiver = await startReceiver();
    await register(receiver.url);
    const sender = senderFor(world, { pollMilliseconds: 1 });
    sender.start();
    await trigger();
    await vi.waitUntil(() => receiver.received.length === 1);
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
    await vi.waitUntil(() => receiver.received.length === 1);
    await sender.close();
    expect(failures).toEqual([new Error('the database is locked')]);
  });
});
