import { describe, expect, test } from 'vitest';

import { invoices, refusal, subscribe } from '../support/billing-scenario.ts';
import { createCustomer } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld({ graceHours: 12 });

async function show() {
  return (await world.call('clock.show')).data;
}

async function advance(body: Record<string, string>) {
  return (await world.call('clock.advance', { body })).data;
}

async function setTo(to: string) {
  return (await world.call('clock.set', { body: { to } })).data;
}

describe('the clock', () => {
  test('is the real one until it is set', async () => {
    expect(await show()).toEqual({ now: '2026-03-01T00:00:00.000Z', isSimulated: false, nextDueAt: null });
    world.clock.set('2026-03-05T00:00:00Z');
    expect((await show()).now).toBe('2026-03-05T00:00:00.000Z');
  });

  test('of an empty database begins at any instant, in the past too, and so does its organization', async () => {
    await setTo('2024-01-31');
    expect(await show()).toEqual({ now: '2024-01-31T00:00:00.000Z', isSimulated: true, nextDueAt: null });
    await createCustomer(world, 'acme');
    const { data } = await world.call('customers.list');
    expect(data[0]?.createdAt).toBe('2024-01-31T00:00:00.000Z');
    expect((await world.call('orgs.list')).data[0]?.createdAt).toBe('2024-01-31T00:00:00.000Z');
  });

  test('stands still, whatever the real one does', async () => {
    await setTo('2026-06-01');
    world.clock.set('2028-01-01T00:00:00Z');
    await createCustomer(world, 'acme');
    expect((await world.call('customers.list')).data[0]?.createdAt).toBe('2026-06-01T00:00:00.000Z');
  });

  test('that has gone back on the machine makes nothing older than what was there', async () => {
    await createCustomer(world, 'acme');
    world.clock.set('2026-02-01T00:00:00Z');
    await createCustomer(world, 'globex');
    const { data } = await world.call('customers.list');
    expect(data.map(({ createdAt }) => createdAt)).toEqual(['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z']);
  });

  test('is one for all organizations of a database', async () => {
    await world.call('orgs.create', { body: { name: 'second' } });
    await setTo('2026-06-01');
    const second = world.engine.as(await world.engine.owner('second'));
    expect((await second.call('clock.show')).body.data.now).toBe('2026-06-01T00:00:00.000Z');
  });

  test.each([
    ['PT12H', '2026-01-31T12:00:00.000Z'],
    ['12h', '2026-01-31T12:00:00.000Z'],
    ['30d', '2026-03-02T00:00:00.000Z'],
    ['2w', '2026-02-14T00:00:00.000Z'],
    ['P1M', '2026-02-28T00:00:00.000Z'],
    ['P1Y2M3DT4H5M6S', '2027-04-03T04:05:06.000Z'],
    ['1y', '2027-01-31T00:00:00.000Z'],
  ])('advances by %s from the end of January to %s', async (by, expected) => {
    await setTo('2026-01-31');
    expect((await advance({ by })).now).toBe(expected);
    expect((await show()).now).toBe(expected);
  });

  test('begins to stand still with the first advance of a database with records, at the real time', async () => {
    await createCustomer(world, 'acme');
    world.clock.set('2026-03-02T00:00:00Z');
    expect((await advance({ by: 'P1D' })).now).toBe('2026-03-03T00:00:00.000Z');
    expect((await show()).isSimulated).toBe(true);
  });

  test('says when something falls due next', async () => {
    await setTo('2026-03-01');
    await subscribe(world);
    expect((await show()).nextDueAt).toBe('2026-04-01T00:00:00.000Z');
  });

  test('of real time counts the hours of grace', async () => {
    await subscribe(world, { contract: { endDate: '2026-04-01' } });
    expect((await show()).nextDueAt).toBe('2026-04-01T00:00:00.000Z');
    world.clock.set('2026-04-01T06:00:00Z');
    await world.call('bill.run', { body: {} });
    expect((await show()).nextDueAt).toBe('2026-04-01T12:00:00.000Z');
  });
});

describe('time is refused', () => {
  test('to go backwards once there are records', async () => {
    await createCustomer(world, 'acme');
    const words = '409 the clock stands at 2026-03-01T00:00:00.000Z, and time never goes backwards';
    expect(await refusal(world, 'clock.set', { body: { to: '2026-02-28' } })).toBe(words);
    expect(await refusal(world, 'clock.advance', { body: { to: '2026-02-28' } })).toBe(words);
    expect((await show()).isSimulated).toBe(false);
  });

  test('to go backwards by either of two who advance it at once', async () => {
    const ends = ['2026-03-31T00:00:00.000Z', '2026-03-02T00:00:00.000Z'];
    await Promise.allSettled(ends.map(async (to) => await advance({ to })));
    expect((await show()).now).toBe(ends[0]);
  });

  test('beyond the last instant of the year 2100, and not before', async () => {
    const last = '2100-12-31T23:59:59.999Z';
    expect((await advance({ to: last })).now).toBe(last);
    expect(await refusal(world, 'clock.advance', { body: { by: 'PT1S' } })).toContain('goes beyond the year 2100');
  });

  test('to go behind what was recorded, where the real clock has gone back', async () => {
    world.clock.set('2026-03-10T00:00:00Z');
    await createCustomer(world, 'acme');
    world.clock.set('2026-03-01T00:00:00Z');
    expect(await refusal(world, 'clock.set', { body: { to: '2026-03-05' } })).toContain('2026-03-10T00:00:00.000Z');
  });

  test.each([
    [{}, '422 by: exactly one of by and to is required'],
    [{ by: 'P1D', to: '2026-04-01' }, '422 by: exactly one of by and to is required'],
    [{ by: 'P0D' }, '422 by: must be a duration above 0'],
    [{ by: '-P1D' }, '422 by: must be a duration above 0'],
    [{ by: 'P' }, '422 by: must be a duration above 0'],
    [{ by: 'PT' }, '422 by: must be a duration above 0'],
    [{ by: 'P1DT' }, '422 by: must be a duration above 0'],
    [{ by: '3m' }, '422 by: must be a duration above 0'],
    [{ by: '1000y' }, '422 by: goes beyond the year 2100'],
    [{ by: '99999y' }, '422 by: goes beyond the year 2100'],
    [{ to: '2026-02-30' }, '422 to: must be on a day that exists'],
  ])('to advance by %j', async (body, words) => {
    expect(await refusal(world, 'clock.advance', { body })).toContain(words);
    expect((await show()).isSimulated).toBe(false);
  });

  test('to be simulated while an organization is in production', async () => {
    await world.call('orgs.create', { body: { name: 'earnest', environment: 'production' } });
    const words = '409 the organization "earnest" is in production, where time is real';
    expect(await refusal(world, 'clock.set', { body: { to: '2026-06-01' } })).toBe(words);
    expect(await refusal(world, 'clock.advance', { body: { by: 'P1D' } })).toBe(words);
    await createCustomer(world, 'acme');
    expect(await refusal(world, 'clock.set', { body: { to: '2026-06-01' } })).toBe(words);
    await world.call('orgs.update', { params: { organizationId: 'earnest' }, body: { environment: 'sandbox' } });
    expect(await refusal(world, 'clock.set', { body: { to: '2026-06-01' } })).toBe('accepted');
  });

  test('to an organization in production while it is simulated', async () => {
    await setTo('2026-06-01');
    const words = '409 the clock of this database is simulated, and in production time is real';
    const body = { environment: 'production' };
    expect(await refusal(world, 'orgs.update', { params: { organizationId: 'default' }, body })).toBe(words);
    expect(await refusal(world, 'orgs.create', { body: { name: 'earnest', ...body } })).toBe(words);
  });

  test('to whoever is not the owner of the database', async () => {
    const { data } = await world.call('keys.create', { body: { name: 'all', scopes: ['*'] } });
    const caller = world.engine.as(await world.engine.authenticate(data.key));
    await expect(caller.call('clock.set', { body: { to: '2026-06-01' } })).rejects.toThrow('only to the owner');
    await expect(caller.call('bill.run', { body: {} })).rejects.toThrow('only to the owner');
  });
});

describe('going back to the real clock', () => {
  test('changes nothing where time is real', async () => {
    expect((await world.call('clock.reset')).data).toEqual(await show());
  });

  test('waits until it has caught up', async () => {
    await setTo('2026-06-01');
    await createCustomer(world, 'acme');
    expect(await refusal(world, 'clock.reset', {})).toBe(
      '409 the clock stands at 2026-06-01T00:00:00.000Z, which is still in the future',
    );
    world.clock.set('2026-06-01T00:00:00Z');
    expect((await world.call('clock.reset')).data).toMatchObject({ isSimulated: false });
    world.clock.set('2026-06-02T00:00:00Z');
    expect((await show()).now).toBe('2026-06-02T00:00:00.000Z');
  });

  test('is free while there are no records', async () => {
    await setTo('2030-01-01');
    await world.call('clock.reset');
    await createCustomer(world, 'acme');
    expect((await world.call('customers.list')).data[0]?.createdAt).toBe('2026-03-01T00:00:00.000Z');
  });

  test('leaves what fell due in real time to the bill run', async () => {
    await setTo('2026-02-01');
    const acme = await subscribe(world, { contract: { startDate: '2026-02-01' } });
    await world.call('clock.reset');
    expect((await invoices(world, acme))[0]?.status).toBe('Drafted');
    world.clock.set('2026-03-01T12:00:00Z');
    await world.call('bill.run', { body: {} });
    expect((await invoices(world, acme))[0]?.status).toBe('Paid');
  });
});

test('a key ends by the clock of its database', async () => {
  await setTo('2026-06-01');
  const { data } = await world.call('keys.create', {
    body: { name: 'ci', scopes: ['*'], expiresAt: '2026-06-02T00:00:00Z' },
  });
  world.clock.set('2027-01-01T00:00:00Z');
  expect((await world.engine.authenticate(data.key)).isLocal).toBe(false);
  await advance({ by: 'P1D' });
  await expect(world.engine.authenticate(data.key)).rejects.toThrow('API key has expired');
});
