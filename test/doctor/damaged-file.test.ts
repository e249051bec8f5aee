import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { createMaintenance } from '../../src/engine/maintenance.ts';
import { schemaVersion } from '../../src/store/backends/sqlite/migrations/migration.ts';
import { openStore } from '../../src/store/open.ts';
import { asOrdinaryUser } from '../store/test-file.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { makeSoundBook } from './sound-book.ts';
import type { SoundBook } from './sound-book.ts';

let directory: string;
let sound: string;
let book: SoundBook;

beforeAll(async () => {
  directory = newDirectory();
  sound = join(directory, 'sound.db');
  book = await makeSoundBook(sound);
});

const bytesOf = (what: string, bytes: Buffer): Buffer => {
  const page = 4096;
  if (what === 'is cut') return bytes.subarray(0, 40 * page + 100);
  if (what === 'has a schema that cannot be read') {
    const statement = 'CREATE TABLE "organizations"';
    for (let at = bytes.indexOf(statement); at !== -1; at = bytes.indexOf(statement, at + 1)) bytes.write('BREATE', at);
    return bytes;
  }
  const isNoise = what.endsWith('noise');
  return bytes.map((byte, index) => (index < page ? byte : isNoise ? (index * 7919) % 251 : 0)) as Buffer;
};

test.each([
  'is all but for its first page zeros',
  'is all but for its first page noise',
  'is cut',
  'has a schema that cannot be read',
])('a file that %s is reported by doctor, though it cannot be opened', async (what) => {
  const file = join(directory, `${what}.db`);
  writeFileSync(file, bytesOf(what, readFileSync(sound)), { mode: 0o600 });
  await expect(openStore(file, { readOnly: true })).rejects.toThrow('is damaged');
  const found = await createMaintenance({ now: () => book.now }).examine(file, { isFull: false, events: undefined });
  expect(found).toMatchObject({ database: file, schemaVersion, organizations: [] });
  expect(new Set(found.findings.map(({ check }) => check))).toEqual(new Set(['integrity']));
  expect(found.findings[0]?.fix).toContain('tally restore');
});

// Windows has no such directories.
test.skipIf(process.platform === 'win32')(
  'a damaged file is reported by doctor where nothing can be written to its directory',
  async () => {
    const backups = join(directory, 'backups');
    mkdirSync(backups);
    chmodSync(directory, 0o755);
    const file = join(backups, 'cut.db');
    writeFileSync(file, bytesOf('is cut', readFileSync(sound)), { mode: 0o444 });
    chmodSync(backups, 0o555);
    const maintenance = createMaintenance({ now: () => book.now });
    const found = await asOrdinaryUser(() => maintenance.examine(file, { isFull: false, events: undefined }));
    chmodSync(backups, 0o755);
    expect(found.findings.filter(({ severity }) => severity === 'error')).toMatchObject([{ check: 'integrity' }]);
  },
);
