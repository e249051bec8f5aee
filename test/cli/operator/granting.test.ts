import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createContractLookup } from '../../../src/cli/operator/granting.ts';
import { UnavailableError } from '../../../src/errors.ts';
import type { Answer, Billing } from '../../../src/operations/index.ts';
import { subscribe } from '../../support/billing-scenario.ts';
import { createContract } from '../../support/usage-scenario.ts';
import { createWorld } from '../../support/world.ts';
import { createShell } from '../shell.ts';

test('the contracts of a customer are asked for once, and again where that failed', async () => {
  const world = await createWorld();
  const { customerId, contractId, pricingId } = await subscribe(world);
  const contractIds = [contractId, await createContract(world, { customerId, pricingIds: [pricingId] })].toSorted();
  const calls: string[] = [];
  let isAway = true;
  const billing: Billing = {
    async call(name, input) {
      calls.push(name);
      if (isAway && name === 'contracts.list') throw new UnavailableError('the service is away');
      return await world.billing.call(name, input);
    },
  };
  const contractsOf = createContractLookup(billing);
  await expect(contractsOf(contractId)).rejects.toThrow('the service is away');
  isAway = false;
  for (const id of contractIds) expect((await contractsOf(id)).toSorted()).toEqual(contractIds);
  expect(calls).toEqual(['contracts.get', 'contracts.list', 'contracts.get', 'contracts.list']);
  await world.close();
});

test('one that is begun before midnight and decided after it counts for the day and the month after', async () => {
  let now = Date.parse('2026-03-31T23:59:59.999Z');
  const shell = createShell({
    reply({ name }) {
      if (name === 'contracts.list') now = Date.parse('2026-04-01T00:00:00Z');
      const contract = { id: 'k1', customerId: 'c1' };
      const body = name === 'contracts.list' ? { data: [contract], hasMore: false } : { data: contract };
      return { body: body as unknown as Answer['body'] };
    },
    dependencies: { machine: { platform: process.platform, userId: process.getuid?.(), now: () => now } },
  });
  mkdirSync(join(shell.home, 'config'), { mode: 0o700 });
  const caps = '  per-operator-and-day: 5.00\n  per-customer-and-month: 5.00\n';
  writeFileSync(join(shell.home, 'config', 'policy.yaml'), `grants:\n${caps}`);
  const grant = 'credits grant k1 --amount-cents 500 --expires-at 2099-01-01T00:00:00Z';
  expect((await shell.run(grant)).code).toBe(0);
  const { code, stderr } = await shell.run(grant);
  expect([code, stderr]).toEqual([11, expect.stringMatching(/in 2026-04, .*by ada on 2026-04-01, /)]);
});
