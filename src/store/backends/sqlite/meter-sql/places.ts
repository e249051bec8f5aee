/** Who may run a query now: queries of several scopes run side by side, those of one scope one after another. */

/** Places for queries; a scope never has more than one. */
export interface Places {
  /** Resolves when the scope has a place; it keeps the place until `giveBack`. */
  readonly take: (scope: string) => Promise<void>;
  readonly giveBack: (scope: string) => void;
}

/**
 * Gives out `count` places. Scopes take turns, and the calls within a scope go in order of arrival. So the queries of one
 * scope, however slow or many, hold a single place, and whoever else waits goes before the next of them.
 */
export function createPlaces(count: number): Places {
  /** In the order of their turns. */
  const waiting = new Map<string, (() => void)[]>();
  const working = new Set<string>();

  function fill(): void {
    for (const [scope, calls] of waiting) {
      if (working.size >= count) return;
      if (working.has(scope)) continue;
      const begin = calls.shift();
      if (calls.length === 0) waiting.delete(scope);
      working.add(scope);
      begin?.();
    }
  }

  return {
    take: async (scope) => {
      await new Promise<void>((resolve) => {
        waiting.getOrInsert(scope, []).push(resolve);
        fill();
      });
    },
    giveBack: (scope) => {
      working.delete(scope);
      const calls = waiting.get(scope);
      if (calls !== undefined) {
        // Behind all others.
        waiting.delete(scope);
        waiting.set(scope, calls);
      }
      fill();
    },
  };
}
