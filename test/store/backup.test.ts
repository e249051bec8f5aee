import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';

import type { BackupManifest } from '../../src/operations/backup-manifest.ts';
import { backUp, restore } from '../../src/store/backup.ts';
import { schemaVersion } from '../../src/store/backends/sqlite/migrations/migration.ts';
import { writeBookFact } from '../../src/store/records/book-facts.ts';
import { noHash } from '../../src/store/records/hash-chain.ts';
import { insertLedgerEntry } from '../../src/store/records/ledger.ts';
import { readLedgerHead } from '../../src/store/records/seals.ts';
import { at, eventOf, newGrant } from './rows.ts';
import { watchStatements } from '../reliability/statements.ts';
import { refusal } from '../support/refusal.ts';
import {
  addCustomer,
  asOrdinaryUser,
  customers,
  damagePage,
  directory,
  disorderIndex,
  file,
  fill,
  open,
  openFilled,
  readManifest,
  useTestFile,
  withSqlite,
} from './test-file.ts';

useTestFile();

let copy: string;

beforeEach(() => {
  copy = join(directory, 'copy.db');
});

const back = (to = copy): Promise<BackupManifest> => backUp({ from: file, to, createdAt: at });

describe('a backup', () => {
  test('says what it holds, and has the seal of every ledger', async () => {
    const store = await openFilled();
    await store.write(async (tx) => {
      const { hash } = await insertLedgerEntry(tx, 'org-a', { head: noHash, entry: newGrant });
      await insertLedgerEntry(tx, 'org-a', { head: hash, entry: { ...newGrant, id: 'g2' } });
      await store.events.append(tx, 'org-a', [eventOf('k')], () => true);
    });
    const manifest = await back();
    expect(manifest).toMatchObject({
      manifestVersion: 1,
      createdAt: at,
      schemaVersion,
      bytes: statSync(copy).size,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      organizations: [
        {
          id: 'org-a',
          customerCount: 2,
          contractCount: 1,
          entryCount: 2,
          invoiceCount: 0,
          eventCount: 1,
          ledgerHead: await store.read((tx) => readLedgerHead(tx, 'org-a')),
        },
        { id: 'org-b', customerCount: 1, entryCount: 0, eventCount: 0 },
      ],
    });
    expect(readManifest(copy)).toEqual(manifest);
  });

  test('is one file with its manifest, for the owner alone, and nothing else is left behind', async () => {
    await openFilled();
    await back();
    const own = readdirSync(directory).filter((name) => !name.startsWith('billing.db'));
    expect(own.toSorted()).toEqual(['copy.db', 'copy.db.manifest.json']);
    if (process.platform === 'win32') return;
    for (const name of own) expect((statSync(join(directory, name)).mode & 0o777).toString(8)).toBe('600');
  });

  test('has what is still in the log, which a copy of the file would lack', async () => {
    const store = await openFilled();
    const plain = join(directory, 'plain.db');
    await addCustomer(store, 'new');
    copyFileSync(file, plain);
    await back();
    expect(await customers(await open(copy))).toBe(4);
    const database = new DatabaseSync(plain);
    const tables = database.prepare(`SELECT count(*) AS total FROM sqlite_schema WHERE name = 'customers'`).get();
    database.close();
    expect(tables).toEqual({ total: 0 });
  });

  // Windows has no such directories.
  test.skipIf(process.platform === 'win32')('is made of a file where nothing can be written any more', async () => {
    await fill();
    const target = join(directory, 'elsewhere');
    mkdirSync(target);
    chmodSync(target, 0o777);
    chmodSync(file, 0o444);
    chmodSync(directory, 0o555);
    copy = join(target, 'copy.db');
    await asOrdinaryUser(() => back());
    chmodSync(directory, 0o755);
    expect(await customers(await open(copy, { readOnly: true }))).toBe(3);
  });

  test('made while another process writes is of one instant, and has all that was acknowledged before', async () => {
    await fill();
    const writer = join(import.meta.dirname, 'write-customers.ts');
    const child = spawn(process.execPath, [writer, file, 'w', '400'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const acknowledged: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (text: string) => acknowledged.push(...text.trim().split('\n')));
    const ended = once(child, 'close');
    await once(child.stdout, 'data');
    for (let round = 0; round < 5; round += 1) {
      const before = acknowledged.length;
      copy = join(directory, `round-${round}.db`);
      const manifest = await back(copy);
      const store = await open(copy);
      const { nextInvoiceNumber } = await store.read((tx) =>
        tx.selectFrom('organizations').select('nextInvoiceNumber').where('id', '=', 'org-a').executeTakeFirstOrThrow(),
      );
      const written = (await customers(store)) - 3;
      expect(written).toBe(Number(nextInvoiceNumber) - 1);
      expect(written).toBeGreaterThanOrEqual(before);
      expect(manifest.organizations[0]?.customerCount).toBe(written + 2);
    }
    await ended;
  });

  test.each([
    ['backup', ''],
    ['manifest', '.manifest.json'],
  ])('never overwrites a %s', async (_, ending) => {
    await openFilled();
    writeFileSync(copy + ending, 'mine');
    const error = await refusal(back());
    expect(error.kind).toBe('conflict');
    expect(readFileSync(copy + ending, 'utf8')).toBe('mine');
    expect(existsSync(ending === '' ? `${copy}.manifest.json` : copy)).toBe(false);
  });

  test.each(['-wal', '-journal'])('is not put beside the %s that another database has left', async (ending) => {
    await openFilled();
    writeFileSync(copy + ending, 'mine');
    const error = await refusal(back());
    expect(error).toMatchObject({ kind: 'conflict', message: expect.stringContaining(copy + ending) as string });
    expect(existsSync(copy)).toBe(false);
  });

  test('is looked through without temporary files, for which a machine may have no place', async () => {
    await openFilled();
    const statements: string[] = [];
    const stop = watchStatements((sql) => statements.push(sql));
    await back();
    stop();
    const [memory, check] = ['PRAGMA temp_store = MEMORY', 'PRAGMA integrity_check'].map((words) =>
      statements.findIndex((sql) => sql.startsWith(words)),
    );
    expect(memory).toBeGreaterThanOrEqual(0);
    expect(memory).toBeLessThan(check ?? 0);
  });

  test('does not go to standard output', async () => {
    await openFilled();
    expect((await refusal(back('-'))).kind).toBe('usage');
  });

  test('goes to no URL, whose password is not shown', async () => {
    await openFilled();
    const url = 'postgres://ada:s3cret@db.example/billing';
    for (const refused of [back(url), restore({ from: url, to: copy })]) {
      const { kind, message } = await refusal(refused);
      expect([kind, message]).toEqual([
        'usage',
        'postgres://ada:***@db.example/billing is a URL, and a backup is a file',
      ]);
    }
  });

  test('says of a book whose events are elsewhere that it has none of them', async () => {
    const store = await openFilled();
    await store.write(async (tx) => await writeBookFact(tx, 'eventsElsewhere', { bookId: 'b' }));
    expect(await back()).toMatchObject({ hasEventsElsewhere: true });
    expect(readManifest(copy)).toMatchObject({ hasEventsElsewhere: true });
  });

  test('of a database that is not there is refused', async () => {
    expect((await refusal(back())).kind).toBe('notFound');
  });

  test('into a directory that is not there is refused', async () => {
    await openFilled();
    expect((await refusal(back(join(directory, 'none', 'copy.db')))).kind).toBe('unavailable');
  });

  test.skipIf(process.platform === 'win32')('to a path that is longer than SQLite takes is refused', async () => {
    await fill();
    const deep = join(directory, 'd'.repeat(245), 'd'.repeat(245 - directory.length));
    mkdirSync(deep, { recursive: true });
    const error = await refusal(back(join(deep, 'copy.db')));
    expect([error.kind, error.message.split(' cannot')[0]]).toEqual(['usage', join(deep, 'copy.db')]);
    expect(readdirSync(deep)).toEqual([]);
  });

  test('under a name that is too long with that of its manifest is refused', async () => {
    await openFilled();
    const { kind, message } = await refusal(back(join(directory, 'x'.repeat(245))));
    expect([kind, message]).toEqual(['unavailable', expect.stringMatching(/\.manifest\.json cannot be looked up/)]);
  });

  test('of a damaged database is refused, and leaves nothing behind', async () => {
    await fill();
    damagePage(file);
    const error = await refusal(back());
    expect(error.message).toContain('is damaged');
    expect(readdirSync(directory).filter((name) => !name.startsWith('billing.db'))).toEqual([]);
  });

  test.each([
    [
      'rows name what is not there',
      () =>
        withSqlite((own) => own.exec(`PRAGMA foreign_keys = OFF; DELETE FROM "organizations" WHERE "id" = 'org-b'`)),
    ],
    ['an index is not that of its table', () => disorderIndex(file)],
  ])('of a database in which %s is refused, and leaves nothing behind', async (_what, injure) => {
    await fill();
    injure();
    expect((await refusal(back())).message).toContain('is damaged, and was not backed up: ');
    expect(readdirSync(directory).filter((name) => !name.startsWith('billing.db'))).toEqual([]);
  });

  test('of a file of another application is refused', async () => {
    withSqlite((database) => database.exec('CREATE TABLE t (a); PRAGMA application_id = 7'));
    expect((await refusal(back())).message).toContain('not a tallybook database');
  });
});
