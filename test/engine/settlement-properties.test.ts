/** What holds wherever a random story of one contract is stopped. */

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { textOfNumber } from '../../src/exact-json.ts';
import { balance, invoices, settle } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { play, storyOf } from '../support/story.ts';
import type { World } from '../support/world.ts';

test('settling writes what was shown before, once, and finalized invoices agree with the ledger', async () => {
  await fc.assert(
    fc.asyncProperty(storyOf(expectSoundBooks), fc.boolean(), async (steps, hasBudget) => {
      await play(steps, hasBudget, async (world, subscription) => {
        await expectSoundBooks(world, subscription);
        expect(await settle(world, subscription)).toEqual([]);
      });
    }),
    { numRuns: 60 },
  );
}, 60_000);

async function expectSoundBooks(world: World, subscription: Subscription): Promise<void> {
  const shown = await invoices(world, subscription);
  const { projected } = await balance(world, subscription, { include: 'projected' });
  for (const invoice of shown) {
    expect(Number(invoice.totalCents)).toBeGreaterThanOrEqual(0);
    if (invoice.status === 'Drafted' || invoice.status === 'Cancelled' || invoice.status === 'Refunded') continue;
    const { data } = await world.call('invoices.creditReport', { params: { invoiceId: invoice.id } });
    const credits = (invoice.lineItems ?? []).filter((line) => line.name === 'Credits applied');
    const applied = credits.reduce((sum, line) => sum - Number(textOfNumber(line.totalAmountCents)), 0);
    expect(data.summary.totalCents).toBe(applied);
  }
  await settle(world, subscription);
  expect(await invoices(world, subscription)).toEqual(shown);
  const after = await balance(world, subscription, { include: 'projected' });
  expect(after.projected).toEqual(projected);
  expect(after.balance).toMatchObject(projected ?? {});
}
