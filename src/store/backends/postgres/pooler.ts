/**
 * Poolers between this program and the server. Locks, settings and prepared statements belong to a session; a pooler of
 * transactions gives the session to another program after each of them, and a lock that nobody can give back stops every
 * writer.
 */

import type { Pool, PoolClient, QueryConfig } from 'pg';

import { BillingError } from '../../../errors.ts';
import { limits } from '../../../limits.ts';
import { isSilence } from './errors.ts';

/** The process of the server that has answered the connection; a pooler names none of them. */
export function processOf(client: PoolClient): string {
  // The library has it, and its types do not.
  return String((client as PoolClient & { readonly processID: unknown }).processID);
}

/** More rounds than one, since other programs may give back the very session that was had before. */
const rounds = 3;

/**
 * Throws a usage error where the session of `client`, which was that of `backend`, becomes another one while it is held. For that
 * a second session is kept within a transaction meanwhile: a pooler that gives away what is idle has then given it this one.
 * Where there is no second session, nothing is found.
 */
export async function refuseChangingSessions(
  pool: Pool,
  client: PoolClient,
  { location, backend }: { readonly location: string; readonly backend: string },
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const other = await pool.connect().catch(() => undefined);
    if (other === undefined) return;
    try {
      await other.query('BEGIN; SELECT pg_backend_pid()');
      if ((await backendOf(client)) !== backend) throw changingSessionsError(location);
    } finally {
      // Ended, and its transaction with it: a pooler has few.
      other.release(true);
    }
  }
}

/** Undefined where the pooler has given away the only session that it has: no answer comes until it is given back. */
async function backendOf(client: PoolClient): Promise<string | undefined> {
  const text = 'SELECT pg_backend_pid()::text AS "backend"';
  try {
    const asked = { text, query_timeout: limits.connectTimeoutMilliseconds } as QueryConfig;
    const { rows } = await client.query<{ readonly backend: string }>(asked);
    return rows[0]?.backend;
  } catch (error) {
    if (isSilence(error)) return undefined;
    throw error;
  }
}

function changingSessionsError(location: string): BillingError {
  return new BillingError(
    'usage',
    `the pooler of ${location} pools transactions, and this program needs sessions: its locks belong to them`,
    { hint: 'let it pool sessions (pool_mode = session), or give the URL of the server itself' },
  );
}
