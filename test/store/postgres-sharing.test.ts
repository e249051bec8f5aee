/** What is PostgreSQL's own: other sessions, conflicts, lost connections, and databases that are not as they should be. */

import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { UnavailableError, UnknownOutcomeError } from '../../src/errors.ts';
import type { BillingError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import type { ConstraintViolation } from '../../src/store/constraint-violation.ts';
import type { Transaction } from '../../src/store/database.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store, StoreOptions } from '../../src/store/store.ts';
import { cleaner, usePostgres } from '../support/postgres.ts';
import { refusal } from '../support/refusal.ts';
import { insertTwoOrganizations, row } from './rows.ts';

const postgres = await usePostgres();

describe.runIf(postgres !== undefined)('PostgreSQL', () => {
  let url = '';
  /** Whether a test has left more behind than rows. */
  let isSpoilt = true;
  let store: Store;
  /** Another session, which knows nothing of our locks. */
  let other: pg.Client;
  const stores: Store[] = [];

  beforeEach(async () => {
    if (isSpoilt) url = (await postgres?.create()) ?? '';
    else await postgres?.empty(url);
    isSpoilt = false;
    store = await open();
    await store.write(insertTwoOrganizations);
    other = new pg.Client({ connectionString: url });
    other.on('error', () => undefined);
    await other.connect();
  });
  afterEach(async () => {
    await other.end();
    await Promise.all(stores.splice(0).map(async (each) => await each.close()));
  });

  async function open(options: StoreOptions = {}, at = url): Promise<Store> {
    const opened = await openStore(at, options);
    stores.push(opened);
    return opened;
  }

  const nameOf = async (tx: Transaction) =>
    (await tx.selectFrom('customers').select('name').where('orgId', '=', 'org-b').executeTakeFirstOrThrow()).name;
  const rename = (tx: Transaction, name: string) =>
    tx.updateTable('customers').set({ name }).where('orgId', '=', 'org-b').execute();
  const renameOutside = async (name: string) =>
    await other.query(`UPDATE "customers" SET "name" = $1 WHERE "orgId" = 'org-b'`, [name]);

  describe('conflicts', () => {
    test('a write that read what another has changed since is done again from its beginning', async () => {
      const seen: string[] = [];
      await store.write(async (tx) => {
        const name = await nameOf(tx);
        seen.push(name);
        if (seen.length === 1) await renameOutside('theirs');
        await rename(tx, `${name} and ours`);
      });
      expect(seen).toEqual(['customer', 'theirs']);
      expect(await store.read(nameOf)).toBe('theirs and ours');
    });

    test('also where the work has caught the error and gone on', async () => {
      let runs = 0;
      await store.write(async (tx) => {
        runs += 1;
        await nameOf(tx);
        if (runs === 1) await renameOutside('theirs');
        await rename(tx, 'ours').catch(() => undefined);
      });
      expect(runs).toBe(2);
      expect(await store.read(nameOf)).toBe('ours');
    });

    test('a deadlock is dissolved, and both sides come to their end', async () => {
      await other.query(`SET deadlock_timeout = '10s'`);
      await other.query('BEGIN');
      await renameOutside('theirs');
      const set = (text: string) => `UPDATE "organizations" SET "name" = '${text}' WHERE "id" = 'org-a'`;
      let waiting: Promise<unknown> = Promise.resolve();
      let runs = 0;
      await store.write(async (tx) => {
        runs += 1;
        await tx.updateTable('organizations').set({ name: 'ours' }).where('id', '=', 'org-a').execute();
        if (runs === 1) waiting = other.query(set('theirs')).then(async () => await other.query('COMMIT'));
        await rename(tx, 'ours');
      });
      await waiting;
      expect(runs).toBeGreaterThan(1);
      expect(await store.read(nameOf)).toBe('ours');
    });

    test('a write that always meets another gives up, and has changed nothing', async () => {
      let runs = 0;
      const change = store.write(async (tx) => {
        await nameOf(tx);
        await renameOutside(`theirs ${(runs += 1)}`);
        await rename(tx, 'ours');
      });
      const error = await refusal(change);
      expect(error).toBeInstanceOf(UnavailableError);
      expect(error.message).toContain('kept changing the same rows');
      expect(await store.read(nameOf)).toBe(`theirs ${runs}`);
    });
  });

  describe('turns', () => {
    test('writes of one organization take turns over all processes, and none is done twice', async () => {
      const second = await open();
      let runs = 0;
      const count = async (tx: Transaction) => {
        runs += 1;
        const query = tx.selectFrom('organizations').select('nextInvoiceNumber').where('id', '=', 'org-a');
        const nextInvoiceNumber = (await query.executeTakeFirstOrThrow()).nextInvoiceNumber + 1n;
        await tx.updateTable('organizations').set({ nextInvoiceNumber }).where('id', '=', 'org-a').execute();
      };
      const writers = Array.from({ length: 40 }, (_value, index) => (index % 2 === 0 ? store : second));
      await Promise.all(writers.map(async (each) => await each.write(count, { turn: 'org-a' })));
      expect(runs).toBe(40);
    });

    test('writes of different organizations go on side by side', async () => {
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const second = await open();
      const waiting = store.write(async () => await begun, { turn: 'org-a' });
      await second.write(async () => begin(), { turn: 'org-b' });
      await expect(waiting).resolves.toBeUndefined();
    });

    test('a write that another process keeps waiting ends with what holds it up; readers go on', async () => {
      const second = await open({ busyTimeoutMilliseconds: 50 });
      const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const holding = store.write(
        async () => {
          begin();
          await isOver;
        },
        { turn: 'org-a' },
      );
      await begun;
      const error = await refusal(second.write(async () => undefined, { turn: 'org-a' }));
      expect(error.message).toContain('locked by another writer');
      expect(await second.read(nameOf)).toBe('customer');
      await expect(second.write(async () => 'other', { turn: 'org-b' })).resolves.toBe('other');
      end();
      await holding;
      // It holds up nobody afterwards, not even who has to be alone.
      await expect(store.write(async () => 'alone', { busyTimeoutMilliseconds: 50 })).resolves.toBe('alone');
      await expect(second.write(async () => 'now', { turn: 'org-a' })).resolves.toBe('now');
    });

    test('a write that keeps meeting those of other turns is done without them', async () => {
      const second = await open();
      let refused: BillingError | undefined;
      let runs = 0;
      await store.write(
        async (tx) => {
          const name = await nameOf(tx);
          runs += 1;
          const theirs = second.write(async (tx) => await rename(tx, `theirs ${runs}`), {
            turn: 'org-b',
            busyTimeoutMilliseconds: 50,
          });
          if (runs <= limits.transactionAttemptsBesideOthers) await theirs;
          else refused = await refusal(theirs);
          await rename(tx, `${name} and ours`);
        },
        { turn: 'org-a' },
      );
      expect(refused?.message).toContain('locked by another writer');
      expect(await store.read(nameOf)).toBe(`theirs ${limits.transactionAttemptsBesideOthers} and ours`);
    });

    test('work of one name is done in one process at a time', async () => {
      const second = await open();
      const outcome = await store.exclusively('bill run', async () => {
        const elsewhere = await second.exclusively('bill run', async () => await Promise.resolve('theirs'));
        const another = await second.exclusively('other', async () => await Promise.resolve('another'));
        return [elsewhere, another];
      });
      expect(outcome).toEqual([undefined, 'another']);
      await expect(second.exclusively('bill run', async () => await Promise.resolve('then'))).resolves.toBe('then');
    });
  });

  test('statements that a transaction asks for at once are sent one after another', async () => {
    const warned: unknown[] = [];
    const note = (warning: unknown) => warned.push(warning);
    process.on('warning', note);
    const names = await store.read(async (tx) => await Promise.all([nameOf(tx), nameOf(tx), nameOf(tx)]));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect({ names, warned }).toEqual({ names: ['customer', 'customer', 'customer'], warned: [] });
  });

  describe('writes that wait together', () => {
    const insert = async (id: string) =>
      await store.write(
        async (tx) => {
          await tx.insertInto('customers').values(row.customer('org-a', id)).execute();
          return (await sql<{ id: bigint }>`select pg_current_xact_id()::text::bigint as id`.execute(tx)).rows[0]?.id;
        },
        { turn: 'org-a' },
      );
    const isThere = async (tx: Transaction, id: string) =>
      (await tx.selectFrom('customers').select('id').where('id', '=', id).execute()).length === 1;
    const ids = async () =>
      (await store.read((tx) => tx.selectFrom('customers').select('id').where('orgId', '=', 'org-a').execute()))
        .map(({ id }) => id)
        .toSorted();

    test('share a transaction, and are answered when it is committed', async () => {
      const second = await open();
      const first = insert('c0');
      const rest = ['c1', 'c2', 'c3'].map(async (id) => {
        const transaction = await insert(id);
        return { transaction, isThere: await second.read(async (tx) => await isThere(tx, id)) };
      });
      await first;
      const outcomes = await Promise.all(rest);
      expect(outcomes.every(({ isThere }) => isThere)).toBe(true);
      expect(new Set(outcomes.map(({ transaction }) => transaction)).size).toBe(1);
    });

    test('lose nothing but the one that fails', async () => {
      const outcomes = await Promise.allSettled([
        insert('c1'),
        insert('c2'),
        insert('c2'),
        store.write(
          async (tx) => {
            await rename(tx, 'half done');
            throw new Error('changed my mind');
          },
          { turn: 'org-a' },
        ),
        insert('c3'),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'rejected',
        'fulfilled',
      ]);
      expect(await ids()).toEqual(['c1', 'c2', 'c3', 'customer', 'only-in-a']);
      expect(await store.read(nameOf)).toBe('customer');
    });

    test('are all done again where one of them met another', async () => {
      let runs = 0;
      const meeting = store.write(
        async (tx) => {
          runs += 1;
          await nameOf(tx);
          if (runs === 1) await renameOutside('theirs');
          await rename(tx, 'ours');
        },
        { turn: 'org-a' },
      );
      await Promise.all([insert('c1'), meeting, insert('c2')]);
      expect(runs).toBe(2);
      expect(await ids()).toEqual(['c1', 'c2', 'customer', 'only-in-a']);
      expect(await store.read(nameOf)).toBe('ours');
    });
  });

  describe('lost sessions', () => {
    const terminate = async () =>
      await other.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> '${cleaner}'`,
      );

    test('a write whose session ends is refused and has changed nothing; the next one works', async () => {
      const change = store.write(async (tx) => {
        await rename(tx, 'half done');
        await terminate();
        await rename(tx, 'done');
      });
      const error = await refusal(change);
      expect(error).toMatchObject({ kind: 'unavailable', retryAfterSeconds: 1 });
      expect(error.message).toContain('cannot be reached');
      expect(await store.read(nameOf)).toBe('customer');
      await store.write(async (tx) => await rename(tx, 'again'));
      expect(await store.read(nameOf)).toBe('again');
    });

    test('whether a commit was kept is not known where the session ends with it', async () => {
      const change = store.write(async (tx) => {
        await rename(tx, 'perhaps');
        await terminate();
      });
      const error = await refusal(change);
      expect(error).toBeInstanceOf(UnknownOutcomeError);
      expect(error.message).toContain('is not known');
    });

    test('idle sessions that end are replaced', async () => {
      await Promise.all([store.read(nameOf), store.read(nameOf)]);
      await terminate();
      await expect.poll(async () => await store.read(nameOf).catch(() => 'gone')).toBe('customer');
    });
  });

  describe('databases', () => {
    test('several processes make the tables of an empty one together', async () => {
      const empty = (await postgres?.create({ isEmpty: true })) ?? '';
      const opened = await Promise.all(Array.from({ length: 4 }, async () => await open({}, empty)));
      await opened[0]?.write(insertTwoOrganizations);
      expect(await opened[3]?.read(nameOf)).toBe('customer');
    });

    test('two books stand in two schemas of one database', async () => {
      isSpoilt = true;
      await other.query('CREATE SCHEMA second');
      const second = await open({}, `${url}?options=-csearch_path%3Dsecond`);
      await second.write(insertTwoOrganizations);
      await second.write(async (tx) => await rename(tx, 'second'));
      expect([await store.read(nameOf), await second.read(nameOf)]).toEqual(['customer', 'second']);
    });

    test('one that a newer program has upgraded is refused and left as it is', async () => {
      isSpoilt = true;
      await other.query('UPDATE "tallybookSchema" SET "version" = 99');
      expect((await refusal(open())).message).toContain('has schema 99, but this program only knows');
      expect((await refusal(store.read(nameOf))).message).toContain('was upgraded to schema 99 while in use');
      expect((await other.query('SELECT "version" FROM "tallybookSchema"')).rows).toEqual([{ version: '99' }]);
    });

    test.each(['customers', 'meters'])("one with somebody else's %s is refused and left as it is", async (table) => {
      const foreign = (await postgres?.create({ isEmpty: true })) ?? '';
      const owner = new pg.Client({ connectionString: foreign });
      await owner.connect();
      await owner.query(`CREATE TABLE ${table} (id int)`);
      expect((await refusal(open({}, foreign))).message).toContain(`has a table ${table} that tallybook did not make`);
      expect((await owner.query(`SELECT count(*)::int AS n FROM pg_tables WHERE schemaname = 'public'`)).rows).toEqual([
        { n: 1 },
      ]);
      await owner.end();
    });

    test('one that may only be read is read', async () => {
      isSpoilt = true;
      const reader = await open({ readOnly: true });
      expect(reader.isReadOnly).toBe(true);
      expect(await reader.read(nameOf)).toBe('customer');
      expect((await refusal(reader.write(async () => undefined))).message).toContain('read-only');
      await other.query(`ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET default_transaction_read_only = on`);
      expect((await open()).isReadOnly).toBe(true);
    });

    test('a text that it cannot hold is a value that is refused', async () => {
      const change = store.write((tx) =>
        tx
          .insertInto('customers')
          .values({ ...row.customer('org-a', 'nul'), name: 'a\u0000b' })
          .execute(),
      );
      await expect(change).rejects.toMatchObject({ rule: 'value' } satisfies Partial<ConstraintViolation>);
    });

    test.each([
      ['no server', (good: URL) => Object.assign(good, { port: '1' }).href, /cannot be reached: .*ECONNREFUSED/],
      ['no such database', (good: URL) => Object.assign(good, { pathname: '/nowhere' }).href, /does not exist/],
      ['no TLS', (good: URL) => `${good.href}?sslmode=verify-full`, /cannot be reached: .*SSL/],
      ['no such setting', (good: URL) => `${good.href}?options=-cno_such%3D1`, /does not take a setting .*no_such/],
      [
        'no number',
        (good: URL) => `${good.href}?statement_timeout=soon`,
        /statement_timeout=soon .* is no whole number of milliseconds/,
      ],
      ['half a mode', (good: URL) => `${good.href}?sslmode=prefer`, /is not a known mode/],
      ['no certificate', (good: URL) => `${good.href}?sslrootcert=/nowhere.pem`, /\/nowhere\.pem.* cannot be read/],
      ['no URL', () => 'postgres://tally:secret@[half/book', /is not the URL of a database/],
      ['half a password', () => 'postgres://tally:s@secret/a@127.0.0.1/book', /is not the URL of a database/],
    ])('%s is said in words that hold no password', async (what, spoil, words) => {
      const error = await refusal(open({}, spoil(Object.assign(new URL(url), { password: 'secret' }))));
      expect(error.message).toMatch(words);
      expect(`${error.message} ${error.hint}`).not.toContain('secret');
      expect(/leave sslmode out .* PGSSLMODE/.test(error.hint ?? '')).toBe(what === 'no TLS');
    });
  });
});
