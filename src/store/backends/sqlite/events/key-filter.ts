/**
 * A filter of hashes that may have been seen: it never forgets an added hash, and takes one new hash in some hundreds for a
 * known one. It has sixteen bits per hash, in tables that double, so that it grows without a known limit. All bits of a hash
 * lie in one line of a processor's cache, and lines are ordered by hash, so that a sorted run of keys is added front to back.
 */

interface Table {
  readonly words: Uint32Array;
  readonly lines: number;
  readonly room: number;
  count: number;
}

const bitsPerHash = 16;
const probes = 5;
const leastRoom = 2 ** 20;
/** Of 32 bits each. */
const lineWords = 16;
/** 512 MiB: beyond 250 million hashes a process gets by with fewer bits per hash. */
const mostLines = 2 ** 23;

/** Only a negative answer of `mayHave` is certain. */
export interface KeyFilter {
  readonly add: (hash: number) => void;
  readonly mayHave: (hash: number) => boolean;
}

/** A filter for `expected` hashes, and more later. A `hash` is an integer of 53 bits. */
export function createKeyFilter(expected: number): KeyFilter {
  const tables = [newTable(Math.max(leastRoom, Math.ceil(expected * 1.25)))];
  return {
    add(hash) {
      let table = tables.at(-1);
      if (table === undefined || table.count >= table.room) {
        table = newTable(2 * (table?.room ?? leastRoom));
        tables.push(table);
      }
      table.count += 1;
      const { words } = table;
      const line = lineOf(table, hash);
      let mix = hash >>> 0;
      for (let probe = 0; probe < probes; probe += 1) {
        mix = mixed(mix);
        const word = line + (mix >>> 28);
        words[word] = (words[word] ?? 0) | bitOf(mix);
      }
    },
    mayHave: (hash) => tables.some((table) => hasAllBits(table, hash)),
  };
}

function newTable(room: number): Table {
  const lines = Math.min(mostLines, Math.ceil((room * bitsPerHash) / (lineWords * 32)));
  // One line more, because the largest hashes may be rounded up to it.
  return { words: new Uint32Array((lines + 1) * lineWords), lines, room, count: 0 };
}

/** The first word of the hash's line. */
function lineOf({ lines }: Table, hash: number): number {
  return Math.floor(hash * (lines / 2 ** 53)) * lineWords;
}

/** The first four bits of the result choose a word of the line, and the next five a bit of the word. */
function mixed(mix: number): number {
  return Math.imul(mix ^ (mix >>> 15), 0x9e3779b1);
}

function bitOf(mix: number): number {
  return 1 << ((mix >>> 23) & 31);
}

function hasAllBits(table: Table, hash: number): boolean {
  const { words } = table;
  const line = lineOf(table, hash);
  let mix = hash >>> 0;
  for (let probe = 0; probe < probes; probe += 1) {
    mix = mixed(mix);
    if (((words[line + (mix >>> 28)] ?? 0) & bitOf(mix)) === 0) return false;
  }
  return true;
}
