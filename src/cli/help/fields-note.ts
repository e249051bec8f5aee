/** The members of a flag that takes records, for its line in help. */

import type { FlagSpec, Shape } from '../command-line/manifest.ts';

type Field = readonly [name: string, shape: Shape];

/** `fields: name, roles (primary, csm); optional: phone`; empty if the flag takes no record, or the caller chooses the names. */
export function fieldsNote({ fields = {} }: Pick<FlagSpec, 'fields'>): string {
  const all = Object.entries(fields).flatMap((field) => leaves(field, true));
  const required = all.filter(({ isRequired }) => isRequired).map(({ text }) => text);
  const others = all.filter(({ isRequired }) => !isRequired).map(({ text }) => text);
  if (all.length === 0) return '';
  if (required.length === 0) return `fields: ${others.join(', ')}`;
  return [`fields: ${required.join(', ')}`, ...(others.length === 0 ? [] : [`optional: ${others.join(', ')}`])].join(
    '; ',
  );
}

/** An object inside the record is given by its members, as in `csm.email`; a list of objects as JSON. */
function leaves([name, shape]: Field, isOuterRequired: boolean): { text: string; isRequired: boolean }[] {
  const isRequired = isOuterRequired && shape.isRequired === true;
  if (shape.kind === 'object') {
    return Object.entries(shape.fields ?? {}).flatMap(([inner, each]) =>
      leaves([`${name}.${inner}`, each], isRequired),
    );
  }
  const choices = shape.choices ?? shape.element?.choices;
  const note = shape.kind === 'objects' ? 'JSON' : choices?.join(', ');
  const own = shape.kind === 'members' ? `${name}.NAME` : name;
  return [{ text: note === undefined ? own : `${own} (${note})`, isRequired }];
}
