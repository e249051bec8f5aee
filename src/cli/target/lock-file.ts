/**
 * A file that keeps other processes out as long as it exists. It names its process, so that a process killed while holding it
 * blocks nobody, and a process that is only suspended keeps it for a minute.
 */

import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

import { BillingError, UnavailableError } from '../../errors.ts';

const pauseMilliseconds = 20;
/** Enough to outlast the time after which a lock that names no process counts as abandoned. */
const attempts = 600;
/** For a lock that names no process of this machine, such as one whose writing was cut off. */
const abandonedAfterMilliseconds = 10_000;
/** For a lock whose process runs: it is held only for milliseconds, so by now another process has this number. */
const outlivedAfterMilliseconds = 60_000;

/**
 * Runs work that changes the file at `path` while its lock file keeps other processes out. Throws what `lockFile` and the work
 * throw, and a usage error if the file cannot be written.
 */
export async function whileLocked<T>(
  path: string,
  clock: { now: () => number },
  work: () => T | Promise<T>,
): Promise<T> {
  const unlock = await lockFile(`${path}.lock`, clock);
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const { unwritable } = await import('../files/output-file.ts');
    throw unwritable(path, error);
  } finally {
    unlock();
  }
}

/**
 * Holds a lock file that keeps other processes out until the returned function is called. `now` is in milliseconds. Throws
 * UnavailableError if the lock is held for too long or the disk has no room for it, a usage error if the file cannot be
 * created there.
 */
export async function lockFile(path: string, clock: { now: () => number }): Promise<() => void> {
  try {
    return await waitFor(path, clock);
  } catch (error) {
    if (error instanceof BillingError) throw error;
    const { unwritable } = await import('../files/output-file.ts');
    throw unwritable(path, error);
  }
}

async function waitFor(path: string, { now }: { now: () => number }): Promise<() => void> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (tryToMake(path)) {
      return () => {
        if (holderOf(path) === ownName()) rmSync(path, { force: true });
      };
    }
    if (!isAbandoned(path, now()) || !takeAway(path, now())) await pause(pauseMilliseconds);
  }
  throw new UnavailableError(`${path} is locked by another process`, {
    hint: 'try again; remove the lock file if no tally is running',
  });
}

function tryToMake(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
  try {
    writeFileSync(file, ownName());
    return true;
  } catch (error) {
    // A lock that names no process would block everybody until it counts as abandoned.
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Guarded by a second lock and checked again: of two processes that remove it, one could remove the next holder's. */
function takeAway(path: string, now: number): boolean {
  const guard = `${path}.abandoned`;
  if (!tryToMake(guard)) {
    if (isAbandoned(guard, now)) rmSync(guard, { force: true });
    return false;
  }
  try {
    if (isAbandoned(path, now)) rmSync(path, { force: true });
    return true;
  } finally {
    rmSync(guard, { force: true });
  }
}

function isAbandoned(path: string, now: number): boolean {
  const age = now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now);
  const [, number, host] = /^(\d+) (.*)$/.exec(holderOf(path) ?? '') ?? [];
  if (number === undefined || host !== hostname()) return age > abandonedAfterMilliseconds;
  return !isRunning(Number(number)) || age > outlivedAfterMilliseconds;
}

function isRunning(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    // A process of another user is running, too.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function ownName(): string {
  return `${process.pid} ${hostname()}`;
}

function holderOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
