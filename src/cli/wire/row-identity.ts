/** What makes a row of a file the same row when the file is read again. */

import { sha256 } from '../../digest.ts';

/**
 * Gives each content its id: the same wherever the row stands, so that work from a file can be repeated, and a file that has
 * grown be used again. Rows that are alike are counted, so that each of them is one.
 */
export function createRowIdentity(): (content: string) => string {
  const seen = new Map<string, number>();
  return (content) => {
    const digest = shortDigest(content);
    const count = (seen.get(digest) ?? 0) + 1;
    seen.set(digest, count);
    return count === 1 ? `row:${digest}` : `row:${digest}:${count}`;
  };
}

/** 162 bits of the SHA-256 of a text: few enough characters for a key, and enough to tell all there ever are apart. */
export function shortDigest(text: string): string {
  return sha256().update(text).digest('base64url').slice(0, 27);
}
