/** For facts that a command can do without. */

import { BillingError } from '../../errors.ts';

/** The answer; undefined if the service refuses, does not offer it, or cannot be reached. */
export async function ifTold<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof BillingError) return undefined;
    throw error;
  }
}
