/**
 * SHA-256. Node's `crypto` takes a quarter of the time to load that Node itself takes, so it waits until much is hashed: the
 * few short texts of a command are hashed here.
 */

import type * as nodeCrypto from 'node:crypto';

let crypto: typeof nodeCrypto | undefined;

/** Up to here in all: as much takes less than loading `crypto`. */
const ownCharacters = 16_384;
let charactersHashed = 0;

/** A new SHA-256, to be fed and read once. */
export function sha256(): nodeCrypto.Hash {
  return loaded().createHash('sha256');
}

/** The SHA-256 of a text in UTF-8, in hexadecimal. */
export function sha256Of(text: string): string {
  charactersHashed += text.length;
  const isShort = crypto === undefined && charactersHashed <= ownCharacters;
  return isShort ? ownDigest(text) : loaded().hash('sha256', text);
}

/** Whether two digests in hexadecimal are the same, in a time that does not tell where they differ. */
export function isSameDigest(one: string, other: string): boolean {
  return loaded().timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'));
}

function loaded(): typeof nodeCrypto {
  crypto ??= process.getBuiltinModule('node:crypto');
  return crypto;
}

/** Of the square roots of the first eight primes, and of the cube roots of the first 64 (5.3.3, 4.2.2). */
const initialHash = '6a09e667 bb67ae85 3c6ef372 a54ff53a 510e527f 9b05688c 1f83d9ab 5be0cd19';
const roundConstants = `428a2f98 71374491 b5c0fbcf e9b5dba5 3956c25b 59f111f1 923f82a4 ab1c5ed5 d807aa98 12835b01 243185be 550c7dc3
   72be5d74 80deb1fe 9bdc06a7 c19bf174 e49b69c1 efbe4786 0fc19dc6 240ca1cc 2de92c6f 4a7484aa 5cb0a9dc 76f988da
   983e5152 a831c66d b00327c8 bf597fc7 c6e00bf3 d5a79147 06ca6351 14292967 27b70a85 2e1b2138 4d2c6dfc 53380d13
   650a7354 766a0abb 81c2c92e 92722c85 a2bfe8a1 a81a664b c24b8b70 c76c51a3 d192e819 d6990624 f40e3585 106aa070
   19a4c116 1e376c08 2748774c 34b0bcb5 391c0cb3 4ed8aa4a 5b9cca4f 682e6ff3 748f82ee 78a5636f 84c87814 8cc70208
   90befffa a4506ceb bef9a3f7 c67178f2`;
let constants: Int32Array | undefined;

function wordsOf(hexadecimal: string): Int32Array {
  return Int32Array.from(hexadecimal.split(/\s+/), (word) => Number.parseInt(word, 16));
}

const blockBytes = 64;
const lengthBytes = 6;

/** The same without Node, by the steps and the letters of FIPS 180-4, 6.2. */
export function ownDigest(text: string): string {
  const message = Buffer.from(text);
  // A one behind the message, its length in bits at the end of a block, zeros between them.
  const padded = Buffer.alloc(blockBytes * Math.ceil((message.length + 9) / blockBytes));
  padded.set(message);
  padded.writeUInt8(0x80, message.length);
  padded.writeUIntBE(message.length * 8, padded.length - lengthBytes, lengthBytes);
  const hash = wordsOf(initialHash);
  const words = new Int32Array(64);
  for (let start = 0; start < padded.length; start += blockBytes) {
    for (let t = 0; t < 16; t += 1) words[t] = padded.readInt32BE(start + 4 * t);
    addBlock(hash, words);
  }
  const digest = Buffer.alloc(hash.byteLength);
  for (const [index, word] of hash.entries()) digest.writeInt32BE(word, 4 * index);
  return digest.toString('hex');
}

/** Takes a block, the first sixteen of `words`, into the hash. */
function addBlock(hash: Int32Array, words: Int32Array): void {
  for (let t = 16; t < 64; t += 1) {
    const x = words[t - 15] ?? 0;
    const y = words[t - 2] ?? 0;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[t] = (words[t - 16] ?? 0) + s0 + (words[t - 7] ?? 0) + s1;
  }
  constants ??= wordsOf(roundConstants);
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let t = 0; t < 64; t += 1) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const one = h + s1 + ((e & f) ^ (~e & g)) + (constants[t] ?? 0) + (words[t] ?? 0);
    const two = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) hash[index] = (hash[index] ?? 0) + word;
}
