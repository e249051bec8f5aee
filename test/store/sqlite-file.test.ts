import { existsSync } from 'node:fs';
import { chmod, copyFile, link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';

import { migrations } from '../../src/store/backends/sqlite/migrations/index.ts';
import { schemaVersion } from '../../src/store/backends/sqlite/migrations/migration.ts';
import { isMirrorFile } from '../../src/store/mirror-file.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { eventOf, insertTwoOrganizations } from './rows.ts';
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

describe('a new database', () => {
  test.runIf(existsSync('/proc/self'))('is refused where no directory can be made', async () => {
    await expect(openStore('/proc/none/billing.db')).rejects.toThrow('cannot be created: the directory does not exist');
  });

  test.each(['~', '~/billing.db'])('is not made below a directory called ~, for %s', async (path) => {
    await expect(openStore(path)).rejects.toMatchObject({
      kind: 'usage',
      hint: `write the path in full; for a directory of that name: ./${path}`,
    });
    expect(existsSync('~')).toBe(false);
  });

  test.each([
    [' books.db', 'begins or ends with white space'],
    ['books.db ', 'begins or ends with white space'],
    ['books.db\r', 'begins or ends with white space'],
    [' ', 'begins or ends with white space'],
    ['caf\uFFFD.db', 'is not UTF-8 text'],
    ['-', 'is a dash'],
  ])('is not made of %j, which nobody means', async (path, what) => {
    const message = `the path of the database ${what}: "${path}"`;
    await expect(openStore(path)).rejects.toMatchObject({ kind: 'usage', message });
    await expect(openStore(`file:${path}`)).rejects.toMatchObject({ kind: 'usage', message });
    expect(existsSync(path)).toBe(false);
  });

  test.each([{ readOnly: false }, { readOnly: true }])(
    'is said to be where nobody can look, with %o',
    async (options) => {
      const path = join(directory, 'x'.repeat(300));
      const opening = openStore(path, options);
      await expect(opening).rejects.toMatchObject({ kind: 'unavailable' });
      await expect(opening).rejects.toThrow(`${path} cannot be looked up: the name is too long`);
      expect(isMirrorFile(path)).toBe(false);
    },
  );

  test.each([{ readOnly: false }, { readOnly: true }])('is no directory, opened with %o', async (options) => {
    const opening = openStore(directory, options);
    await expect(opening).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(opening).rejects.toThrow(`the database ${directory} cannot be used: it is a directory`);
  });

  test('is made together with its directory, for the owner alone', async () => {
    const deep = join(directory, 'deep', 'down', 'billing.db');
    const umask = process.umask(0);
    try {
      const store = await open(deep);
      await store.write(insertTwoOrganizations);
      const modes = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
      const ownerOnly = process.platform === 'win32' ? '666' : '600';
      expect(await modes(deep)).toBe(ownerOnly);
      expect(await modes(`${deep}-wal`)).toBe(ownerOnly);
      if (process.platform !== 'win32') expect(await modes(join(directory, 'deep', 'down'))).toBe('700');
    } finally {
      process.umask(umask);
    }
  });

  test('is marked as ours, has the current schema, and keeps a write-ahead log', async () => {
    await openFilled();
    const facts = withSqlite((database) =>
      ['application_id', 'user_version', 'journal_mode'].map(
        (name) => database.prepare(`PRAGMA ${name}`).get()?.[name],
      ),
    );
    expect(facts).toEqual([0x74616c6c, schemaVersion, 'wal']);
    expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1));
    expect(migrations.at(-1)?.version).toBe(schemaVersion);
  });

  test.each([
    ['a file URL', () => pathToFileURL(file).href],
    ['a sqlite URL', () => `sqlite:${file}`],
    ['a sqlite URL with slashes', () => pathToFileURL(file).href.replace('file:', 'sqlite:')],
  ])('is found again by %s', async (_, url) => {
    await fill();
    expect(await customers(await open(url()))).toBe(3);
  });

  test.each(['mysql://localhost/billing', 'clickhouse://localhost', 'https://example.com', ''])(
    'is not made at "%s"',
    async (url) => {
      expect((await refusal(open(url))).kind).toBe('usage');
    },
  );
});

describe('an existing database', () => {
  test('keeps every byte when it is opened and read', async () => {
    await fill();
    const before = await readFile(file);
    const store = await openStore(file);
    expect(await customers(store)).toBe(3);
    await store.close();
    expect(await readFile(file)).toEqual(before);
  });

  test('of the first schema is upgraded, and its rows stay', async () => {
    withSqlite((database) => {
      for (const statement of migrations[0]?.statements ?? []) database.exec(statement);
      database.exec('PRAGMA application_id = 1952541804; PRAGMA user_version = 1');
      database.exec(`INSERT INTO organizations (id, name, keyPrefix, salesTaxEnabled, nextInvoiceNumber, lastCreatedAt,
        createdAt) VALUES ('org-z', 'Z', 'z', 0, 4, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`);
    });
    const store = await open();
    const found = await store.read((tx) =>
      tx.selectFrom('organizations').select('nextInvoiceNumber').executeTakeFirst(),
    );
    expect(found).toEqual({ nextInvoiceNumber: 4n });
    expect(await store.read((tx) => store.events.list(tx, { orgId: 'org-z', limit: 1, offset: 0 }))).toEqual({
      rows: [],
      total: 0,
    });
  });

  test('of a newer schema is refused, and no byte of it changes', async () => {
    await fill();
    withSqlite((database) => database.exec(`PRAGMA user_version = ${schemaVersion + 1}`));
    const before = await readFile(file);
    const { kind, message } = await refusal(open());
    expect({ kind, message }).toEqual({
      kind: 'internal',
      message: expect.stringContaining(`has schema ${schemaVersion + 1}`),
    });
    expect(await readFile(file)).toEqual(before);
  });

  test.skipIf(process.platform === 'win32').each([
    ['moved away', async () => await rename(file, `${file}.old`)],
    [
      'replaced by another',
      async () => {
        await copyFile(file, `${file}.new`);
        await rename(`${file}.new`, file);
      },
    ],
  ])('that is %s while it is in use is not written any more', async (_what, move) => {
    const store = await openFilled();
    await addCustomer(store, 'before');
    await move();
    expect(await refusal(addCustomer(store, 'lost'))).toMatchObject({
      kind: 'unavailable',
      message: `the database ${file} was moved or replaced while it was in use; nothing was changed`,
    });
  });

  test.skipIf(process.platform === 'win32')('that has two names is read by both, and written by none', async () => {
    const store = await openFilled();
    await link(file, `${file}.other`);
    expect(await refusal(addCustomer(store, 'lost'))).toMatchObject({
      kind: 'unavailable',
      message: `the database ${file} has a second name (a hard link), and writing through both would lose data; nothing was changed`,
    });
    expect(await customers(store)).toBe(3);
    await rm(`${file}.other`);
    await addCustomer(store, 'kept');
    expect(await customers(store)).toBe(4);
  });

  test('that is upgraded while it is in use is neither read nor written any more', async () => {
    const store = await openFilled();
    withSqlite((database) => database.exec(`PRAGMA user_version = ${schemaVersion + 1}`));
    expect((await refusal(customers(store))).message).toContain('was upgraded');
    expect((await refusal(addCustomer(store, 'c'))).kind).toBe('unavailable');
  });

  test.each([
    ['no database', async () => writeFile(file, 'name,amount\nAcme,12\n'.repeat(100))],
    ['a few bytes', async () => writeFile(file, 'abc')],
    ["another application's database", async () => withSqlite((other) => other.exec('CREATE TABLE notes (text)'))],
    [
      'an empty database of another application',
      async () => withSqlite((other) => other.exec('PRAGMA user_version = 7')),
    ],
    [
      'a marked database of another application',
      async () => withSqlite((other) => other.exec('PRAGMA application_id = 252006673; CREATE TABLE t (x)')),
    ],
  ])('that is %s is refused, and no byte of it changes', async (_, make) => {
    await make();
    const before = await readFile(file);
    const { kind, message, hint } = await refusal(open());
    expect({ kind, message }).toEqual({
      kind: 'internal',
      message: expect.stringContaining(`${file} is not a tallybook database`),
    });
    expect(hint).toContain('backup');
    expect(await readFile(file)).toEqual(before);
  });

  test.each([
    ['all pages but the first', () => [2, Number.POSITIVE_INFINITY] as const],
    ['one page of a table', () => [rootPageOf('customers'), rootPageOf('customers') + 1] as const],
  ])('with damage to %s is reported with its path, not used', async (_, pages) => {
    await fill();
    const [first, end] = pages();
    const bytes = await readFile(file);
    await writeFile(file, bytes.fill(0xff, (first - 1) * 4096, Math.min(bytes.length, (end - 1) * 4096)));
    const use = async () => (await open()).read((tx) => tx.selectFrom('customers').selectAll().execute());
    const { kind, message, hint } = await refusal(use());
    expect({ kind, message }).toEqual({ kind: 'internal', message: expect.stringContaining(`${file} is damaged`) });
    expect(hint).toContain('backup');
  });

  function rootPageOf(table: string): number {
    const find = 'SELECT rootpage FROM sqlite_schema WHERE name = ?';
    return Number(withSqlite((database) => database.prepare(find).get(table))?.['rootpage']);
  }

  test('is not looked for where a file stands in place of its directory', async () => {
    await writeFile(file, '');
    expect((await refusal(open(join(file, 'billing.db')))).kind).toBe('unavailable');
  });

  test('is not looked for in a directory of its name', async () => {
    await mkdir(file);
    const { kind, message } = await refusal(open());
    expect(kind).toBe('unavailable');
    expect(message).toContain(file);
  });

  test.skipIf(process.platform === 'win32')('is not made where its path is longer than SQLite takes', async () => {
    const long = join(dirname(file), 'd'.repeat(250), 'd'.repeat(250), 'billing.db');
    const error = await refusal(open(long));
    expect([error.kind, error.message]).toEqual([
      'usage',
      `${long} cannot be used: the whole path has ${long.length} bytes`,
    ]);
    expect(existsSync(dirname(dirname(long)))).toBe(false);
  });

  test('is only read where it must exist already', async () => {
    expect((await refusal(open(file, { readOnly: true }))).kind).toBe('notFound');
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });
});

describe('rows of events', () => {
  beforeEach(async () => {
    const store = await openFilled();
    const append = (tokens: number) =>
      store.write((tx) =>
        store.events.append(tx, 'org-a', [eventOf('k', { propertiesJson: `{"tokens":${tokens}}` })], () => true),
      );
    await append(1);
    await append(2);
  });

  test.each([
    `UPDATE events SET propertiesJson = '{}'`,
    `UPDATE events SET version = version + 2`,
    `UPDATE events SET version = version + 1, idempotencyKey = 'other'`,
    'DELETE FROM events',
    `UPDATE eventVersions SET propertiesJson = '{}'`,
    'DELETE FROM eventVersions',
  ])('are kept from: %s', (statement) => {
    expect(() => withSqlite((database) => database.exec(statement))).toThrow('append-only');
  });

  test.each([
    [
      'SELECT eventSeq FROM eventTail WHERE customerSeq = 1 AND timestampEpochMs >= 1 AND timestampEpochMs < 2',
      ['SEARCH eventTail USING PRIMARY KEY (customerSeq=? AND timestampEpochMs>? AND timestampEpochMs<?)'],
    ],
    [
      'SELECT data FROM eventTailPieces WHERE run = 3 AND firstCustomerSeq <= 1 ORDER BY firstCustomerSeq DESC LIMIT 1',
      ['SEARCH eventTailPieces USING INDEX sqlite_autoindex_eventTailPieces_1 (run=? AND firstCustomerSeq<?)'],
    ],
    [
      `SELECT event.nameId FROM json_each('[1]') AS place CROSS JOIN events AS event ON event.seq = place.value`,
      ['SEARCH event USING INTEGER PRIMARY KEY (rowid=?)'],
    ],
  ])('are found without looking at others: %s', (text, steps) => {
    const plan = withSqlite((database) => database.prepare(`EXPLAIN QUERY PLAN ${text}`).all());
    const searches = plan.map(({ detail }) => String(detail)).filter((detail) => /event/i.test(detail));
    expect(searches).toEqual(steps);
  });
});

describe('a read-only database', () => {
  async function outcomeOfUse(store: Store): Promise<unknown> {
    const read = await customers(store);
    const { kind, message } = await refusal(addCustomer(store, 'c'));
    return { read, kind, message, readAgain: await customers(store) };
  }

  const readsAlone = () => ({
    read: 3,
    kind: 'unavailable',
    message: `the database ${file} is read-only; nothing was changed`,
    readAgain: 3,
  });

  test('is what the option asks for', async () => {
    await fill();
    const store = await open(file, { readOnly: true });
    expect(store.isReadOnly).toBe(true);
    expect(await outcomeOfUse(store)).toEqual(readsAlone());
  });

  test('sees what others write', async () => {
    const writer = await openFilled();
    const reader = await open(file, { readOnly: true });
    await addCustomer(writer, 'c');
    expect(await customers(reader)).toBe(4);
  });

  test('is a file that cannot be written', async () => {
    await fill();
    await chmod(file, 0o444);
    await chmod(directory, 0o777);
    expect(await asOrdinaryUser(async () => outcomeOfUse(await open()))).toEqual(readsAlone());
    // What SQLite has made beside it stays as it is, and is named.
    await chmod(file, 0o666);
    const refused = asOrdinaryUser(async () => await addCustomer(await open(), 'c'));
    expect(await refusal(refused)).toMatchObject({ hint: expect.stringContaining('-shm') });
  });

  // Windows has no such directories.
  test.skipIf(process.platform === 'win32')(
    'is a file in a directory that cannot be written, where it follows changes all the same',
    async () => {
      const changed = await fillUnwritable();
      const store = await asOrdinaryUser(() => open());
      expect(await asOrdinaryUser(() => outcomeOfUse(store))).toEqual(readsAlone());
      await replaceUnwritable(changed);
      expect(await asOrdinaryUser(() => customers(store))).toBe(4);
      await chmod(directory, 0o755);
    },
  );

  test.skipIf(process.platform === 'win32')(
    'whose log lies beside it is not read without what stands in the log alone, where its directory cannot be written',
    async () => {
      await fill();
      const writer = await openStore(file);
      await addCustomer(writer, 'c');
      for (const part of ['', '-wal']) await copyFile(`${file}${part}`, join(directory, `left.db${part}`));
      await writer.close();
      const left = join(directory, 'left.db');
      await chmod(left, 0o444);
      await chmod(directory, 0o555);
      await expect(asOrdinaryUser(() => open(left, { readOnly: true }))).rejects.toMatchObject({ kind: 'unavailable' });
      await chmod(directory, 0o755);
    },
  );

  test('of an older schema is refused', async () => {
    withSqlite((database) => database.exec('PRAGMA application_id = 1952541804; PRAGMA user_version = 1'));
    expect((await refusal(open(file, { readOnly: true }))).message).toContain('older schema, and was opened read-only');
  });
});
