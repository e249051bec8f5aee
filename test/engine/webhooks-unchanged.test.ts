/** What leaves everything as it was is neither recorded nor told. */

import { expect, test } from 'vitest';

import { subscribe } from '../support/billing-scenario.ts';
import { listen, outboxOf } from '../support/outbox.ts';
import { createCustomer } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

test('an update of a customer, and a repeated pause, that find all as it was say nothing, and leave the time of the last change', async () => {
  const params = { customerId: await createCustomer(world, 'acme') };
  const update = async (body: object) => await world.call('customers.update', { params, body });
  const pause = async (body: object) => await world.call('customers.pause', { params, body });
  await update({ tags: ['a', 'b'], legalName: 'Acme Corporation' });
  await pause({ until: '2026-03-10' });
  await listen(world);
  const before = await world.call('customers.get', { params });
  world.clock.advance({ hours: 1 });
  expect(await update({ name: 'Acme', tags: ['a', 'b'], legalName: 'Acme Corporation' })).toEqual(before);
  expect(await update({ externalCustomerId: 'acme', paymentProviderId: null })).toEqual(before);
  expect(await pause({ until: '2026-03-10' })).toEqual(before);
  expect(await world.call('customers.get', { params })).toEqual(before);
  expect(await outboxOf(world)).toEqual([]);
  await update({ tags: ['b', 'a'] });
  for (const until of ['2026-03-11', null]) await pause({ until });
  const told = (await outboxOf(world)).map(({ data }) => [data['tags'], data['pausedUntil'], data['updatedAt']]);
  const later = '2026-03-01T01:00:00.000Z';
  expect(told).toEqual([
    [['b', 'a'], '2026-03-10', later],
    [['b', 'a'], '2026-03-11', later],
    [['b', 'a'], null, later],
  ]);
});

test('a pause that is over, and begins anew is told, once', async () => {
  const params = { customerId: await createCustomer(world, 'acme') };
  const pause = async (until: string) => await world.call('customers.pause', { params, body: { until } });
  await pause('2026-03-02');
  await listen(world);
  world.clock.set('2026-03-02T00:00:00Z');
  await pause('2026-03-03');
  await pause('2026-03-03');
  expect((await outboxOf(world)).map(({ data }) => data['pausedAt'])).toEqual(['2026-03-02T00:00:00.000Z']);
});

test('metadata of a contract that are sent again as they are say nothing', async () => {
  const { contractId } = await subscribe(world);
  await listen(world);
  const update = async (metadata: object | null) => {
    await world.call('contracts.update', { params: { contractId }, body: { metadata } });
  };
  for (const metadata of [null, { team: 'ml', seats: 1.5 }, { seats: 1.5, team: 'ml' }, { team: 'ml' }, null, {}]) {
    await update(metadata);
  }
  expect((await outboxOf(world)).map(({ data }) => data['metadata'])).toEqual([
    { team: 'ml', seats: 1.5 },
    { team: 'ml' },
    {},
  ]);
});
