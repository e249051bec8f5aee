/** What a transaction for reading is refused, by the connection's own look at a statement. */

import { execFileSync } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';

import { CompiledQuery } from 'kysely';
import { describe, expect, test } from 'vitest';

import { watchStatements } from '../reliability/statements.ts';
import { refusal } from '../support/refusal.ts';
import {
  addCustomer,
  asOrdinaryUser,
  customers,
  directory,
  file,
  fill,
  fillUnwritable,
  open,
  openFilled,
  replaceUnwritable,
  useTestFile,
  withSqlite,
} from './test-file.ts';

useTestFile();

describe('a transaction for reading', () => {
  test.each([
    `INSERT INTO "customers" SELECT * FROM "customers"`,
    `  update "customers" set "name" = 'x'`,
    `DELETE FROM "customers"`,
    `REPLACE INTO "clock" VALUES (1, '2026-01-01T00:00:00.000Z')`,
    `WITH "one" AS (SELECT 1) INSERT INTO "clock" SELECT 1, '2026-01-01T00:00:00.000Z'`,
    `with recursive "n"("i") as (select 1)\ndelete from "customers"`,
    `-- SELECT\nDELETE FROM "customers"`,
    `/* SELECT */ DELETE FROM "customers"`,
    `DROP TABLE "clock"`,
    `CREATE TEMP TABLE "mine" ("a")`,
    'PRAGMA user_version = 1',
    'PRAGMA user_version(1)',
    'PRAGMA wal_checkpoint',
    'SAVEPOINT "mine"',
    'VACUUM',
  ])('is refused %s', async (sql) => {
    const store = await openFilled();
    const query = async () => await store.read(async (tx) => await tx.executeQuery(CompiledQuery.raw(sql)));
    expect((await refusal(query())).message).toContain('is read-only');
    expect(await customers(store)).toBe(3);
  });

  test.each([
    'SELECT count(*) FROM "customers"',
    '\n select 1',
    `WITH "one" AS (SELECT 1 AS "n") SELECT "n" FROM "one"`,
    'PRAGMA user_version',
    'PRAGMA integrity_check(10)',
  ])('is not refused %s', async (sql) => {
    const store = await openFilled();
    const { rows } = await store.read(async (tx) => await tx.executeQuery(CompiledQuery.raw(sql)));
    expect(rows).toHaveLength(1);
  });

  test('leaves the next one free to write, also where it has failed', async () => {
    const store = await openFilled();
    const write = CompiledQuery.raw('DELETE FROM "clock"');
    await refusal(store.read(async (tx) => await tx.executeQuery(write)));
    await addCustomer(store, 'c');
    expect(await customers(store)).toBe(4);
  });

  test('has no statement prepared anew, as the words of SQLite for it would', async () => {
    const store = await openFilled();
    const statements: string[] = [];
    const stop = watchStatements((sql) => statements.push(sql));
    await customers(store);
    await addCustomer(store, 'c');
    stop();
    expect(statements.filter((sql) => sql.includes('query_only'))).toEqual([]);
  });

  // Windows has no such directories.
  test.skipIf(process.platform === 'win32')(
    'fails where the file changes meanwhile in a directory that cannot be written, and its next one sees the change',
    async () => {
      const changed = await fillUnwritable();
      const store = await asOrdinaryUser(() => open());
      const reading = store.read(async (tx) => {
        await tx.selectFrom('organizations').select('id').execute();
        await replaceUnwritable(changed);
        return (await tx.selectFrom('customers').select('id').execute()).length;
      });
      expect(await refusal(reading)).toMatchObject({
        kind: 'unavailable',
        message: `the database ${file} changed while it was read`,
      });
      expect(await asOrdinaryUser(() => customers(store))).toBe(4);
    },
  );

  test.skipIf(process.platform === 'win32')(
    'in a directory that it cannot write sees what another process has in a log that was not there before',
    async () => {
      await fillUnwritable();
      await chmod(file, 0o644);
      const reader = await asOrdinaryUser(() => open());
      expect(await asOrdinaryUser(() => customers(reader))).toBe(3);
      await chmod(directory, 0o755);
      const writer = await open();
      await addCustomer(writer, 'c');
      await chmod(directory, 0o555);
      expect(await asOrdinaryUser(() => customers(reader))).toBe(4);
    },
  );
});

// Windows has no such directories.
test.skipIf(process.platform === 'win32')(
  'a file in a directory that cannot be written is unavailable while the directory is closed to its reader',
  async () => {
    await fillUnwritable();
    const store = await asOrdinaryUser(() => open());
    await chmod(directory, 0o600);
    expect(await refusal(asOrdinaryUser(() => customers(store)))).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('cannot be looked up: permission denied') as string,
    });
    await chmod(directory, 0o555);
    expect(await asOrdinaryUser(() => customers(store))).toBe(3);
  },
);

// Windows has no such directories.
test.skipIf(process.platform === 'win32')(
  'a restored file in a directory that cannot be written can be read, although it has no log yet',
  async () => {
    await fill();
    withSqlite((database) => database.exec('PRAGMA journal_mode = DELETE'));
    await chmod(file, 0o666);
    await chmod(directory, 0o555);
    const program = `const { openStore } = await import(process.argv[1]);
      const store = await openStore(process.argv[2]);
      const rows = await store.read((tx) => tx.selectFrom('customers').select('id').execute());
      const refused = await store.write((tx) => tx.deleteFrom('customers').execute()).catch(({ message }) => message);
      process.stdout.write(JSON.stringify([rows.length, refused]));`;
    // What a directory allows is asked for the user of a process, not for whom it works as.
    const user = process.geteuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const words = [
      '--input-type=module',
      '--eval',
      program,
      join(import.meta.dirname, '../../src/store/open.ts'),
      file,
    ];
    const said = execFileSync(process.execPath, words, { ...user, encoding: 'utf8' });
    expect(JSON.parse(said)).toEqual([3, `the database ${file} is read-only; nothing was changed`]);
  },
);
