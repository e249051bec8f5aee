import { join } from 'node:path';

import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import { createWebhookOutbox } from '../../src/engine/webhooks-outbox.ts';
import { limits } from '../../src/limits.ts';
import type { DueDelivery } from '../../src/operations/webhook-outbox.ts';
import { openStore } from '../../src/store/open.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { outboxOf, webhookCalls } from '../support/webhook-receiver.ts';
import type { WebhookCalls } from '../support/webhook-receiver.ts';
import { createWorld } from '../support/world.ts';
import { useWorld, world } from '../support/use-world.ts';

const url = 'https://hooks.example.com/billing';

useWorld();

let { register, trigger, onlyDelivery } = {} as WebhookCalls;
beforeEach(async () => {
  ({ register, trigger, onlyDelivery } = webhookCalls(world));
});

async function takeOne(): Promise<DueDelivery> {
  const [delivery] = await outboxOf(world).lease(1);
  if (delivery === undefined) throw new Error('nothing was due');
  return delivery;
}

const fail = async (delivery: DueDelivery): Promise<unknown> =>
  await outboxOf(world).record(delivery, { responseStatus: 500, error: 'answered 500' });

describe('what is due', () => {
  const types = ['customer.created', 'customer.updated', 'invoice.created'] as const;

  test.each([
    ['one endpoint', [[...types]]],
    ['several endpoints', types.map((type) => [type])],
  ])('of %s goes out by how long it has waited, behind what was never attempted', async (_whose, endpoints) => {
    for (const eventTypes of endpoints) await register(url, { eventTypes });
    const twice = await trigger(types[0]);
    await fail(await takeOne());
    world.clock.advance({ seconds: 15 });
    await fail(await takeOne());
    const once = await trigger(types[1]);
    await fail(await takeOne());
    world.clock.advance({ minutes: 1 });
    const never = await trigger(types[2]);
    const taken = [await takeOne(), await takeOne(), await takeOne()];
    expect(taken.map(({ eventId }) => eventId)).toEqual([never, once, twice]);
  });

  test('of events that were never attempted goes out in their order, whichever endpoint is the older', async () => {
    for (const type of types.toReversed()) await register(url, { eventTypes: [type] });
    const events: string[] = [];
    for (const type of types) events.push(await trigger(type));
    const taken = [await takeOne(), await takeOne(), await takeOne()];
    expect(taken.map(({ eventId }) => eventId)).toEqual(events);
  });

  test('is counted while nobody holds it and its endpoint is enabled, from the instant on that it is due', async () => {
    const { id } = await register(url);
    const due = async () => {
      const { dueDeliveries, oldestDueAt } = await world.engine.vitals();
      return [dueDeliveries, oldestDueAt];
    };
    await trigger();
    expect(await due()).toEqual([1, '2026-03-01T00:00:00.000Z']);
    const held = await takeOne();
    expect(await due()).toEqual([0, undefined]);
    await fail(held);
    world.clock.advance({ minutes: 1 });
    expect(await due()).toEqual([1, '2026-03-01T00:00:15.000Z']);
    await world.call('webhooks.resend', { params: { deliveryId: (await onlyDelivery()).id } });
    world.clock.advance({ minutes: 1 });
    expect(await due()).toEqual([1, '2026-03-01T00:01:00.000Z']);
    await world.call('webhooks.update', { params: { endpointId: id }, body: { isEnabled: false } });
    expect(await due()).toEqual([0, undefined]);
  });

  test('waits, as all that is pending at an enabled endpoint does, until the instant or the end of a lease that comes first', async () => {
    const waiting = async () => await outboxOf(world).waiting();
    expect(await waiting()).toEqual({ count: 0, nextDueAt: null });
    const { id } = await register(url);
    for (const seconds of [0, 5]) {
      world.clock.advance({ seconds });
      await trigger();
      await fail(await takeOne());
    }
    expect(await waiting()).toEqual({ count: 2, nextDueAt: '2026-03-01T00:00:15.000Z' });
    world.clock.advance({ seconds: 10 });
    const held = await takeOne();
    expect(await waiting()).toEqual({ count: 2, nextDueAt: '2026-03-01T00:00:20.000Z' });
    world.clock.advance({ seconds: 5 });
    await takeOne();
    expect(await waiting()).toEqual({ count: 2, nextDueAt: '2026-03-01T00:01:15.000Z' });
    await fail(held);
    expect(await waiting()).toEqual({ count: 2, nextDueAt: '2026-03-01T00:00:50.000Z' });
    await world.call('webhooks.update', { params: { endpointId: id }, body: { isEnabled: false } });
    expect(await waiting()).toEqual({ count: 0, nextDueAt: null });
  });
});

test('of a database that can only be read nothing is taken, though something is due', async () => {
  const database = join(newDirectory(), 'billing.db');
  const written = await createWorld({ database });
  const calls = webhookCalls(written);
  await calls.register(url);
  await calls.trigger();
  await written.close();
  const store = await openStore(database, { readOnly: true });
  onTestFinished(async () => await store.close());
  expect(await createWebhookOutbox({ store, now: written.clock.now, random: () => 0.5 }).lease(10)).toEqual([]);
});

test('what is sent again by hand is due at once, with all its attempts: whether it waited or a sender has it', async () => {
  await register(url);
  await trigger();
  await fail(await takeOne());
  const { id } = await onlyDelivery();
  for (let round = 0; round < 2; round += 1) {
    await world.call('webhooks.resend', { params: { deliveryId: id } });
    expect(await takeOne()).toMatchObject({ deliveryId: id, attempts: 0 });
  }
});

test.each([
  [{ url: 'https://other.example.com/' }, false],
  [{ url: 'https://other.example.com/', allowPrivate: true }, true],
  [{ description: 'books' }, true],
])('whether an endpoint may be private is said anew with each address: after %j, %s', async (body, allowPrivate) => {
  const { id } = await register(url);
  await world.call('webhooks.update', { params: { endpointId: id }, body });
  await trigger();
  expect(await takeOne()).toMatchObject({ allowPrivate });
});

test.each([
  [
    'disabled',
    async (endpointId: string) => {
      await world.call('webhooks.update', { params: { endpointId }, body: { isEnabled: false } });
    },
  ],
  [
    'removed',
    async (endpointId: string) => {
      await world.call('webhooks.remove', { params: { endpointId } });
    },
  ],
])('what was for an endpoint that is %s is not sent again by hand', async (state, end) => {
  const endpoint = await register(url);
  await trigger();
  const { id } = await onlyDelivery();
  await end(endpoint.id);
  await expect(world.call('webhooks.resend', { params: { deliveryId: id } })).rejects.toMatchObject({
    kind: 'conflict',
    message: expect.stringMatching(`^the endpoint of delivery ${id} (?:is|was) ${state}$`),
  });
});

test('an endpoint that is removed fails what still waits for it, and nothing else', async () => {
  const { id } = await register(url);
  const { id: other } = await register(url);
  await trigger();
  for (const held of [await takeOne(), await takeOne()]) await outboxOf(world).record(held, { responseStatus: 200 });
  await trigger();
  await world.call('webhooks.remove', { params: { endpointId: id } });
  const { data } = await world.call('webhooks.deliveries');
  const statusesOf = (endpoint: string) =>
    data.flatMap(({ endpointId, status }) => (endpointId === endpoint ? [status] : []));
  expect(statusesOf(id)).toEqual(['failed', 'delivered']);
  expect(statusesOf(other)).toEqual(['pending', 'delivered']);
});

test('a delivery whose endpoint is removed during an attempt is not tried again when that fails', async () => {
  const { id } = await register(url);
  await trigger();
  const held = await takeOne();
  await world.call('webhooks.remove', { params: { endpointId: id } });
  await fail(held);
  expect(await onlyDelivery()).toMatchObject({
    status: 'failed',
    nextAttemptAt: null,
    error: 'the endpoint was removed',
  });
});

test('a failure that comes after another sender has recorded one changes nothing', async () => {
  await register(url);
  await trigger();
  const slow = await takeOne();
  world.clock.advance({ seconds: limits.webhookLeaseSeconds });
  await fail(await takeOne());
  const recorded = await onlyDelivery();
  expect(recorded).toMatchObject({ status: 'pending', attempts: 1 });
  world.clock.advance({ seconds: 1 });
  await fail(slow);
  expect(await onlyDelivery()).toEqual(recorded);
});

test('what a sender has under way it does not begin again, though it is held no longer and others may', async () => {
  await register(url);
  await trigger();
  const underWay = await takeOne();
  world.clock.advance({ seconds: limits.webhookLeaseSeconds });
  expect(await outboxOf(world).lease(10, [underWay])).toEqual([]);
  expect(await outboxOf(world).lease(10)).toHaveLength(1);
});

test.each([
  ['held', async () => await Promise.resolve()],
  ['put off', fail],
])('what a clock that ran ahead has %s does not wait until that day', async (_how, end) => {
  await register(url);
  await trigger();
  world.clock.set('2030-01-01T00:00:00Z');
  const delivery = await takeOne();
  await end(delivery);
  world.clock.set('2026-03-02T00:00:00Z');
  expect(await takeOne()).toMatchObject({ deliveryId: delivery.deliveryId });
});

test('the old secret signs until the instant at which it ends, and no more at that', async () => {
  const { id } = await register(url);
  const body = { validUntil: '2026-03-02T00:00:00Z' };
  await world.call('webhooks.rotate', { params: { endpointId: id }, body });
  await trigger();
  await trigger();
  world.clock.set('2026-03-01T23:59:59.999Z');
  expect((await takeOne()).secrets).toHaveLength(2);
  world.clock.set('2026-03-02T00:00:00Z');
  expect((await takeOne()).secrets).toHaveLength(1);
});
