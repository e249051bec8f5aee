import { expect, test } from 'vitest';

import { UnavailableError } from '../../src/errors.ts';
import { invoices, subscribe } from '../support/billing-scenario.ts';
import { createWorld } from '../support/world.ts';

const contacts = [{ name: 'Ada', email: 'ada@example.com', roles: ['primary'] }];

test('closing waits for every call that came before it', async () => {
  const world = await createWorld();
  const calls = Array.from({ length: 20 }, (_value, index) =>
    world.call('customers.create', { body: { name: `Customer ${index}`, contacts } }),
  );
  await world.close();
  expect((await Promise.all(calls)).map(({ data }) => data.name)).toContain('Customer 19');
});

test('closing waits for work of many transactions, all of which is kept', async () => {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z' });
  const acme = await subscribe(world, { contract: { startDate: '2025-03-01' } });
  world.clock.set('2026-03-01T00:00:00Z');
  const run = world.call('bill.run', { body: {} });
  const reading = invoices(world, acme);
  await world.close();
  expect((await run).data.failures).toEqual([]);
  expect((await reading).length).toBeGreaterThan(0);
});

test('what comes behind it is refused in the words of a service', async () => {
  const world = await createWorld();
  await world.close();
  const call = world.call('customers.list');
  await expect(call).rejects.toBeInstanceOf(UnavailableError);
  await expect(call).rejects.toThrow('the service is closed');
});
