import { join } from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { createContract, createCustomer, createMeter, createPrice, send } from '../../support/usage-scenario.ts';
import { saved, stage, useStage } from '../../support/use-stage.ts';
import { createWorld } from '../../support/world.ts';

useStage('embedded');
let usual: readonly string[];

beforeAll(async () => {
  const database = join(stage.directory, 'history.db');
  usual = ['simulate', 'compare', '--database', database, '--to', '2026-02-01', '-o', 'json'];
  const world = await createWorld({ database });
  await world.call('clock.set', { body: { to: '2026-01-01' } });
  const meterId = await createMeter(world, 'TOKENS');
  const basePricingId = await createPrice(world, meterId, { unitAmount: '1' });
  for (const [customer, ...overrides] of [['acme'], ['globex', { basePricingId, unitAmount: '2' }]] as const) {
    const customerId = await createCustomer(world, customer);
    await createContract(world, { customerId, pricingIds: [basePricingId], overrides });
    await send(world, { customerId, properties: { tokens: 10 }, timestamp: '2026-01-01T00:00:00Z' });
  }
  await world.call('clock.advance', { body: { to: '2026-02-02' } });
  await world.close();
});

test('a customer with a contract that cannot be repeated is in no amount, and the command ends as one that is not complete', async () => {
  const tiers = { tiering: 'GRADUATED', pricingTiers: [{ unitAmount: '3' }] };
  const price = { product: 'Inference', name: 'Tokens', model: 'USAGE', meter: 'TOKENS', priceInterval: 'MONTH' };
  const catalog = saved('tiers.json', JSON.stringify({ pricing: [{ ...price, ...tiers }] }));

  const { stdout, stderr, exitCode } = await stage.tally([...usual, '--catalog', catalog]);
  const others = await stage.tally([...usual, '--catalog', catalog, '--customer', 'acme']);

  expect(exitCode).toBe(10);
  expect(stderr).toContain('tally: 1 customer left out of every amount: a contract cannot be repeated');
  const { data } = JSON.parse(stdout) as { data: Record<string, unknown> };
  expect(data).toMatchObject({
    leftOutCount: 1,
    total: { billedCents: 1000, beforeCents: 1000, afterCents: 3000, differenceCents: 2000 },
    customers: [{ customer: 'acme', beforeCents: 1000, afterCents: 3000 }],
    notes: [{ customer: 'globex', note: expect.stringContaining('this price has tiers: override pricingTiers') }],
  });
  expect(others.exitCode).toBe(0);
  expect((JSON.parse(others.stdout) as { data: object }).data).not.toHaveProperty('leftOutCount');
});

test.each([
  ['is over before', 'at=2026-01-11,expiresAt=2026-01-05', 'the new grant cannot be given: expiresAt: must be after'],
  ['is given only after the end', 'at=2026-03-01', undefined],
])('a new grant that %s is in no amount, and the command ends as one that is not complete', async (_, when, note) => {
  const grants = ['--grant', `amountCents=1,${when}`, '--grant', 'amountCents=1,customer=acme'];
  const { stdout, stderr, exitCode } = await stage.tally([...usual, ...grants]);
  expect(exitCode).toBe(10);
  expect(stderr).toContain('tally: 1 new grant given to no contract: no amount has anything of it');
  const { data } = JSON.parse(stdout) as { data: { readonly notes: readonly { readonly note: string }[] } };
  expect(data).toMatchObject({ ungivenGrantCount: 1, total: { differenceCents: -1 } });
  expect(data.notes[0]?.note).toEqual(note === undefined ? undefined : expect.stringContaining(note));
});
