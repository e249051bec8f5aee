/** Work from a file: one request for each row. */

import { BillingError } from '../../errors.ts';
import type { Invocation } from '../call.ts';
import type { Session } from '../session.ts';

export async function runBulk(_invocation: Invocation, _session: Session): Promise<void> {
  return await Promise.reject(new BillingError('notOffered', '--from is not there yet'));
}
