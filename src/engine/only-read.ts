/** Whether a store takes changes: what works by itself asks before it begins, and readiness asks for those who call. */

import { UnavailableError } from '../errors.ts';
import { limits } from '../limits.ts';
import { writeProbe } from '../store/records/book-facts.ts';
import type { Store } from '../store/store.ts';

/** Writes what changes nothing; rejects as any write does where it cannot, in `limits.readinessMilliseconds`. */
export async function checkWritable(store: Store): Promise<void> {
  await store.write(writeProbe, { busyTimeoutMilliseconds: limits.readinessMilliseconds, turn: 'readiness' });
}

/** Whether changes are refused, for now or for good: a standby tells by a write alone that it has become the primary server. */
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
