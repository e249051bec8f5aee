/** Long lists in conditions. */

/** A list as long as the next power of two, its last element repeated: so lists of all lengths share few statements. */
export function padded(values: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(values.length));
  return Array.from({ length }, (_value, index) => values[Math.min(index, values.length - 1)] ?? '');
}

/** Values of a query of a list by that name, for the forms of it that few are asked in (`Known`). */
export function ofFew<Name extends string>(name: Name) {
  return [1, 2, 4, 8, 16].map((count) => ({ orgId: '', [name]: Array<string>(count).fill('') }) as OfList<Name>);
}

/** What an organization has of those in a list by that name. */
export type OfList<Name extends string> = { readonly orgId: string } & Readonly<Record<Name, readonly string[]>>;

/** Every engine takes as many values in one statement, and others beside them. */
const mostInStatement = 8_192;

/** What `ask` gives for a list of any length, asked of parts of it that a statement can carry, in their order. */
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
