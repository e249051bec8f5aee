/** Work that was requested of a store or a service and has not ended; closing waits for it. */

export interface Pending {
  readonly count: number;
  /** Runs `work` and counts it until it has ended. */
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
  /** Resolves when all work begun before has ended, successfully or not. */
  readonly settled: () => Promise<void>;
}

export function createPending(): Pending {
  const pending = new Set<Promise<unknown>>();
  return {
    get count() {
      return pending.size;
    },
    run(work) {
      const result = work();
      pending.add(result);
      const forget = () => void pending.delete(result);
      result.then(forget, forget);
      return result;
    },
    async settled() {
      await Promise.allSettled(pending);
    },
  };
}
