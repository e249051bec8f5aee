/** JSON with one text per meaning: the members of every object are ordered, and every number keeps its digits. */

/** The canonical text of a value; undefined members are left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(ordered(value));
}

/** The value itself if all of it is in order: an import sends thousands of objects that are. */
function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (Array.isArray(value)) {
    const elements = value.map(ordered);
    return elements.some((element, place) => element !== value[place]) ? elements : value;
  }
  const members = value as Readonly<Record<string, unknown>>;
  const given = Object.keys(members);
  const names = given.every((name, place) => place === 0 || (given[place - 1] ?? '') < name) ? given : given.toSorted();
  // Each member is ordered once. Ordering it again when the object is not in order would double the work with every level.
  const inOrder = names.map((name) => ordered(members[name]));
  if (names === given && names.every((name, place) => inOrder[place] === members[name])) return value;
  return Object.fromEntries(names.map((name, place) => [name, inOrder[place]]));
}
