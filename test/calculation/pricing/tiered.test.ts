import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Big, decimal, decimalText, zero } from '../../../src/calculation/money.ts';
import { priceQuantity } from '../../../src/calculation/pricing/index.ts';
import type { Price, PricingTier } from '../../../src/calculation/pricing/pricing-model.ts';
import type { Tiering } from '../../../src/operations/wire-values.ts';
import { normaliseTiers } from '../../../src/calculation/pricing/tiered.ts';

const tiers: readonly PricingTier[] = [
  { minQty: '0', maxQty: '100', unitAmount: '0.10', flatAmount: '5' },
  { minQty: '100', maxQty: '1000', unitAmount: '0.05', flatAmount: '2' },
  { minQty: '1000', maxQty: '', unitAmount: '0.01', flatAmount: '0' },
];
const tiered = (tiering: Tiering, steps: readonly PricingTier[] = tiers): Price => ({
  model: 'USAGE',
  tiering,
  tiers: steps,
});
const amountOf = (price: Price, quantity: Big) => priceQuantity(price, quantity).exactAmount;

test.each([
  ['0', '5'],
  ['1', '5.1'],
  ['100', '15'],
  ['100.5', '17.025'],
  ['101', '17.05'],
  ['1000', '62'],
  ['1001', '62.01'],
  ['-3', '0'],
])('GRADUATED sums the slices of %s units to %s; upper bounds are inclusive', (quantity, amount) => {
  expect(decimalText(amountOf(tiered('GRADUATED'), decimal(quantity)))).toBe(amount);
});

test.each([
  ['0', '5'],
  ['100', '15'],
  ['100.000001', '7.00000005'],
  ['1000', '52'],
  ['1001', '10.01'],
  ['-3', '0'],
])('VOLUME prices all of %s units at the tier that holds them: %s', (quantity, amount) => {
  expect(decimalText(amountOf(tiered('VOLUME'), decimal(quantity)))).toBe(amount);
});

test('the breakdown says what each tier added', () => {
  const { breakdown, unitPrice } = priceQuantity(tiered('GRADUATED'), decimal('150'));
  const rows = breakdown.map((share) =>
    [share.from, share.to ?? 'end', share.quantity, share.exactAmount].map(String).join(' '),
  );
  expect(rows).toEqual(['0 100 100 15', '100 1000 50 4.5']);
  expect(decimalText(unitPrice)).toBe('0.13');
});

test('the effective unit price has twelve decimals, and is that of the first unit at quantity 0', () => {
  expect(decimalText(priceQuantity(tiered('GRADUATED'), decimal('3')).unitPrice)).toBe('1.766666666667');
  expect(decimalText(priceQuantity(tiered('GRADUATED'), zero).unitPrice)).toBe('0.1');
});

describe('other models', () => {
  test.each([
    [
      'FLAT is quantity x unit amount + flat amount',
      { model: 'FLAT', unitAmount: '9.99', flatAmount: '1' },
      '3',
      '30.97',
    ],
    [
      'a negative quantity of FLAT counts as 0, which owes the flat amount',
      { model: 'FLAT', unitAmount: '9.99', flatAmount: '1' },
      '-3',
      '1',
    ],
    ['USAGE is quantity x unit amount', { model: 'USAGE', unitAmount: '0.000002', flatAmount: '7' }, '3', '0.000006'],
    ['a negative quantity of usage counts as 0', { model: 'USAGE', unitAmount: '0.5' }, '-3', '0'],
  ] as const)('%s', (_, price, quantity, amount) => {
    const priced = priceQuantity({ tiering: 'NONE', tiers: [], ...price }, decimal(quantity));
    expect(decimalText(priced.exactAmount)).toBe(amount);
  });
});

describe('tiers as written', () => {
  const write = (...bounds: readonly (readonly [string, string?])[]) =>
    normaliseTiers(bounds.map(([minQty, maxQty]) => ({ minQty, maxQty, unitAmount: '1' })));

  test.each([
    [
      [
        ['0', '100'],
        ['100', ''],
      ],
    ],
    [
      [
        ['0', '100'],
        ['101', ''],
      ],
    ],
    [[['0.0', '100.0'], ['101.00']]],
  ] as const)('%j are taken, the next whole number as the bound itself', (bounds) => {
    const stored = write(...bounds);
    const seen = 'tiers' in stored ? stored.tiers.map((tier) => `${tier.minQty}-${tier.maxQty}`) : stored.problem;
    expect(seen).toEqual(['0-100', '100-']);
  });

  test('every whole number has a next one, odd or even', () => {
    const stored = write(['0', '5'], ['6', '10'], ['11', '']);
    const seen = 'tiers' in stored ? stored.tiers.map((tier) => `${tier.minQty}-${tier.maxQty}`) : stored.problem;
    expect(seen).toEqual(['0-5', '5-10', '10-']);
  });

  test.each([
    ['no tier at all', [], 0, 'minQty'],
    ['a first tier above 0', [['1', '']], 0, 'minQty'],
    [
      'a gap',
      [
        ['0', '100'],
        ['102', ''],
      ],
      1,
      'minQty',
    ],
    [
      'an overlap',
      [
        ['0', '100'],
        ['99', ''],
      ],
      1,
      'minQty',
    ],
    [
      'the next number after a bound that is not whole',
      [
        ['0', '0.5'],
        ['1.5', ''],
      ],
      1,
      'minQty',
    ],
    [
      'an empty start',
      [
        ['0', '100'],
        ['', ''],
      ],
      1,
      'minQty',
    ],
    [
      'an end that does not ascend',
      [
        ['0', '100'],
        ['100', '100'],
        ['100', ''],
      ],
      1,
      'maxQty',
    ],
    [
      'an end that is 0',
      [
        ['0', '0'],
        ['0', ''],
      ],
      0,
      'maxQty',
    ],
    [
      'no end before the last',
      [
        ['0', ''],
        ['100', ''],
      ],
      0,
      'maxQty',
    ],
    ['an end of the last', [['0', '100']], 0, 'maxQty'],
  ] as const)('%s is refused at its tier', (_, bounds, index, field) => {
    expect(write(...(bounds as readonly (readonly [string, string?])[]))).toMatchObject({ index, field });
  });
});

test.each([
  [[{ minQty: '1' }], 'must be 0 in the first tier'],
  [[{ minQty: '0', maxQty: '5' }, { minQty: '7' }], 'must be 5, where the previous tier ends'],
  [[{ minQty: '0', maxQty: '5' }], 'must be empty in the last tier, which has no end'],
  [[{ minQty: '0' }, { minQty: '5' }], 'is required in every tier but the last'],
])('the problem of %j says what to write: %s', (written, problem) => {
  expect(normaliseTiers(written)).toMatchObject({ problem });
});

describe('properties', () => {
  const unit = fc.integer({ min: 0, max: 10_000 }).map((value) => String(value / 1000));
  const bounds = fc.uniqueArray(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 4 });
  const steps = fc.tuple(bounds, fc.array(unit, { minLength: 5, maxLength: 5 })).map(([ends, units]) => {
    const ascending = ends.toSorted((a, b) => a - b);
    return [...ascending, undefined].map((end, index): PricingTier => ({
      minQty: String(ascending[index - 1] ?? 0),
      maxQty: end === undefined ? '' : String(end),
      unitAmount: units[index] ?? '1',
      flatAmount: '0',
    }));
  });
  const quantities = fc.integer({ min: 0, max: 1_500_000 }).map((value) => decimal(String(value)).div(1000));

  test('GRADUATED without flat amounts never falls, and never leaps by more than the dearest unit', () => {
    fc.assert(
      fc.property(steps, quantities, quantities, (tiersOf, a, b) => {
        const [low, high] = a.lt(b) ? [a, b] : [b, a];
        const price = tiered('GRADUATED', tiersOf);
        const rise = amountOf(price, high).minus(amountOf(price, low));
        expect(rise.gte(0)).toBe(true);
        expect(rise.lte(high.minus(low).times(10))).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  test('equal tiers are a flat price, and VOLUME of one tier too', () => {
    fc.assert(
      fc.property(steps, quantities, unit, (tiersOf, quantity, unitAmount) => {
        const equal = tiersOf.map((tier) => ({ ...tier, unitAmount }));
        const expected = decimalText(quantity.times(decimal(unitAmount)));
        expect(decimalText(amountOf(tiered('GRADUATED', equal), quantity))).toBe(expected);
        expect(decimalText(amountOf(tiered('VOLUME', equal), quantity))).toBe(expected);
      }),
      { numRuns: 100 },
    );
  });
});
