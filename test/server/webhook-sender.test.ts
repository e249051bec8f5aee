import { createServer } from 'node:https';

import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import { makeCertificate } from '../support/certificate.ts';
import { listenOnLoopback } from '../support/free-port.ts';
import { outboxOf, senderFor, signersOf, startReceiver, webhookCalls } from '../support/webhook-receiver.ts';
import type { WebhookCalls } from '../support/webhook-receiver.ts';
import { worldStart } from '../support/world.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

let { register, trigger, triggeredAt, onlyDelivery } = {} as WebhookCalls;
beforeEach(async () => {
  ({ register, trigger, triggeredAt, onlyDelivery } = webhookCalls(world));
});

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

  test('offers HTTP/1.1 alone, whose bounds on an answer hold', async () => {
    const offered = Promise.withResolvers<readonly string[]>();
    const ALPNCallback = ({ protocols }: { readonly protocols: readonly string[] }) => {
      offered.resolve(protocols);
      return undefined;
    };
    const receiver = createServer({ ...makeCertificate(), ALPNCallback });
    onTestFinished(() => void receiver.close());
    await register(`https://127.0.0.1:${await listenOnLoopback(receiver)}/`);
    await trigger();
    await senderFor(world).deliverDue();
    expect(await offered.promise).toEqual(['http/1.1']);
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
    expect(data).toMatchObject({ status: 'pending', attempts: 0, nextAttemptAt: '2026-03-01T06:00:00.000Z' });
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

  test.each([300, 301, 302, 303, 307, 308])('a redirect with %d, which is not followed', async (status) => {
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
    await senderFor(world, { timeoutMilliseconds: 1_000 }).deliverDue();
    const error = 'answered 200, and not all of the answer came';
    expect(await onlyDelivery()).toMatchObject({ status: 'pending', responseStatus: 200, error });
  });

  test('a connection that breaks', async () => {
    await triggeredAt(await startReceiver((request) => void request.socket.destroy()));
    await senderFor(world).deliverDue();
    expect((await onlyDelivery()).error).toBe('the connection broke before an answer came');
  });

  test.each(['SSH-2.0-OpenSSH_9.9\r\n', '\u0015\u0003\u0001\0\u0002\u0002\u0016', 'HTTP/1.1 none\r\n\r\n'])(
    'an answer that is no HTTP: %j',
    async (bytes) => {
      await triggeredAt(await startReceiver((request) => void request.socket.end(bytes, 'latin1')));
      await senderFor(world).deliverDue();
      expect(await onlyDelivery()).toMatchObject({
        status: 'pending',
        responseStatus: null,
        error: 'what answers at this address does not speak HTTP; check the protocol and the port',
      });
    },
  );

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
    expect((await onlyDelivery()).error).toBe('no host has this name');
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
    const described = { params: { endpointId: id }, body: { description: 'books' } };
    expect((await world.call('webhooks.update', described)).data.disabledReason).toBe('answered 410: gone');
    await expect(trigger()).rejects.toThrow('no enabled endpoint receives customer.created');
    const deliveryId = (await onlyDelivery()).id;
    await expect(world.call('webhooks.resend', { params: { deliveryId } })).rejects.toThrow('is disabled');
    const { data } = await world.call('webhooks.update', { params: { endpointId: id }, body: { isEnabled: true } });
    expect(data).toMatchObject({ isEnabled: true, disabledReason: null });
    await trigger();
    expect(await sender.deliverDue()).toEqual({ delivered: 1, retrying: 0, failed: 0 });
  });

  test('is disabled as well where not all of its answer comes', async () => {
    await triggeredAt(
      await startReceiver((request, response) => {
        response.writeHead(410, { 'content-length': 9 }).write('gone', () => request.socket.destroy());
      }),
    );
    expect(await senderFor(world).deliverDue()).toEqual({ delivered: 0, retrying: 0, failed: 1 });
    expect((await world.call('webhooks.list')).data).toMatchObject([{ isEnabled: false }]);
  });

  test('stays enabled where it has another address by the time of the 410, which the delivery then goes to', async () => {
    const next = await startReceiver();
    const receiver = await startReceiver((_request, response) => {
      const body = { url: next.url, allowPrivate: true };
      void world
        .call('webhooks.update', { params: { endpointId: endpoint.id }, body })
        .finally(() => response.writeHead(410).end());
    });
    const endpoint = await triggeredAt(receiver);
    const sender = senderFor(world);
    expect(await sender.deliverDue()).toEqual({ delivered: 0, retrying: 1, failed: 0 });
    expect((await world.call('webhooks.list')).data).toMatchObject([{ isEnabled: true, url: next.url }]);
    world.clock.advance({ minutes: 1 });
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
    expect(responseBody).toMatch(/^\[31mred x+$/);
    expect(Buffer.byteLength(responseBody ?? '')).toBeLessThanOrEqual(4096);
  });

  test('is kept without marks of direction, and without bytes that are no UTF-8, such as a surrogate alone', async () => {
    const answer = Buffer.concat([Buffer.from('no\u061cthere'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('é')]);
    await triggeredAt(await startReceiver((_request, response) => response.writeHead(500).end(answer)));
    await senderFor(world).deliverDue();
    expect((await onlyDelivery()).responseBody).toBe('no there é');
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
