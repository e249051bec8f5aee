import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  centsOfDollars,
  creditsOfDollars,
  decimal,
  decimalText,
  divideHalfUp,
  dollarsOfCents,
  microsOfCents,
  microsOfCredits,
  roundedTogether,
  roundHalfUp,
  scaledDecimal,
  zero,
} from '../../src/calculation/money.ts';
import { centsOfCredits, creditsText, microsOfText, multiplyDivideHalfUp } from '../../src/whole-amounts.ts';

describe('rounding', () => {
  test.each([
    ['0.004', 0n],
    ['0.005', 1n],
    ['0.00499999999999999999999', 0n],
    ['0.015', 2n],
    ['1.005', 101n],
    ['-0.005', -1n],
    ['-0.004', 0n],
    ['128.415585', 12_842n],
    ['9007199254740993.125', 900_719_925_474_099_313n],
  ])('%s dollars are %s cents: half-up, away from zero', (dollars, cents) => {
    expect(centsOfDollars(decimal(dollars))).toBe(cents);
  });

  test.each([
    ['2.5', 0, '3'],
    ['-2.5', 0, '-3'],
    ['1.0000005', 6, '1.000001'],
    ['1.0000004999', 6, '1'],
  ])('%s to %i decimals is %s', (value, digits, rounded) => {
    expect(decimalText(roundHalfUp(decimal(value), digits))).toBe(rounded);
  });

  test.each([
    ['1', '3', 6, '0.333333'],
    ['2', '3', 6, '0.666667'],
    ['-1', '8', 2, '-0.13'],
    ['1', '-8', 2, '-0.13'],
    ['0', '7', 2, '0'],
    ['0.035', '0.07', 12, '0.5'],
    ['100', '0.0003', 2, '333333.33'],
  ])('%s / %s to %i decimals is %s', (numerator, denominator, digits, quotient) => {
    expect(decimalText(divideHalfUp(decimal(numerator), decimal(denominator), digits))).toBe(quotient);
  });

  test('what is rounded together adds up to the rounded sum, and each of it is off by one of the last decimal at most', () => {
    const values = fc.array(fc.bigInt({ min: -(10n ** 9n), max: 10n ** 9n }).map((value) => scaledDecimal(value, 5)));
    fc.assert(
      fc.property(values, fc.nat(5), (exact, digits) => {
        const rounded = roundedTogether(exact, digits);
        const [sum, roundedSum] = [exact, rounded].map((all) => all.reduce((one, other) => one.plus(other), zero));
        expect(decimalText(roundedSum ?? zero)).toBe(decimalText(roundHalfUp(sum ?? zero, digits)));
        const unit = scaledDecimal(1n, digits);
        expect(
          exact.filter((value, i) =>
            value
              .minus(rounded[i] ?? zero)
              .abs()
              .gt(unit),
          ),
        ).toEqual([]);
      }),
    );
  });

  test('a quotient of bigints is the nearest integer, and a tie goes away from zero', () => {
    const big = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
    fc.assert(
      fc.property(
        big,
        big,
        big.filter((c) => c !== 0n),
        (a, b, c) => {
          const quotient = multiplyDivideHalfUp(a, b, c);
          const error = 2n * (a * b - quotient * c);
          const magnitude = (value: bigint) => (value < 0n ? -value : value);
          expect(magnitude(error) <= magnitude(c)).toBe(true);
          if (magnitude(error) === magnitude(c)) expect(magnitude(quotient * c) > magnitude(a * b)).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('prices', () => {
  test('3 units at 0.000002 are 0.000006 dollars exactly', () => {
    expect(decimalText(decimal('0.000002').times(3))).toBe('0.000006');
  });

  test('a price is multiplied before it is rounded', () => {
    expect(centsOfDollars(decimal('0.000003').times(decimal('22361870')))).toBe(6709n);
  });
});

describe('credits', () => {
  test.each([
    [1n, 3n, '0.333333'],
    [2n, 3n, '0.666667'],
    [500n, 10n, '50'],
    [7n, 1_000_000_000n, '0'],
  ])('%s cents at %s cents a credit are %s credits', (cents, rate, credits) => {
    expect(creditsText(microsOfCents(cents, rate))).toBe(credits);
  });

  test.each([
    ['0.5', 3n, 2n],
    ['0.1', 4n, 0n],
    ['1000000000000', 1000n, 1_000_000_000_000_000n],
  ])('%s credits at %s cents a credit are %s cents, half-up', (credits, rate, cents) => {
    expect(centsOfCredits(microsOfCredits(decimal(credits)), rate)).toBe(cents);
  });

  test('an unrounded amount converts to credits at six decimals', () => {
    expect(decimalText(creditsOfDollars(decimal('0.035'), 7n))).toBe('0.5');
    expect(decimalText(creditsOfDollars(decimal('0.01'), 3n))).toBe('0.333333');
  });
});

describe('texts', () => {
  test.each([
    ['1e-12', '0.000000000001'],
    ['1.500', '1.5'],
    ['-0', '0'],
    ['1e21', '1000000000000000000000'],
    ['100', '100'],
  ])('%s is written %s: no exponent, no trailing zeros', (value, text) => {
    expect(decimalText(decimal(value))).toBe(text);
  });

  test.each([
    [-1230n, '-12.3'],
    [0n, '0'],
    [5n, '0.05'],
  ])('%s cents are %s dollars', (cents, text) => {
    expect(decimalText(dollarsOfCents(cents))).toBe(text);
  });

  test('credits come back from their text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (micros) => {
        expect(microsOfCredits(decimal(creditsText(micros)))).toBe(micros);
        expect(decimalText(decimal(creditsText(micros)))).toBe(creditsText(micros));
        if (micros >= 0n) expect(microsOfText(creditsText(micros))).toBe(micros);
      }),
      { numRuns: 100 },
    );
  });
});
