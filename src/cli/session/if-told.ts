/** What is asked for beside what a command is about, and is done without where nobody tells. */

import { BillingError } from '../../errors.ts';

/** Undefined where the service refuses, does not offer it, or cannot be reached. */
export async function ifTold<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof BillingError) return undefined;
    throw error;
  }
}
