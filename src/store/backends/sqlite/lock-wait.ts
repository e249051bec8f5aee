/** Waits for a lock that another process holds. */

import { setTimeout as sleep } from 'node:timers/promises';

import { isBusy, lockedError } from './errors.ts';

/** How long SQLite itself waits for a lock, which stops the whole process; between two such waits other work goes on. */
export const sliceMilliseconds = 50;
const pauseMilliseconds = 5;

export interface LockWait {
  readonly path: string;
  readonly busyMilliseconds: number;
}

/** Tries until it succeeds, fails for a reason other than a lock, or the busy timeout has passed. */
export async function waitForLock<T>({ path, busyMilliseconds }: LockWait, attempt: () => T | Promise<T>): Promise<T> {
  let timeout: AbortSignal | undefined;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error)) throw error;
      // Set on the first refusal only, which came after one slice.
      timeout ??= AbortSignal.timeout(Math.max(0, busyMilliseconds - sliceMilliseconds));
      if (timeout.aborted || busyMilliseconds <= sliceMilliseconds) throw lockedError(path, busyMilliseconds, error);
    }
    await sleep(pauseMilliseconds);
  }
}
