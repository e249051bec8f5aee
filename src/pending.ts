/** Work that was requested of a store or a service and has not ended; closing waits for it. */

export interface Pending {
  readonly count: number;
  /** Runs `work` and counts it until it has ended. */
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
  /** Resolves as soon as no work is left, whether it ended successfully or not. */
  readonly settled: () => Promise<void>;
}

/** A count, and no set of promises: V8 would keep each one with its answer until it next collects all garbage. */
export function createPending(): Pending {
  let count = 0;
  let waiting: (() => void)[] = [];
  const end = (): void => {
    count -= 1;
    if (count > 0) return;
    for (const goOn of waiting) goOn();
    waiting = [];
  };
  return {
    get count() {
      return count;
    },
    run(work) {
      const result = work();
      count += 1;
      result.then(end, end);
      return result;
    },
    async settled() {
      if (count > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
