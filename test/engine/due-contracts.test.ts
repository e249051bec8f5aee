/** Contracts that are billed together come to what each comes to by itself. */

import { expect, test } from 'vitest';

import { textOfNumber } from '../../src/exact-json.ts';
import { listLedgersOf } from '../../src/store/records/ledger.ts';
import { grant, invoices, subscribe, use } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { createContract, send } from '../support/usage-scenario.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

/** Two contracts of one customer on one meter, one that rolls, one with a budget and a limited grant, one paused. */
async function subscribeFour(world: World): Promise<Subscription[]> {
  const first = await subscribe(world, { contract: { endDate: '2026-06-01' } });
  const contractId = await createContract(world, {
    customerId: first.customerId,
    pricingIds: [first.pricingId],
    startDate: '2026-02-01',
    endDate: '2026-05-01',
  });
  const second = { ...first, contractId };
  const rolling = await subscribe(world, { name: 'rolling', meter: { groupKeys: ['model'] } });
  const limited = await subscribe(world, { name: 'limited', contract: { endDate: '2026-05-01' } });
  await grant(world, first, { amountCents: 30 });
  await grant(world, rolling, { amountCents: 20, expiresAt: '2026-03-20T00:00:00Z' });
  await grant(world, limited, { amountCents: 100, specifiers: { properties: { model: 'small' } } });
  await world.call('budgets.add', {
    params: { contractId: limited.contractId },
    body: { label: 'ada', eventPropertyKey: 'user', eventPropertyValue: 'ada', maxCreditsCents: 15 },
  });
  await world.call('customers.pause', { params: { customerId: limited.customerId }, body: {} });
  world.clock.set('2026-06-15T00:00:00Z');
  for (const at of ['2026-02-10T00:00:00Z', '2026-03-15T00:00:00Z', '2026-04-20T00:00:00Z']) {
    // Without a contract: the customer's earliest one takes it, from the day on which it begins.
    await send(world, { customerId: first.customerId, timestamp: at, properties: { tokens: 40 } });
    await use(world, rolling, { tokens: 25, at, model: 'small' });
    await use(world, limited, { tokens: 50, at, model: 'small', user: 'ada' });
    await use(world, limited, { tokens: 5, at, model: 'large', user: 'ada' });
  }
  return [first, second, rolling, limited];
}

const shown = async (world: World, subscription: Subscription) =>
  (await invoices(world, subscription)).map(
    ({ invoiceDate, totalCents, lineItems = [] }) =>
      `${invoiceDate} ${textOfNumber(totalCents)}: ${lineItems.map((line) => textOfNumber(line.totalAmountCents)).join(' ')}`,
  );

test('contracts that are billed in one transaction come to what their drafts showed', async () => {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z', graceHours: 12 });
  const subscriptions = await subscribeFour(world);
  const before = await Promise.all(subscriptions.map(async (each) => await shown(world, each)));
  const { data } = await world.call('bill.run', { body: {} });
  expect(data).toMatchObject({ finalizedCount: 11, draftedCount: 3, failures: [] });
  const after = await Promise.all(subscriptions.map(async (each) => await shown(world, each)));
  expect(after.map((own, index) => own.slice(0, before[index]?.length))).toEqual(before);
  expect(before[1]).toEqual(['2026-03-01 40: 40', '2026-04-01 0: 0', '2026-05-01 0: 0']);
  await world.close();
});

/** Ten contracts of one customer on one meter: alike, but that some began later, or have a grant that ends, or a budget. */
async function subscribeTen(world: World): Promise<string> {
  const first = await subscribe(world, { contract: { endDate: '2026-06-01' }, meter: { groupKeys: ['model'] } });
  const { customerId, pricingId } = first;
  const subscriptions = [first];
  for (let count = 1; count < 10; count += 1) {
    const startDate = count % 4 === 0 ? '2026-02-10' : '2026-03-01';
    const contractId = await createContract(world, {
      customerId,
      pricingIds: [pricingId],
      startDate,
      endDate: '2026-06-01',
    });
    subscriptions.push({ ...first, contractId });
    if (count % 3 === 0)
      await grant(world, { ...first, contractId }, { amountCents: 30, expiresAt: '2026-03-20T00:00:00Z' });
    if (count % 5 !== 0) continue;
    const body = { label: 'ada', eventPropertyKey: 'user', eventPropertyValue: 'ada', maxCreditsCents: 15 };
    await world.call('budgets.add', { params: { contractId }, body });
  }
  world.clock.set('2026-06-15T00:00:00Z');
  for (const [place, subscription] of [...subscriptions, ...subscriptions, ...subscriptions].entries()) {
    const at = `2026-0${2 + (place % 4)}-1${place % 9}T00:00:00Z`;
    await use(world, subscription, { tokens: 10 + place, at, model: `m${place % 3}`, user: place % 2 ? 'ada' : 'bob' });
    await send(world, { customerId, timestamp: at, properties: { tokens: 1000, model: 'of nobody' } });
  }
  return customerId;
}

test('drafts on a page, and contracts that are billed together, come to what each draft comes to by itself', async () => {
  const world = await createWorld({ start: '2026-02-01T00:00:00.000Z', graceHours: 12 });
  const customerId = await subscribeTen(world);
  const query = { customerId, include: 'lineItems', limit: '100' };
  const page = (await world.call('invoices.list', { query })).data;
  expect(page).toHaveLength(32);
  for (const invoice of page) {
    const alone = { params: { invoiceId: invoice.id }, query: { include: 'lineItems' } };
    expect((await world.call('invoices.get', alone)).data).toEqual(invoice);
  }
  expect((await world.call('bill.run', { body: {} })).data).toMatchObject({ finalizedCount: 32, failures: [] });
  const billed = (await world.call('invoices.list', { query })).data;
  const amountsOf = ({ id, totalCents, lineItems = [] }: (typeof page)[number]) =>
    [id, totalCents, ...lineItems.map((line) => line.totalAmountCents)].map(String);
  expect(billed.map(amountsOf)).toEqual(page.map(amountsOf));
  await world.close();
});

test('ledgers are held together as long as they are short together', async () => {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z' });
  const acme = await subscribe(world);
  const other = await subscribe(world, { name: 'other' });
  const none = await subscribe(world, { name: 'none' });
  for (const amountCents of [1, 2]) await grant(world, acme, { amountCents });
  await grant(world, other, { amountCents: 3 });
  const { organizationId: orgId } = await world.engine.owner();
  const ids = [acme, other, none].map(({ contractId }) => contractId);
  const read = async (most: number) => await world.store.read(async (tx) => await listLedgersOf(tx, orgId, ids, most));
  const found = (await read(3)) ?? new Map();
  expect(
    ids.map((id) => found.get(id)?.entries.map(({ amountCents }: { amountCents: bigint }) => amountCents)),
  ).toEqual([[1n, 2n], [3n], undefined]);
  expect(await read(2)).toBeUndefined();
  await world.close();
});

test('contracts are numbered in the order in which they were made, whatever their ids', async () => {
  let left = 1_000_000;
  const newId = () => `01900000-0000-7000-8000-${(left -= 1).toString().padStart(12, '0')}`;
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z', newId });
  for (const name of ['first', 'second', 'third'])
    await subscribe(world, { name, contract: { endDate: '2026-04-01' } });
  world.clock.set('2026-04-01T00:00:00Z');
  const { data } = await world.call('bill.run', { body: {} });
  const made = (await world.call('contracts.list')).data.map(({ id }) => id).toReversed();
  expect(data.invoices.map(({ contractId, invoiceNumber }) => [contractId, invoiceNumber])).toEqual([
    [made[0], 'INV-000001'],
    [made[1], 'INV-000002'],
    [made[2], 'INV-000003'],
  ]);
  await world.close();
});

test('a grant that expires at the very instant of a run is done with by then', async () => {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z' });
  await grant(world, await subscribe(world), { amountCents: 30, expiresAt: '2026-03-10T00:00:00Z' });
  world.clock.set('2026-03-10T00:00:00Z');
  const expired = async () => (await world.call('bill.run', { body: {} })).data.expiredGrantCount;
  expect([await expired(), await expired()]).toEqual([1, 0]);
  await world.close();
});
