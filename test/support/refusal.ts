/** What a call was refused with, as one line for tables: the error's kind and its message. */

import { BillingError } from '../../src/errors.ts';

/** `accepted` for a call that was not refused; throws what is no BillingError. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'accepted';
  } catch (error) {
    if (error instanceof BillingError) return `${error.kind} ${error.message}`;
    throw error;
  }
}
