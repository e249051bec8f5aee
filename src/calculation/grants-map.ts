/** What a ledger knows of its grants, by their ids: gone on from again and again, and there may be thousands of them. */

import type { GrantTotals } from './ledger.ts';

/** In the order in which they were granted. */
export interface Grants {
  readonly size: number;
  readonly get: (id: string) => GrantTotals | undefined;
  readonly values: () => Iterable<GrantTotals>;
  /** The same, to be changed on its own. */
  readonly copy: () => GrowingGrants;
}

export interface GrowingGrants extends Grants {
  readonly set: (id: string, totals: GrantTotals) => void;
}

export const noGrants: Grants = layered(new Map(), new Map());

/**
 * What was set lately lies over what is shared with the copies before, so that a copy costs the root of what there is, and not
 * all of it.
 */
function layered(shared: ReadonlyMap<string, GrantTotals>, latest: Map<string, GrantTotals>): GrowingGrants {
  let added = latest.keys().reduce((count, id) => count + (shared.has(id) ? 0 : 1), 0);
  return {
    get size() {
      return shared.size + added;
    },
    get: (id) => latest.get(id) ?? shared.get(id),
    *values() {
      for (const [id, totals] of shared) yield latest.get(id) ?? totals;
      for (const [id, totals] of latest) if (!shared.has(id)) yield totals;
    },
    set(id, totals) {
      if (!latest.has(id) && !shared.has(id)) added += 1;
      latest.set(id, totals);
    },
    copy() {
      if (latest.size ** 2 < shared.size) return layered(shared, new Map(latest));
      const all = new Map(shared);
      for (const [id, totals] of latest) all.set(id, totals);
      return layered(all, new Map());
    },
  };
}
