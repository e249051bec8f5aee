/** What is listed of credits that expire, wherever random stories of several contracts are stopped. */

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { textOfNumber } from '../../src/exact-json.ts';
import type { ResponseBody } from '../../src/operations/index.ts';
import { balance, settle } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { playTogether, storyOf } from '../support/story.ts';
import type { World } from '../support/world.ts';

type Row = ResponseBody<'credits.expiring'>['data']['grants'][number];

async function expiring(world: World, query: Record<string, string>): Promise<readonly Row[]> {
  return (await world.call('credits.expiring', { query })).data.grants;
}

/** The blocks of all balances that have not expired and hold something, of grants that expire before an instant, in order. */
async function fromBalances(world: World, subscriptions: readonly Subscription[], before: string) {
  const rows: Row[] = [];
  for (const subscription of subscriptions) {
    const { contractId, customerId } = subscription;
    const { blocks } = await balance(world, subscription);
    for (const { status, priority: _priority, id: grantEntryId, ...block } of blocks) {
      const holdsAny = Number(block.remainingCents) > 0 || Number(block.remainingCredits) > 0;
      const { expiresAt, remainingCents, remainingCredits } = block;
      if (status === 'expired' || !holdsAny || expiresAt === null || expiresAt >= before) continue;
      rows.push({ contractId, customerId, grantEntryId, ...block, projected: { remainingCents, remainingCredits } });
    }
  }
  const keyOf = ({ expiresAt, contractId, grantEntryId }: Row) => `${expiresAt} ${contractId} ${grantEntryId}`;
  return rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Of each contract, what all listed grants hold after usage. */
async function expectProjectedBalances(world: World, subscriptions: readonly Subscription[]): Promise<void> {
  const all = await expiring(world, { expiresBefore: '2100-01-01' });
  for (const subscription of subscriptions) {
    const { projected } = await balance(world, subscription, { include: 'projected' });
    const own = all.filter(({ contractId }) => contractId === subscription.contractId);
    const sum = (of: keyof Row['projected']) =>
      own.reduce((total, row) => total + Math.round(Number(textOfNumber(row.projected[of])) * 1e6), 0) / 1e6;
    expect({ balanceCents: sum('remainingCents'), creditBalance: sum('remainingCredits') }).toEqual(projected);
  }
}

test('what is listed is what every balance shows, once all of them are settled, and adds up to what they project before', async () => {
  const story = storyOf(settle);
  await fc.assert(
    fc.asyncProperty(fc.tuple(story, story, story), fc.integer({ min: 1, max: 90 }), async (stories, days) => {
      await playTogether(stories, async (world, subscriptions) => {
        const before = world.clock
          .now()
          .add({ hours: 24 * days })
          .toString({ fractionalSecondDigits: 3 });
        const query = { expiresBefore: before };
        const shown = await expiring(world, query);
        await expectProjectedBalances(world, subscriptions);
        for (const subscription of subscriptions) await settle(world, subscription);
        const settled = await fromBalances(world, subscriptions, before);
        expect(await expiring(world, query)).toEqual(settled);
        const whatIsLeft = (rows: readonly Row[]) =>
          rows.map(({ grantEntryId, projected }) => ({ grantEntryId, projected }));
        expect(whatIsLeft(shown)).toEqual(whatIsLeft(settled));
      });
    }),
    { numRuns: 40 },
  );
}, 120_000);
