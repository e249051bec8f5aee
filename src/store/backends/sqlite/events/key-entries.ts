/** Hashes of keys with the seqs of their events, sorted, and their bytes in a database. A seq has 48 bits. */

const hashBytes = 8;
const entryBytes = hashBytes + 6;

/** Sorted by hash, then by seq. */
export interface Entries {
  readonly hashes: Float64Array;
  readonly seqs: Float64Array;
}

/** The empty list of entries. */
export const noEntries: Entries = { hashes: new Float64Array(0), seqs: new Float64Array(0) };

/** The entries of both, sorted. */
export function merged(a: Entries, b: Entries): Entries {
  const count = a.hashes.length + b.hashes.length;
  const whole = { hashes: new Float64Array(count), seqs: new Float64Array(count) };
  let left = 0;
  let right = 0;
  for (let place = 0; place < count; place += 1) {
    const one = a.hashes[left] ?? Infinity;
    const other = b.hashes[right] ?? Infinity;
    const isLeft = one < other || (one === other && (a.seqs[left] ?? Infinity) < (b.seqs[right] ?? Infinity));
    whole.hashes[place] = isLeft ? one : other;
    whole.seqs[place] = (isLeft ? a.seqs[left] : b.seqs[right]) ?? 0;
    if (isLeft) left += 1;
    else right += 1;
  }
  return whole;
}

/** Encodes entries: all hashes, then the low 32 bits of all seqs, then the high 16. */
export function bytesOf({ hashes, seqs }: Entries): Uint8Array {
  const bytes = new Uint8Array(hashes.length * entryBytes);
  bytes.set(new Uint8Array(hashes.buffer, hashes.byteOffset, hashes.byteLength));
  const low = new Uint32Array(seqs.length);
  const high = new Uint16Array(seqs.length);
  for (let place = 0; place < seqs.length; place += 1) {
    const seq = seqs[place] ?? 0;
    low[place] = seq % 2 ** 32;
    high[place] = seq / 2 ** 32;
  }
  bytes.set(new Uint8Array(low.buffer), hashes.byteLength);
  bytes.set(new Uint8Array(high.buffer), hashes.byteLength + low.byteLength);
  return bytes;
}

/** The hashes alone, from the bytes of `bytesOf`. */
export function hashesOf(bytes: Uint8Array): Float64Array {
  return new Float64Array(bytes.slice(0, (bytes.length / entryBytes) * hashBytes).buffer);
}

/** Decodes the bytes of `bytesOf`. */
export function entriesOf(bytes: Uint8Array): Entries {
  const hashes = hashesOf(bytes);
  const low = new Uint32Array(bytes.slice(hashes.byteLength, hashes.byteLength + hashes.length * 4).buffer);
  const high = new Uint16Array(bytes.slice(hashes.byteLength + low.byteLength).buffer);
  const seqs = new Float64Array(hashes.length);
  for (let place = 0; place < seqs.length; place += 1) seqs[place] = (low[place] ?? 0) + (high[place] ?? 0) * 2 ** 32;
  return { hashes, seqs };
}

/** The highest hash, from the bytes of `bytesOf` of at least one entry. */
export function lastHashOf(bytes: Uint8Array): number {
  const count = bytes.length / entryBytes;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getFloat64((count - 1) * hashBytes, true);
}

/** The seqs of one hash. Decodes only the few entries that a binary search visits. */
export function seqsOf(bytes: Uint8Array, hash: number): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.length / entryBytes;
  const hashAt = (place: number) => view.getFloat64(place * hashBytes, true);
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (hashAt(middle) < hash) low = middle + 1;
    else high = middle;
  }
  const found: number[] = [];
  for (; low < count && hashAt(low) === hash; low += 1) {
    const lowBits = view.getUint32(count * hashBytes + low * 4, true);
    found.push(lowBits + view.getUint16(count * (hashBytes + 4) + low * 2, true) * 2 ** 32);
  }
  return found;
}
