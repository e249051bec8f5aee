/** Whole numbers given with a flag. */

import { BillingError } from '../../errors.ts';

/** The number of a flag, from 0 to `most`, inclusive. Throws a usage error for any other text. */
export function wholeNumber(flag: string, text: string, most: number): number {
  const value = Number(text);
  if (/^\d{1,16}$/.test(text) && value <= most) return value;
  const bound = most === Number.MAX_SAFE_INTEGER ? '' : ` up to ${most}`;
  throw new BillingError('usage', `${flag} takes a whole number${bound}, not ${text}`);
}
