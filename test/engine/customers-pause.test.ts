import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(async () => {
  await world.close();
});

const ada = { name: 'Ada Lovelace', email: 'ada@acme.example', roles: ['accounts_payable', 'primary'] };

async function create(body: Record<string, unknown> = {}) {
  return (await world.call('customers.create', { body: { name: 'Acme', contacts: [ada], ...body } })).data;
}

async function get(customerId: string) {
  return (await world.call('customers.get', { params: { customerId } })).data;
}

async function pause(customerId: string, body: Record<string, unknown> = {}) {
  return (await world.call('customers.pause', { params: { customerId }, body })).data;
}

async function resume(customerId: string) {
  return (await world.call('customers.resume', { params: { customerId } })).data;
}

describe('a pause', () => {
  it('without an end lasts until it is ended by hand', async () => {
    const { id } = await create();
    expect(await pause(id)).toMatchObject({
      isPaused: true,
      pausedAt: '2026-03-01T00:00:00.000Z',
      pausedUntil: null,
    });
    world.clock.set('2027-01-01T00:00:00Z');
    expect((await get(id)).isPaused).toBe(true);
    expect(await resume(id)).toMatchObject({ isPaused: false, pausedAt: null, pausedUntil: null });
  });

  it('with an end is over at 00:00 UTC of that date, with no job having run', async () => {
    const { id } = await create();
    await pause(id, { until: '2026-03-10' });
    world.clock.set('2026-03-09T23:59:59.999Z');
    expect(await get(id)).toMatchObject({ isPaused: true, pausedUntil: '2026-03-10' });
    world.clock.set('2026-03-10T00:00:00Z');
    expect(await get(id)).toMatchObject({ isPaused: false, pausedAt: null, pausedUntil: null });
  });

  it.each(['2026-03-01', '2026-02-28'])('must end after today: %s is refused', async (until) => {
    const { id } = await create();
    world.clock.set('2026-03-01T23:59:59Z');
    await expect(pause(id, { until })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'until: must be after today (UTC)',
    });
  });

  it('that is repeated changes its end alone', async () => {
    const { id } = await create();
    await pause(id, { until: '2026-03-10' });
    world.clock.advance({ hours: 1 });
    expect(await pause(id, { until: '2026-04-01' })).toMatchObject({
      pausedAt: '2026-03-01T00:00:00.000Z',
      pausedUntil: '2026-04-01',
    });
    expect(await pause(id, { until: null })).toMatchObject({
      pausedAt: '2026-03-01T00:00:00.000Z',
      pausedUntil: null,
    });
  });

  it('after one that is over begins anew', async () => {
    const { id } = await create();
    await pause(id, { until: '2026-03-10' });
    world.clock.set('2026-03-10T08:00:00Z');
    expect(await pause(id)).toMatchObject({ isPaused: true, pausedAt: '2026-03-10T08:00:00.000Z', pausedUntil: null });
  });

  it('that does not exist can be ended without changing anything', async () => {
    const { id } = await create();
    const before = await get(id);
    world.clock.advance({ hours: 1 });
    expect(await resume(id)).toEqual(before);
  });
});
