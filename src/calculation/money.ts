/**
 * Cents, credits and decimals, and the one place that rounds: half-up, away from zero (semantics 12); whole numbers in
 * ../whole-amounts.ts.
 * Money is `bigint` cents, credits are `bigint` millionths of a credit, prices and quantities are exact decimals.
 */

import { Big } from 'big.js';
import { limits } from '../limits.ts';
import { microsPerCredit, multiplyDivideHalfUp } from '../whole-amounts.ts';

export { Big } from 'big.js';

/** 0 as a decimal; shared, because no operation changes a Big. */
export const zero = new Big(0);
const centsPerDollar = 100;

/** The exact value of a decimal text such as `0.000003`; throws for a text that is not a number. */
export function decimal(text: string): Big {
  return new Big(text);
}

/** The decimal of an integer count. */
export function decimalOfInteger(value: bigint): Big {
  return new Big(value.toString());
}

/** Plain notation of every digit: no exponent, no trailing zeros, no `-0`. */
export function decimalText(value: Big): string {
  return value.toFixed();
}

/** The value with at most `fractionDigits` decimals, ties away from zero (semantics 12). */
export function roundHalfUp(value: Big, fractionDigits: number): Big {
  return value.round(fractionDigits, Big.roundHalfUp);
}

/** The whole part of a value, its fraction dropped. */
export function wholePartOf(value: Big): bigint {
  return unscaled(value.round(0, Big.roundDown), 0);
}

/**
 * The values with at most `fractionDigits` decimals, each the difference of rounded running sums. So they add up to the
 * rounded sum of all, and each is at most one unit of the last decimal away from the original value.
 */
export function roundedTogether(values: readonly Big[], fractionDigits: number): Big[] {
  let [exact, rounded] = [zero, zero];
  return values.map((value) => {
    exact = exact.plus(value);
    const before = rounded;
    rounded = roundHalfUp(exact, fractionDigits);
    return rounded.minus(before);
  });
}

/** `numerator / denominator` with at most `fractionDigits` decimals, ties away from zero, rounded once from the exact ratio. */
export function divideHalfUp(numerator: Big, denominator: Big, fractionDigits = 0): Big {
  // A finite decimal times a large enough power of ten is an integer: the division is done there, and rounds once.
  const scale = Math.max(fractionDigitsOf(numerator), fractionDigitsOf(denominator));
  const quotient = multiplyDivideHalfUp(
    unscaled(numerator, scale),
    10n ** BigInt(fractionDigits),
    unscaled(denominator, scale),
  );
  return scaledDecimal(quotient, fractionDigits);
}

/** The decimal `coefficient / 10^scale`. */
export function scaledDecimal(coefficient: bigint, scale: number): Big {
  return new Big(`${coefficient}e-${scale}`);
}

/** Cents of an amount in dollars, half-up. */
export function centsOfDollars(amount: Big): bigint {
  return unscaled(roundHalfUp(amount, 2), 2);
}

/** Dollars of an amount in cents, exact. */
export function dollarsOfCents(cents: bigint): Big {
  return scaledDecimal(cents, 2);
}

/** Millionths of a credit, half-up at the sixth decimal. */
export function microsOfCredits(credits: Big): bigint {
  return unscaled(roundHalfUp(credits, limits.creditFractionDigits), limits.creditFractionDigits);
}

/** What `cents` are worth in millionths of a credit at `creditRateCents` (cents per credit, above 0), half-up. */
export function microsOfCents(cents: bigint, creditRateCents: bigint): bigint {
  return multiplyDivideHalfUp(cents, microsPerCredit, creditRateCents);
}

/** What an unrounded amount in dollars is worth in credits at `creditRateCents`, half-up at six decimals (semantics 11). */
export function creditsOfDollars(amount: Big, creditRateCents: bigint): Big {
  return divideHalfUp(amount.times(centsPerDollar), decimalOfInteger(creditRateCents), limits.creditFractionDigits);
}

/** The lower of two integers: `Math.min` takes no bigint. */
export function minimum(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** The higher of two integers: `Math.max` takes no bigint. */
export function maximum(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** The sum of integers; 0 of none. */
export function sumOf(values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => sum + value, 0n);
}

/** How many decimals a value needs. */
function fractionDigitsOf(value: Big): number {
  return Math.max(0, value.c.length - 1 - value.e);
}

/** The integer `value * 10^scale`, for a scale that covers every decimal of the value. */
function unscaled(value: Big, scale: number): bigint {
  const power = value.c.length - 1 - value.e;
  const digits = BigInt(value.c.join('')) * 10n ** BigInt(scale - power);
  return value.s < 0 ? -digits : digits;
}
