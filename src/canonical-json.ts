/** JSON that is the same for the same meaning: the members of every object in one order, the digits of every number kept. */

/** The one text of a value; members that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(ordered(value));
}

/** The value itself where all of it is in order: an import sends thousands of objects that are. */
function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (Array.isArray(value)) {
    const elements = value.map(ordered);
    return elements.some((element, place) => element !== value[place]) ? elements : value;
  }
  // Each member is ordered once: asked again for what is not in order, it would be twice as much with every level.
  const members = Object.entries(value).map(([name, member]) => ({ name, member, inOrder: ordered(member) }));
  const isInOrder = members.every(
    ({ name, member, inOrder }, place) =>
      inOrder === member && (place === 0 || (members[place - 1]?.name ?? '') < name),
  );
  if (isInOrder) return value;
  const sorted = members.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return Object.fromEntries(sorted.map(({ name, inOrder }) => [name, inOrder]));
}
