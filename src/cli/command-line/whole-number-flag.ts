/** Whole numbers given with a flag. */

import { BillingError } from '../../errors.ts';

/** The number of a flag, from 0 to `most`, inclusive. Throws a usage error for any other text. */
export function wholeNumber(flag: string, text: string, most: number): number {
  const value = Number(text);
  if (/^\d{1,16}$/.test(text) && value <= most) return value;
  throw new BillingError('usage', `${flag} takes a whole number up to ${most}, not ${text}`);
}
