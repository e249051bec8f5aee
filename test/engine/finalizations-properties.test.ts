/** Many drafts of one contract, finalized one behind the other in one transaction. */

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { watchStatements } from '../reliability/statements.ts';
import { grant, invoices, ledger, subscribe, use } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { booksOf, carryOut, historyOf } from '../support/history.ts';
import type { Act } from '../support/history.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

const budgets = [{ eventPropertyKey: 'model', eventPropertyValue: 'large', maxCreditsCents: 300 }];

type Finalization = (world: World, acme: Subscription) => Promise<unknown>;

/** A contract that began half a year before, of which everything is due that lies behind, while grants still pay. */
async function told(history: readonly Act[], finalize: Finalization) {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z' });
  const acme = await subscribe(world, {
    meter: { groupKeys: ['model'] },
    contract: { startDate: '2025-09-01', endDate: '2026-05-15', creditSettings: { budgets } },
  });
  for (const [index, act] of history.entries()) {
    world.clock.advance({ hours: Math.ceil(act.hours / 20) });
    await carryOut(world, acme, act, index);
  }
  await finalize(world, acme);
  const entries = await ledger(world, acme);
  const books = await booksOf(world, acme);
  await world.close();
  return { entries: entries.map(({ id: _id, ...entry }) => entry), books };
}

const inOneRun: Finalization = async (world) => await world.call('bill.run');

const eachAlone: Finalization = async (world, acme) => {
  const today = world.clock.now().toString().slice(0, 10);
  const due = (await invoices(world, acme)).filter(({ invoiceDate }) => invoiceDate <= today);
  expect(due.length).toBeGreaterThan(5);
  for (const { id } of due) await world.call('invoices.finalize', { params: { invoiceId: id } });
};

test('drafts that one run finalizes come to what each comes to that is finalized by a call of its own', async () => {
  await fc.assert(
    fc.asyncProperty(historyOf({ pastDays: 200 }), async (history) => {
      expect(await told(history, inOneRun)).toEqual(await told(history, eachAlone));
    }),
    { numRuns: 25 },
  );
}, 60_000);

test('a run reads what it knows of a contract once, however many drafts of it are due', async () => {
  const readingsFrom = async (startDate: string) => {
    const world = await createWorld({ start: '2026-03-01T00:00:00.000Z' });
    const acme = await subscribe(world, {
      price: { priceInterval: 'WEEK' },
      contract: { startDate, creditSettings: { budgets } },
    });
    await grant(world, acme, { amountCents: 20 });
    for (const at of ['2026-02-05T00:00:00Z', '2026-02-25T00:00:00Z']) {
      await use(world, acme, { tokens: 15, at, model: 'large' });
    }
    const read: string[] = [];
    const stop = watchStatements((sql) => {
      if (/^select/i.test(sql)) read.push(sql);
    });
    const { finalizedCount } = (await world.call('bill.run')).data;
    stop();
    await world.close();
    return { finalizedCount, read };
  };
  const few = await readingsFrom('2026-02-01');
  const many = await readingsFrom('2025-05-01');
  expect([few.finalizedCount, many.finalizedCount]).toEqual([4, 43]);
  expect(many.read).toEqual(few.read);
});
