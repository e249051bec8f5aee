/** Amounts of the wire as whole numbers to calculate with. */

import { Big } from 'big.js';

import { BillingError } from '../../errors.ts';
import type { ExactNumber } from '../../exact-json.ts';
import { currency } from '../../operations/wire-values.ts';
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

/** What is held, or moved. */
export interface Holding {
  readonly cents: bigint;
  readonly creditMicros: bigint;
}

export const nothing: Holding = { cents: 0n, creditMicros: 0n };

export function holdingOf(cents: ExactNumber, credits: ExactNumber): Holding {
  return { cents: centsOf(cents), creditMicros: microsOf(credits) };
}

/** The currency of all entries of a ledger; USD without any. Throws a failed check for two, whose amounts do not add up. */
export function currencyOf(entries: readonly { readonly currency: string }[]): string {
  const [found = currency, other] = new Set(entries.flatMap((entry) => entry.currency ?? []));
  if (other === undefined) return found;
  throw new BillingError('checkFailed', `the ledger has entries in ${found} and in ${other}, which do not add up`, {
    hint: 'see them with: tally credits ledger CONTRACT-ID',
  });
}
