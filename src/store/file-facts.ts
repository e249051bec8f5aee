/** What the system says of a file whose place a person named. */

import { statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { resolve } from 'node:path';

import { BillingError, UnavailableError } from '../errors.ts';

/**
 * Undefined where there is no file. Throws UnavailableError where the system does not tell: in a directory that this user
 * may not search, or under a name that no file can have.
 */
export function factsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UnavailableError(`${path} cannot be looked for (${code})`, {
      cause: error,
      hint: 'check the path, and that its directory is open to this user',
    });
  }
}

/** Of the whole path; systems take eight times as many. */
const longestPathBytes = 504;

/** SQLite opens nothing of a longer path, and does not say why. `name` is what the person knows of it. */
export function refuseLongPath(path: string, name = path): void {
  const { length } = Buffer.from(resolve(path));
  if (length <= longestPathBytes || process.platform === 'win32') return;
  throw new BillingError('usage', `${name} cannot be used: the whole path has ${length} bytes`, {
    hint: `SQLite takes ${longestPathBytes} at most: choose a place with a shorter name`,
  });
}
