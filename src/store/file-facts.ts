/** What the operating system says of a file whose path a person gave. */

import { lstatSync, realpathSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { resolve } from 'node:path';

import { BillingError, reasonOfFile, UnavailableError } from '../errors.ts';

/**
 * Undefined if there is no file. Throws UnavailableError if the system cannot say: in a directory that this user may not
 * search, or for a name that no file can have.
 */
export function factsOf(path: string): Stats | undefined {
  return lookedUp(statSync, path);
}

/** Whether the path exists; a link counts itself, wherever it leads. Throws as `factsOf` does. */
export function isThere(path: string): boolean {
  return lookedUp(lstatSync, path) !== undefined;
}

function lookedUp(look: typeof statSync, path: string): Stats | undefined {
  try {
    return look(path, { throwIfNoEntry: false });
  } catch (error) {
    throw new UnavailableError(`${path} cannot be looked up: ${reasonOfFile(error)}`, {
      cause: error,
      hint: 'check the path, and that its directory is open to this user',
    });
  }
}

/** The path behind all links, beside which SQLite keeps the log of a file; the path itself if there is no file. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The limit for the whole path; operating systems allow eight times as much. */
const longestPathBytes = 504;

/** SQLite opens no file with a longer path, and does not say why. `name` is what the person calls the file. */
export function refuseLongPath(path: string, name = path): void {
  const { length } = Buffer.from(resolve(path));
  if (length <= longestPathBytes || process.platform === 'win32') return;
  throw new BillingError('usage', `${name} cannot be used: the whole path has ${length} bytes`, {
    hint: `SQLite takes at most ${longestPathBytes}: choose a shorter path`,
  });
}
