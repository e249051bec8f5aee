/**
 * Poolers between this program and the server. Locks, settings and prepared statements belong to a session. A pooler of
 * transactions gives the session to another program after each transaction, and a lock that nobody can release then stops
 * every writer.
 */

import type { Pool, PoolClient, QueryConfig } from 'pg';

import { BillingError } from '../../../errors.ts';
import { limits } from '../../../limits.ts';
import { isSilence } from './errors.ts';

/** The server process that answered the connection; a pooler names no such process. */
export function processOf(client: PoolClient): string {
  // The library has the property, but its types do not.
  return String((client as PoolClient & { readonly processID: unknown }).processID);
}

/** More than one round, because other programs may give back the very session that was used before. */
const rounds = 3;

/**
 * Throws a usage error if the session behind `client`, which was `backend`, changes while `client` is held. To provoke that, a
 * second session is held within a transaction: a pooler that gives away idle sessions has then given it the first one. Finds
 * nothing if there is no second session.
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
      // Closed together with its transaction: a pooler has few sessions.
      other.release(true);
    }
  }
}

/** Undefined if the pooler has given away its only session: no answer comes until that session is given back. */
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
    `the pooler of ${location} pools transactions, but this program needs sessions, to which its locks belong`,
    { hint: 'make it pool sessions (pool_mode = session), or give the URL of the server itself' },
  );
}
