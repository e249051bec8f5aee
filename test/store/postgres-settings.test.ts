/** What a server, a database or a role is set to changes nothing of a book that is kept there. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';

import { limits } from '../../src/limits.ts';
import { migrations } from '../../src/store/backends/postgres/migrations/index.ts';
import { backUp, restore } from '../../src/store/backup.ts';
import type { Transaction } from '../../src/store/database.ts';
import { openStore } from '../../src/store/open.ts';
import { rowsOfText } from '../../src/store/raw-query.ts';
import { problemsOf } from '../reliability/soundness.ts';
import { dumpOf } from '../reliability/store-dump.ts';
import { grant, subscribe } from '../support/billing-scenario.ts';
import { usePostgres } from '../support/postgres.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { createWorld } from '../support/world.ts';
import { at, eventOf, insertTwoOrganizations, sumOfTokens } from './rows.ts';

const postgres = await usePostgres();

describe.runIf(postgres !== undefined)('PostgreSQL', () => {
  const directory = newDirectory();

  const empty = async () => (await postgres?.create({ isEmpty: true })) ?? '';

  async function run(url: string, ...statements: readonly string[]): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const name = `"${new URL(url).pathname.slice(1)}"`;
    for (const statement of statements) await client.query(statement.replace('ALTER DATABASE', `$& ${name}`));
    await client.end();
  }

  /** Two organizations and an event that names no contract. */
  async function fill(url: string): Promise<void> {
    const store = await openStore(url);
    await store.write(insertTwoOrganizations);
    await store.write(async (tx) => await store.events.append(tx, 'org-a', [eventOf('one')], () => true));
    await store.close();
  }

  async function look(url: string) {
    const store = await openStore(url);
    const { schemaDifferences } = await store.inspect({ isFull: true });
    const rows = await dumpOf(store);
    await store.close();
    return { schemaDifferences, rows };
  }

  test.each([
    'standard_conforming_strings = off',
    'array_nulls = off',
    'quote_all_identifiers = on',
    "TimeZone = 'Pacific/Kiritimati'",
    'default_transaction_isolation = serializable',
  ])('that is set to %s keeps a book as any other does', async (setting) => {
    const [usual, odd] = [await empty(), await empty()];
    await run(odd, `ALTER DATABASE SET ${setting}`);
    for (const url of [usual, odd]) await fill(url);
    const seen = await look(odd);
    expect(seen.schemaDifferences).toEqual([]);
    expect(seen).toEqual(await look(usual));
  });

  test.each([
    ['may be written', 'off'],
    ['may only be read', 'on'],
  ])('in a schema that was renamed keeps its own superseded versions, opened while it %s', async (_what, setting) => {
    const server = await empty();
    const at = (schema: string) => `${server}?options=-csearch_path%3D${encodeURIComponent(`"${schema}"`)}`;
    const change = { propertiesJson: '{"tokens":2}' };
    const openAt = async (schema: string) => await openStore(at(schema));
    await run(server, 'CREATE SCHEMA before');
    await fill(at('before'));
    await run(server, 'ALTER SCHEMA before RENAME TO "Now"', 'CREATE SCHEMA before');
    await fill(at('before'));
    await run(server, `ALTER DATABASE SET default_transaction_read_only = ${setting}`);
    const stores = [await openAt('Now'), await openAt('Now')];
    await run(server, 'SET default_transaction_read_only = off', 'ALTER DATABASE RESET default_transaction_read_only');
    for (const store of stores) {
      await store.write(async (tx) => await store.events.append(tx, 'org-a', [eventOf('one', change)], () => true));
      await store.close();
    }
    const rows = async (schema: string) => {
      const store = await openAt(schema);
      const found = await store.read(async (tx) => await rowsOfText(tx, 'SELECT "version" FROM "eventVersions"'));
      await store.close();
      return found.length;
    };
    expect([await rows('Now'), await rows('before')]).toEqual([1, 0]);
  });

  test('in a schema that changes its name with another writes to that one, though it was opened before', async () => {
    const server = await empty();
    const at = (schema: string) => `${server}?options=-csearch_path%3D${schema}`;
    await run(server, 'CREATE SCHEMA blue', 'CREATE SCHEMA green');
    for (const schema of ['blue', 'green']) await fill(at(schema));
    const store = await openStore(at('blue'));
    const append = async (key: string, propertiesJson: string) =>
      await store.write(
        async (tx) => await store.events.append(tx, 'org-a', [eventOf(key, { propertiesJson })], () => true),
      );
    const countTokens = async () =>
      await store.read(async (tx) => {
        const boundsEpochMs = [0, 400_000_000];
        const dimensions = { needsEventName: false, propertyKeys: [] };
        const of = { orgId: 'org-a', customerId: 'customer', boundsEpochMs, dimensions, isStanding: true };
        const [[[reading] = []] = []] = await store.events.aggregate(tx, of, [sumOfTokens]);
        return reading?.quantity.toString();
      });
    await run(server, 'ALTER SCHEMA blue RENAME TO before', 'ALTER SCHEMA green RENAME TO blue');
    await append('new', '{"tokens":10}');
    for (const _time of ['whole', 'by days']) expect(await countTokens()).toBe('11');
    await run(server, 'ALTER SCHEMA before RENAME TO green');
    await append('one', '{"tokens":100}');
    expect(await countTokens()).toBe('110');
    const versions = await store.read(async (tx) => await rowsOfText(tx, 'SELECT "version" FROM "eventVersions"'));
    expect(versions).toHaveLength(1);
    await store.close();
  });

  test('ends sessions of a machine that has gone without a word, and their locks, in a minute and a half at most', async () => {
    const url = await empty();
    await run(url, 'ALTER DATABASE SET tcp_keepalives_interval = 5');
    const store = await openStore(url);
    const names = ['idle', 'interval', 'count'].map((name) => `current_setting('tcp_keepalives_${name}') AS "${name}"`);
    const settings = async (tx: Transaction) => await rowsOfText(tx, `SELECT ${names.join(', ')}`);
    const found = [await store.read(settings), await store.write(settings)];
    await store.close();
    for (const rows of found) expect(rows).toEqual([{ idle: '60', interval: '5', count: '3' }]);
  });

  test.each(['0', '100'])(
    'that ends idle sessions after %s ms ends those of a process that was stopped, and their locks, in a minute',
    async (setting) => {
      const url = await empty();
      await run(url, `ALTER DATABASE SET idle_session_timeout = ${setting}`);
      const store = await openStore(url);
      const limit = async (tx: Transaction) =>
        await rowsOfText(tx, `SELECT current_setting('idle_session_timeout') AS "limit"`);
      const found = [await store.read(limit), await store.write(limit)];
      await store.close();
      for (const rows of found) expect(rows).toEqual([{ limit: '1min' }]);
    },
  );

  test('hears of a process at work of one name four times in the minute after which it ends idle sessions', async () => {
    const url = await empty();
    const store = await openStore(url);
    const watcher = new pg.Client({ connectionString: url });
    await watcher.connect();
    const lastWords = async () => {
      const { rows } = await watcher.query<{ query: string }>(
        `SELECT query FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE locktype = 'advisory' AND datname = current_database()`,
      );
      return rows.map(({ query }) => query);
    };
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const before = await store.exclusively('bill run', async () => {
        const words = await lastWords();
        vi.advanceTimersByTime(limits.idleSessionMilliseconds / 4);
        await expect.poll(lastWords).toEqual(['SELECT 1']);
        return words;
      });
      expect(before).toEqual([expect.stringContaining('pg_try_advisory_lock')]);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
    await watcher.end();
    await store.close();
  });

  test('that ends idle sessions leaves work of one name to one process, however long it takes', async () => {
    const url = await empty();
    await run(url, 'ALTER DATABASE SET idle_session_timeout = 100');
    const [one, other] = [await openStore(url), await openStore(url)];
    const done = one.exclusively('bill run', async () => {
      await sleep(1_000);
      return await other.exclusively('bill run', async () => 'beside it');
    });
    expect(await done).toBeUndefined();
    await Promise.all([one.close(), other.close()]);
  });

  test.each([
    ['off', 'on'],
    ['local', 'local'],
    ['remote_apply', 'remote_apply'],
  ])('whose synchronous_commit is %s commits with %s: what is answered is kept', async (setting, kept) => {
    const url = await empty();
    await run(url, `ALTER DATABASE SET synchronous_commit = ${setting}`);
    const store = await openStore(url);
    const commits = async (tx: Transaction) =>
      await rowsOfText(tx, `SELECT current_setting('synchronous_commit') AS "commits"`);
    expect(await store.read(commits)).toEqual([{ commits: kept }]);
    expect(await store.write(commits)).toEqual([{ commits: kept }]);
    await store.close();
  });

  test('that fires no triggers for its role fires those that keep what is frozen', async () => {
    const url = await empty();
    await run(url, 'ALTER DATABASE SET session_replication_role = replica');
    await fill(url);
    const store = await openStore(url);
    const change = async (tx: Transaction) => await rowsOfText(tx, 'TRUNCATE "eventVersions"');
    await expect(store.write(change)).rejects.toThrow('append-only');
    await store.close();
  });

  test('that hides rows of a table from its user by a policy refuses to read it, in place of giving the rest', async () => {
    const url = await empty();
    await fill(url);
    const role = `${new URL(url).pathname.slice(1)}_role`;
    await run(
      url,
      `CREATE ROLE "${role}" LOGIN`,
      `GRANT ALL ON ALL TABLES IN SCHEMA public TO "${role}"`,
      'ALTER TABLE "events" ENABLE ROW LEVEL SECURITY',
    );
    const user = new URL(url);
    user.username = role;
    const store = await openStore(user.href);
    const events = async (tx: Transaction) => await store.events.list(tx, { orgId: 'org-a', limit: 1, offset: 0 });
    await expect(store.read(events)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('row-level security policy for table "events"'),
    });
    await store.close();
    await run(url, `DROP OWNED BY "${role}"`, `DROP ROLE "${role}"`);
  });

  test('that got its rows without their counters enters nothing in a ledger, until these are set', async () => {
    const url = (await postgres?.create()) ?? '';
    const world = await createWorld({ database: url });
    const subscription = await subscribe(world);
    for (const amountCents of [1, 2]) await grant(world, subscription, { amountCents });
    await run(url, 'ALTER TABLE "ledgerEntries" ALTER "seq" RESTART');
    await expect(grant(world, subscription, { amountCents: 3 })).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'the database counts ledger entries from before those that it has; nothing was changed',
    });
    await run(url, `SELECT setval(pg_get_serial_sequence('"ledgerEntries"', 'seq'), max("seq")) FROM "ledgerEntries"`);
    await grant(world, subscription, { amountCents: 3 });
    expect(await problemsOf(world)).toEqual([]);
    await world.close();
  });

  test.each(['Billing', 'a.b', 'weird Schema'])('has the book in a schema of any name: %s', async (name) => {
    const url = await empty();
    const quoted = `"${name}"`;
    await run(url, 'CREATE SCHEMA billing', `CREATE SCHEMA ${quoted}`, `ALTER DATABASE SET search_path = ${quoted}`);
    await fill(url);
    expect(await look(url)).toMatchObject({ schemaDifferences: [] });
  });

  const schemaBefore = ['CREATE SCHEMA odd', 'ALTER DATABASE SET search_path = odd, public'];

  test('keeps the book where it is when another schema comes before it, and what is backed up can be restored', async () => {
    const url = await empty();
    await fill(url);
    const before = await look(url);
    await run(url, ...schemaBefore);
    expect(await look(url)).toEqual(before);
    const [copy, restored] = [join(directory, 'copy'), await empty()];
    await backUp({ from: url, to: copy, createdAt: at });
    await restore({ from: copy, to: restored });
    expect(await look(restored)).toEqual(before);
  });

  test('upgrades the book where it is, and makes no other in a schema that comes before it', async () => {
    const url = await empty();
    await run(
      url,
      'SET search_path TO public, pg_temp',
      'CREATE TABLE "tallybookSchema" ("id" smallint PRIMARY KEY, "version" bigint NOT NULL)',
      ...migrations.slice(0, -1).flatMap(({ statements }) => statements),
      `INSERT INTO "tallybookSchema" VALUES (1, ${migrations.length - 1})`,
      ...schemaBefore,
    );
    expect((await look(url)).schemaDifferences).toEqual([]);
    // Refused where anything is in it.
    await run(url, 'DROP SCHEMA odd');
  });

  test('that was set to be read alone is written by the same process once it no longer is', async () => {
    const url = await empty();
    await (await openStore(url)).close();
    await run(url, 'ALTER DATABASE SET default_transaction_read_only = on');
    const store = await openStore(url);
    await expect(store.write(insertTwoOrganizations)).rejects.toThrow('read-only');
    await run(url, 'SET default_transaction_read_only = off', 'ALTER DATABASE RESET default_transaction_read_only');
    await store.write(insertTwoOrganizations);
    expect(store.isReadOnly).toBe(false);
    await store.close();
  });

  test('that limits the size of temporary files says so', async () => {
    const url = (await postgres?.create()) ?? '';
    await run(url, 'ALTER DATABASE SET temp_file_limit = 64', 'ALTER DATABASE SET work_mem = 64');
    const store = await openStore(url);
    const sort = async (tx: Transaction) =>
      await rowsOfText(tx, 'SELECT * FROM generate_series(1, 50000) AS "each" ORDER BY "each" DESC OFFSET 49999');
    await expect(store.read(sort)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('a limit of this user stands in the way'),
    });
    await store.close();
  });

  test.each([
    ['out_of_memory', 'has no memory left for this', 'room for more locks'],
    ['insufficient_resources', 'failed', 'how many files'],
    ['io_error', 'failed', 'check its disk'],
  ])('that has no means for what is asked of it says so: %s', async (condition, words, hint) => {
    const store = await openStore((await postgres?.create()) ?? '');
    // In the server's own words; to fill its table of locks would refuse those of others, too.
    const statement = `DO $$ BEGIN RAISE EXCEPTION 'words' USING ERRCODE = '${condition}'; END $$`;
    await expect(store.write(async (tx) => await rowsOfText(tx, statement))).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining(`${words}: words; nothing was changed`),
      hint: expect.stringContaining(hint),
    });
    await store.close();
  });

  test('that ends long transactions says so, and lets a backup, its restoration and the look of doctor take their time', async () => {
    const url = await empty();
    await fill(url);
    const [copy, restored] = [join(directory, 'slow'), await empty()];
    const short = `?options=${encodeURIComponent('-ctransaction_timeout=300')}`;
    const store = await openStore(`${url}${short}`);
    const wait = async (tx: Transaction) => await rowsOfText(tx, 'SELECT pg_sleep(2)');
    await expect(store.read(wait)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('ended a transaction that took too long; nothing was changed'),
    });
    const whileHeld = async <T>(hold: string, work: () => Promise<T>): Promise<T> => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(`BEGIN; ${hold}`);
      const held = client.query('SELECT pg_sleep(0.6)').then(async () => await client.query('ROLLBACK'));
      const done = await work();
      await held;
      await client.end();
      return done;
    };
    const rows = 'LOCK TABLE "customers" IN ACCESS EXCLUSIVE MODE';
    await whileHeld(rows, async () => await backUp({ from: `${url}${short}`, to: copy, createdAt: at }));
    await restore({ from: copy, to: `${restored}${short}` });
    for (const hold of [rows, 'CREATE SCHEMA tallybook_model']) {
      const inspection = await whileHeld(hold, async () => await store.inspect({ isFull: true }));
      expect(inspection.schemaDifferences).toEqual([]);
    }
    await store.close();
    expect(await look(restored)).toEqual(await look(url));
  });
});
