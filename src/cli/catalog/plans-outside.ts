/** Plans outside the file are created anew as they are if a price in them is replaced. */

import { saySame } from './comparison.ts';
import { itemKey, planKey, planLabel } from './definitions.ts';
import type { PlanDefinition } from './definitions.ts';
import type { LivePlan } from './live.ts';
import { matchOf } from './matching.ts';
import type { Match, Matching, Decided } from './matching.ts';
import { contains } from './sections.ts';

export interface Surroundings {
  /** Prices that go, and those of them that go before their successors are created. */
  readonly prices: ReadonlySet<string>;
  readonly early: ReadonlySet<string>;
  /** Keys of the prices that will exist; a key of two prices occurs twice. */
  readonly names: readonly string[];
}

/** The plans of the file and those outside. `obstacles` names plans that cannot be created anew. */
export function withPlansOutside(
  { matches, unlisted }: Matching<PlanDefinition, LivePlan>,
  { prices, early, names }: Surroundings,
): Decided<PlanDefinition, LivePlan> & { readonly obstacles: readonly string[] } {
  const isStale = contains(prices);
  const countOf = new Map([...Map.groupBy(names, (key) => key)].map(([key, same]) => [key, same.length]));
  const outside: Match<PlanDefinition, LivePlan>[] = [];
  const obstacles: string[] = [];
  for (const group of Map.groupBy(unlisted.filter(isStale), ({ definition }) => planKey(definition)).values()) {
    const [newest] = group;
    if (newest === undefined) continue;
    const { definition } = newest;
    const isResolved = definition.items.every((item) => countOf.get(itemKey(item)) === 1);
    if (!isResolved || group.some((row) => contains(early)(row) || !saySame(row.definition, definition))) {
      obstacles.push(`the plan ${planLabel(definition)} contains a price that goes, and is not in the file`);
    }
    const rows = unlisted.filter(
      (row) => planKey(row.definition) === planKey(definition) && (isStale(row) || saySame(row.definition, definition)),
    );
    outside.push(matchOf(definition, rows, (row) => !isStale(row)));
  }
  const touched = new Set(outside.flatMap(({ kept, superseded }) => [kept, ...superseded]));
  return {
    matches: [...matches, ...outside],
    pruned: [],
    left: unlisted.filter((row) => !touched.has(row)),
    obstacles,
  };
}
