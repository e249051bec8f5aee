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
  const members = value as Readonly<Record<string, unknown>>;
  let last: string | undefined;
  let isInOrder = true;
  for (const name in members) {
    isInOrder &&= (last === undefined || last < name) && ordered(members[name]) === members[name];
    last = name;
  }
  if (isInOrder) return value;
  const names = Object.keys(members).toSorted();
  return Object.fromEntries(names.map((name) => [name, ordered(members[name])]));
}
