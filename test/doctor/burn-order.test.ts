/** Books in which a grant that goes first has rightly paid nothing: doctor finds nothing in them. */

import { afterEach, beforeEach, expect, test } from 'vitest';

import { grant, movements, settle, subscribe, use } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { createWorld, type World } from '../support/world.ts';

let world: World;
let acme: Subscription;
beforeEach(async () => {
  world = await createWorld({ start: '2026-03-14T23:30:00.000Z' });
  acme = await subscribe(world);
});
afterEach(async () => await world.close());

const may = { expiresAt: '2026-05-01T00:00:00Z' };
const june = { expiresAt: '2026-06-01T00:00:00Z' };
const july = { expiresAt: '2026-07-01T00:00:00Z' };

async function burnOrderProblems(): Promise<string[]> {
  const { data } = await world.call('credits.verify', { params: { contractId: acme.contractId } });
  return data.findings.flatMap(({ check, problem }) => (check === 'burn-order' ? [problem] : []));
}

test.each([{ properties: { region: 'eu' } }, { eventNames: ['chat'] }])(
  'a grant for %j alone pays nothing of other usage',
  async (specifiers) => {
    await grant(world, acme, { amountCents: 100, specifiers, ...may });
    const general = await grant(world, acme, { amountCents: 100, ...june });
    await use(world, acme, { tokens: 40, at: '2026-03-14T00:00:00Z', region: 'us' });
    await settle(world, acme);
    expect(await movements(world, acme, general)).toEqual(['grant 100 0', 'usage -40 0']);
    expect(await burnOrderProblems()).toEqual([]);
  },
);

test('a grant pays nothing of usage after its expiry, though that is still to come', async () => {
  await grant(world, acme, { amountCents: 100, expiresAt: '2026-03-15T00:00:00Z' });
  const later = await grant(world, acme, { amountCents: 100, ...may });
  await use(world, acme, { tokens: 40, at: '2026-03-15T00:10:00Z' });
  await settle(world, acme);
  expect(await movements(world, acme, later)).toEqual(['grant 100 0', 'usage -40 0']);
  expect(await burnOrderProblems()).toEqual([]);
});

test('free credits pay nothing once the grant is reversed whose rate gave them a value', async () => {
  const free = await grant(world, acme, { creditAmount: 3, creditRateCents: 0, ...may });
  const dollars = await grant(world, acme, { amountCents: 100, ...june });
  const rated = await grant(world, acme, { creditAmount: 5, creditRateCents: 10, ...july });
  await use(world, acme, { tokens: 50, at: '2026-03-14T00:00:00Z' });
  await settle(world, acme);
  expect(await movements(world, acme, free)).toEqual(['grant 0 3', 'usage 0 -3']);
  await world.call('credits.reverse', { params: { contractId: acme.contractId, entryId: rated }, body: {} });
  await settle(world, acme);
  expect(await movements(world, acme, dollars)).toEqual(['grant 100 0', 'usage -20 0', 'usage -30 0']);
  expect(await burnOrderProblems()).toEqual([]);
});
