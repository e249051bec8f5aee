import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { combineReadings, createAggregate, quantityOf } from '../../src/calculation/aggregation.ts';
import type { PropertyValue } from '../../src/calculation/metering.ts';
import { decimal, decimalText } from '../../src/calculation/money.ts';
import { exactNumber } from '../../src/exact-json.ts';
import type { AggregationType } from '../../src/operations/wire-values.ts';

function aggregate(type: AggregationType, values: readonly (PropertyValue | undefined)[]) {
  const running = createAggregate(type);
  for (const value of values) running.add(value);
  const { quantity, count, skipped } = running.read();
  return { quantity: decimalText(quantity), count, skipped };
}

describe('a value', () => {
  test.each([
    [20, '20'],
    ['20', '20'],
    ['-1.50', '-1.5'],
    ['1e3', '1000'],
    ['2.5E-3', '0.0025'],
    ['007', '7'],
    [0.1, '0.1'],
    [1e-7, '0.0000001'],
    [-0, '0'],
    [exactNumber('1.10'), '1.1'],
    [exactNumber('0.30000000000000004'), '0.30000000000000004'],
    [exactNumber('999999999999999.999999999999999999'), '999999999999999.999999999999999999'],
    ['0e400', '0'],
    ['1000e-3', '1'],
    [`0.1${'0'.repeat(60)}`, '0.1'],
    [`0.${'0'.repeat(39)}1`, `0.${'0'.repeat(39)}1`],
    ['999999999999999', '999999999999999'],
    [1e15, '1000000000000000'],
    [exactNumber('9007199254740993'), '9007199254740993'],
    [`-${'9'.repeat(40)}`, `-${'9'.repeat(40)}`],
  ])('of %j is %s', (value, expected) => {
    const quantity = quantityOf(value);
    expect(quantity === undefined ? undefined : decimalText(quantity)).toBe(expected);
  });

  test.each([
    'abc',
    '',
    ' 1',
    '1 ',
    '+1',
    '.5',
    '5.',
    '1_000',
    '0x10',
    'NaN',
    'Infinity',
    '1e',
    true,
    false,
    null,
    1e40,
    `1${'0'.repeat(40)}`,
    '1e999999999',
    '1e99999999999',
    `0.${'0'.repeat(40)}1`,
    Number.POSITIVE_INFINITY,
    Number.NaN,
  ])('of %j is none', (value) => {
    expect(quantityOf(value)).toBeUndefined();
  });
});

describe('aggregation', () => {
  test('10,000 values of 0.1 sum to 1000 exactly', () => {
    expect(aggregate('SUM', Array<number>(10_000).fill(0.1)).quantity).toBe('1000');
  });

  test('a sum grows past 2^53 without losing a unit', () => {
    const values = [...Array<number>(20).fill(999_999_999_999_999), 1];
    expect(aggregate('SUM', values).quantity).toBe('19999999999999981');
    expect(aggregate('SUM', [2 ** 53 - 1, 2 ** 53 - 2]).quantity).toBe('18014398509481981');
  });

  test('a sum falls below -2^53 without losing a unit', () => {
    const values = [...Array<number>(20).fill(-999_999_999_999_999), -1];
    expect(aggregate('SUM', values).quantity).toBe('-19999999999999981');
    expect(aggregate('SUM', [1 - 2 ** 53, 2 - 2 ** 53]).quantity).toBe('-18014398509481981');
    expect(aggregate('SUM', [2 - 2 ** 52, 1 - 2 ** 53]).quantity).toBe('-13510798882111485');
  });

  test.each([
    ['SUM', { quantity: '7', count: 4, skipped: 2 }],
    ['MAX', { quantity: '5', count: 4, skipped: 2 }],
    ['MIN', { quantity: '-2', count: 4, skipped: 2 }],
    ['COUNT', { quantity: '7', count: 7, skipped: 0 }],
  ] as const)('%s reads numbers, ignores missing values and counts the rest as skipped', (type, reading) => {
    expect(aggregate(type, [5, undefined, 'five', '3.0', true, 1, -2])).toEqual(reading);
  });

  test.each(['SUM', 'MAX', 'MIN', 'COUNT'] as const)('%s of nothing is 0', (type) => {
    expect(aggregate(type, []).quantity).toBe('0');
  });

  test('a largest value below 0 is not hidden by a group without values', () => {
    const readings = [
      { quantity: decimal('0'), count: 0 },
      { quantity: decimal('-3'), count: 1 },
      { quantity: decimal('-5'), count: 2 },
    ];
    expect(decimalText(combineReadings('MAX', readings))).toBe('-3');
    expect(decimalText(combineReadings('SUM', readings))).toBe('-8');
    expect(decimalText(combineReadings('MIN', []))).toBe('0');
  });

  const scaled = fc.record({
    coefficient: fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n }),
    scale: fc.constantFrom(0, 1, 3, 6, 12),
  });
  const textOf = ({ coefficient, scale }: { coefficient: bigint; scale: number }) => `${coefficient}e-${scale}`;

  test('is exact and free of order and batches, as a sum of bigints shows', () => {
    fc.assert(
      fc.property(fc.array(scaled, { maxLength: 60 }), fc.nat(60), (values, cut) => {
        const inMillionths = values.map(({ coefficient, scale }) => coefficient * 10n ** BigInt(12 - scale));
        const oracle = decimalText(decimal(`${inMillionths.reduce((sum, value) => sum + value, 0n)}e-12`));
        const given = values.map((value, index) =>
          index % 2 === 0 ? exactNumber(decimalText(decimal(textOf(value)))) : textOf(value),
        );
        expect(aggregate('SUM', given).quantity).toBe(oracle);
        expect(aggregate('SUM', given.toReversed()).quantity).toBe(oracle);
        for (const type of ['SUM', 'MAX', 'MIN', 'COUNT'] as const) {
          const batches = [given.slice(0, cut), given.slice(cut)].map((batch) => {
            const running = createAggregate(type);
            for (const value of batch) running.add(value);
            return running.read();
          });
          expect(decimalText(combineReadings(type, batches))).toBe(aggregate(type, given.toReversed()).quantity);
        }
      }),
      { numRuns: 100 },
    );
  });
});
