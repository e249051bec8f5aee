/** Domain values as they stand on the wire. */

import type { Big } from '../calculation/money.ts';
import { creditsText } from '../whole-amounts.ts';
import { exactNumber } from '../exact-json.ts';
import type { ExactNumber } from '../exact-json.ts';
import type { Moment } from '../operations/field-rules.ts';
import { instantText } from '../store/records/row-values.ts';

/** Whole cents as a JSON integer, exact at any size. */
export function wireCents(cents: bigint): ExactNumber {
  return exactNumber(cents.toString());
}

/** A decimal as a JSON number, with all of its digits. */
export function wireDecimal(value: Big): ExactNumber {
  // As `decimalText` does, whose file is loaded only where something is calculated.
  return exactNumber(value.toFixed());
}

/** Millionths of a credit as a JSON number of credits. */
export function wireCredits(creditMicros: bigint): ExactNumber {
  return exactNumber(creditsText(creditMicros));
}

/** An instant as `YYYY-MM-DDTHH:mm:ss.sssZ`, which is also how it is stored. */
export function wireTimestamp(instant: Moment): string {
  return instantText(instant);
}
