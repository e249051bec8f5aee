/** SHA-256. Node's `crypto` takes a quarter of the time to load that Node itself takes, so it waits until something is hashed. */

import type * as nodeCrypto from 'node:crypto';

let crypto: typeof nodeCrypto | undefined;

/** A new SHA-256, to be fed and read once. */
export function sha256(): nodeCrypto.Hash {
  return loaded().createHash('sha256');
}

/** The SHA-256 of a text in UTF-8, in hexadecimal. */
export function sha256Of(text: string): string {
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
