import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { readPrivateFile } from '../../../src/cli/target/private-file.ts';

test.skipIf(process.platform === 'win32')('the command that mends a mode is one that a shell takes', () => {
  const path = join(mkdtempSync(join(tmpdir(), "o'brien-")), 'config.json');
  writeFileSync(path, '{}', { mode: 0o644 });
  const machine = { platform: 'linux', userId: undefined, now: () => 0 };
  const hint = `run: chmod 600 '${path.replace("'", String.raw`'\''`)}'`;
  expect(() => readPrivateFile(path, machine)).toThrow(expect.objectContaining({ hint }));
});
