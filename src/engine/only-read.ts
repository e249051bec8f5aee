/** What works by itself asks before it begins whether it may write. */

import { UnavailableError } from '../errors.ts';
import { limits } from '../limits.ts';
import { writeProbe } from '../store/records/book-facts.ts';
import type { Store } from '../store/store.ts';

/** Whether changes are refused, for now or for good: a standby tells by a write alone that it has become the primary server. */
export async function isOnlyRead(store: Store): Promise<boolean> {
  if (!store.isReadOnly) return false;
  try {
    await store.write(writeProbe, { busyTimeoutMilliseconds: limits.readinessMilliseconds, turn: 'readiness' });
    return false;
  } catch (error) {
    if (error instanceof UnavailableError) return true;
    throw error;
  }
}
