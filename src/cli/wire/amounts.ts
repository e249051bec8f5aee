/** Amounts of the wire as whole numbers to calculate with. */

import { Big } from 'big.js';

import type { ExactNumber } from '../../exact-json.ts';
import { microsPerCredit } from '../../whole-amounts.ts';
import { wireText } from './rows.ts';

/** Whole cents of a wire amount. */
export function centsOf(cents: ExactNumber): bigint {
  return BigInt(new Big(wireText(cents)).toFixed(0));
}

/** Credits in millionths; the wire has at most six decimals. */
export function microsOf(credits: ExactNumber): bigint {
  return BigInt(new Big(wireText(credits)).times(String(microsPerCredit)).toFixed(0));
}
