import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createContract, createCustomer, createMeter, createPrice, send } from '../../support/usage-scenario.ts';
import { stage, useStage } from '../../support/use-stage.ts';
import { createWorld } from '../../support/world.ts';

useStage('embedded');

test('what was recorded at the very instant of the clock, or ahead of it, is repeated: drafts have it', async () => {
  const database = join(stage.directory, 'history.db');
  const world = await createWorld({ database });
  await world.call('clock.set', { body: { to: '2026-01-01' } });
  const customerId = await createCustomer(world, 'acme');
  const meterId = await createMeter(world, 'TOKENS');
  const pricingIds = [await createPrice(world, meterId, { unitAmount: '1' })];
  const contractId = await createContract(world, { customerId, pricingIds });
  await world.call('clock.advance', { body: { to: '2026-01-20' } });
  for (const timestamp of ['2026-01-19T00:00:00Z', '2026-01-20T00:00:00Z', '2026-01-20T01:00:00Z']) {
    await send(world, { customerId, properties: { tokens: 10 }, timestamp });
  }
  const body = { amountCents: 700, expiresAt: '2027-01-01T00:00:00Z' };
  await world.call('credits.grant', { params: { contractId }, body });
  await world.close();
  const compared = async (...flags: string[]) => {
    const { stdout } = await stage.tally(['simulate', 'compare', '--database', database, ...flags, '-o', 'json']);
    return (JSON.parse(stdout) as { data: object }).data;
  };
  const grant = ['--grant', 'amount-cents=100'];
  const all = await compared(...grant);
  const before = await compared(...grant, '--to', '2026-01-20');

  expect(all).toMatchObject({
    eventCount: 3,
    total: { billedCents: 2300, beforeCents: 2300, afterCents: 2200 },
    notes: [],
  });
  expect(before).toMatchObject({
    eventCount: 1,
    total: { billedCents: 2300, beforeCents: 1000, afterCents: 900 },
    notes: [{ note: expect.stringMatching(/; --to ends within a period, of which all usage is billed$/) }],
  });
});
