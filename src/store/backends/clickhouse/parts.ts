/** Lists that are longer than one request takes. */

/** How many characters of texts one parameter may list: a server limits its size in bytes. */
export const listedCharacters = 32_000;

/** In order, in parts of at most `most` characters; a single longer element is a part of its own. */
export function inParts<T>(all: readonly T[], most: number, charactersOf: (each: T) => number): T[][] {
  const parts: T[][] = [];
  let room = 0;
  for (const each of all) {
    const characters = charactersOf(each);
    if (room < characters || parts.length === 0) {
      parts.push([]);
      room = most;
    }
    room -= characters;
    parts.at(-1)?.push(each);
  }
  return parts;
}
