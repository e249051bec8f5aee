import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { backUp } from '../../src/store/backup.ts';
import { beside, publish } from '../../src/store/new-file.ts';
import { openStore } from '../../src/store/open.ts';
import { watchDisk } from '../support/disk-calls.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { asOrdinaryUser } from './test-file.ts';

const place = () => join(newDirectory(), 'file');

test('a file that came meanwhile is not replaced, nor what a link leads to', async () => {
  for (const make of [(path: string) => writeFileSync(path, 'work'), (path: string) => symlinkSync('nowhere', path)]) {
    const target = place();
    const work = beside(target, async (path) => {
      writeFileSync(path, 'new');
      make(target);
      publish(path, target);
      await Promise.resolve();
    });
    await expect(work).rejects.toMatchObject({ kind: 'conflict' });
    expect(existsSync(target) ? readFileSync(target, 'utf8') : 'work').toBe('work');
    expect(readdirSync(dirname(target))).toEqual(['file']);
  }
});

test.runIf(process.platform === 'linux')(
  'a backup is on the disk before it has its name, and its manifest after it',
  async () => {
    const [from, to] = [place(), place()];
    await (await openStore(from)).close();
    const calls = watchDisk();
    await backUp({ from, to, createdAt: '2026-03-01T00:00:00.000Z' });
    const directory = dirname(to);
    expect(calls.map((call) => call.replaceAll(/\.tally-\w+/g, 'MADE'))).toEqual([
      `sync ${directory}/MADE/file`,
      `rename ${directory}/MADE/file ${to}`,
      `sync ${directory}`,
      `sync ${directory}/MADE/file.manifest.json`,
      `rename ${directory}/MADE/file.manifest.json ${to}.manifest.json`,
      `sync ${directory}`,
    ]);
  },
);

// Windows has no such directories.
test.skipIf(process.platform === 'win32')(
  'a directory that takes files and cannot be listed takes a new file whole, and it is on the disk under its name',
  async () => {
    const target = place();
    chmodSync(dirname(target), 0o333);
    const calls = watchDisk();
    await asOrdinaryUser(async () => {
      await beside(target, async (path) => {
        writeFileSync(path, 'new');
        publish(path, target);
        await Promise.resolve();
      });
    });
    chmodSync(dirname(target), 0o755);
    expect(readdirSync(dirname(target))).toEqual(['file']);
    expect(readFileSync(target, 'utf8')).toBe('new');
    if (process.platform === 'linux') expect(calls.at(-1)).toBe(`sync ${target}`);
  },
);
