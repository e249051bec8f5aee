/** What of a database's URL may be shown to people and kept in files of theirs. */

/** The same text with `***` where a URL in it has a password, however odd the rest of the URL; a path comes back as it is. */
export function withoutPassword(database: string): string {
  if (!database.includes('://')) return database;
  return database
    .replace(/([a-z][a-z0-9+.-]+:\/\/[^/?#@:]*):.*@/is, '$1:***@')
    .replaceAll(/([?&][a-z]*password=)[^&#]*/gi, '$1***');
}
