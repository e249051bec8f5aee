import type { ServerResponse } from 'node:http';

import { beforeEach, describe, expect, test } from 'vitest';

import { limits } from '../../src/limits.ts';
import type { SentTo } from '../../src/operations/webhook-outbox.ts';
import { outboxOf, senderFor, startReceiver, webhookCalls } from '../support/webhook-receiver.ts';
import type { WebhookCalls, WebhookReceiver } from '../support/webhook-receiver.ts';
import { useWorld, world } from '../support/use-world.ts';

const perEndpoint = limits.webhookConcurrencyPerEndpoint;
/** More than a sender attempts at once. */
const backlog = limits.webhookConcurrency + 5;

useWorld();

let { register, trigger } = {} as WebhookCalls;
beforeEach(async () => {
  ({ register, trigger } = webhookCalls(world));
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
    await expect.poll(() => [quick, slow].map(({ received }) => received.length)).toEqual([1, senders * perEndpoint]);
    await trigger('customer.created');
    await expect.poll(() => quick.received.length).toBe(2);
    expect(slow.received).toHaveLength(senders * perEndpoint);
    slow.release();
    const delivered = (await rounds).reduce((sum, counts) => sum + counts.delivered, 0);
    expect(delivered).toBe(backlog + 2);
    expect(new Set(slow.received.map(({ headers }) => headers['webhook-id'])).size).toBe(slow.received.length);
  });

  test('lets a sender end that is closed while it waits, once it has answered', async () => {
    const { slow, quick } = await slowBeforeQuick();
    const sender = senderFor(world, { pollMilliseconds: 1 });
    sender.start();
    await expect.poll(() => [slow.received.length, quick.received.length]).toEqual([perEndpoint, 1]);
    const closed = sender.close();
    slow.release();
    await closed;
    expect(slow.received).toHaveLength(perEndpoint);
    const { total } = await world.call('webhooks.deliveries', { query: { status: 'delivered' } });
    expect(total).toBe(perEndpoint + 1);
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
        ...outbox,
        lease: async (count, underWay) => {
          const due = await outbox.lease(count, underWay);
          if (due.length === 0 && recorded < perEndpoint) {
            slow.release();
            await expect.poll(() => recorded).toBe(perEndpoint);
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
    const [slowOne] = await outbox.lease(1);
    if (slowOne === undefined) throw new Error('the one that has waited longest is due');
    const toSlow = async (count: number, underWay: readonly SentTo[]) =>
      (await outbox.lease(count, underWay)).filter(({ endpointId }) => endpointId === slowId).length;
    expect(slowOne.endpointId).toBe(slowId);
    expect(await toSlow(backlog, [slowOne])).toBe(perEndpoint - 1);
    expect(await toSlow(backlog, [slowOne, slowOne])).toBe(0);
    expect(await toSlow(backlog, [])).toBe(perEndpoint);
  });
});

describe('organizations whose endpoints are all slow', () => {
  const slowOrganizations = 4;

  /** As the owner of an organization of its own. */
  async function within(name: string): Promise<WebhookCalls> {
    await world.call('orgs.create', { body: { name } });
    const billing = world.engine.as(await world.engine.owner(name));
    return webhookCalls({ ...world, billing, call: async (...call) => (await billing.call(...call)).body });
  }

  test('leave others room, however many they are and whenever others come', async () => {
    const [slow, quick] = [await startSlowReceiver(), await startReceiver()];
    for (let index = 0; index < slowOrganizations; index += 1) {
      const theirs = await within(`slow ${index}`);
      for (let count = 0; count < limits.webhookEndpoints; count += 1) await theirs.register(slow.url);
      for (let count = 0; count < perEndpoint; count += 1) await theirs.trigger();
    }
    await register(quick.url);
    await trigger();
    const round = senderFor(world, { pollMilliseconds: 1 }).deliverDue();
    await expect.poll(() => quick.received.length).toBe(1);
    await trigger();
    await expect.poll(() => quick.received.length).toBe(2);
    expect(slow.received.length).toBeLessThan(limits.webhookConcurrency);
    slow.release();
    expect(await round).toEqual({
      delivered: slowOrganizations * limits.webhookEndpoints * perEndpoint + 2,
      retrying: 0,
      failed: 0,
    });
  });

  test('one of them takes no more than it leaves', async () => {
    const theirs = await within('slow');
    for (let count = 0; count < limits.webhookEndpoints; count += 1) await theirs.register(`https://${count}.example/`);
    for (let count = 0; count < perEndpoint; count += 1) await theirs.trigger();
    const outbox = outboxOf(world);
    const taken = await outbox.lease(limits.webhookConcurrency);
    expect(taken).toHaveLength(limits.webhookConcurrency / 2);
    expect(await outbox.lease(limits.webhookConcurrency - taken.length, taken)).toEqual([]);
    // As soon as one has ended, another may begin.
    expect(await outbox.lease(limits.webhookConcurrency - taken.length + 1, taken.slice(1))).toHaveLength(1);
  });
});
