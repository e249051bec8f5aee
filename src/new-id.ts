/**
 * Ids: UUIDv7, lower case (RFC 9562 5.7, semantics 2). Node's `crypto` makes them too, but takes a quarter of the time to load in
 * which Node itself starts, more than a durable write of one row takes in the database.
 */

/** Of chance in one id; six of its bits make room for the version and the variant. */
export const idChanceBytes = 10;

/** So many ids of a process are made of what the system has as a file; whoever needs more loads what makes them faster. */
const idsWithoutNode = 64;

/** Gives a function that makes ids, each of the millisecond since 1970 that `now` tells; `loadMaker` gives what makes many. */
export function createIds(now: () => number, loadMaker: () => () => string): () => string {
  let chance: Uint8Array | undefined;
  // Each of thousands of events gets one, for which even asking for the module takes a third of the time.
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

/** The id made in a millisecond since 1970, before 10889, from ten unpredictable bytes, which no other id may use. */
export function idOf(epochMilliseconds: number, chance: Uint8Array): string {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeUIntBE(epochMilliseconds, 0, 6);
  bytes.set(chance, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Nothing where there is no such file, or not all of it can be read. */
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
    // Windows, or a container without it.
  }
  return new Uint8Array();
}
