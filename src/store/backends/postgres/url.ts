/** From the URL of a PostgreSQL database to the connection options of the library. */

import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { PoolConfig } from 'pg';

import { serverUrlOf, withoutPassword } from '../../../database-url.ts';
import { BillingError } from '../../../errors.ts';
import { limits } from '../../../limits.ts';

/** The modes of libpq that the library knows; `no-verify` is its own. */
const knownModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
/** Those whose outcome is certain. */
const modes = knownModes.filter((mode) => mode !== 'prefer');

const tlsParameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslpassword', 'uselibpqcompat'];

/** Session limits in milliseconds. A pooler refuses them as startup parameters, so they are set once the session is there. */
const timeLimits = {
  statement_timeout: limits.statementMilliseconds,
  idle_in_transaction_session_timeout: limits.statementMilliseconds,
  lock_timeout: limits.busyTimeoutMilliseconds,
} as const;

/** The limits of every session of this URL, by the server's names of the settings; the URL's own values win. */
export function timeLimitsOf(url: string): Readonly<Record<keyof typeof timeLimits, string>> {
  const given = parse(url).searchParams;
  const limitsOf = Object.entries(timeLimits).map(([name, own]) => [name, given.get(name) ?? String(own)]);
  return Object.fromEntries(limitsOf) as Record<keyof typeof timeLimits, string>;
}

/**
 * Host, user, database and parameters as libpq reads them, TLS too; what the URL leaves out comes from the PG* variables and
 * the password file. Parameters of the URL win over ours. Throws a usage error, which never shows the password.
 */
export function connectionOf(url: string): PoolConfig {
  const parsed = parse(url);
  const ssl = tlsOf(parsed.searchParams, withoutPassword(url));
  for (const name of [...tlsParameters, ...Object.keys(timeLimits)]) parsed.searchParams.delete(name);
  return {
    max: limits.databaseSessions,
    connectionTimeoutMillis: limits.connectTimeoutMilliseconds,
    idleTimeoutMillis: limits.databaseIdleMilliseconds,
    keepAlive: true,
    keepAliveInitialDelayMillis: limits.connectTimeoutMilliseconds,
    application_name: 'tallybook',
    ...(ssl === undefined ? {} : { ssl }),
    connectionString: parsed.href,
  };
}

/**
 * How long to wait for the answer to a statement. Longer than the server's own limit, so that it is reached only if the
 * connection swallows what is sent. Undefined if the URL lets statements take any time.
 */
export function answerMillisecondsOf(url: string): number | undefined {
  const { statement_timeout: text } = timeLimitsOf(url);
  if (!/^\d+$/.test(text)) {
    // The server would take 5s, and nobody would notice a connection that swallows what is sent.
    throw usageError(
      `statement_timeout=${text} of ${withoutPassword(url)} is no whole number of milliseconds`,
      'write 300000 for five minutes, or 0 for any time',
    );
  }
  const milliseconds = Number(text);
  return milliseconds > 0 ? milliseconds + limits.connectTimeoutMilliseconds : undefined;
}

function parse(url: string): URL {
  const parsed = serverUrlOf(url);
  if (parsed !== undefined) return parsed;
  throw usageError(
    `${withoutPassword(url)} is not the URL of a database`,
    'write postgres://USER@HOST:PORT/DATABASE, with %40 for an @ and %2F for a / in a password',
  );
}

/**
 * Throws a usage error if `mode`, the value of PGSSLMODE, decides on TLS to the server at `url` and is not a known mode: with an
 * unknown mode the library would connect without TLS.
 */
export function refuseUnknownMode(url: string, mode: string): void {
  if (knownModes.includes(mode) || modeOf(parse(url).searchParams) !== undefined) return;
  throw usageError(
    `PGSSLMODE=${mode} is not a known mode`,
    `set it to one of ${knownModes.join(', ')}, or give sslmode in the URL`,
  );
}

/** Undefined if the URL says nothing: then the library reads PGSSLMODE, whose TLS modes all verify the certificate. */
function modeOf(parameters: URLSearchParams): string | undefined {
  return parameters.get('sslmode') ?? (parameters.has('sslrootcert') ? 'verify-full' : undefined);
}

/** Undefined where `modeOf` is. */
function tlsOf(parameters: URLSearchParams, shown: string): boolean | ConnectionOptions | undefined {
  const unknown = [...parameters.keys()].find((name) => /^ssl/i.test(name) && !tlsParameters.includes(name));
  if (unknown !== undefined) {
    throw usageError(
      `${unknown} of ${shown} is not supported, so the connection would not be the one that was meant`,
      'the settings for TLS are sslmode, sslrootcert, sslcert, sslkey and sslpassword',
    );
  }
  const authority = parameters.get('sslrootcert');
  const mode = modeOf(parameters);
  if (mode === undefined) return undefined;
  if (!modes.includes(mode)) {
    throw usageError(`sslmode=${mode} of ${shown} is not a known mode`, `give one of ${modes.join(', ')}`);
  }
  if (mode === 'disable') return false;
  const ca = authority === null || authority === 'system' ? {} : { ca: contentOf(authority) };
  const [cert, key] = [parameters.get('sslcert'), parameters.get('sslkey')];
  return {
    minVersion: limits.oldestTls,
    ...ca,
    ...(cert === null ? {} : { cert: contentOf(cert) }),
    ...(key === null ? {} : { key: contentOf(key), passphrase: parameters.get('sslpassword') ?? undefined }),
    // As libpq does: `require` alone encrypts and trusts any server; with an authority, its certificate is required.
    rejectUnauthorized: mode.startsWith('verify') || (mode === 'require' && authority !== null),
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new BillingError('usage', `${path}, which the URL of the database names, cannot be read`, { cause });
  }
}

function usageError(message: string, hint: string): BillingError {
  return new BillingError('usage', message, { hint });
}
