/** What the fields of one request may not say together: each rule by the one request that breaks it. */

import { expect, test } from 'vitest';

import type { OperationName } from '../../src/operations/index.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

const flat = { productName: 'Seats', name: 'Seat', model: 'FLAT', unitAmount: '5', priceInterval: 'MONTH' };
const { unitAmount: _none, ...tiered } = { ...flat, model: 'TIER', pricingTiers: [{ unitAmount: '1' }] };
const usage = { ...flat, model: 'USAGE', meterId: 'm1' };
const meter = { code: 'CALLS', displayName: 'Calls', aggregationType: 'COUNT' };

test.each<[OperationName, string, object, string]>([
  [
    'pricing.create',
    'two products',
    { ...flat, productId: 'p1' },
    'productId: exactly one of productId and productName',
  ],
  [
    'pricing.create',
    'a description of a product that is there',
    { ...flat, productName: undefined, productId: 'p1', productDescription: 'Chairs' },
    'productDescription: goes with productName only',
  ],
  [
    'pricing.create',
    'a flat price without an amount',
    { ...flat, unitAmount: undefined },
    'unitAmount: is required for FLAT',
  ],
  ['pricing.create', 'a flat price in tiers', { ...flat, tiering: 'VOLUME' }, 'tiering: must be NONE for FLAT'],
  [
    'pricing.create',
    'a usage price without a meter',
    { ...usage, meterId: undefined },
    'meterId: is required for USAGE',
  ],
  ['pricing.create', 'a flat price on a meter', { ...flat, meterId: 'm1' }, 'meterId: goes with USAGE only'],
  [
    'pricing.create',
    'a tiered price without tiers',
    { ...tiered, pricingTiers: undefined },
    'pricingTiers: is required for a tiered price',
  ],
  [
    'pricing.create',
    'a tiered price that says it has none',
    { ...tiered, tiering: 'NONE' },
    'tiering: must be GRADUATED or VOLUME for TIER; pricingTiers: goes with a tiered price only',
  ],
  [
    'pricing.create',
    'tiers of a flat price',
    { ...flat, unitAmount: undefined, pricingTiers: tiered.pricingTiers },
    'unitAmount: is required for FLAT; pricingTiers: goes with a tiered price only',
  ],
  [
    'pricing.create',
    'an amount beside tiers',
    { ...tiered, unitAmount: '5' },
    'unitAmount: goes into the tiers of a tiered price',
  ],
  [
    'pricing.create',
    'a flat amount beside tiers',
    { ...tiered, flatAmount: '5' },
    'flatAmount: goes into the tiers of a TIER price',
  ],
  [
    'pricing.create',
    'a recurring price without an interval',
    { ...flat, priceInterval: undefined },
    'priceInterval: is required when RECURRING',
  ],
  [
    'pricing.create',
    'an interval of what is billed once',
    { ...flat, billingMode: 'ONE_TIME' },
    'priceInterval: goes with RECURRING only',
  ],
  [
    'pricing.create',
    'usage that is billed once',
    { ...usage, priceInterval: undefined, billingMode: 'ONE_TIME' },
    'billingMode: must be RECURRING for USAGE',
  ],
  ['meters.create', 'a sum of nothing', { ...meter, aggregationType: 'SUM' }, 'aggregationKey: is required for SUM'],
  ['meters.create', 'a key twice', { ...meter, groupKeys: ['a', 'a'] }, 'groupKeys: must not name a key twice'],
  [
    'meters.create',
    'groups of a query',
    { code: 'CALLS', displayName: 'Calls', sql: 'SELECT 1 AS value', groupKeys: ['a'] },
    'groupKeys: cannot be given together with sql',
  ],
])('%s refuses %s', async (name, _what, body, words) => {
  const call = world.call(name, { body });
  await expect(call).rejects.toMatchObject({ kind: 'invalidInput', message: expect.stringContaining(words) });
});

test('credits.adjust refuses a correction that changes nothing', async () => {
  const body = { grantEntryId: 'g1', amountCents: 0, description: 'Slip' };
  const call = world.call('credits.adjust', { params: { contractId: 'k1' }, body });
  await expect(call).rejects.toMatchObject({ kind: 'invalidInput', message: 'amountCents: must not be 0' });
});
