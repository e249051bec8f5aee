/**
 * SHA-256. Loading Node's `crypto` takes a quarter of Node's own start-up, so it waits until much is hashed: a library that has
 * nothing to load hashes the few short texts of a command.
 */

import type * as nodeCrypto from 'node:crypto';

import { sha256 as sha256WithoutNode } from '@noble/hashes/sha2.js';

let crypto: typeof nodeCrypto | undefined;

/** In all: hashing up to this much takes less time than loading `crypto`. */
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

/** Whether two digests in hexadecimal are equal, in a time that does not tell where they differ. */
export function isSameDigest(one: string, other: string): boolean {
  return loaded().timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'));
}

function loaded(): typeof nodeCrypto {
  crypto ??= process.getBuiltinModule('node:crypto');
  return crypto;
}
