/** Waits where a service asks for it, beyond the patience that one request has of its own. */

import { setTimeout as pause } from 'node:timers/promises';

import { BillingError } from '../errors.ts';
import { limits } from '../limits.ts';

/** A service that has had too many requests has done nothing: the call is made again when it says so. */
export async function patiently<T>(call: () => Promise<T>, onWait: () => void): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const seconds =
        error instanceof BillingError && error.kind === 'rateLimited' ? error.retryAfterSeconds : undefined;
      if (seconds === undefined || attempt === limits.requestAttempts) throw error;
      onWait();
      await pause(seconds * 1000);
    }
  }
}
