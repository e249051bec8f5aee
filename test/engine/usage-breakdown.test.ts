import { beforeEach, describe, expect, test } from 'vitest';

import { textOfNumber } from '../../src/exact-json.ts';
import { refusalOf } from '../support/refusal.ts';
import { createContract, createCustomer, createMeter, createPrice, send } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld({ start: '2026-03-15T12:00:00.000Z' });

let customerId: string;
let contractId: string;
beforeEach(async () => {
  customerId = await createCustomer(world, 'acme');
  const tokens = await createMeter(world, 'TOKENS', { groupKeys: ['model', 'region'] });
  const calls = await createMeter(world, 'CALLS', { aggregationType: 'COUNT' });
  const pricingIds = [
    await createPrice(world, tokens),
    await createPrice(world, calls, { name: 'Calls', unitAmount: '0.005' }),
  ];
  contractId = await createContract(world, { customerId, pricingIds });
});

const march = { startDate: '2026-03-01T00:00:00Z', endDate: '2026-04-01T00:00:00Z' };

async function use(...properties: Record<string, unknown>[]) {
  await send(world, ...properties.map((each) => ({ customerId, properties: each })));
}

async function breakdown(body: Record<string, unknown>) {
  return (await world.call('usage.breakdown', { body })).data;
}

describe('the cost of usage by a group key', () => {
  test('has a row for each value, the dearest first, and one for meters without the key', async () => {
    await use(
      { model: 'small', tokens: 10 },
      { model: 'large', region: 'eu', tokens: 300 },
      { model: 'large', tokens: 50 },
    );
    expect(await breakdown({ contractId, groupKey: 'model', ...march })).toEqual({
      groupKey: 'model',
      totalAmount: 3.62,
      currency: 'USD',
      startDate: '2026-03-01T00:00:00.000Z',
      endDate: '2026-04-01T00:00:00.000Z',
      queriedAt: '2026-03-15T12:00:00.000Z',
      contractId,
      rows: [
        { value: 'large', totalAmount: 3.5 },
        { value: 'small', totalAmount: 0.1 },
        { value: null, totalAmount: 0.02 },
      ],
    });
  });

  test('has rows of one cost in the order of their values, meters without the key behind them', async () => {
    // Meters read by their first key.
    await use({ model: 'a', region: 'us', tokens: 1 }, { model: 'b', region: 'eu', tokens: 1 });
    expect((await breakdown({ contractId, groupKey: 'region', ...march })).rows).toEqual([
      { value: 'eu', totalAmount: 0.01 },
      { value: 'us', totalAmount: 0.01 },
      { value: null, totalAmount: 0.01 },
    ]);
  });

  test('keeps meters without a key apart from it, whatever it is called', async () => {
    const named = await createMeter(world, 'NAMED', { groupKeys: ['toString'] });
    await createContract(world, {
      customerId: await createCustomer(world, 'beta'),
      pricingIds: [await createPrice(world, named)],
    });
    await use({ tokens: 10, toString: 'a' });
    expect((await breakdown({ customerId, groupKey: 'toString', ...march })).rows).toEqual([
      { value: null, totalAmount: 0.105 },
      { value: 'a', totalAmount: 0.1 },
    ]);
  });

  test('shows events without the property as an empty value', async () => {
    await use({ tokens: 10 }, { region: 'eu', tokens: 20 });
    const { rows } = await breakdown({ contractId, groupKey: 'region' });
    expect(rows.slice(0, 2)).toEqual([
      { value: 'eu', totalAmount: 0.2 },
      { value: '', totalAmount: 0.1 },
    ]);
  });

  test('adds up to the cost: of a contract in cents, of a customer below them', async () => {
    await use({ model: 'a', tokens: 1.5 }, { model: 'b', tokens: 2.25 }, { model: 'c', tokens: 0.125 });
    for (const subject of [{ contractId }, { customerId }]) {
      const { totalAmount, rows } = await breakdown({ ...subject, groupKey: 'model', ...march });
      const cost = await world.call('usage.cost', { body: { ...subject, ...march } });
      expect(totalAmount).toBe(cost.totalAmount);
      expect(rows.reduce((sum, row) => sum + Math.round(Number(row.totalAmount) * 1e12), 0)).toBe(
        Math.round(Number(totalAmount) * 1e12),
      );
    }
  });

  test('adds up to the cost also where each of its rows lies between two decimals', async () => {
    await use({ model: 'a', tokens: 0.000_000_000_05 }, { model: 'b', tokens: 0.000_000_000_05 });
    const { totalAmount } = await world.call('usage.cost', { body: { customerId, ...march } });
    expect(totalAmount).toBe(0.010_000_000_001);
    const split = await breakdown({ customerId, groupKey: 'model', ...march });
    expect(split.totalAmount).toBe(totalAmount);
    expect(split.rows.map((row) => [row.value, textOfNumber(row.totalAmount)])).toEqual([
      [null, '0.01'],
      ['a', '0.000000000001'],
      ['b', '0'],
    ]);
  });

  test('may be that of some events alone', async () => {
    await use({ model: 'a', region: 'eu', tokens: 10 }, { model: 'b', region: 'us', tokens: 10 });
    const propertyFilters = [{ key: 'region', value: 'eu' }];
    const { rows } = await breakdown({ contractId, groupKey: 'model', propertyFilters });
    expect(rows[0]).toEqual({ value: 'a', totalAmount: 0.1 });
    expect(rows.map(({ value }) => value)).not.toContain('b');
  });

  test('without usage has no rows', async () => {
    expect(await breakdown({ contractId, groupKey: 'model' })).toMatchObject({ totalAmount: 0, rows: [] });
  });

  test.each([
    [
      { groupKey: 'colour' },
      'groupKey: is not a group key of a meter that is priced: the group keys are model, region',
    ],
    [{ groupKey: '' }, 'groupKey: must not be empty'],
  ])('of %j is refused', async (body, message) => {
    const refusal = await refusalOf(world.call('usage.breakdown', { body: { contractId, ...body } }));
    expect(JSON.stringify(refusal)).toContain(message);
  });
});
