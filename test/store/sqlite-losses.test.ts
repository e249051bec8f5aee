/** What a file has lost is told, and nothing is made of the rest (reliability 7, C3 and C4). */

import { readFile, stat, truncate } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { openStore } from '../../src/store/open.ts';
import { file, openFilled, refusal, useTestFile } from './test-file.ts';

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
