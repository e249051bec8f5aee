/**
 * What may have been seen: never forgets a hash that was added, and takes one in some hundreds for known that was not.
 * Sixteen bits a hash, in tables that double, so that it grows without knowing how far.
 */

interface Table {
  readonly bits: Uint32Array;
  readonly room: number;
  count: number;
}

const bitsPerHash = 16;
const probes = 5;
const leastRoom = 2 ** 20;

/** Only where `mayHave` says no is it certain. */
export interface KeyFilter {
  readonly add: (hash: number) => void;
  readonly mayHave: (hash: number) => boolean;
}

/** A filter that expects to be given `expected` hashes, and more later. `hash` is an integer of 53 bits. */
export function createKeyFilter(expected: number): KeyFilter {
  const tables = [newTable(Math.max(leastRoom, expected * 1.25))];
  return {
    add(hash) {
      let table = tables.at(-1);
      if (table === undefined || table.count >= table.room) {
        table = newTable(2 * (table?.room ?? leastRoom));
        tables.push(table);
      }
      table.count += 1;
      const { bits } = table;
      const mask = bits.length * 32 - 1;
      const step = stepOf(hash);
      let bit = hash >>> 0;
      for (let probe = 0; probe < probes; probe += 1) {
        const place = bit & mask;
        bits[place >>> 5] = (bits[place >>> 5] ?? 0) | (1 << (place & 31));
        bit = (bit + step) >>> 0;
      }
    },
    mayHave: (hash) => tables.some(({ bits }) => hasAllBits(bits, hash)),
  };
}

function newTable(room: number): Table {
  // A power of two of bits, and at most what the 32 bits of a place reach.
  const bitCount = Math.min(2 ** 32, 2 ** Math.ceil(Math.log2(room * bitsPerHash)));
  return { bits: new Uint32Array(bitCount / 32), room: bitCount / bitsPerHash, count: 0 };
}

function stepOf(hash: number): number {
  return (Math.imul(Math.floor(hash / 2 ** 21) >>> 0, 0x9e3779b1) | 1) >>> 0;
}

function hasAllBits(bits: Uint32Array, hash: number): boolean {
  const mask = bits.length * 32 - 1;
  const step = stepOf(hash);
  let bit = hash >>> 0;
  for (let probe = 0; probe < probes; probe += 1) {
    const place = bit & mask;
    if (((bits[place >>> 5] ?? 0) & (1 << (place & 31))) === 0) return false;
    bit = (bit + step) >>> 0;
  }
  return true;
}
