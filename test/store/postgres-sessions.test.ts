/** What is said where a session of the pool cannot be had, and what is left in one that was used. */

import { spawnSync } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

import { CompiledQuery } from 'kysely';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { UnavailableError, UnknownOutcomeError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { openStore } from '../../src/store/open.ts';
import { inspectServer } from '../../src/store/backends/postgres/inspection.ts';
import { createSessions, openPool } from '../../src/store/backends/postgres/session.ts';
import { rowsOfText } from '../../src/store/raw-query.ts';
import type { Store } from '../../src/store/store.ts';
import { listenOnLoopback } from '../support/free-port.ts';
import { canFillDisk } from '../support/full-disk.ts';
import { usePostgres } from '../support/postgres.ts';
import { insertTwoOrganizations } from './rows.ts';

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

  /** A pool of a role's own, whose sessions the server counts; `alter` changes what the role may do. */
  async function poolOfRole(limit: number, doorTo: (port: string) => Promise<number | string> = async (port) => port) {
    const connectionString = (await postgres?.create({ isEmpty: true })) ?? '';
    const administrator = openPool({ connectionString, max: 1 });
    const { rows } = await administrator.query<{ name: string }>('SELECT current_database() AS name');
    const role = `${rows[0]?.name}_role`;
    await administrator.query(`CREATE ROLE "${role}" LOGIN CONNECTION LIMIT ${limit}`);
    const url = new URL(connectionString);
    url.username = role;
    url.port = String(await doorTo(url.port));
    const pool = openPool({ connectionString: url.href, max: 10, connectionTimeoutMillis: 5_000 });
    const take = createSessions({ pool, location: 'books', answerMilliseconds: undefined, onError: () => undefined });
    onTestFinished(async () => {
      await pool.end();
      await administrator.query(`DROP ROLE "${role}"`);
      await administrator.end();
    });
    return { pool, take, alter: async (what: string) => await administrator.query(`ALTER ROLE "${role}" ${what}`) };
  }

  test('who asks for more sessions than the server has waits for one that is released, and later for none', async () => {
    const usual = limits.crowdedServerMilliseconds;
    Object.assign(limits, { crowdedServerMilliseconds: 50 });
    onTestFinished(() => void Object.assign(limits, { crowdedServerMilliseconds: usual }));
    const { pool, take } = await poolOfRole(2);
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
    await expect.poll(() => pool.options.max).toBe(10);
  });

  test('who has no session, of a server that takes no more, is told so', async () => {
    const { take } = await poolOfRole(0);
    await expect(take()).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'the database books cannot be reached: the server takes no more connections',
      hint: 'wait until others close theirs, or allow the server or the role more connections',
    });
  });

  test('who had a session break as it began waits all the same for one that is released', async () => {
    let isBreaking = true;
    const { take } = await poolOfRole(1, async (port) => {
      const door = createServer((near) => {
        const far = connect(Number(port), '127.0.0.1');
        near.on('data', (bytes) => {
          if (!isBreaking || !bytes.includes('set_config')) far.write(bytes);
          else near.destroy();
        });
        far.pipe(near);
        near.on('close', () => far.destroy());
      });
      onTestFinished(() => void door.close());
      return await listenOnLoopback(door);
    });
    await expect(take()).rejects.toThrow('cannot be reached');
    isBreaking = false;
    // The server counts the broken one for a moment longer.
    const session = await vi.waitFor(take);
    const waiting = take();
    session.release();
    (await waiting).release();
  });

  test('who is refused beside the sessions that there are is told why, and waits for none of them', async () => {
    const { take, alter } = await poolOfRole(2);
    const session = await take();
    await alter('NOLOGIN');
    const refusal = take();
    await expect(refusal).rejects.toMatchObject({ message: expect.stringContaining('refuses this user') });
    // By its class work of several transactions tells a database that fails from a contract that does.
    await expect(refusal).rejects.toBeInstanceOf(UnavailableError);
    session.release();
  });

  // Such a limit is of a whole process, and prlimit says what it is.
  test.runIf(canFillDisk)(
    'who may open no more files for a session is told so, and has one once there is room',
    async () => {
      const url = (await postgres?.create()) ?? '';
      const script = join(import.meta.dirname, '../reliability/scarce-postgres-process.ts');
      const { stdout } = spawnSync('prlimit', ['--nofile=200', process.execPath, script, url], { encoding: 'utf8' });
      expect(stdout.split('\n')).toEqual([
        expect.stringMatching(/^UnavailableError: the database \S+ cannot be reached: .*EMFILE/),
        'read',
        '',
      ]);
    },
  );

  test('a name that sounds like a broken connection is told as what it is', async () => {
    const url = new URL((await postgres?.create({ isEmpty: true })) ?? '');
    const nowhere = Object.assign(new URL(url), { pathname: '/no%20SSL' });
    await expect(openStore(nowhere.href)).rejects.toThrow(`the database ${nowhere.href} does not exist`);
    const nobody = Object.assign(new URL(url), { username: 'connection%20terminated' });
    await expect(openStore(nobody.href)).rejects.toThrow(`${nobody.href} refuses this user`);
  });

  describe('a book in use whose database', () => {
    async function openOne() {
      const url = (await postgres?.create()) ?? '';
      const store = await openStore(url);
      const administrator = openPool({ connectionString: Object.assign(new URL(url), { pathname: '/postgres' }).href });
      onTestFinished(async () => {
        await store.close();
        await administrator.end();
      });
      const name = new URL(url).pathname.slice(1);
      return { url, name, administrator, read: async () => await store.read(async () => 'read') };
    }

    test('takes no connections for now is away, and goes on after that', async () => {
      const { name, administrator, read } = await openOne();
      await administrator.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`);
      await administrator.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
      await expect.poll(async () => await refusalOf(read)).toMatch(/takes no work now: .* not currently accepting/);
      await administrator.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS true`);
      expect(await read()).toBe('read');
    });

    test('has lost its tables is away, until they are back', async () => {
      const { url, read } = await openOne();
      const beside = openPool({ connectionString: url, max: 1 });
      await beside.query('ALTER TABLE "tallybookSchema" RENAME TO "gone"');
      expect(await refusalOf(read)).toContain('has no tables of this program any more; nothing was changed');
      await beside.query('ALTER TABLE "gone" RENAME TO "tallybookSchema"');
      expect(await read()).toBe('read');
      await beside.end();
    });

    test.each([
      ['a statement that took too long', `SELECT set_config('statement_timeout', '1', true)`, 'took too long: '],
      [
        'a statement that somebody cancels',
        'SELECT pg_cancel_backend(pg_backend_pid())',
        'was cancelled on the server',
      ],
    ])('gives up %s says which', async (_what, cause, words) => {
      const { url } = await openOne();
      const store = await openStore(url);
      const giveUp = async () =>
        await store.read(async (tx) => {
          await rowsOfText(tx, cause);
          await rowsOfText(tx, 'SELECT pg_sleep(60)');
          return 'read';
        });
      expect(await refusalOf(giveUp)).toContain(words);
      await store.close();
    });

    /** What it says where it is an UnavailableError. */
    async function refusalOf(work: () => Promise<unknown>): Promise<string | undefined> {
      const error = await work().catch((reason: unknown) => reason);
      return error instanceof UnavailableError ? error.message : undefined;
    }
  });

  describe('locks of two processes on one database', () => {
    const turn = { turn: 'org-a' };
    const nothing = async () => undefined;
    const locked = { kind: 'unavailable', message: expect.stringContaining('locked by another writer') };

    async function openTwo(): Promise<[one: Store, other: Store]> {
      const url = (await postgres?.create()) ?? '';
      const [one, other] = [await openStore(url), await openStore(url, { busyTimeoutMilliseconds: 50 })];
      onTestFinished(async () => {
        await one.close();
        await other.close();
      });
      return [one, other];
    }

    test('are given back by a write that fails, whether its work failed or its turn never came', async () => {
      const [one, other] = await openTwo();
      await expect(one.write(async () => await Promise.reject(new Error('no')), turn)).rejects.toThrow('no');
      await expect(other.write(async () => 'theirs', turn)).resolves.toBe('theirs');
      await expect(other.write(async () => 'alone')).resolves.toBe('alone');
      await one.write(async () => await expect(other.write(nothing, turn)).rejects.toMatchObject(locked), turn);
      await expect(one.write(async () => 'alone', { busyTimeoutMilliseconds: 50 })).resolves.toBe('alone');
    });

    test('end with their session if the server does not release them', async () => {
      const url = (await postgres?.create()) ?? '';
      const administrator = openPool({ connectionString: url, max: 1 });
      await administrator.query(`CREATE FUNCTION pg_advisory_unlock_all() RETURNS void LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'canceling statement due to user request' USING ERRCODE = '57014'; END $$`);
      const one = await openStore(`${url}?options=-csearch_path%3Dpublic,pg_catalog`);
      const other = await openStore(url);
      onTestFinished(async () => {
        for (const store of [one, other]) await store.close();
        await administrator.end();
      });
      await expect(one.exclusively('bill run', async () => 'ours')).resolves.toBe('ours');
      await expect.poll(async () => await other.exclusively('bill run', async () => 'theirs')).toBe('theirs');
      await expect(one.write(async () => await Promise.reject(new Error('no')), turn)).rejects.toThrow('no');
      await expect(other.write(async () => 'theirs', turn)).resolves.toBe('theirs');
    });

    test('leave it unknown whether a write was kept if the server cannot release them behind its commit', async () => {
      const url = (await postgres?.create()) ?? '';
      const administrator = openPool({ connectionString: url, max: 1 });
      await administrator.query(`CREATE FUNCTION pg_advisory_unlock_all() RETURNS void LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'out of memory' USING ERRCODE = 'out_of_memory'; END $$`);
      const store = await openStore(`${url}?options=-csearch_path%3Dpublic,pg_catalog`);
      onTestFinished(async () => {
        await store.close();
        await administrator.end();
      });
      await expect(store.write(insertTwoOrganizations)).rejects.toBeInstanceOf(UnknownOutcomeError);
      const organizations = await store.read(async (tx) => await tx.selectFrom('organizations').select('id').execute());
      expect(organizations).toHaveLength(2);
    });

    test('refuse a write that may not wait at once, whoever holds them', async () => {
      const [one, other] = await openTwo();
      const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const holding = one.write(async () => {
        begin();
        await isOver;
      }, turn);
      await begun;
      for (const each of [one, other]) {
        await expect(each.write(nothing, { ...turn, busyTimeoutMilliseconds: 0 })).rejects.toMatchObject(locked);
      }
      end();
      await holding;
    });
  });

  test('a database that keeps texts otherwise than in UTF-8 is refused, and nothing is made in it', async () => {
    const url = new URL((await postgres?.create({ isEmpty: true })) ?? '');
    const administrator = openPool({ connectionString: url.href, max: 1 });
    const name = `${url.pathname.slice(1)}_ascii`;
    await administrator.query(`CREATE DATABASE "${name}" ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0`);
    url.pathname = `/${name}`;
    await expect(openStore(url.href)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('has the encoding SQL_ASCII, not UTF8'),
    });
    await administrator.query(`DROP DATABASE "${name}"`);
    await administrator.end();
  });

  test('locks of two books in two schemas of one database hold up neither, though all have the same names', async () => {
    const url = (await postgres?.create()) ?? '';
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('CREATE SCHEMA second');
    await client.end();
    const [one, other] = [await openStore(url), await openStore(`${url}?options=-csearch_path%3Dsecond`)];
    const turn = { turn: 'org-a' };
    const both = await one.exclusively('bill run', async () =>
      one.write(
        async () =>
          await other.exclusively('bill run', async () =>
            other.write(async () => 'both', { ...turn, busyTimeoutMilliseconds: 50 }),
          ),
        turn,
      ),
    );
    expect(both).toBe('both');
    await one.close();
    await other.close();
  });

  test.each(['read', 'write'] as const)(
    'a %s that could not begin leaves its session and its turn free',
    async (access) => {
      const url = (await postgres?.create()) ?? '';
      const [store, another] = [await openStore(`${url}?lock_timeout=50`), await openStore(url)];
      const other = new pg.Client({ connectionString: url });
      await other.connect();
      onTestFinished(async () => {
        await other.end();
        await store.close();
        await another.close();
      });
      const turn = { turn: 'org-a' };
      const begun = async () => await store[access](async () => 'begun', turn);
      await other.query('BEGIN; LOCK TABLE "tallybookSchema" IN ACCESS EXCLUSIVE MODE');
      await expect(begun()).rejects.toMatchObject({ kind: 'unavailable' });
      await other.query('COMMIT');
      const theirs = another.write(async () => 'theirs', { ...turn, busyTimeoutMilliseconds: 50 });
      await expect(theirs).resolves.toBe('theirs');
      await expect(begun()).resolves.toBe('begun');
    },
  );

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

  test('an inspection gives the server nothing to warn of', async () => {
    const pool = openPool({ connectionString: await postgres?.create(), max: 1 });
    const warnings: (string | undefined)[] = [];
    pool.on('connect', (client) => client.on('notice', ({ message }) => warnings.push(message)));
    await inspectServer(pool, { isFull: true, location: 'books', schema: 'public' });
    expect(warnings).toEqual([]);
    await pool.end();
  });
});
