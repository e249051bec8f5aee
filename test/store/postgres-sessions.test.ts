/** What is said where a session of the pool cannot be had, and what is left in one that was used. */

import { CompiledQuery } from 'kysely';
import pg from 'pg';
import { describe, expect, test } from 'vitest';

import { openStore } from '../../src/store/open.ts';
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

  test('who asks for more sessions than the server has waits for one that is released', async () => {
    const connectionString = (await postgres?.create({ isEmpty: true })) ?? '';
    const administrator = openPool({ connectionString, max: 1 });
    const { rows } = await administrator.query<{ name: string }>('SELECT current_database() AS name');
    const role = `${rows[0]?.name}_two`;
    await administrator.query(`CREATE ROLE "${role}" LOGIN CONNECTION LIMIT 2`);
    const url = new URL(connectionString);
    url.username = role;
    const pool = openPool({ connectionString: url.href, max: 10, connectionTimeoutMillis: 5_000 });
    const take = createSessions({ pool, location: 'books', answerMilliseconds: undefined, onError: () => undefined });
    (await take()).release();
    let most = 0;
    let held = 0;
    const both = Promise.withResolvers<void>();
    await Promise.all(
      Array.from({ length: 30 }, async () => {
        const session = await take();
        held += 1;
        most = Math.max(most, held);
        if (held === 2) both.resolve();
        await both.promise;
        await session.executeQuery(CompiledQuery.raw('SELECT 1'));
        held -= 1;
        session.release();
      }),
    );
    expect(most).toBe(2);
    await pool.end();
    await administrator.query(`DROP ROLE "${role}"`);
    await administrator.end();
  });

  test('how long a write waits for its turn is no limit of what its session reads afterwards', async () => {
    const url = (await postgres?.create()) ?? '';
    const store = await openStore(url);
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await store.write(async () => undefined, { busyTimeoutMilliseconds: 0 });
    await other.query('BEGIN; LOCK TABLE "customers" IN ACCESS EXCLUSIVE MODE');
    const reading = store.read(async (tx) => await tx.selectFrom('customers').select('name').execute());
    const waiting = `SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE datname = current_database() AND NOT granted`;
    await expect.poll(async () => (await other.query(waiting)).rowCount).toBe(1);
    await other.query('COMMIT');
    await expect(reading).resolves.toEqual([]);
    await other.end();
    await store.close();
  });
});
