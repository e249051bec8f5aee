/** Explanations wherever a random story of one contract is stopped. */

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { invoices, ledger } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { expectSound } from '../support/explanation.ts';
import { play, storyOf } from '../support/story.ts';
import type { World } from '../support/world.ts';

test('every invoice is explained to its last cent, and every entry leads to the line that it pays', async () => {
  await fc.assert(
    fc.asyncProperty(storyOf(expectExplained), fc.boolean(), async (steps, hasBudget) => {
      await play(steps, hasBudget, expectExplained);
    }),
    { numRuns: 25 },
  );
}, 60_000);

async function expectExplained(world: World, subscription: Subscription): Promise<void> {
  for (const invoice of await invoices(world, subscription)) {
    const { data } = await world.call('invoices.explain', { params: { invoiceId: invoice.id } });
    expectSound(data);
    expect(data.totalCents).toEqual(invoice.totalCents);
    const shown = (invoice.lineItems ?? []).map((line) => [line.id, line.totalAmountCents, line.quantity]);
    expect(data.lines.map((line) => [line.id, line.totalAmountCents, line.quantity])).toEqual(shown);
  }
  for (const entry of (await ledger(world, subscription)).slice(-8)) {
    const { data } = await world.call('credits.explain', { params: { entryId: entry.id } });
    expect(data.reason).not.toBe('');
    expect(Number(data.grant.afterCents) - Number(data.grant.beforeCents)).toBe(Number(entry.amountCents));
    if (entry.type !== 'usage' || data.line === undefined) continue;
    const paid = data.line.grants.find((each) => each.grantId === entry.grantEntryId);
    // What is written on a draft can have become less since; the next settlement says so in the ledger.
    const isOutdated = data.reason.includes('the next settlement undoes it') && data.invoice?.status === 'Drafted';
    if (data.entry.reversedByEntryId === null && !isOutdated) expect(paid?.entryIds).toContain(entry.id);
  }
}
