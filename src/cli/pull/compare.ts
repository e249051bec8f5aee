/** Compares what a service shows now with what a mirror has. */

import type { Mirrored, MirroredBody } from '../../operations/mirror.ts';

export type State = 'new' | 'changed' | 'same' | 'gone';

/** A record, or an entry of a ledger. */
export interface Compared {
  readonly kind: string;
  readonly id: string;
  readonly state: State;
  /** Paths of the members that differ. */
  readonly fields: readonly string[];
}

/** Compares records; a ledger entry by entry. */
export function compareRecords(before: readonly Mirrored[], after: readonly Mirrored[]): Compared[] {
  const [old, current] = [before.flatMap(partsOf), after.flatMap(partsOf)];
  const known = new Map(old.map((part) => [`${part.kind} ${part.id}`, part.body]));
  const compared = current.map(({ kind, id, body }): Compared => {
    const earlier = known.get(`${kind} ${id}`);
    known.delete(`${kind} ${id}`);
    if (earlier === undefined) return { kind, id, state: 'new', fields: [] };
    const fields = differences(earlier, body);
    return { kind, id, state: fields.length === 0 ? 'same' : 'changed', fields };
  });
  const gone = old.filter(({ kind, id }) => known.has(`${kind} ${id}`));
  return [...compared, ...gone.map(({ kind, id }): Compared => ({ kind, id, state: 'gone', fields: [] }))];
}

interface Part {
  readonly kind: string;
  readonly id: string;
  readonly body: unknown;
}

function partsOf({ kind, id, body }: Mirrored): Part[] {
  if (kind === 'ledger') {
    const entries = body['entries'] as readonly MirroredBody[];
    return entries.map((entry) => ({ kind: 'entry', id: String(entry['id']), body: entry }));
  }
  if (kind !== 'budgets') return [{ kind, id, body }];
  // The time of the request is not part of the answer.
  const { queriedAt: _asked, ...budgets } = body;
  return [{ kind, id, body: budgets }];
}

function differences(one: unknown, other: unknown, path = ''): string[] {
  if (JSON.stringify(one) === JSON.stringify(other)) return [];
  const [left, right] = [membersOf(one), membersOf(other)];
  if (left === undefined || right === undefined) return [path];
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return names.flatMap((name) => differences(left[name], right[name], path === '' ? name : `${path}.${name}`));
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const hasMembers = typeof value === 'object' && value !== null && !JSON.isRawJSON(value);
  return hasMembers ? (value as Readonly<Record<string, unknown>>) : undefined;
}
