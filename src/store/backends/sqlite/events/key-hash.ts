/**
 * The number by which the key of an event is looked up: 53 bits, so that it is a plain integer everywhere. Two keys may share
 * a number, so whoever finds an event by it compares the key. The numbers are stored in databases and must never change.
 * The hash is fast and not secret: anyone can make thousands of keys with the same number in seconds. So once a few keys share
 * a number, further ones get a second number, which nobody can choose.
 */

import { sha256Of } from '../../../../digest.ts';

/** How many keys may share a number before others get their second one. By chance not even three would. */
export const crowd = 4;

/** Gives the number of a key of this organization. Organizations may use the same keys, but the numbers differ. */
export function createKeyHash(orgId: string): (idempotencyKey: string) => number {
  const seedHigh = mixed(orgId, 0xdeadbeef, 0x9e3779b1);
  const seedLow = mixed(orgId, 0x41c6ce57, 0x5f356495);
  return (idempotencyKey) => {
    const high = mixed(idempotencyKey, seedHigh, 0x9e3779b1);
    const low = mixed(idempotencyKey, seedLow, 0x5f356495);
    const a = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
    const b = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
    return 2 ** 32 * (b & 0x1f_ffff) + (a >>> 0);
  };
}

/** The number of a key whose first one is crowded, taken from the key's SHA-256. */
export function secondKeyHash(orgId: string, idempotencyKey: string): number {
  return Number.parseInt(sha256Of(`${orgId}\0${idempotencyKey}`).slice(0, 13), 16);
}

function mixed(text: string, seed: number, factor: number): number {
  let mix = seed;
  for (let index = 0; index < text.length; index += 1) mix = Math.imul(mix ^ text.charCodeAt(index), factor);
  return mix;
}

/** The same for keys of several organizations. */
export function createKeyHashes(): (orgId: string, idempotencyKey: string) => number {
  const hashes = new Map<string, (idempotencyKey: string) => number>();
  return (orgId, idempotencyKey) => hashes.getOrInsertComputed(orgId, createKeyHash)(idempotencyKey);
}
