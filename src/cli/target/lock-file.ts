/**
 * A file that keeps other processes out for as long as it is there. It names its process, so that one who was killed with it
 * holds up nobody, and one who was only stopped is not robbed of it for a minute.
 */

import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

import { BillingError, UnavailableError } from '../../errors.ts';

const pauseMilliseconds = 20;
/** Longer than it takes until a lock that names nobody counts as abandoned. */
const attempts = 600;
/** Of one that names no process of this machine, such as one whose making was cut off. */
const abandonedAfterMilliseconds = 10_000;
/** Of one whose process runs, which is done with it in milliseconds: by now it is another process of the same number. */
const outlivedAfterMilliseconds = 60_000;

/**
 * Does what changes the file at `path` while its lock file keeps other processes out. Throws what `lockFile` throws and what
 * the work does, of a file that cannot be written a usage error.
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
 * Holds a lock file that keeps other processes out, until the result is called. `now` is the clock's, in milliseconds. Throws
 * UnavailableError where it is held for too long or the disk has no room for it, a usage error where none can be made there.
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
  throw new UnavailableError(`${path} is held by another process`, {
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
    // One that names nobody would hold up everybody until it counts as abandoned.
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** One at a time, and looked at again by whoever may: two who take one away would take the next one's with it. */
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
    // Another user's runs as well.
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
