import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';

import type { BackupManifest } from '../../src/operations/backup-manifest.ts';
import { backUp, restore } from '../../src/store/backup.ts';
import { schemaVersion } from '../../src/store/backends/sqlite/migrations/migration.ts';
import { writeBookFact } from '../../src/store/records/book-facts.ts';
import { noHash } from '../../src/store/records/hash-chain.ts';
import { insertLedgerEntry } from '../../src/store/records/ledger.ts';
import { readLedgerHead } from '../../src/store/records/seals.ts';
import { runProgram } from '../support/program.ts';
import { at, eventOf, newGrant } from './rows.ts';
import {
  addCustomer,
  asOrdinaryUser,
  customers,
  directory,
  file,
  open,
  openFilled,
  refusal,
  useTestFile,
  withSqlite,
} from './test-file.ts';

useTestFile();

let copy: string;
let restored: string;

beforeEach(() => {
  copy = join(directory, 'copy.db');
  restored = join(directory, 'deep', 'restored.db');
});

const back = (to = copy): Promise<BackupManifest> => backUp({ from: file, to, createdAt: at });

function readManifest(): BackupManifest {
  return JSON.parse(readFileSync(`${copy}.manifest.json`, 'utf8')) as BackupManifest;
}

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
    expect(readManifest()).toEqual(manifest);
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
    await (await openFilled()).close();
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
    await (await openFilled()).close();
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
    expect(readManifest()).toMatchObject({ hasEventsElsewhere: true });
  });

  test('of a database that is not there is refused', async () => {
    expect((await refusal(back())).kind).toBe('notFound');
  });

  test('into a directory that is not there is refused', async () => {
    await openFilled();
    expect((await refusal(back(join(directory, 'none', 'copy.db')))).kind).toBe('unavailable');
  });

  test.skipIf(process.platform === 'win32')('to a path that is longer than SQLite takes is refused', async () => {
    await (await openFilled()).close();
    const deep = join(directory, 'd'.repeat(245), 'd'.repeat(245 - directory.length));
    mkdirSync(deep, { recursive: true });
    const error = await refusal(back(join(deep, 'copy.db')));
    expect([error.kind, error.message.split(' cannot')[0]]).toEqual(['usage', join(deep, 'copy.db')]);
    expect(readdirSync(deep)).toEqual([]);
  });

  test('of a damaged database is refused, and leaves nothing behind', async () => {
    await (await openFilled()).close();
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
    await (await openFilled()).close();
    injure();
    expect((await refusal(back())).message).toContain('is damaged, and was not backed up: ');
    expect(readdirSync(directory).filter((name) => !name.startsWith('billing.db'))).toEqual([]);
  });

  test('of a file of another application is refused', async () => {
    withSqlite((database) => database.exec('CREATE TABLE t (a); PRAGMA application_id = 7'));
    expect((await refusal(back())).message).toContain('not a tallybook database');
  });
});

describe('a restored database', () => {
  beforeEach(async () => {
    await (await openFilled()).close();
    await back();
  });

  const again = (): Promise<BackupManifest> => restore({ from: copy, to: restored });

  test('is the one that was backed up, byte for byte, in a directory made for it', async () => {
    const manifest = await again();
    expect(manifest).toEqual(readManifest());
    expect(readFileSync(restored)).toEqual(readFileSync(copy));
    expect(await customers(await open(restored))).toBe(3);
  });

  test.skipIf(process.platform === 'win32')('is for its owner alone, whatever became of the backup', async () => {
    chmodSync(copy, 0o644);
    await again();
    expect((statSync(restored).mode & 0o777).toString(8)).toBe('600');
  });

  test('may stand where an empty file was', async () => {
    restored = join(directory, 'empty.db');
    writeFileSync(restored, '');
    await again();
    expect(await customers(await open(restored))).toBe(3);
  });

  test('that is cut later is damaged, even where the making of a file was cut off before', async () => {
    restored = join(directory, 'unfinished.db');
    for (const path of [restored, `${restored}-new`]) writeFileSync(path, '');
    await again();
    truncateSync(restored, 0);
    await expect(open(restored)).rejects.toThrow('is damaged: it is empty');
  });

  test.each([
    ['a database', ''],
    ['the log of one', '-wal'],
    ['the journal of one', '-journal'],
  ])('never replaces %s', async (_, ending) => {
    restored = join(directory, 'other.db');
    writeFileSync(restored + ending, 'mine');
    const error = await refusal(again());
    expect(error.kind).toBe('conflict');
    expect(readFileSync(restored + ending, 'utf8')).toBe('mine');
  });

  const manifestPath = () => `${copy}.manifest.json`;
  test.each<[string, string, () => void]>([
    ['without its manifest', 'notFound', () => rmSync(manifestPath())],
    ['with a manifest that is no JSON', 'checkFailed', () => writeFileSync(manifestPath(), '{')],
    ['with a manifest of nothing', 'checkFailed', () => writeFileSync(manifestPath(), 'null')],
    ['with the manifest of another', 'checkFailed', () => changeManifest({ sha256: '0'.repeat(64) })],
    ['with a manifest that says another length', 'checkFailed', () => changeManifest({ bytes: 1 })],
    ['with a manifest of a later form', 'checkFailed', () => changeManifest({ manifestVersion: 2 as 1 })],
    ['that says another schema', 'checkFailed', () => changeManifest({ schemaVersion: 1 })],
    ['that counts other rows', 'checkFailed', () => changeManifest({ organizations: countedOnceMore() })],
    ['that is a directory', 'notFound', () => replaceByDirectory(copy)],
    ['that is gone', 'notFound', () => rmSync(copy)],
    ['with a damaged page', 'checkFailed', () => damagePage(copy)],
    ['that is cut', 'checkFailed', () => truncateSync(copy, 8192)],
    ['that is empty', 'checkFailed', () => truncateSync(copy, 0)],
    ['with one byte changed', 'checkFailed', () => flipByte(copy, 20_000)],
    ['with one byte more', 'checkFailed', () => writeFileSync(copy, Buffer.concat([readFileSync(copy), Buffer.of(0)]))],
  ])('is not made from a backup %s', async (_, kind, injure) => {
    injure();
    expect((await refusal(again())).kind).toBe(kind);
    expect(existsSync(restored)).toBe(false);
  });

  test('without its manifest is not taken for a path that is wrong', async () => {
    rmSync(manifestPath());
    expect((await refusal(again())).hint).toContain('together with the manifest');
    rmSync(copy);
    expect((await refusal(again())).hint).toBe('check the path');
  });

  test.each(['bytes', 'sha256', 'schemaVersion', 'organizations'])(
    'is not made from a backup whose manifest does not say its %s',
    async (name) => {
      changeManifest({ [name]: undefined });
      expect((await refusal(again())).message).toContain(`${manifestPath()} is not the manifest of a backup`);
    },
  );

  test('never takes the place of a file that came while it was made', async () => {
    restored = join(directory, 'restored.db');
    const restoring = refusal(again());
    while (!readdirSync(directory).some((name) => name.startsWith('.tally-'))) await setImmediate();
    writeFileSync(restored, 'mine');
    expect((await restoring).kind).toBe('conflict');
    expect(readFileSync(restored, 'utf8')).toBe('mine');
  });

  test.skipIf(process.platform === 'win32').each([() => copy, manifestPath])(
    'is not made from a backup of which a file is for others alone',
    async (path) => {
      chmodSync(path(), 0);
      const outcome = await runProgram(['restore', copy, '--to', restored], { home: directory, isOrdinary: true });
      expect(outcome).toMatchObject({ code: 9, stderr: expect.stringContaining(path()) });
      expect(existsSync(restored)).toBe(false);
    },
  );

  test('is not made where no path of that length can be looked for', async () => {
    copy = join(directory, 'x'.repeat(300));
    expect((await refusal(again())).kind).toBe('unavailable');
  });

  test('is not made in a dry run, which holds the backup to its manifest', async () => {
    const rehearse = () => restore({ from: copy, to: restored, isDryRun: true });
    expect(await rehearse()).toEqual(readManifest());
    flipByte(copy, 20_000);
    expect((await refusal(rehearse())).kind).toBe('checkFailed');
    const made = readdirSync(directory).filter((name) => !name.startsWith('billing.db'));
    expect(made.toSorted()).toEqual(['copy.db', 'copy.db.manifest.json']);
  });

  test('is no database in memory, which would be gone at once', async () => {
    restored = ':memory:';
    expect((await refusal(again())).kind).toBe('usage');
  });

  test.each([
    ['of which a page is damaged', () => damagePage(copy)],
    ['of which an index is not that of its table', () => disorderIndex(copy)],
  ])('is not made from a backup %s and whose manifest was made to fit', async (_what, injure) => {
    injure();
    const bytes = readFileSync(copy);
    changeManifest({ bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
    const error = await refusal(again());
    expect(error.kind).not.toBe('conflict');
    expect(error.message).toContain('damaged');
    expect(error.message).toContain(copy);
    expect(existsSync(restored)).toBe(false);
  });
});

function countedOnceMore(): BackupManifest['organizations'] {
  return readManifest().organizations.map((each) => ({ ...each, entryCount: each.entryCount + 1 }));
}

function replaceByDirectory(path: string): void {
  rmSync(path);
  mkdirSync(path);
}

function changeManifest(changes: Partial<BackupManifest>): void {
  writeFileSync(`${copy}.manifest.json`, JSON.stringify({ ...readManifest(), ...changes }));
}

function damagePage(path: string): void {
  const bytes = readFileSync(path);
  bytes.fill(0xff, 4096 * 10, 4096 * 11);
  writeFileSync(path, bytes);
}

/** Its rows stand in it under other values than they have. */
function disorderIndex(path: string): void {
  const database = new DatabaseSync(path);
  database.enableDefensive(false);
  database.exec(`PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(sql, '"createdAt"', '"name"') WHERE name = 'customers_created'`);
  database.close();
}

function flipByte(path: string, place: number): void {
  const bytes = readFileSync(path);
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}
