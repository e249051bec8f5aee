/** Reliability 9: a wall clock that is more than five minutes behind stored time is told of. */

import { afterEach, beforeEach, expect, test } from 'vitest';

import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

const newest = '2026-03-01T00:00:00.000Z';

let world: World;
beforeEach(async () => {
  world = await createWorld({ start: newest });
  await create('first');
});
afterEach(async () => {
  await world.close();
});

async function create(name: string): Promise<string | undefined> {
  return (await world.billing.call('products.create', { body: { name } })).aheadOfClock;
}

async function billed(): Promise<(string | undefined)[]> {
  const answer = await world.billing.call('bill.run', { body: {} });
  return [answer.aheadOfClock, (await world.engine.billDue())?.aheadOfClock];
}

test('a write and a bill run say what the newest row is of, once the clock is more than five minutes behind it', async () => {
  world.clock.set('2026-02-28T23:55:00.000Z');
  expect([await create('second'), ...(await billed())]).toEqual([undefined, undefined, undefined]);
  world.clock.set('2026-02-28T23:54:59.999Z');
  expect([await create('third'), ...(await billed())]).toEqual([newest, newest, newest]);
  world.clock.set(newest);
  expect([await create('fourth'), ...(await billed())]).toEqual([undefined, undefined, undefined]);
});

test('nothing is said by readings, nor where time is simulated', async () => {
  world.clock.set('2026-01-01T00:00:00.000Z');
  expect(await world.billing.call('products.list')).not.toHaveProperty('aheadOfClock');
  await world.call('clock.advance', { body: { by: 'P1D' } });
  expect([await create('second'), (await billed())[0]]).toEqual([undefined, undefined]);
});
