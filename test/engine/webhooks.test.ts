import { describe, expect, test } from 'vitest';

import { limits } from '../../src/limits.ts';
import { operations } from '../../src/operations/all.ts';
import type { OperationName } from '../../src/operations/index.ts';
import type { CallInput } from '../../src/operations/operation.ts';
import { webhookEventTypes } from '../../src/operations/wire-values.ts';
import { refusalOf } from '../support/refusal.ts';
import { useWorld, world } from '../support/use-world.ts';

const url = 'https://hooks.example.com/billing';

useWorld({ hosts: { 'inside.example.com': ['10.0.0.1'] } });

async function register(body: Record<string, unknown> = {}) {
  return (await world.call('webhooks.create', { body: { url, ...body } })).data;
}

/** What a call is refused with, of a kind that its declaration names. */
async function refused(name: OperationName, input: CallInput): Promise<string> {
  const refusal = await refusalOf(world.billing.call(name, input));
  expect(['accepted', ...operations[name].errors]).toContain(refusal.split(' ', 1)[0]);
  return refusal;
}

describe('endpoints', () => {
  test('take every type unless told otherwise, and show their secret once', async () => {
    const { secret, ...endpoint } = await register();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
    expect(endpoint).toMatchObject({ url, eventTypes: [...webhookEventTypes], isEnabled: true, description: null });
    const listed = await world.call('webhooks.list');
    expect(listed.data).toEqual([endpoint]);
    expect(JSON.stringify(listed)).not.toContain('whsec_');
  });

  test('take each type once, at an address in its usual form', async () => {
    const unusual = 'https://HOOKS.example.com:443/a/../billing';
    const { id, ...made } = await register({ url: unusual, eventTypes: ['invoice.created', 'invoice.created'] });
    expect(made).toMatchObject({ url, eventTypes: ['invoice.created'] });
    const input = { params: { endpointId: id } };
    await world.call('webhooks.update', { ...input, body: { url: 'https://other.example.com/' } });
    const { data } = await world.call('webhooks.update', { ...input, body: { url: unusual } });
    expect(data.url).toBe(url);
  });

  test('are changed field by field', async () => {
    const { id } = await register({ description: 'books' });
    const input = { params: { endpointId: id } };
    await world.call('webhooks.update', { ...input, body: { eventTypes: ['invoice.created', 'invoice.created'] } });
    await world.call('webhooks.update', { ...input, body: { isEnabled: false } });
    const { data } = await world.call('webhooks.update', { ...input, body: { description: null } });
    expect(data).toMatchObject({ url, description: null, eventTypes: ['invoice.created'], isEnabled: false });
  });

  test('are gone when they are removed, with their secret', async () => {
    const { id } = await register();
    const { data } = await world.call('webhooks.remove', { params: { endpointId: id } });
    expect(data.removed).toMatchObject({ id, isEnabled: false });
    expect((await world.call('webhooks.list')).data).toEqual([]);
    const rows = await world.store.read(async (tx) =>
      tx.selectFrom('webhookEndpoints').select(['secret', 'previousSecret']).orderBy('seq').execute(),
    );
    expect(rows).toEqual([{ secret: null, previousSecret: null }]);
  });

  test('keep the old secret for 24 hours after a rotation', async () => {
    const { id, secret } = await register();
    const { data } = await world.call('webhooks.rotate', { params: { endpointId: id } });
    expect(data.secret).not.toBe(secret);
    expect(data.previousSecretValidUntil).toBe('2026-03-02T00:00:00.000Z');
    world.clock.set('2026-03-02T00:00:00Z');
    expect((await world.call('webhooks.list')).data[0]?.previousSecretValidUntil).toBeNull();
  });

  test('keep the old secret by the clock of the machine, which receivers have, also where time is simulated', async () => {
    await world.call('clock.set', { body: { to: '2027-01-01T00:00:00Z' } });
    const { id } = await register();
    const { data } = await world.call('webhooks.rotate', { params: { endpointId: id } });
    expect(data.previousSecretValidUntil).toBe('2026-03-02T00:00:00.000Z');
  });

  test('are listed newest first', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.unshift((await register()).id);
    world.clock.advance({ days: 1 });
    ids.unshift((await register()).id);
    expect((await world.call('webhooks.list')).data.map(({ id }) => id)).toEqual(ids);
  });

  test('are at most twenty', async () => {
    for (let count = 0; count < limits.webhookEndpoints; count += 1) await register();
    expect(await refused('webhooks.create', { body: { url } })).toBe(
      'conflict there are 20 endpoints, the most allowed',
    );
  });

  test.each([
    ['http://hooks.example.com/', {}, 'invalidInput url: must begin with https://'],
    [
      'https://inside.example.com/',
      {},
      'invalidInput url: leads to a private address, where webhooks are sent only if that is allowed',
    ],
    ['https://inside.example.com/', { allowPrivate: true }, 'accepted'],
    ['http://127.0.0.1:4000/', { allowPrivate: true }, 'accepted'],
    [url, { eventTypes: [] }, 'invalidInput eventTypes: must have at least 1 element'],
    [url, { secret: 'whsec_x' }, 'invalidInput secret: unknown field'],
  ])('at %s with %j: %s', async (address, body, expected) => {
    expect(await refused('webhooks.create', { body: { url: address, ...body } })).toBe(expected);
  });

  test.each([
    ['webhooks.update', {}, 'invalidInput at least one field is required'],
    ['webhooks.update', { allowPrivate: true }, 'invalidInput allowPrivate: works only together with url'],
    [
      'webhooks.update',
      { url: 'https://10.0.0.1/' },
      'invalidInput url: leads to a private address, where webhooks are sent only if that is allowed',
    ],
    [
      'webhooks.rotate',
      { validUntil: '2026-03-01T00:00:00Z' },
      'invalidInput validUntil: must be after now, 2026-03-01T00:00:00.000Z',
    ],
  ] as const)('%s with %j: %s', async (name, body, expected) => {
    const { id } = await register();
    expect(await refused(name, { params: { endpointId: id }, body })).toBe(expected);
  });

  test.each([
    ['webhooks.update', { params: { endpointId: 'x' }, body: { isEnabled: false } }, 'no endpoint has this id'],
    ['webhooks.remove', { params: { endpointId: 'x' } }, 'no endpoint has this id'],
    ['webhooks.rotate', { params: { endpointId: 'x' } }, 'no endpoint has this id'],
    ['webhooks.resend', { params: { deliveryId: 'x' } }, 'no delivery has this id'],
    ['webhooks.trigger', { params: { eventType: 'x' } }, 'no event has this type'],
  ] as const)('%s of what is not there: notFound', async (name, input, message) => {
    expect(await refused(name, input)).toBe(`notFound ${message}`);
  });

  test('are administered by the owner alone', async () => {
    const { data } = await world.call('keys.create', { body: { name: 'all', scopes: ['*'] } });
    const remote = world.engine.as(await world.engine.authenticate(data.key));
    await expect(remote.call('webhooks.list')).rejects.toMatchObject({ kind: 'forbidden' });
  });

  test('and deliveries of one organization are unknown to another', async () => {
    const { id } = await register();
    await world.call('webhooks.trigger', { params: { eventType: 'customer.created' } });
    const [delivery] = (await world.call('webhooks.deliveries')).data;
    const other = await world.addOrganization('eu');
    expect((await other.call('webhooks.list')).body.data).toEqual([]);
    expect((await other.call('webhooks.deliveries')).body).toEqual({ data: [], hasMore: false, total: 0 });
    const calls = [
      other.call('webhooks.rotate', { params: { endpointId: id } }),
      other.call('webhooks.resend', { params: { deliveryId: delivery?.id ?? '' } }),
    ];
    expect(await Promise.all(calls.map(refusalOf))).toEqual([
      'notFound no endpoint has this id',
      'notFound no delivery has this id',
    ]);
    await expect(other.call('webhooks.trigger', { params: { eventType: 'customer.created' } })).rejects.toThrow(
      'no enabled endpoint receives customer.created',
    );
  });
});

describe('deliveries', () => {
  test('show the event as it is sent where they are asked to', async () => {
    await register();
    await world.call('webhooks.trigger', { params: { eventType: 'credit.budget.exhausted' } });
    const [plain] = (await world.call('webhooks.deliveries')).data;
    const [whole] = (await world.call('webhooks.deliveries', { query: { include: 'payload' } })).data;
    expect(plain).not.toHaveProperty('payload');
    expect(whole).toEqual({
      ...plain,
      payload: { type: 'credit.budget.exhausted', timestamp: plain?.createdAt, data: expect.any(Object) },
    });
  });

  test.each(webhookEventTypes)('a sample of %s goes the way of the real one', async (eventType) => {
    const { id } = await register({ eventTypes: [eventType] });
    const { data } = await world.call('webhooks.trigger', { params: { eventType } });
    expect(data).toMatchObject({ type: eventType, deliveryCount: 1 });
    expect((await world.call('webhooks.deliveries')).data).toMatchObject([
      { eventId: data.eventId, eventType, endpointId: id, url, status: 'pending', attempts: 0, nextAttemptAt: null },
    ]);
  });

  test('are listed newest first, by status and endpoint, in pages', async () => {
    const one = await register({ eventTypes: ['customer.created'] });
    const other = await register({ eventTypes: ['customer.updated'] });
    const trigger = async (eventType: string) => await world.call('webhooks.trigger', { params: { eventType } });
    const events: string[] = [];
    for (const type of ['customer.created', 'customer.updated', 'customer.created']) {
      events.push((await trigger(type)).data.eventId);
    }
    const list = async (query: Record<string, string>) => {
      const { data, ...page } = await world.call('webhooks.deliveries', { query });
      return { ...page, events: data.map(({ eventId }) => events.indexOf(eventId)) };
    };
    expect(await list({})).toEqual({ events: [2, 1, 0], hasMore: false, total: 3 });
    expect(await list({ limit: '1', offset: '1' })).toEqual({ events: [1], hasMore: true, total: 3 });
    expect(await list({ endpointId: one.id })).toEqual({ events: [2, 0], hasMore: false, total: 2 });
    expect(await list({ endpointId: other.id, status: 'delivered' })).toEqual({ events: [], hasMore: false, total: 0 });
    expect(await list({ status: 'pending' })).toEqual({ events: [2, 1, 0], hasMore: false, total: 3 });
  });
});
