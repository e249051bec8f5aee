/**
 * What of a database's URL may be shown to people and kept in their files, which file it names, how such a file is recognised,
 * and which names no file can have.
 */

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { BillingError } from './errors.ts';

/** Names a database that ends with its process. */
export const inMemory = ':memory:';

/** Throws a usage error where a command would make a whole database that is gone once it ends. */
export function refuseInMemory(database: string, command: 'copy' | 'restore'): void {
  if (database !== inMemory) return;
  throw new BillingError('usage', 'a database in memory would be gone as soon as the command ends', {
    hint: `${command} it with: --to PATH`,
  });
}

/** How a database file begins, and the suffixes of the files beside it. */
export const databaseFile = {
  beginning: 'SQLite format 3\0',
  endsBeside: ['-wal', '-shm', '-journal', '-newest', '-new'],
} as const;

/** The same text with `***` for the password of a URL in it, however odd the rest of the URL; a path is returned unchanged. */
export function withoutPassword(database: string): string {
  if (!database.includes('://')) return database;
  return database
    .replace(/([a-z][a-z0-9+.-]+:\/\/[^/?#@:]*):.*@/is, '$1:***@')
    .replaceAll(/([?&][a-z]*password=)[^&#]*/gi, '$1***');
}

/**
 * The URL of a database server; undefined for other text, and for a URL with an `@` after its host. The latter is a piece of an
 * unescaped password, and another piece would be looked up as the host.
 */
export function serverUrlOf(text: string): URL | undefined {
  const parsed = URL.parse(text);
  return parsed === null || parsed.pathname.includes('@') ? undefined : parsed;
}

/** A server with its password, which would become the name of a file: keywords and values, or a URL with a part of its `://`. */
const serverAddress = /(?:^|\s)password\s*=|^postgres(?:ql)?(?::\/(?!\/)|\/+)[^/]*:[^/]*@/i;

/** What to give in place of what is no database. */
export const databaseForms = 'give the path of a file, such as ./billing.db, or postgres://USER@HOST/DATABASE';

/**
 * Throws a usage error for a path that nobody means. A leading `~` is one: shells leave it as it is after `=` and in files of
 * variables, so a directory of that name would be made, and removing it is one space away from removing the home directory.
 * White space at either end is another, such as the end of a Windows line in a file of variables: an empty database would be
 * made beside the intended one, and written to. So it would for bytes that are no UTF-8, in whose place Node puts a sign, for a
 * dash, which other programs take for a stream, and for the address of a server that is no URL.
 */
export function refuseUnmeant(database: string): void {
  if (database === '') {
    throw new BillingError('usage', 'the path of the database is empty', { hint: databaseForms });
  }
  if (database.trim() !== database) {
    throw new BillingError('usage', `the path of the database begins or ends with white space: "${database}"`, {
      hint: 'remove it; if the file is really called that, rename the file first, while nothing uses it',
    });
  }
  if (database === '-') {
    throw new BillingError('usage', `the path of the database is a dash: "${database}"`, {
      hint: 'a database is neither standard input nor standard output; for a file of that name: ./-',
    });
  }
  if (database.includes('\uFFFD')) {
    throw new BillingError('usage', `the path of the database is not UTF-8 text: "${database}"`, {
      hint: 'let whoever gives the path use UTF-8; if the file is really called that, rename it first, while nothing uses it',
    });
  }
  // Most paths have neither sign; see `pathOfFileUrl`.
  if ((database.includes('=') || database.includes('@')) && serverAddress.test(database)) {
    throw new BillingError('usage', 'the database is the address of a server in another form than a URL', {
      hint: 'write it as postgres://USER@HOST/DATABASE, or put ./ before the name of a file',
    });
  }
  if (!database.startsWith('~') || !/^~(?:[\\/]|$)/.test(database)) return;
  throw new BillingError('usage', `${database} begins with ~, which is not expanded here`, {
    hint: `write the path in full; for a directory of that name: ./${database}`,
  });
}

/** Throws a usage error for a URL in place of a path: as a path it would be shown with its password and become a file name. */
export function refuseUrl(path: string, { what, hint }: { readonly what: string; readonly hint: string }): void {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(path)) return;
  throw new BillingError('usage', `${withoutPassword(path)} is a URL, and ${what}`, { hint });
}

/** The path in `file:…` or `sqlite:…`; undefined for any other text. Throws a usage error for such a URL without a path. */
export function pathOfFileUrl(url: string): string | undefined {
  // Most paths have no colon, and making an expression takes longer than looking; so below, and in `store/open.ts`.
  if (!url.includes(':')) return undefined;
  const [scheme] = /^(?:file|sqlite):/i.exec(url) ?? [];
  if (scheme === undefined) return undefined;
  const rest = url.slice(scheme.length);
  if (rest === '') throw noFile(url);
  refuseUnmeant(rest);
  if (!rest.startsWith('//')) return rest;
  try {
    return fileURLToPath(`file:${rest}`);
  } catch (cause) {
    throw noFile(url, cause);
  }
}

function noFile(url: string, cause?: unknown): BillingError {
  return new BillingError('usage', `${url} is not the URL of a file`, {
    cause,
    hint: 'give the path of a file, such as ./billing.db',
  });
}

/** The full path if a URL names a file, so that the same database is recognised; any other text unchanged. */
export function withoutFileScheme(database: string): string {
  const path = pathOfFileUrl(database);
  return path === undefined || path === inMemory ? (path ?? database) : resolve(path);
}
