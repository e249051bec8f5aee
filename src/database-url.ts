/**
 * What of a database's URL may be shown to people and kept in files of theirs, which file it names, how such a file is known,
 * and what none can be called.
 */

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { BillingError } from './errors.ts';

/** Names a database that goes with its process. */
export const inMemory = ':memory:';

/** What a database that is a file begins with, and how the names of the files end that it keeps beside itself. */
export const databaseFile = {
  beginning: 'SQLite format 3\0',
  endsBeside: ['-wal', '-shm', '-journal', '-newest', '-new'],
} as const;

/** The same text with `***` where a URL in it has a password, however odd the rest of the URL; a path comes back as it is. */
export function withoutPassword(database: string): string {
  if (!database.includes('://')) return database;
  return database
    .replace(/([a-z][a-z0-9+.-]+:\/\/[^/?#@:]*):.*@/is, '$1:***@')
    .replaceAll(/([?&][a-z]*password=)[^&#]*/gi, '$1***');
}

/**
 * The URL of a database server; undefined for what is none, and for one with an `@` behind its host: there stands a piece of a
 * password that was not escaped, and another would be looked up as the host.
 */
export function serverUrlOf(text: string): URL | undefined {
  const parsed = URL.parse(text);
  return parsed === null || parsed.pathname.includes('@') ? undefined : parsed;
}

const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/**
 * Throws a usage error where `mode`, as PGSSLMODE has it, decides on TLS to the server of `database` and is no word for it: of such
 * a one the library makes a connection without.
 */
export function refuseUnknownSslMode(database: string, mode: string | undefined): void {
  if (mode === undefined || mode === '' || sslModes.includes(mode)) return;
  if (!/^postgres(?:ql)?:/i.test(database) || /[?&]ssl(?:mode|rootcert)=/.test(database)) return;
  throw new BillingError('usage', `PGSSLMODE=${mode} does not say what is to happen`, {
    hint: `set it to one of ${sslModes.join(', ')}, or give sslmode in the URL`,
  });
}

/**
 * Throws a usage error for a path that nobody means. One that begins with the sign of a home directory, which shells leave as it
 * is behind `=` and in files of variables: a directory of that name would be made, and removing it is one space away from
 * removing the home. And one that begins or ends with white space, such as the end of a line of Windows in a file of variables:
 * an empty database would be made beside the one that is meant, and written to.
 */
export function refuseUnmeant(database: string): void {
  if (database.trim() !== database) {
    throw new BillingError('usage', `the path of the database begins or ends with white space: "${database}"`, {
      hint: 'leave that out; a file that is called so is renamed first, while nothing uses it',
    });
  }
  if (!database.startsWith('~') || !/^~(?:[\\/]|$)/.test(database)) return;
  throw new BillingError('usage', `${database} begins with ~, which stands for no directory here`, {
    hint: `write the path in full; for a directory of that name: ./${database}`,
  });
}

/** Throws a usage error for a URL in the place of a path: taken for one, it would be shown with its password, and be the name of a file. */
export function refuseUrl(path: string, { what, hint }: { readonly what: string; readonly hint: string }): void {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(path)) return;
  throw new BillingError('usage', `${withoutPassword(path)} is a URL, and ${what}`, { hint });
}

/** The path that `file:…` or `sqlite:…` names; undefined for any other text. Throws a usage error for a URL that names none. */
export function pathOfFileUrl(url: string): string | undefined {
  // Most paths have none, and making an expression takes longer than looking; so below, and in `store/open.ts`.
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

/** The same database by its path in full where a URL names a file, so that it is known to be the same; any other text as it is. */
export function withoutFileScheme(database: string): string {
  const path = pathOfFileUrl(database);
  return path === undefined || path === inMemory ? (path ?? database) : resolve(path);
}
