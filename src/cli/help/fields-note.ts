/** The members of a flag that takes records, for its line in help. */

import type { FlagSpec } from '../command-line/manifest.ts';
import { recordMembers } from '../command-line/record-members.ts';
import type { RecordMember } from '../command-line/record-members.ts';

/** `fields: name, roles (primary, csm); optional: phone`; empty if the flag takes no record, or the caller chooses the names. */
export function fieldsNote({ fields = {} }: Pick<FlagSpec, 'fields'>): string {
  const all = recordMembers(fields);
  const required = all.filter(({ isRequired }) => isRequired).map(noteOf);
  const others = all.filter(({ isRequired }) => !isRequired).map(noteOf);
  if (all.length === 0) return '';
  if (required.length === 0) return `fields: ${others.join(', ')}`;
  return [`fields: ${required.join(', ')}`, ...(others.length === 0 ? [] : [`optional: ${others.join(', ')}`])].join(
    '; ',
  );
}

/** A list of objects is given as JSON. */
function noteOf({ name, shape }: RecordMember): string {
  const choices = shape.choices ?? shape.element?.choices;
  const note = shape.kind === 'objects' ? 'JSON' : choices?.join(', ');
  return note === undefined ? name : `${name} (${note})`;
}
