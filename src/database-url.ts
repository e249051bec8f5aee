/** What of a database's URL may be shown to people and kept in files of theirs, and what no database can be called. */

import { BillingError } from './errors.ts';

/** The same text with `***` where a URL in it has a password, however odd the rest of the URL; a path comes back as it is. */
export function withoutPassword(database: string): string {
  if (!database.includes('://')) return database;
  return database
    .replace(/([a-z][a-z0-9+.-]+:\/\/[^/?#@:]*):.*@/is, '$1:***@')
    .replaceAll(/([?&][a-z]*password=)[^&#]*/gi, '$1***');
}

/**
 * Throws a usage error for a path that begins with the sign of a home directory, which shells leave as it is behind `=` and in
 * files of variables: a directory of that name would be made, and removing it is one space away from removing the home.
 */
export function refuseTilde(database: string): void {
  if (!/^~(?:[\\/]|$)/.test(database)) return;
  throw new BillingError('usage', `${database} begins with ~, which stands for no directory here`, {
    hint: `write the path in full; for a directory of that name: ./${database}`,
  });
}
