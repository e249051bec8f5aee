/** The first statement of every session: with it, statements mean the same however server, database or role are configured. */

import type { ClientBase, QueryConfig } from 'pg';

import { limits } from '../../../limits.ts';
import { versionTable } from './schema.ts';

const common = {
  // A backslash in a text is an ordinary character.
  standard_conforming_strings: 'on',
  // NULL in an array is null, not a text.
  array_nulls: 'on',
  // Definitions that the server writes of its schema are compared.
  quote_all_identifiers: 'off',
  // From the rows that a policy leaves to its user bills would be too low: a statement that it touches is an error.
  row_security: 'off',
  // A commit that no standby has is told by a warning alone.
  client_min_messages: 'warning',
  // A lock that was granted to a stopped process would be held for as long as that is stopped.
  idle_session_timeout: String(limits.idleSessionMilliseconds),
} as const;

/** Settings that a session must not have, and their replacement; a stricter setting stays. */
const unsafe = [
  // An acknowledged change must be durable.
  { name: 'synchronous_commit', value: 'off', instead: 'on' },
  // With it, no trigger would protect what is frozen, and no reference would be checked.
  { name: 'session_replication_role', value: 'replica', instead: 'origin' },
] as const;

/**
 * When the server probes a silent machine and ends its session; in seconds, except for the count. A session holds locks, and
 * after a power failure it would hold them for the two hours after which systems probe by default.
 */
const silence = [
  ['tcp_keepalives_idle', limits.silentSessionSeconds],
  ['tcp_keepalives_interval', limits.silentSessionRepeatSeconds],
  ['tcp_keepalives_count', limits.silentSessionRepeats],
] as const;

/**
 * The schema that holds the book comes first. Without this, a schema put before it later, such as one with the user's name,
 * would become the current schema and be taken for the book's.
 */
const path = `coalesce((SELECT quote_ident(nspname) || ', ' FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE pg_class.oid = to_regclass('"${versionTable}"')), '') || current_setting('search_path')`;

/** Gives a function that prepares a new session, with `settings` in addition to the common ones. */
export function ownSettings(settings: Readonly<Record<string, string>>): (client: ClientBase) => Promise<void> {
  const all = Object.entries({ ...common, ...settings });
  const sentences = all.map(([name], index) => `set_config('${name}', $${index + 1}, false)`);
  const mended = unsafe.map(
    ({ name, value, instead }) =>
      `CASE current_setting('${name}') WHEN '${value}' THEN set_config('${name}', '${instead}', false) END`,
  );
  const bounded = silence.map(
    ([name, most]) =>
      `CASE WHEN current_setting('${name}')::int NOT BETWEEN 1 AND ${most} THEN set_config('${name}', '${most}', false) END`,
  );
  const text = `SELECT ${[...sentences, ...mended, ...bounded].join(', ')}, set_config('search_path', ${path}, false)`;
  const values = all.map(([, value]) => value);
  // Rejects if the session cannot be used. The timeout keeps a connection that swallows what is sent from blocking anybody.
  return async (client) => {
    await client.query({ text, values, query_timeout: limits.connectTimeoutMilliseconds } as QueryConfig);
  };
}
