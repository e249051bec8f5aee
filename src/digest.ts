/**
 * SHA-256. Node's `crypto` takes a quarter of the time to load that Node itself takes, so it waits until much is hashed: the few
 * short texts of a command are hashed by a library that has nothing to load.
 */

import type * as nodeCrypto from 'node:crypto';

import { sha256 as sha256WithoutNode } from '@noble/hashes/sha2.js';

let crypto: typeof nodeCrypto | undefined;

/** Up to here in all: as much takes less than loading `crypto`. */
const mostWithoutNode = 16_384;
let charactersHashed = 0;

/** A new SHA-256, to be fed and read once. */
export function sha256(): nodeCrypto.Hash {
  return loaded().createHash('sha256');
}

/** The SHA-256 of a text in UTF-8, in hexadecimal. */
export function sha256Of(text: string): string {
  if (crypto === undefined) {
    charactersHashed += text.length;
    if (charactersHashed <= mostWithoutNode) return Buffer.from(sha256WithoutNode(Buffer.from(text))).toString('hex');
  }
  return loaded().hash('sha256', text);
}

/** Whether two digests in hexadecimal are the same, in a time that does not tell where they differ. */
export function isSameDigest(one: string, other: string): boolean {
  return loaded().timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'));
}

function loaded(): typeof nodeCrypto {
  crypto ??= process.getBuiltinModule('node:crypto');
  return crypto;
}
