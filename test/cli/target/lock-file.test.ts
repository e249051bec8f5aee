import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { lockFile } from '../../../src/cli/target/lock-file.ts';
import { newDirectory } from '../../support/temporary-files.ts';

function heldBy(holder: string): string {
  const path = join(newDirectory(), 'journal.lock');
  writeFileSync(path, holder);
  return path;
}

test('a lock whose process was killed holds up nobody, however many want it', async () => {
  const path = heldBy(`${spawnSync(process.execPath, ['--version']).pid} ${hostname()}`);
  const now = () => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  let holders = 0;
  const hold = async () => {
    const unlock = await lockFile(path, { now });
    holders += 1;
    expect(holders).toBe(1);
    await Promise.resolve();
    holders -= 1;
    unlock();
  };
  await Promise.all([hold(), hold(), hold()]);
  expect(readdirSync(dirname(path))).toEqual([]);
});

test.each([
  ['a process that runs', `${process.ppid} ${hostname()}`, 59_000],
  ['a process of another machine', `1 not-${hostname()}`, 9_000],
  ['nobody, since its making was cut off', '', 9_000],
])('a lock that names %s is waited for', async (_holder, text, ageMilliseconds) => {
  const path = heldBy(text);
  const { mtimeMs } = statSync(path);
  let looks = 0;
  const now = () => {
    looks += 1;
    expect(existsSync(path)).toBe(true);
    if (looks === 3) rmSync(path);
    return mtimeMs + ageMilliseconds;
  };
  (await lockFile(path, { now }))();
  expect(looks).toBe(3);
});

test.each([
  ['a process that runs by now under its number', `${process.ppid} ${hostname()}`, 61_000],
  ['a process of another machine', `1 not-${hostname()}`, 11_000],
  ['nobody, since its making was cut off', '', 11_000],
])('a lock that names %s is taken once it is too old', async (_holder, text, ageMilliseconds) => {
  const path = heldBy(text);
  const { mtimeMs } = statSync(path);
  (await lockFile(path, { now: () => mtimeMs + ageMilliseconds }))();
  expect(existsSync(path)).toBe(false);
});

test('a lock that another process has taken meanwhile is not taken away with the one before', async () => {
  const path = heldBy(`${spawnSync(process.execPath, ['--version']).pid} ${hostname()}`);
  let looks = 0;
  const now = () => {
    looks += 1;
    // It was found to be abandoned, and is about to be taken away.
    if (looks === 2) writeFileSync(path, `${process.ppid} ${hostname()}`);
    if (looks === 3) rmSync(path);
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  };
  (await lockFile(path, { now }))();
  expect(looks).toBe(3);
});

test('a lock whose taking away was cut off as well holds up nobody', async () => {
  const gone = `${spawnSync(process.execPath, ['--version']).pid} ${hostname()}`;
  const path = heldBy(gone);
  writeFileSync(`${path}.abandoned`, gone);
  (await lockFile(path, { now: () => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))();
  expect(readdirSync(dirname(path))).toEqual([]);
});

test('who was stopped for so long that its lock was taken leaves that of the next', async () => {
  const path = heldBy('');
  rmSync(path);
  const unlock = await lockFile(path, { now: () => 0 });
  writeFileSync(path, `${process.ppid} ${hostname()}`);
  unlock();
  expect(existsSync(path)).toBe(true);
});

test('where no lock can be made the reason is told in words', async () => {
  const path = join(tmpdir(), 'none-of-it', 'journal.lock');
  await expect(lockFile(path, { now: () => 0 })).rejects.toMatchObject({
    kind: 'usage',
    message: `cannot write ${path}: the directory does not exist`,
  });
});
