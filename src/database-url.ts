/** What of a database's URL may be shown to people and kept in files of theirs. */

const schemeOfUrl = /^[a-z][a-z0-9+.-]+:/i;

/** The same URL with `***` where a password stands, however odd the rest of it is; a path comes back as it is. */
export function withoutPassword(database: string): string {
  if (!schemeOfUrl.test(database)) return database;
  return database
    .replace(/^([a-z][a-z0-9+.-]+:\/\/[^/?#@:]*):.*@/is, '$1:***@')
    .replaceAll(/([?&][a-z]*password=)[^&#]*/gi, '$1***');
}
