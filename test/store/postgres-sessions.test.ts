/** What is said where a session of the pool cannot be had. */

import { describe, expect, test } from 'vitest';

import { createSessions, openPool } from '../../src/store/backends/postgres/session.ts';
import { usePostgres } from '../support/postgres.ts';

const postgres = await usePostgres();

describe.runIf(postgres !== undefined)('PostgreSQL', () => {
  test('who waits in vain for a session that others have is not told that the server is away', async () => {
    const connectionString = await postgres?.create({ isEmpty: true });
    const pool = openPool({ connectionString, max: 1, connectionTimeoutMillis: 1_000 });
    const take = createSessions({ pool, location: 'books', answerMilliseconds: undefined, onError: () => undefined });
    const session = await take();
    await expect(take()).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'all sessions of this process on the database books are in use; nothing was changed',
    });
    session.release();
    (await take()).release();
    await pool.end();
  });
});
