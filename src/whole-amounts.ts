/**
 * Whole cents and millionths of a credit, as every layer computes with them. Without decimals: a command that writes would
 * otherwise load their library for nothing else.
 */

import { assert } from './assert.ts';
import { limits } from './limits.ts';

export const microsPerCredit = 10n ** BigInt(limits.creditFractionDigits);

/** `a * b / c` as the nearest integer, ties away from zero; exact however large the factors are. */
export function multiplyDivideHalfUp(a: bigint, b: bigint, c: bigint): bigint {
  assert(c !== 0n, 'division by zero');
  const product = a * b;
  const isNegative = product < 0n !== c < 0n;
  const dividend = product < 0n ? -product : product;
  const divisor = c < 0n ? -c : c;
  const rounded = (2n * dividend + divisor) / (2n * divisor);
  return isNegative ? -rounded : rounded;
}

/** The value of credits in cents at `creditRateCents` (cents per credit), rounded half-up (semantics 9, Precision). */
export function centsOfCredits(creditMicros: bigint, creditRateCents: bigint): bigint {
  return multiplyDivideHalfUp(creditMicros, creditRateCents, microsPerCredit);
}

/** Credits as plain text with at most six decimals, without superfluous zeros: 1500000 becomes 1.5. */
export function creditsText(creditMicros: bigint): string {
  // Most amounts are whole, or zero.
  if (creditMicros % microsPerCredit === 0n) return (creditMicros / microsPerCredit).toString();
  const digits = (creditMicros < 0n ? -creditMicros : creditMicros).toString();
  const fraction = digits.slice(-limits.creditFractionDigits).padStart(limits.creditFractionDigits, '0');
  const whole = digits.slice(0, -limits.creditFractionDigits) || '0';
  return `${creditMicros < 0n ? '-' : ''}${whole}.${fraction.replace(/0+$/, '')}`;
}

/** The millionths of a credit in a text of digits, with at most six decimals and no exponent. */
export function microsOfText(credits: string): bigint {
  const [whole = '', fraction = ''] = credits.split('.');
  return BigInt(whole + fraction.padEnd(limits.creditFractionDigits, '0'));
}
