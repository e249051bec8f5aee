import { createHash } from 'node:crypto';
import {
  chmodSync,
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
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';

import type { BackupManifest } from '../../src/operations/backup-manifest.ts';
import { backUp, restore } from '../../src/store/backup.ts';
import { runProgram } from '../support/program.ts';
import { at } from './rows.ts';
import { refusal } from '../support/refusal.ts';
import {
  customers,
  damagePage,
  directory,
  disorderIndex,
  file,
  fill,
  open,
  readManifest,
  useTestFile,
} from './test-file.ts';

useTestFile();

let copy: string;
let restored: string;

beforeEach(() => {
  copy = join(directory, 'copy.db');
  restored = join(directory, 'deep', 'restored.db');
});

describe('a restored database', () => {
  beforeEach(async () => {
    await fill();
    await backUp({ from: file, to: copy, createdAt: at });
  });

  const again = (): Promise<BackupManifest> => restore({ from: copy, to: restored });

  test('is the one that was backed up, byte for byte, in a directory made for it', async () => {
    const manifest = await again();
    expect(manifest).toEqual(readManifest(copy));
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

  test('is not made under a name to which no file beside it could add its end', async () => {
    restored = join(directory, 'x'.repeat(250));
    const { kind, message } = await refusal(again());
    expect([kind, message]).toEqual(['unavailable', `${restored}-journal cannot be looked up: the name is too long`]);
    expect(existsSync(restored)).toBe(false);
  });

  test('is not made in a dry run, which holds the backup to its manifest', async () => {
    const rehearse = () => restore({ from: copy, to: restored, isDryRun: true });
    expect(await rehearse()).toEqual(readManifest(copy));
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
  return readManifest(copy).organizations.map((each) => ({ ...each, entryCount: each.entryCount + 1 }));
}

function replaceByDirectory(path: string): void {
  rmSync(path);
  mkdirSync(path);
}

function changeManifest(changes: Partial<BackupManifest>): void {
  writeFileSync(`${copy}.manifest.json`, JSON.stringify({ ...readManifest(copy), ...changes }));
}

function flipByte(path: string, place: number): void {
  const bytes = readFileSync(path);
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}
