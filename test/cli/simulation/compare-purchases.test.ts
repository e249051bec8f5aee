import { join } from 'node:path';

import { beforeEach, expect, test } from 'vitest';

import { readHistory } from '../../../src/cli/simulation/history.ts';
import type { Billing } from '../../../src/operations/index.ts';
import { subscribe } from '../../support/billing-scenario.ts';
import {
  createContract,
  createCustomer,
  createFlatPrice,
  createMeter,
  createPrice,
  send,
} from '../../support/usage-scenario.ts';
import { made, openStage, saved, stage } from '../../support/use-stage.ts';
import { createWorld } from '../../support/world.ts';

beforeEach(async () => await openStage('embedded'));

const catalogText = `products: [{ name: Inference }]
meters: [{ code: TOKENS, displayName: Tokens, aggregationType: SUM, aggregationKey: tokens }]
pricing:
  - { product: Inference, name: Tokens, model: USAGE, meter: TOKENS, priceInterval: MONTH, unitAmount: 1 }
plans: [{ name: Standard, items: [{ product: Inference, price: Tokens }] }]
`;

test('a replay repeats later purchases of credits, whether or not the contract began with some', async () => {
  const catalog = saved('catalog.yaml', catalogText);
  await stage.tally(['catalog', 'apply', catalog, '--yes']);
  const plan = ['--plan-id', await made('plans', 'list'), '--start-date', '2026-03-01'];
  const contact = ['--contact', 'name=Ada,email=ada@example.com,roles=accounts_payable'];
  for (const [customer, ...own] of [['acme', '--credit-grant-cents', '500'], ['globex']] as const) {
    await made('customers', 'create', '--name', customer, '--external-customer-id', customer, ...contact);
    const customerId = await made('customers', 'list', '--external-customer-id', customer);
    const contractId = await made('contracts', 'create', '--customer-id', customerId, ...plan, ...own);
    await made('credits', 'grant-paid', contractId, '--amount-cents', '2000');
    const event = ['--event-name', 'used', '--customer-id', customerId, '--property', 'tokens=100'];
    expect(await stage.tally(['usage', 'ingest', ...event])).toMatchObject({ exitCode: 0 });
  }
  stage.clock.set('2026-04-02T00:00:00Z');
  await stage.tally(['bill', 'run']);

  const flags = ['--catalog', catalog, '--to', '2026-04-01', '-o', 'json'];
  const { stdout } = await stage.tally(['simulate', 'compare', ...flags]);

  const { data } = JSON.parse(stdout) as { data: { customers: Record<string, unknown>[]; notes: unknown[] } };
  // 100.00 of usage each: acme buys 5.00 with its contract and has 25.00 paid by credits, globex 20.00.
  expect(data.customers.map((row) => [row['customer'], row['billedCents'], row['beforeCents']])).toEqual([
    ['acme', 8000, 8000],
    ['globex', 8000, 8000],
  ]);
  expect(data.notes).toEqual([]);
});

test('a replay bills a contract until it was cancelled, no invoice that was, and pays from grants what they pay for', async () => {
  const database = join(stage.directory, 'history.db');
  const world = await createWorld({ database });
  await world.call('clock.set', { body: { to: '2026-03-01' } });
  const customerId = await createCustomer(world, 'acme');
  const tokens = await createMeter(world, 'TOKENS');
  const calls = await createMeter(world, 'CALLS', { aggregationType: 'COUNT', eventTypeFilter: { include: ['ring'] } });
  const pricingIds = [
    await createPrice(world, tokens),
    await createPrice(world, calls, { name: 'Calls', unitAmount: '10' }),
    await createFlatPrice(world),
  ];
  const own = { startDate: '2026-03-01', endDate: undefined, creditGrantCents: 500 };
  const contractId = await createContract(world, {
    customerId,
    pricingIds,
    ...own,
    creditSettings: { creditRateCents: 1 },
  });
  const params = { contractId };
  const expiresAt = '2027-01-01T00:00:00Z';
  const restricted = { amountCents: 1000, expiresAt, specifiers: { meterIds: [tokens] } };
  await world.call('credits.grant', { params, body: restricted });
  const gift = { creditRateCents: 0, creditAmount: 100, expiresAt };
  const free = (await world.call('credits.grant', { params, body: gift })).data;
  const { entries } = (await world.call('credits.ledger', { params })).data;
  const bought = entries.find(({ sourceType }) => sourceType === 'contract')?.id ?? '';
  const description = 'too much';
  await world.call('credits.adjust', { params, body: { grantEntryId: bought, amountCents: -200, description } });
  await world.call('credits.adjust', { params, body: { grantEntryId: free.id, creditAmount: -40, description } });
  const used = { customerId, timestamp: '2026-03-01T00:00:00Z' };
  await send(
    world,
    { ...used, properties: { tokens: 600 } },
    ...Array.from({ length: 3 }, () => ({ ...used, eventName: 'ring' })),
  );
  await world.call('contracts.cancel', { params, body: { cancelAt: 'end_of_period' } });
  const other = await createCustomer(world, 'globex');
  const month = { startDate: '2026-03-01', endDate: '2026-04-01' };
  await createContract(world, { customerId: other, pricingIds: pricingIds.slice(-1), ...month });
  await world.call('clock.advance', { body: { to: '2026-06-02' } });
  const [{ id: invoiceId } = { id: '' }] = (await world.call('invoices.list', { query: { customerId: other } })).data;
  await world.call('invoices.cancel', { params: { invoiceId } });
  await world.close();

  const useless = ['--grant', 'amount-cents=1,at=2026-03-01,expires-at=2026-03-01T00:00:00.001Z'];
  const { stdout } = await stage.tally(['simulate', 'compare', '--database', database, ...useless, '-o', 'json']);
  const { data } = JSON.parse(stdout) as { data: { customers: Record<string, unknown>[]; notes: unknown[] } };
  // A seat of 31.00, credits of 5.00, tokens of 6.00 that are paid, and calls of 30.00 less 3.00 and 0.60 of credits.
  expect(data.customers.map((row) => [row['customer'], row['billedCents'], row['beforeCents']])).toEqual([
    ['acme', 6240, 6240],
    ['globex', 0, 3100],
  ]);
  expect(data.notes).toEqual([
    {
      customer: 'globex',
      note: 'was billed differently from what a replay of the same history bills; cancellations are not repeated (1 invoice)',
    },
  ]);
});

test('a wallet is read at once, however many grants it has', async () => {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z' });
  const { contractId } = await subscribe(world);
  const callsFor = async (): Promise<string[]> => {
    const calls: string[] = [];
    const billing: Billing = {
      async call(name, input) {
        calls.push(name);
        return await world.billing.call(name, input);
      },
    };
    await readHistory(billing, { only: [], until: '2026-04-01T00:00:00.000Z' });
    return calls;
  };
  const none = await callsFor();
  const body = { amountCents: 5, expiresAt: '2027-01-01T00:00:00Z' };
  for (let count = 0; count < 20; count += 1) await world.call('credits.grant', { params: { contractId }, body });
  expect(await callsFor()).toEqual(none);
  await world.close();
});
