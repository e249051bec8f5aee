/** What identifies a row of a file when the file is read again. */

import { sha256 } from '../../digest.ts';

/**
 * Gives each row an id made of its content, the same wherever the row stands, so that work from a file can be repeated, and
 * repeated after the file has grown. Equal rows are counted, so that each has its own id.
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

/** 162 bits of the SHA-256 of a text: short enough for a key, and enough to tell any number of texts apart. */
export function shortDigest(text: string): string {
  return sha256().update(text).digest('base64url').slice(0, 27);
}
