/**
 * Ids: UUIDv7, lower case (RFC 9562 5.7, semantics 2). Node's `crypto` makes them too, but loading it takes a quarter of Node's
 * own start-up, more than the database needs for a durable write of one row.
 */

/** Random bytes in one id; six of their bits give way to the version and the variant. */
export const idChanceBytes = 10;

/** How many ids a process makes from the system's random file; after that it loads a faster maker. */
const idsWithoutNode = 64;

/** Gives a function that makes ids, each for the millisecond since 1970 in `now`; `loadMaker` gives a maker of many. */
export function createIds(now: () => number, loadMaker: () => () => string): () => string {
  let chance: Uint8Array | undefined;
  // Thousands of events get one each, and even looking up the module would take a third of the time.
  let makeId: (() => string) | undefined;
  return () => {
    if (makeId !== undefined) return makeId();
    chance ??= systemChance(idsWithoutNode * idChanceBytes);
    const own = chance.subarray(0, idChanceBytes);
    chance = chance.subarray(idChanceBytes);
    if (own.length === idChanceBytes) return idOf(now(), own);
    makeId = loadMaker();
    return makeId();
  };
}

/** The id of a millisecond since 1970, before the year 10889, from ten unpredictable bytes that no other id may use. */
export function idOf(epochMilliseconds: number, chance: Uint8Array): string {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeUIntBE(epochMilliseconds, 0, 6);
  bytes.set(chance, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Empty if there is no such file, or not all of the bytes can be read. */
function systemChance(count: number): Uint8Array {
  const { closeSync, openSync, readSync } = process.getBuiltinModule('node:fs');
  try {
    const file = openSync('/dev/urandom', 'r');
    try {
      const bytes = new Uint8Array(count);
      if (readSync(file, bytes) === count) return bytes;
    } finally {
      closeSync(file);
    }
  } catch {
    // Windows, or a container without the file.
  }
  return new Uint8Array();
}
