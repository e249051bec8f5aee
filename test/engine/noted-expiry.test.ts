/** The note by which a contract is found when a grant expires: the earliest expiry that is still to be settled. */

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { countExpiring, foldWhole, nextExpiryIn } from '../../src/calculation/ledger-fold.ts';
import { readNotedDue } from '../../src/store/records/due-work.ts';
import { listLedger } from '../../src/store/records/ledger.ts';
import { grant, grantPaid, ledger, settle, subscribe, use } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

async function orgOf({ store }: World): Promise<string> {
  const [row] = await store.read((tx) => tx.selectFrom('organizations').select('id').execute());
  return row?.id ?? '';
}

async function notedOf(world: World, { contractId }: Subscription): Promise<string | undefined> {
  const orgId = await orgOf(world);
  const { expiresAt } = await world.store.read((tx) => readNotedDue(tx, orgId, contractId));
  return expiresAt?.toString();
}

async function reverse(world: World, { contractId }: Subscription, entryId: string): Promise<void> {
  await world.call('credits.reverse', { params: { contractId, entryId }, body: {} });
}

const day = (date: number): string => `2026-03-${String(date).padStart(2, '0')}T00:00:00Z`;

test.each<[rule: string, steps: (world: World, acme: Subscription) => Promise<void>, noted: string | undefined]>([
  [
    'a grant without an end is none',
    async (world, acme) => void (await grantPaid(world, acme, { amountCents: 1 })),
    undefined,
  ],
  [
    'a later grant leaves it',
    async (world, acme) => {
      for (const date of [5, 9]) await grant(world, acme, { amountCents: 1, expiresAt: day(date) });
    },
    day(5),
  ],
  [
    'an earlier grant moves it',
    async (world, acme) => {
      for (const date of [9, 5]) await grant(world, acme, { amountCents: 1, expiresAt: day(date) });
    },
    day(5),
  ],
  [
    'that of a grant that is undone goes to the next one',
    async (world, acme) => {
      const first = await grant(world, acme, { amountCents: 1, expiresAt: day(5) });
      for (const date of [9, 7]) await grant(world, acme, { amountCents: 1, expiresAt: day(date) });
      await reverse(world, acme, first);
    },
    day(7),
  ],
  [
    'that of the only grant goes when it is undone',
    async (world, acme) => await reverse(world, acme, await grant(world, acme, { amountCents: 1, expiresAt: day(5) })),
    undefined,
  ],
  [
    'it stays where one of two grants of an instant is undone',
    async (world, acme) => {
      const ids = [1, 2].map(async (amountCents) => await grant(world, acme, { amountCents, expiresAt: day(5) }));
      await reverse(world, acme, (await Promise.all(ids))[0] ?? '');
    },
    day(5),
  ],
  [
    'it stays where a later grant is undone',
    async (world, acme) => {
      await grant(world, acme, { amountCents: 1, expiresAt: day(5) });
      await reverse(world, acme, await grant(world, acme, { amountCents: 1, expiresAt: day(9) }));
    },
    day(5),
  ],
  [
    'it stays when its instant comes, until it is settled',
    async (world, acme) => {
      for (const date of [5, 9]) await grant(world, acme, { amountCents: 1, expiresAt: day(date) });
      world.clock.set(day(7));
    },
    day(5),
  ],
  [
    'it stays of a grant that drafts have emptied',
    async (world, acme) => {
      for (const date of [5, 9]) await grant(world, acme, { amountCents: 10, expiresAt: day(date) });
      await use(world, acme, { tokens: 10, at: day(1) });
      await settle(world, acme);
    },
    day(5),
  ],
  [
    'it goes to the next one when it is settled',
    async (world, acme) => {
      for (const date of [12, 5, 9]) await grant(world, acme, { amountCents: 1, expiresAt: day(date) });
      world.clock.set(day(5));
      await settle(world, acme);
    },
    day(9),
  ],
  [
    'it goes with the last one that is settled',
    async (world, acme) => {
      for (const date of [5, 9]) await grant(world, acme, { amountCents: 1, expiresAt: day(date) });
      world.clock.set(day(9));
      await world.call('bill.run');
    },
    undefined,
  ],
])('%s', async (_rule, steps, noted) => {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z' });
  const acme = await subscribe(world);
  await steps(world, acme);
  expect(await notedOf(world, acme)).toBe(noted);
  await world.close();
});

const step = fc.oneof(
  fc.record({ kind: fc.constant('grant' as const), days: fc.option(fc.integer({ min: 1, max: 6 })) }),
  fc.record({ kind: fc.constant('reverse' as const), which: fc.nat(20) }),
  fc.record({ kind: fc.constant('settle' as const) }),
  fc.record({ kind: fc.constant('use' as const), tokens: fc.integer({ min: 1, max: 15 }) }),
  fc.record({ kind: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 3 }) }),
);

test('it is what the entries say after each call that writes some, and as it was after any other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const world = await createWorld({ start: '2026-03-01T00:00:00.000Z' });
      const acme = await subscribe(world);
      for (const each of steps) {
        const before = await notedOf(world, acme);
        const now = world.clock.now();
        if (each.kind === 'grant') {
          if (each.days === null) await grantPaid(world, acme, { amountCents: 10 });
          else await grant(world, acme, { amountCents: 10, expiresAt: now.add({ hours: 24 * each.days }).toString() });
        } else if (each.kind === 'reverse') {
          // Only what paid for nothing can be undone, and what has lapsed cannot.
          await settle(world, acme);
          const entries = await ledger(world, acme);
          const moved = new Set(entries.map(({ grantEntryId }) => grantEntryId));
          const whole = entries.filter(({ type, id }) => type === 'grant' && !moved.has(id));
          const chosen = whole[each.which % Math.max(1, whole.length)];
          if (chosen !== undefined) await reverse(world, acme, chosen.id);
        } else if (each.kind === 'settle') await settle(world, acme);
        else if (each.kind === 'use') await use(world, acme, { tokens: each.tokens, at: now.toString() });
        else world.clock.advance({ hours: 24 * each.days });
        const isQuiet = each.kind === 'use' || each.kind === 'wait';
        const expected = isQuiet ? before : await earliest(world, acme);
        expect(await notedOf(world, acme)).toBe(expected);
      }
      await world.close();
    }),
    { numRuns: 40 },
  );
});

/** By the API's own answers: the earliest expiry to come of a grant that is not undone. */
async function earliest(world: World, acme: Subscription): Promise<string | undefined> {
  const entries = await ledger(world, acme);
  // What was given back has paid: a reversal that takes away undoes a grant.
  const undoing = entries.filter(({ type, amountCents }) => type === 'reversal' && Number(amountCents) < 0);
  const undone = new Set(undoing.map(({ grantEntryId }) => grantEntryId));
  return entries
    .filter(({ type, id }) => type === 'grant' && !undone.has(id))
    .flatMap(({ expiresAt }) => expiresAt ?? [])
    .map((text) => Temporal.Instant.from(text))
    .filter((instant) => Temporal.Instant.compare(instant, world.clock.now()) > 0)
    .toSorted((one, other) => Temporal.Instant.compare(one, other))[0]
    ?.toString();
}

test('expiries are counted from the first to the last instant, both included, without grants that were undone', async () => {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z' });
  const acme = await subscribe(world);
  const ids: string[] = [];
  for (const date of [5, 6, 6, 7, 8]) ids.push(await grant(world, acme, { amountCents: 1, expiresAt: day(date) }));
  await grantPaid(world, acme, { amountCents: 1 });
  await reverse(world, acme, ids[1] ?? '');
  const orgId = await orgOf(world);
  const fold = foldWhole(await world.store.read((tx) => listLedger(tx, orgId, acme.contractId)));
  const at = (date: number) => Temporal.Instant.from(day(date));
  expect(countExpiring(fold, { from: at(5), until: at(7) })).toBe(3);
  expect(countExpiring(fold, { from: at(6), until: at(6) })).toBe(1);
  expect([4, 5, 6, 7, 8].map((date) => nextExpiryIn(fold, at(date))?.toString())).toEqual([
    day(5),
    day(6),
    day(7),
    day(8),
    undefined,
  ]);
  await world.close();
});
