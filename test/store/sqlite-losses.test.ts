/** What a file has lost is told, and nothing is made of the rest (reliability 7, C3 and C4). */

import { readFile, readdir, rename, stat, truncate } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { openStore } from '../../src/store/open.ts';
import { refusal } from '../support/refusal.ts';
import { customers, directory, file, open, openFilled, useTestFile } from './test-file.ts';

useTestFile();

test('of which nothing is left is refused, and what stands in its log stays there', async () => {
  const store = await openFilled();
  const log = await readFile(`${file}-wal`);
  expect(log.length).toBeGreaterThan(0);
  await truncate(file);
  const { kind, message, hint } = await refusal(openStore(file));
  expect({ kind, message }).toEqual({
    kind: 'internal',
    message: `the database ${file} is damaged: it is empty; it was left as it is`,
  });
  expect(hint).toContain('backup');
  expect(await readFile(`${file}-wal`)).toEqual(log);
  expect((await stat(file)).size).toBe(0);
  await store.close().catch(() => undefined);
});

// Windows moves no file that is open.
test.skipIf(process.platform === 'win32')(
  'whose log alone is there is not made anew, and is whole once it is back',
  async () => {
    const store = await openFilled();
    const log = await readFile(`${file}-wal`);
    await rename(file, `${file}.away`);
    const before = (await readdir(directory)).sort();
    const { kind, message, hint } = await refusal(openStore(file));
    expect({ kind, message }).toEqual({
      kind: 'unavailable',
      message: `the database ${file} is missing, and its log (-wal) is there; nothing was made`,
    });
    expect(hint).toContain('move the log away');
    expect((await readdir(directory)).sort()).toEqual(before);
    expect(await readFile(`${file}-wal`)).toEqual(log);
    await rename(`${file}.away`, file);
    await store.close();
    expect(await customers(await open())).toBe(3);
  },
);
