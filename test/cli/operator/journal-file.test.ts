import { constants as bufferConstants } from 'node:buffer';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createJournalFile } from '../../../src/cli/operator/journal-file.ts';
import { newDirectory } from '../../support/temporary-files.ts';

const machine = { platform: process.platform, userId: process.getuid?.(), now: () => Date.now() };
const directory = newDirectory();

/** Mostly holes, so it takes hardly any disk: a line end in every MiB. */
function writeLongJournal(path: string): number {
  const lineBytes = 1024 * 1024;
  const count = Math.ceil(bufferConstants.MAX_STRING_LENGTH / lineBytes) + 1;
  mkdirSync(join(directory, 'journal'), { mode: 0o700 });
  const file = openSync(path, 'w', 0o600);
  for (let line = 1; line <= count; line += 1) writeSync(file, '\n', line * lineBytes - 1);
  closeSync(file);
  return count;
}

test('a journal that is longer than any text is read', async () => {
  const path = join(directory, 'journal', 'journal.jsonl');
  const count = writeLongJournal(path);
  let read = 0;
  await createJournalFile(path, machine).hold(() => {}, { onLine: () => void (read += 1), onShown: () => {} });
  expect(read).toBe(count);
});
