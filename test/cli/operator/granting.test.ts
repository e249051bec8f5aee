import { expect, test } from 'vitest';

import { createContractLookup } from '../../../src/cli/operator/granting.ts';
import { UnavailableError } from '../../../src/errors.ts';
import type { Billing } from '../../../src/operations/index.ts';
import { subscribe } from '../../support/billing-scenario.ts';
import { createContract } from '../../support/usage-scenario.ts';
import { createWorld } from '../../support/world.ts';

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
