/** A change of a diff: what happens to one thing, and why. */

import { compareText } from '../../text-order.ts';
import { amountsOf, differences } from './comparison.ts';
import type { Difference } from './comparison.ts';
import type { Live } from './live.ts';
import type { Decided } from './matching.ts';

export const kinds = ['product', 'meter', 'rate card', 'price', 'plan'] as const;
export type Kind = (typeof kinds)[number];
export const actions = ['create', 'replace', 'archive'] as const;
export type Action = (typeof actions)[number];

export interface Change {
  readonly action: Action;
  readonly kind: Kind;
  readonly name: string;
  /** The reason, if it is not only the differences. */
  readonly reason?: string;
  /** For something created, its amounts. */
  readonly differences: readonly Difference[];
}

export interface Naming<D, L> {
  readonly labelOf: (definition: D) => string;
  /** Why something with the same definition cannot stay. */
  readonly reasonOf?: (row: L) => string | undefined;
}

/** The changes of one kind, in the order of the file. */
export function changesOf<D extends object, L extends Live<D>>(
  kind: Kind,
  { matches, pruned }: Decided<D, L>,
  { labelOf, reasonOf = () => undefined }: Naming<D, L>,
): Change[] {
  const archived = (row: L, reason?: string) => archival(kind, labelOf(row.definition), reason);
  return [
    ...matches.flatMap(({ definition, kept, superseded }): Change[] => {
      const others = superseded
        .slice(kept === undefined ? 1 : 0)
        .map((row) => archived(row, 'another one has the same name'));
      const [replaced] = superseded;
      const name = labelOf(definition);
      if (kept !== undefined) return others;
      if (replaced === undefined) return [{ action: 'create', kind, name, differences: amountsOf(definition) }];
      const reason = reasonOf(replaced);
      return [
        {
          action: 'replace',
          kind,
          name,
          ...(reason === undefined ? {} : { reason }),
          differences: differences(replaced.definition, definition),
        },
        ...others,
      ];
    }),
    ...pruned.map((row) => archived(row)),
  ];
}

export function archival(kind: Kind, name: string, reason = 'not in the file'): Change {
  return { action: 'archive', kind, name, reason, differences: [] };
}

/** Sorted by action, kind and name, so that a diff reads the same in whatever order things were found. */
export function inOrder(changes: readonly Change[]): Change[] {
  const rank = ({ action, kind, name }: Change) =>
    `${actions.indexOf(action)} ${kinds.indexOf(kind)} ${JSON.stringify(name)}`;
  return changes
    .map((change) => ({ change, key: rank(change) }))
    .toSorted((one, other) => compareText(one.key, other.key))
    .map(({ change }) => change);
}
