/** The part of a cut period that was used, in days. */

import { Big, divideHalfUp } from './money.ts';
import type { BillingPeriod } from './billing-period.ts';
import { limits } from '../limits.ts';

/** Calendar days of a period that is cut: `daysUsed` is 1 or more and below `daysWhole`. */
export interface Proration {
  readonly daysUsed: number;
  readonly daysWhole: number;
}

/** Days used of a period that the contract's end has cut; undefined for a whole one (semantics 6). */
export function prorationOf(period: BillingPeriod): Proration | undefined {
  if (period.end.equals(period.wholeEnd)) return undefined;
  return { daysUsed: daysBetween(period.start, period.end), daysWhole: daysBetween(period.start, period.wholeEnd) };
}

/**
 * `amount * daysUsed / daysWhole`, half-up at twelve decimals (semantics 12), which is exact to the precision of a price.
 * The line rounds this figure to cents, so that its text and its cents agree.
 */
export function prorate(amount: Big, proration: Proration | undefined): Big {
  if (proration === undefined) return amount;
  return divideHalfUp(amount.times(proration.daysUsed), new Big(proration.daysWhole), limits.decimalFractionDigits);
}

function daysBetween(start: Temporal.PlainDate, end: Temporal.PlainDate): number {
  return start.until(end, { largestUnit: 'day' }).days;
}
