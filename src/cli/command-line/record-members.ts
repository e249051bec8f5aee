/** How the members of a record are given on the command line. */

import type { Shape } from './manifest.ts';

export interface RecordMember {
  /** What stands before `=`: `name`, `csm.email`, `properties.NAME`. */
  readonly name: string;
  readonly shape: Shape;
  readonly isRequired: boolean;
}

/** An object inside the record is given by its members, as in `csm.email`, or by names that the caller chooses. */
export function recordMembers(fields: Readonly<Record<string, Shape>>, isOuterRequired = true): RecordMember[] {
  return Object.entries(fields).flatMap(([name, shape]) => {
    const isRequired = isOuterRequired && shape.isRequired === true;
    if (shape.kind !== 'object') return [{ name: shape.kind === 'members' ? `${name}.NAME` : name, shape, isRequired }];
    return recordMembers(shape.fields ?? {}, isRequired).map((inner) => ({ ...inner, name: `${name}.${inner.name}` }));
  });
}
