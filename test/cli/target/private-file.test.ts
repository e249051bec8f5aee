import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { readPrivateFile } from '../../../src/cli/target/private-file.ts';
import { asOrdinaryUser } from '../../store/test-file.ts';
import { newDirectory } from '../../support/temporary-files.ts';

test.skipIf(process.platform === 'win32')('the command that mends a mode is one that a shell takes', () => {
  const path = join(newDirectory("o'brien-"), 'config.json');
  writeFileSync(path, '{}', { mode: 0o644 });
  const machine = { platform: 'linux', userId: undefined, now: () => 0 };
  const hint = `run: chmod 600 '${path.replace("'", String.raw`'\''`)}'`;
  expect(() => readPrivateFile(path, machine)).toThrow(expect.objectContaining({ hint }));
});

test.skipIf(process.platform === 'win32').each([
  ['a pipe', (path: string) => execFileSync('mkfifo', ['-m', '600', path])],
  ['a directory', (path: string) => mkdirSync(path, { mode: 0o700 })],
])('%s in the place of a file is refused, and nothing waits for it', (_what, make) => {
  const path = join(newDirectory(), 'config.json');
  make(path);
  const machine = { platform: 'linux', userId: undefined, now: () => 0 };
  expect(() => readPrivateFile(path, machine)).toThrow(`${path} is not a file`);
});

test.skipIf(process.platform === 'win32')('a file that this user may not read is refused in words', async () => {
  const path = join(newDirectory(), 'config.json');
  writeFileSync(path, '{}', { mode: 0o000 });
  const machine = { platform: 'linux', userId: undefined, now: () => 0 };
  const reading = asOrdinaryUser(async () => await Promise.resolve(readPrivateFile(path, machine)));
  await expect(reading).rejects.toThrow(`${path} cannot be read: permission denied`);
});
