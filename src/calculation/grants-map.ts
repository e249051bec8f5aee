/** What a ledger knows of its grants, by id. It is copied and extended again and again, and may hold thousands of grants. */

import type { GrantTotals } from './ledger.ts';

/** In the order in which they were granted. */
export interface Grants {
  readonly size: number;
  readonly get: (id: string) => GrantTotals | undefined;
  readonly values: () => Iterable<GrantTotals>;
  /** A copy that can be changed without changing this one. */
  readonly copy: () => GrowingGrants;
}

/** A copy of its own, to be extended entry by entry. */
export interface GrowingGrants extends Grants {
  readonly set: (id: string, totals: GrantTotals) => void;
}

/** The grants of a ledger without entries. */
export const noGrants: Grants = layered(new Map(), new Map());

/**
 * Recent changes lie over a map that earlier copies share, so that a copy costs the square root of the number of grants
 * rather than all of it.
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
