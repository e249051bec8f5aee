import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

import { expect, test } from 'vitest';

import { inPassingDirectory } from '../src/passing-directory.ts';

const writing = `
  const { workerData: directory } = require('node:worker_threads');
  const { writeFileSync } = require('node:fs');
  try {
    for (let number = 0; number < 2000; number += 1) writeFileSync(directory + '/' + (number % 50), '');
  } catch {}
`;

test('a passing directory is removed while a thread still makes files in it', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'tally-passing-'));
  for (let turn = 0; turn < 8; turn += 1) {
    const thread = await inPassingDirectory(join(parent, 'passing-'), async (directory) => {
      const worker = new Worker(writing, { eval: true, workerData: directory });
      await once(worker, 'online');
      while (!existsSync(join(directory, '3')));
      return worker;
    });
    expect(readdirSync(parent)).toEqual([]);
    await thread.terminate();
  }
});
