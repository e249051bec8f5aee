/** What identifies a row of a file when the file is read again. */

import { sha256 } from '../../digest.ts';

/**
 * Gives each row an id made of its content, the same wherever the row stands, so that work from a file can be repeated, and
 * repeated after the file has grown. Equal rows are counted, so that each has its own id.
 */
export function createRowIdentity(): (content: string) => string {
  const countOf = createDigestCounts();
  return (content) => {
    const digest = digestOf(content);
    const count = countOf(digest);
    const id = `row:${shortened(digest)}`;
    return count === 1 ? id : `${id}:${count}`;
  };
}

/** 162 bits of the SHA-256 of a text: short enough for a key, and enough to tell any number of texts apart. */
export function shortDigest(text: string): string {
  return shortened(digestOf(text));
}

function digestOf(text: string): Buffer {
  return sha256().update(text).digest();
}

function shortened(digest: Buffer): string {
  return digest.toString('base64url').slice(0, 27);
}

/** Words of a place in the table: three of a digest, which tell any number of rows apart, and how often it came. */
const placeWords = 4;
const firstPlaces = 1024;

/**
 * Returns how often a digest has come, this time included. A table takes at most 43 bytes for each: a Map takes 140, and no more
 * than 16.7 million of them.
 */
function createDigestCounts(): (digest: Buffer) => number {
  let table = new Uint32Array(firstPlaces * placeWords);
  let taken = 0;

  /** Counts `more` for the digest with these words, and returns the sum. */
  function add(first: number, second: number, third: number, more: number): number {
    const mask = table.length / placeWords - 1;
    let at = (first & mask) * placeWords;
    while (table[at + 3] !== 0 && !(table[at] === first && table[at + 1] === second && table[at + 2] === third)) {
      at = (at + placeWords) % table.length;
    }
    const count = (table[at + 3] ?? 0) + more;
    table[at] = first;
    table[at + 1] = second;
    table[at + 2] = third;
    table[at + 3] = count;
    return count;
  }

  function grow(): void {
    const before = table;
    table = new Uint32Array(2 * before.length);
    for (let at = 0; at < before.length; at += placeWords) {
      const count = before[at + 3] ?? 0;
      if (count > 0) add(before[at] ?? 0, before[at + 1] ?? 0, before[at + 2] ?? 0, count);
    }
  }

  return (digest) => {
    const count = add(digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8), 1);
    if (count === 1) taken += 1;
    if (4 * taken * placeWords > 3 * table.length) grow();
    return count;
  };
}
