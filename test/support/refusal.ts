/** What work was refused with: as the error, or as one line for tables. */

import { BillingError } from '../../src/errors.ts';

/** The error's kind and its message; `accepted` for a call that was not refused; throws what is no BillingError. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'accepted';
  } catch (error) {
    if (error instanceof BillingError) return `${error.kind} ${error.message}`;
    throw error;
  }
}

/** The error that `work` ends with; one that is not meant for a person fails the test. */
export async function refusal(work: Promise<unknown>): Promise<BillingError> {
  const error = await work.then(
    () => new Error('it was not refused'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof BillingError) return error;
  throw error;
}
