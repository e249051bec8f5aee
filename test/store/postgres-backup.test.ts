/** Backups of a PostgreSQL database, the way back, and what doctor finds in one that somebody has changed. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import pg from 'pg';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { databaseChecks } from '../../src/engine/doctor/checks.ts';
import { createMaintenance } from '../../src/engine/maintenance.ts';
import type { BackupManifest } from '../../src/operations/backup-manifest.ts';
import { backUp, restore } from '../../src/store/backup.ts';
import { migrations } from '../../src/store/backends/postgres/migrations/index.ts';
import { postgresSchemaVersion } from '../../src/store/backends/postgres/migrations/migration.ts';
import { dumpedTables } from '../../src/store/backends/postgres/tables.ts';
import type { Inspection } from '../../src/store/inspection.ts';
import { openStore } from '../../src/store/open.ts';
import { writeBookFact } from '../../src/store/records/book-facts.ts';
import { openBook, stepsOf } from '../reliability/book.ts';
import { firstDifference } from '../reliability/reference-book.ts';
import { problemsOf } from '../reliability/soundness.ts';
import { dumpOf } from '../reliability/store-dump.ts';
import { usePostgres } from '../support/postgres.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { at, eventOf, insertTwoOrganizations, row } from './rows.ts';

const postgres = await usePostgres();

describe.runIf(postgres !== undefined)('PostgreSQL', () => {
  const directory = newDirectory();
  const steps = stepsOf();
  /** The whole book but for its last step. */
  let book: string;
  let copies = 0;

  beforeAll(async () => {
    book = (await postgres?.create()) ?? '';
    const opened = await openBook(book);
    for (let index = 0; index < steps.length - 1; index += 1) await opened.perform(index);
    await opened.world.close();
  }, 60_000);

  const empty = async () => (await postgres?.create({ isEmpty: true })) ?? '';
  const backedUp = async () => {
    const copy = newCopy();
    await backUp({ from: book, to: copy, createdAt: at });
    return copy;
  };
  const newCopy = () => join(directory, `copy-${(copies += 1)}`);

  async function read(url: string): Promise<string> {
    const store = await openStore(url);
    const text = await dumpOf(store);
    await store.close();
    return text;
  }

  describe('a backup', () => {
    test('restores the same book, which goes on', async () => {
      const [copy, restored] = [newCopy(), await empty()];
      const manifest = await backUp({ from: book, to: copy, createdAt: at });
      expect(manifest.organizations).toMatchObject([{ name: 'default', customerCount: 3 }]);
      expect(await restore({ from: copy, to: restored })).toEqual(manifest);
      expect(firstDifference(await read(restored), await read(book))).toBeUndefined();
      const opened = await openBook(restored);
      await opened.perform(steps.length - 1);
      expect(await problemsOf(opened.world)).toEqual([]);
      await opened.world.close();
    }, 60_000);

    test('has all rows, also where they are many or large, and new ones stand behind them', async () => {
      const [url, copy, restored] = [(await postgres?.create()) ?? '', newCopy(), await empty()];
      const store = await openStore(url);
      await store.write(insertTwoOrganizations);
      const properties = (index: number) =>
        JSON.stringify({ text: 'x\u20ac\\\u2028'.repeat(index < 3 ? 600_000 : index) });
      const events = Array.from({ length: 420 }, (_value, index) =>
        eventOf(`k${index}`, { propertiesJson: properties(index) }),
      );
      await store.write((tx) => store.events.append(tx, 'org-a', events, () => true));
      await store.close();
      await backUp({ from: url, to: copy, createdAt: at });
      await restore({ from: copy, to: restored });
      expect(firstDifference(await read(restored), await read(url))).toBeUndefined();
      const later = await openStore(restored);
      await later.write(async (tx) => {
        await tx.insertInto('customers').values(row.customer('org-a', 'next')).execute();
        await later.events.append(tx, 'org-a', [eventOf('next')], () => true);
      });
      const newest = await later.read(async (tx) => [
        (await tx.selectFrom('customers').select('id').orderBy('seq', 'desc').executeTakeFirst())?.id,
        (await later.events.list(tx, { orgId: 'org-a', limit: 1, offset: 0 })).rows[0]?.idempotencyKey,
      ]);
      expect(newest).toEqual(['next', 'next']);
      await later.close();
    }, 60_000);

    test('is of one instant, whatever is written meanwhile', async () => {
      const url = (await postgres?.create()) ?? '';
      const written = await openBook(url);
      for (let index = 0; index < 8; index += 1) await written.perform(index);
      const copy = newCopy();
      const making = backUp({ from: url, to: copy, createdAt: at });
      for (let index = 8; index < 20; index += 1) await written.perform(index);
      await making;
      await written.world.close();
      const restored = await empty();
      await restore({ from: copy, to: restored });
      const opened = await openBook(restored);
      expect(await problemsOf(opened.world)).toEqual([]);
      await opened.world.close();
    }, 60_000);

    test('has every table but the marks of days, which triggers make', async () => {
      const client = new pg.Client({ connectionString: book });
      await client.connect();
      const { rows } = await client.query<{ tablename: string }>(
        `SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'tallybookSchema'`,
      );
      await client.end();
      expect(rows.map(({ tablename }) => tablename).toSorted()).toEqual(
        [...Object.keys(dumpedTables), 'eventDays'].toSorted(),
      );
    });

    test('does not go where a book without rows has its events elsewhere', async () => {
      const [copy, claimed] = [await backedUp(), await empty()];
      const store = await openStore(claimed);
      await store.write(async (tx) => await writeBookFact(tx, 'eventsElsewhere', { bookId: 'of another' }));
      await store.close();
      await expect(restore({ from: copy, to: claimed })).rejects.toThrow('already holds a book');
    });

    test('goes where there is nothing yet, whole, and to a database of its own kind', async () => {
      const copy = newCopy();
      await backUp({ from: book, to: copy, createdAt: at });
      await expect(backUp({ from: book, to: copy, createdAt: at })).rejects.toThrow('never overwritten');
      await expect(restore({ from: copy, to: book })).rejects.toThrow('already holds a book');
      await expect(restore({ from: copy, to: join(directory, 'file.db') })).rejects.toThrow(
        'of a database on a server',
      );
      await expect(restore({ from: copy, to: await empty(), isDryRun: true })).rejects.toMatchObject({ kind: 'usage' });

      const file = join(directory, 'source.db');
      await (await openStore(file)).close();
      await backUp({ from: file, to: join(directory, 'file-copy.db'), createdAt: at });
      await expect(restore({ from: join(directory, 'file-copy.db'), to: await empty() })).rejects.toThrow(
        'is the backup of a file',
      );
    });

    const sameText = (text: string) => text;
    const unlikeManifest = 'not the file that its manifest describes';
    test.each<[kind: string, spoil: (text: string) => string, words: string, told?: Partial<BackupManifest>]>([
      ['changed', (text) => text.replace('"acme"', '"amce"'), unlikeManifest],
      ['emptied', () => '', unlikeManifest],
      ['cut', (text) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1), 'it is not whole'],
      ['short of a row', (text) => text.replace(/^\[.*"credit.budget.exhausted".*\n/m, ''), 'violates foreign key'],
      ['of other columns', (text) => text.replace('"columns":[', '"columns":["more",'), 'it has other columns'],
      [
        'of a table that is none of the book',
        (text) => text.replace('"table":"customers"', '"table":"pg_authid"'),
        'it has an unknown table',
      ],
      ['of another version', (text) => text.replace(/"schemaVersion":\d+/, '"schemaVersion":1'), 'a different schema'],
      ['beside a manifest of another version', sameText, 'a different schema', { schemaVersion: 1 }],
      ['beside a manifest of other rows', sameText, 'not what its manifest says', { organizations: [] }],
    ])('that is %s is not restored as if it were sound', async (_kind, spoil, words, told = {}) => {
      const [copy, restored] = [newCopy(), await empty()];
      const manifest = await backUp({ from: book, to: copy, createdAt: at });
      writeFileSync(copy, spoil(readFileSync(copy, 'utf8')));
      // Who changes the file on purpose can change the digest beside it, too.
      if (words !== unlikeManifest) {
        const { createHash } = await import('node:crypto');
        const bytes = readFileSync(copy);
        const digest = { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
        writeFileSync(`${copy}.manifest.json`, JSON.stringify({ ...manifest, ...digest, ...told }));
      }
      const restoring = restore({ from: copy, to: restored });
      await expect(restoring).rejects.toThrow(words);
      const store = await openStore(restored);
      expect(await store.read((tx) => tx.selectFrom('organizations').selectAll().execute())).toEqual([]);
      await store.close();
    });
  });

  describe('inspection', () => {
    let url: string;
    beforeEach(async () => {
      url = (await postgres?.create()) ?? '';
      const store = await openStore(url);
      const { insertTwoOrganizations } = await import('./rows.ts');
      await store.write(insertTwoOrganizations);
      await store.close();
    });

    /** What is found after a person has run these statements. */
    async function found(...statements: readonly string[]): Promise<Inspection> {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      for (const statement of statements) await client.query(statement);
      await client.end();
      const store = await openStore(url, { readOnly: true });
      const inspection = await store.inspect({ isFull: true });
      await store.close();
      return inspection;
    }

    test('finds nothing in what this program made, nor in an index that was added', async () => {
      expect(await found('CREATE INDEX faster ON "customers" ("name")')).toMatchObject({
        schemaVersion: postgresSchemaVersion,
        damages: [],
        danglingReferences: [],
        schemaDifferences: [],
      });
    });

    test('says that the schema could not be compared by a user who may make none', async () => {
      const reader = `reader_${new URL(url).pathname.slice(1)}`;
      await found(
        `CREATE ROLE "${reader}" LOGIN`,
        `GRANT USAGE ON SCHEMA public TO "${reader}"`,
        `GRANT SELECT ON ALL TABLES IN SCHEMA public TO "${reader}"`,
        'DROP TRIGGER "ledgerEntries_change" ON "ledgerEntries"',
      );
      const store = await openStore(Object.assign(new URL(url), { username: reader }).href, { readOnly: true });
      const inspection = await store.inspect({ isFull: true });
      await store.close();
      await found(`DROP OWNED BY "${reader}"`, `DROP ROLE "${reader}"`);
      expect(inspection).toMatchObject({ schemaDifferences: [], schemaUnknown: 'this user may make no schema here' });
      expect(databaseChecks['schema-unknown'].find(inspection)).toHaveLength(1);
    });

    async function outdated(version: number): Promise<string> {
      const made = await empty();
      const client = new pg.Client({ connectionString: made });
      await client.connect();
      await client.query('SET search_path TO public, pg_temp');
      await client.query('CREATE TABLE "tallybookSchema" ("id" smallint PRIMARY KEY, "version" bigint NOT NULL)');
      for (const each of migrations.slice(0, version)) {
        for (const statement of each.statements) await client.query(statement);
      }
      await client.query('INSERT INTO "tallybookSchema" VALUES (1, $1)', [version]);
      await client.end();
      return made;
    }

    test('a step of an upgrade may take longer than a statement', async () => {
      const made = await outdated(3);
      const client = new pg.Client({ connectionString: made });
      await client.connect();
      await client.query('BEGIN; LOCK TABLE "ledgerEntries" IN ACCESS SHARE MODE');
      const held = client.query('SELECT pg_sleep(1.5)').then(async () => await client.query('COMMIT'));
      const store = await openStore(`${made}?statement_timeout=1000`);
      await held;
      await client.end();
      expect((await store.inspect({ isFull: false })).schemaVersion).toBe(postgresSchemaVersion);
      await store.close();
    });

    test.each(migrations.slice(0, -1).map(({ version }) => version))(
      'a database of schema %i is upgraded where it is opened, and is then what a new one is',
      async (version) => {
        url = await outdated(version);
        await expect(openStore(url, { readOnly: true })).rejects.toThrow(
          'has an older schema, and was opened read-only',
        );
        await (await openStore(url)).close();
        expect(await found()).toMatchObject({ schemaVersion: postgresSchemaVersion, schemaDifferences: [] });
      },
    );

    test('the earliest noted expiry of a contract stands in its row from schema 7 on', async () => {
      url = await outdated(6);
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(`SET session_replication_role = replica;
        INSERT INTO "contracts" ("orgId", "id", "customerId", "planId", "name", "startDate", "netTermsDays", "metadata",
            "creditSettings", "items", "budgetsVersion", "createdAt", "updatedAt")
          SELECT 'o', "id", 'c', 'p', 'n', '2026-01-01', 0, '{}', '{}', '[]', 0, "at", "at"
          FROM (VALUES ('some'), ('none')) AS "own" ("id"), (VALUES ('2026-01-01T00:00:00.000Z')) AS "made" ("at");
        INSERT INTO "grantExpiries" VALUES ('o', 'some', 'g1', '2031-01-01T00:00:00.000Z'),
          ('o', 'some', 'g2', '2030-01-01T00:00:00.000Z')`);
      await (await openStore(url)).close();
      const { rows } = await client.query('SELECT "id", "nextExpiryAt" FROM "contracts" ORDER BY "id"');
      await client.end();
      expect(rows).toEqual([
        { id: 'none', nextExpiryAt: null },
        { id: 'some', nextExpiryAt: '2030-01-01T00:00:00.000Z' },
      ]);
    });

    test('the days of events that were there before have marks from schema 8 on', async () => {
      url = await outdated(7);
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(`SET session_replication_role = replica;
        INSERT INTO "events" ("orgId", "id", "idempotencyKey", "customerId", "eventName", "timestampEpochMs", "propertiesJson",
            "receivedAtEpochMs", "isLate", "version")
          SELECT 'o', "key", "key", 'c', 'n', "time", '{}', 0, 0, 1
          FROM (VALUES ('a', 0), ('b', 86399999), ('c', 86400000), ('d', 864000000)) AS "sent" ("key", "time")`);
      await (await openStore(url)).close();
      const { rows } = await client.query('SELECT "orgId", "customerId", "day"::int FROM "eventDays" ORDER BY "day"');
      await client.end();
      expect(rows).toEqual([0, 1, 10].map((day) => ({ orgId: 'o', customerId: 'c', day })));
    });

    test.each([
      ['trigger ledgerEntries_change', 'missing', 'DROP TRIGGER "ledgerEntries_change" ON "ledgerEntries"'],
      ['trigger events_update', 'changed', 'ALTER TABLE "events" DISABLE TRIGGER "events_update"'],
      ['index ledgerEntries_contract', 'missing', 'DROP INDEX "ledgerEntries_contract"'],
      ['table customers', 'changed', 'ALTER TABLE "customers" ALTER COLUMN "name" DROP NOT NULL'],
      ['table budgets', 'changed', 'ALTER TABLE "budgets" DROP CONSTRAINT "budgets_orgId_contractId_fkey"'],
      [
        'function tallybookRefuse',
        'changed',
        `CREATE OR REPLACE FUNCTION "tallybookRefuse"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$`,
      ],
    ])('finds that the %s is %s', async (name, difference, statement) => {
      expect((await found(statement)).schemaDifferences).toEqual([{ name, difference }]);
    });

    /** What a look comes to whose session meets with `end` while it waits for a table. */
    async function endedAt(table: string, end: string, database: string, look: () => Promise<unknown>) {
      const clients = [0, 1].map(() => new pg.Client({ connectionString: database }));
      const [holder, watcher] = clients as [pg.Client, pg.Client];
      for (const client of clients) await client.connect();
      await holder.query(`BEGIN; LOCK TABLE "${table}" IN ACCESS EXCLUSIVE MODE`);
      const outcome = look().catch((error: unknown) => error);
      const waiting = `SELECT ${end}(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      await expect.poll(async () => (await watcher.query(waiting)).rowCount, { timeout: 10_000 }).toBe(1);
      for (const client of clients) await client.end();
      return await outcome;
    }

    test.each([
      ['pg_cancel_backend', []],
      ['pg_terminate_backend', []],
      ['pg_cancel_backend', ['CREATE EXTENSION amcheck']],
    ] as const)('that %s ends is no finding, whatever was looked at (%j)', async (end, before) => {
      await found(...before);
      expect(await endedAt('customers', end, url, found)).toMatchObject({ kind: 'unavailable' });
    });

    test('of a contract that ends with its connection is no finding', async () => {
      const maintenance = createMaintenance({ now: () => Temporal.Instant.from(at) });
      const look = async () => await maintenance.examine(book, { isFull: false });
      expect(await endedAt('budgets', 'pg_terminate_backend', book, look)).toMatchObject({ kind: 'unavailable' });
    });

    test('an event that cannot be read spoils the look at its contract alone', async () => {
      const copy = (await postgres?.create({ isEmpty: true })) ?? '';
      await restore({ from: await backedUp(), to: copy });
      const client = new pg.Client({ connectionString: copy });
      await client.connect();
      await client.query(`SET session_replication_role = replica`);
      await client.query(`UPDATE "events" SET "propertiesJson" = '{bad'`);
      await client.end();
      const { findings, organizations } = await createMaintenance({ now: () => Temporal.Instant.from(at) }).examine(
        copy,
        { isFull: false },
      );
      const unreadable = findings.filter(({ check }) => check === 'readable');
      expect(unreadable.map(({ problem }) => problem).join()).toContain('invalid input syntax for type json');
      expect(organizations).toMatchObject([{ name: 'default' }]);
    });

    test('finds rows that name rows that are not there', async () => {
      const { danglingReferences } = await found(
        `SET session_replication_role = replica`,
        `DELETE FROM "plans" WHERE "orgId" = 'org-b'`,
      );
      expect(danglingReferences).toEqual([{ table: 'contracts', row: undefined, parent: 'plans' }]);
    });

    test('finds an index that is not whole', async () => {
      const { damages } = await found(
        `UPDATE pg_index SET indisvalid = false WHERE indexrelid = '"events_customer"'::regclass`,
      );
      expect(damages).toEqual(['the index events_customer is not whole: REINDEX it']);
    });
  });
});
