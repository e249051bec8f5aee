/** What every session of ours says first, so that a statement means the same whatever the server, the database or the role is set to. */

import type { ClientBase, QueryConfig } from 'pg';

import { limits } from '../../../limits.ts';
import { versionTable } from './schema.ts';

const common = {
  // A backslash in a text is one.
  standard_conforming_strings: 'on',
  // NULL in a list of values is no text.
  array_nulls: 'on',
  // What the server writes down of its schema is compared.
  quote_all_identifiers: 'off',
} as const;

/** What a session must not be set to, and what it is set to then; a stronger way of the same stays. */
const unsafe = [
  // An answer says that a change is kept.
  { name: 'synchronous_commit', value: 'off', instead: 'on' },
  // No trigger would keep what is frozen, and no reference be looked at.
  { name: 'session_replication_role', value: 'replica', instead: 'origin' },
] as const;

/**
 * When the server asks a machine that says nothing whether it is there, and ends its session, in seconds but for the count: a
 * session holds locks, and that of one without power would hold them for the two hours after which systems ask.
 */
const silence = [
  ['tcp_keepalives_idle', limits.silentSessionSeconds],
  ['tcp_keepalives_interval', limits.silentSessionRepeatSeconds],
  ['tcp_keepalives_count', limits.silentSessionRepeats],
] as const;

/**
 * The schema that holds the book comes first: one that was put before it later, as that of a user's own name is, would be
 * taken for the book's by whatever asks for the current one.
 */
const path = `coalesce((SELECT quote_ident(nspname) || ', ' FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE pg_class.oid = to_regclass('"${versionTable}"')), '') || current_setting('search_path')`;

/** Gives what makes a session of ours of a new one: with `settings` beside those of all. */
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
  // Rejects as the session does that cannot be used; a way that swallows what is sent holds nobody up.
  return async (client) => {
    await client.query({ text, values, query_timeout: limits.connectTimeoutMilliseconds } as QueryConfig);
  };
}
