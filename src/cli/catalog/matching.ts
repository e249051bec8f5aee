/** Which things of a service an entry stands for, which one stays, and which are in its way. */

import { saySame } from './comparison.ts';
import { planKey, planLabel } from './definitions.ts';
import type { PlanDefinition } from './definitions.ts';
import type { Live } from './live.ts';

export interface Match<D, L> {
  readonly definition: D;
  /** The thing that says the same already, and stays. */
  readonly kept: L | undefined;
  /** Things with the same name that must go, newest first. */
  readonly superseded: readonly L[];
}

export interface Matching<D, L> {
  readonly matches: readonly Match<D, L>[];
  /** Things that no entry stands for. */
  readonly unlisted: readonly L[];
}

export interface Decided<D, L> {
  readonly matches: readonly Match<D, L>[];
  /** Things that no entry stands for and that go. */
  readonly pruned: readonly L[];
  /** Things that no entry stands for and that stay. */
  readonly left: readonly L[];
}

export function decided<D, L>({ matches, unlisted }: Matching<D, L>, isPruned: boolean): Decided<D, L> {
  return { matches, pruned: isPruned ? unlisted : [], left: isPruned ? [] : unlisted };
}

/** Everything that goes to make room for a successor. */
export function supersededOf<L>({ matches }: Pick<Decided<unknown, L>, 'matches'>): L[] {
  return matches.flatMap(({ superseded }) => superseded);
}

/** Everything that goes. */
export function goneOf<L>(each: Decided<unknown, L>): L[] {
  return [...supersededOf(each), ...each.pruned];
}

/** Everything that stays. */
export function stayingOf<L>({ matches, left }: Decided<unknown, L>): L[] {
  return [...matches.flatMap(({ kept }) => (kept === undefined ? [] : [kept])), ...left];
}

interface MatchOptions<D, L> {
  readonly keyOf: (definition: D) => string;
  /** False for something that refers to what goes. */
  readonly isSound: (row: L) => boolean;
}

/** Matches by key. An interrupted replacement leaves several things with one name: the newest that says the same stays. */
export function matchByKey<D extends object, L extends Live<D>>(
  definitions: readonly D[],
  live: readonly L[],
  { keyOf, isSound }: MatchOptions<D, L>,
): Matching<D, L> {
  const rowsOf = Map.groupBy(live, ({ definition }) => keyOf(definition));
  const listed = new Set(definitions.map(keyOf));
  return {
    matches: definitions.map((definition) => matchOf(definition, rowsOf.get(keyOf(definition)) ?? [], isSound)),
    unlisted: live.filter(({ definition }) => !listed.has(keyOf(definition))),
  };
}

export function matchOf<D extends object, L extends Live<D>>(
  definition: D,
  rows: readonly L[],
  isSound: (row: L) => boolean,
): Match<D, L> {
  const kept = rows.find((row) => isSound(row) && saySame(row.definition, definition));
  return { definition, kept, superseded: rows.filter((row) => row !== kept) };
}

export interface PlanMatching<L> extends Matching<PlanDefinition, L> {
  /** Entries that two plans could match, by their index. */
  readonly issues: readonly { readonly index: number; readonly message: string }[];
}

/**
 * Matches plans by identity. An entry whose identity no plan has takes the plan with its name, so that an externalId can be
 * added or dropped.
 */
export function matchPlans<L extends Live<PlanDefinition>>(
  definitions: readonly PlanDefinition[],
  live: readonly L[],
  isSound: (row: L) => boolean,
): PlanMatching<L> {
  const exact = matchByKey(definitions, live, { keyOf: planKey, isSound });
  const taken = new Set<L>();
  const issues: { index: number; message: string }[] = [];
  const matches = exact.matches.map((match, index) => {
    if (match.kept !== undefined || match.superseded.length > 0) return match;
    const { name, externalId } = match.definition;
    const rows = exact.unlisted.filter(
      ({ definition }) => definition.name === name && (definition.externalId === undefined || externalId === undefined),
    );
    const identities = new Set(rows.map(({ definition }) => planLabel(definition)));
    if (identities.size > 1) {
      issues.push({ index, message: `could be ${[...identities].join(' or ')}: say which by externalId` });
    }
    const free = rows.filter((row) => !taken.has(row));
    for (const row of free) taken.add(row);
    return matchOf(match.definition, free, isSound);
  });
  return { matches, unlisted: exact.unlisted.filter((row) => !taken.has(row)), issues };
}
