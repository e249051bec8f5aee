/** What the system says of a file whose place a person named. */

import { statSync } from 'node:fs';
import type { Stats } from 'node:fs';

import { UnavailableError } from '../errors.ts';

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
