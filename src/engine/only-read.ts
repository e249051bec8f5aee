/** Whether a store takes changes: background work asks before it begins, and the readiness check asks on behalf of callers. */

import { UnavailableError } from '../errors.ts';
import { limits } from '../limits.ts';
import { writeProbe } from '../store/records/book-facts.ts';
import type { Store } from '../store/store.ts';

/** Makes a write that changes nothing; rejects as any write does where it fails, within `limits.readinessMilliseconds`. */
export async function checkWritable(store: Store): Promise<void> {
  await store.write(writeProbe, { busyTimeoutMilliseconds: limits.readinessMilliseconds, turn: 'readiness' });
}

/** Whether changes are refused, for now or for good: only a write shows that a standby has become the primary server. */
export async function isOnlyRead(store: Store): Promise<boolean> {
  if (!store.isReadOnly) return false;
  try {
    await checkWritable(store);
    return false;
  } catch (error) {
    if (error instanceof UnavailableError) return true;
    throw error;
  }
}
