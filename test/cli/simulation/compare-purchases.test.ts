import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createStage } from '../../support/stage.ts';

const catalogText = `products: [{ name: Inference }]
meters: [{ code: TOKENS, displayName: Tokens, aggregationType: SUM, aggregationKey: tokens }]
pricing:
  - { product: Inference, name: Tokens, model: USAGE, meter: TOKENS, priceInterval: MONTH, unitAmount: 1 }
plans: [{ name: Standard, items: [{ product: Inference, price: Tokens }] }]
`;

test('a replay repeats later purchases of credits, whether or not the contract began with some', async () => {
  const stage = await createStage('embedded', { start: '2026-03-01T00:00:00.000Z' });
  const name = async (...argv: string[]) => (await stage.tally([...argv, '-o', 'name', '--quiet'])).stdout.trim();
  const catalog = join(stage.directory, 'catalog.yaml');
  writeFileSync(catalog, catalogText);
  await stage.tally(['catalog', 'apply', catalog, '--yes']);
  const plan = ['--plan-id', await name('plans', 'list'), '--start-date', '2026-03-01'];
  const contact = ['--contact', 'name=Ada,email=ada@example.com,roles=accounts_payable'];
  for (const [customer, ...own] of [['acme', '--credit-grant-cents', '500'], ['globex']] as const) {
    await name('customers', 'create', '--name', customer, '--external-customer-id', customer, ...contact);
    const customerId = await name('customers', 'list', '--external-customer-id', customer);
    const contractId = await name('contracts', 'create', '--customer-id', customerId, ...plan, ...own);
    await name('credits', 'grant-paid', contractId, '--amount-cents', '2000');
    const event = ['--event-name', 'used', '--customer-id', customerId, '--property', 'tokens=100'];
    expect(await stage.tally(['usage', 'ingest', ...event])).toMatchObject({ exitCode: 0 });
  }
  stage.clock.set('2026-04-02T00:00:00Z');
  await stage.tally(['bill', 'run']);

  const flags = ['--catalog', catalog, '--to', '2026-04-01', '-o', 'json'];
  const { stdout } = await stage.tally(['simulate', 'compare', ...flags]);
  await stage.close();

  const { data } = JSON.parse(stdout) as { data: { customers: Record<string, unknown>[]; notes: unknown[] } };
  // 100.00 of usage each: acme buys 5.00 with its contract and has 25.00 paid by credits, globex 20.00.
  expect(data.customers.map((row) => [row['customer'], row['billedCents'], row['beforeCents']])).toEqual([
    ['acme', 8000, 8000],
    ['globex', 8000, 8000],
  ]);
  expect(data.notes).toEqual([]);
});
