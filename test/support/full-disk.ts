/** A disk that is full for one process: a limit of the system on the size of its files, which can be lifted again. */

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess, SpawnOptions, SpawnSyncReturns } from 'node:child_process';
import { statSync } from 'node:fs';

import { launcher } from './program.ts';

/** By prlimit of util-linux. */
export const canFillDisk = process.platform === 'linux' && spawnSync('prlimit', ['--version']).status === 0;

/** The program as it is; beyond the limit a write of it fails, as on a full disk, and there is no signal. */
export function spawnLimited(words: readonly string[], options: SpawnOptions): ChildProcess {
  return spawn('bash', ['-c', `trap '' XFSZ; exec "$@"`, 'bash', process.execPath, launcher, ...words], options);
}

/** The program from its start to its end where no file takes more bytes than these. */
export function runOnFullDisk(
  words: readonly string[],
  options: SpawnOptions,
  bytes: number = 0,
): SpawnSyncReturns<string> {
  const limited = [`--fsize=${bytes}`, process.execPath, launcher, ...words];
  const ignoring = ['--norc', '-c', `trap '' XFSZ; exec prlimit "$@"`, 'bash', ...limited];
  return spawnSync('bash', ignoring, { ...options, encoding: 'utf8' });
}

export function limitFiles({ pid }: Pick<ChildProcess, 'pid'>, bytes: number | 'unlimited'): void {
  // Only its own user may limit it.
  const { uid, gid } = statSync(`/proc/${pid}`);
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`], { uid, gid });
}
