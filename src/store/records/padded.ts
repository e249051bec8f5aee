/** Long lists in query conditions. */

import type { OfOrganization } from '../prepared.ts';

/** Sample values for a query over a list of that name, for short lists (`Known`). */
export function ofFew<Name extends string>(name: Name) {
  return [1, 2, 4, 8, 16].map((count) => ({ orgId: '', [name]: Array<string>(count).fill('') }) as OfList<Name>);
}

/** The values of a query over an organization and a list of that name. */
export type OfList<Name extends string> = OfOrganization & Readonly<Record<Name, readonly string[]>>;

/** Every engine takes that many values in one statement, with a few others. */
const mostInStatement = 8_192;

/** The rows that `ask` gives for a list of any length, asked part by part, in order; a statement can carry each part. */
export async function askedInParts<Row>(
  values: readonly string[],
  ask: (part: string[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let first = 0; first < values.length; first += mostInStatement) {
    for (const row of await ask(padded(values.slice(first, first + mostInStatement)))) rows.push(row);
  }
  return rows;
}

/** Extends a list to the next power of two by repeating its last element, so that lists of all lengths share few statements. */
function padded(values: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(values.length));
  return Array.from({ length }, (_value, index) => values[Math.min(index, values.length - 1)] ?? '');
}
