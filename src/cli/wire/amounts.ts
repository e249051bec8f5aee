/** Amounts of the wire as whole numbers to calculate with, and back as text for people. */

import { Big } from 'big.js';

import type { ExactNumber } from '../../exact-json.ts';
import { microsPerCredit } from '../../whole-amounts.ts';
import { amountText, wireText } from './rows.ts';
import { say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';

/** Whole cents of a wire amount. */
export function centsOf(cents: ExactNumber): bigint {
  return BigInt(new Big(wireText(cents)).toFixed(0));
}

/** Credits in millionths; the wire has at most six decimals. */
export function microsOf(credits: ExactNumber): bigint {
  return BigInt(new Big(wireText(credits)).times(String(microsPerCredit)).toFixed(0));
}

/** `12.50 USD`. */
export function moneyText(cents: bigint): SafeText {
  return say`${amountText(String(cents))} USD`;
}
