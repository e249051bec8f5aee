import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

import { expect, test } from 'vitest';

import { inPassingDirectory } from '../src/passing-directory.ts';

/** The text of a thread that works on files of a directory until there is none. */
const thread = (work: string) => `
  const { workerData: directory } = require('node:worker_threads');
  const { unlinkSync, writeFileSync } = require('node:fs');
  const fileOf = (number) => directory + '/' + (number % 50);
  try {
    for (let number = 0; number < 2000; number += 1) { ${work} }
  } catch {}
`;

test.each([
  ['makes files in it', 'writeFileSync(fileOf(number), "")'],
  // As SQLite does with its journal.
  [
    'makes and removes one',
    'writeFileSync(fileOf(Math.min(number, 4)), ""); if (number > 3) try { unlinkSync(fileOf(4)) } catch {}',
  ],
])('a passing directory is removed while a thread still %s', async (_, work) => {
  const parent = mkdtempSync(join(tmpdir(), 'tally-passing-'));
  for (let turn = 0; turn < 8; turn += 1) {
    const busy = await inPassingDirectory(join(parent, 'passing-'), async (directory) => {
      const worker = new Worker(thread(work), { eval: true, workerData: directory });
      await once(worker, 'online');
      while (!existsSync(join(directory, '3')));
      return worker;
    });
    expect(readdirSync(parent)).toEqual([]);
    await busy.terminate();
  }
});
