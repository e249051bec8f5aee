import type { ServerResponse } from 'node:http';

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { limits } from '../../src/limits.ts';
import { outboxOf, senderFor, startReceiver, webhookCalls } from '../support/webhook-receiver.ts';
import type { WebhookCalls, WebhookReceiver } from '../support/webhook-receiver.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

const perEndpoint = limits.webhookConcurrencyPerEndpoint;
/** More than a sender attempts at once. */
const backlog = limits.webhookConcurrency + 5;

let world: World;
let { register, trigger } = {} as WebhookCalls;
beforeEach(async () => {
  world = await createWorld();
  ({ register, trigger } = webhookCalls(world));
});
afterEach(async () => {
  await world.close();
});

interface SlowReceiver extends WebhookReceiver {
  /** Answers what waits, and from now on everything. */
  readonly release: () => void;
}

async function startSlowReceiver(): Promise<SlowReceiver> {
  const waiting: ServerResponse[] = [];
  let isReleased = false;
  const receiver = await startReceiver((_request, response) => {
    if (isReleased) response.end();
    else waiting.push(response);
  });
  return {
    ...receiver,
    release: () => {
      isReleased = true;
      for (const response of waiting) response.end();
    },
  };
}

/** An endpoint that is slow to answer, a long backlog for it, and after that one event for another. */
async function slowBeforeQuick(): Promise<{ readonly slow: SlowReceiver; readonly quick: WebhookReceiver }> {
  const [slow, quick] = [await startSlowReceiver(), await startReceiver()];
  await register(slow.url, { eventTypes: ['invoice.created'] });
  await register(quick.url, { eventTypes: ['customer.created'] });
  for (let count = 0; count < backlog; count += 1) await trigger('invoice.created');
  await trigger('customer.created');
  return { slow, quick };
}

describe('an endpoint that answers slowly', () => {
  test.each([1, 2])('keeps none of the others waiting, with senders: %d', async (senders) => {
    const { slow, quick } = await slowBeforeQuick();
    const rounds = Promise.all(
      Array.from({ length: senders }, async () => await senderFor(world, { pollMilliseconds: 1 }).deliverDue()),
    );
    await vi.waitUntil(() => quick.received.length === 1 && slow.received.length === senders * perEndpoint);
    await trigger('customer.created');
    await vi.waitUntil(() => quick.received.length === 2);
    expect(slow.received).toHaveLength(senders * perEndpoint);
    slow.release();
    const delivered = (await rounds).reduce((sum, counts) => sum + counts.delivered, 0);
    expect(delivered).toBe(backlog + 2);
    expect(new Set(slow.received.map(({ headers }) => headers['webhook-id'])).size).toBe(slow.received.length);
  });

  test('lets a sender end that is closed while it waits, once it has answered', async () => {
    const { slow } = await slowBeforeQuick();
    const sender = senderFor(world, { pollMilliseconds: 1 });
    sender.start();
    await vi.waitUntil(() => slow.received.length === perEndpoint);
    const closed = sender.close();
    slow.release();
    await closed;
    expect(slow.received).toHaveLength(perEndpoint);
  });

  test('gets what waits for it, also where all of its attempts end while the sender looks for more', async () => {
    const slow = await startSlowReceiver();
    await register(slow.url);
    for (let count = 0; count < perEndpoint + 1; count += 1) await trigger();
    const outbox = outboxOf(world);
    let recorded = 0;
    const sender = senderFor(world, {
      pollMilliseconds: 1,
      outbox: {
        lease: async (count, underWay) => {
          const due = await outbox.lease(count, underWay);
          if (due.length === 0 && recorded < perEndpoint) {
            slow.release();
            await vi.waitUntil(() => recorded === perEndpoint);
          }
          return due;
        },
        record: async (delivery, outcome) => {
          const end = await outbox.record(delivery, outcome);
          recorded += 1;
          return end;
        },
      },
    });
    expect(await sender.deliverDue()).toMatchObject({ delivered: perEndpoint + 1 });
  });

  test('gets no more from a sender than it has room for, whatever the sender asks', async () => {
    const { slow } = await slowBeforeQuick();
    const endpoints = (await world.call('webhooks.list')).data;
    const slowId = endpoints.find(({ url }) => url === slow.url)?.id ?? '';
    const outbox = outboxOf(world);
    const toSlow = async (count: number, underWay: readonly string[]) =>
      (await outbox.lease(count, underWay)).filter(({ endpointId }) => endpointId === slowId).length;
    expect(await toSlow(1, [])).toBe(1);
    expect(await toSlow(backlog, [slowId])).toBe(perEndpoint - 1);
    expect(await toSlow(backlog, [slowId, slowId])).toBe(0);
    expect(await toSlow(backlog, [])).toBe(perEndpoint);
  });
});
