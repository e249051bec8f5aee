/**
 * New files that replace nothing: made in a directory of their own beside where they will stand, and put there whole.
 */

import {
  chmodSync,
  closeSync,
  copyFileSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { ConflictError, isFailureOfDisk, UnavailableError } from '../errors.ts';
import { inPassingDirectory } from '../passing-directory.ts';
import { factsOf } from './file-facts.ts';

/** Throws ConflictError where something has the name, but for an empty file where that is allowed. */
export function refuseExisting(path: string, { allowsEmpty = false } = {}): void {
  if (!isThere(path) || (allowsEmpty && factsOf(path)?.size === 0)) return;
  throw new ConflictError(`${path} is there already, and is never overwritten`, {
    hint: 'give another path, or move the file away',
  });
}

/** A link is there itself, wherever it leads. */
export function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

const passing = '.tally-';

/**
 * The directories of `beside` that stand where `target` does. Of one that a kill has left behind nothing tells that it is not in
 * use, perhaps by another machine: so they are named, and a person removes them.
 */
export function passingBeside(target: string): string[] {
  const parent = dirname(target);
  try {
    return readdirSync(parent, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name.startsWith(passing))
      .map(({ name }) => join(parent, name))
      .toSorted();
  } catch {
    // A directory may let its files be used and not be listed.
    return [];
  }
}

/**
 * Gives `work` a place for what is to stand at `target`: of the same name and on the same disk, so that putting it there is one
 * step, in a directory for its owner alone.
 */
export async function beside<T>(target: string, work: (path: string) => Promise<T>): Promise<T> {
  const parent = dirname(target);
  let isMade = false;
  try {
    return await inPassingDirectory(join(parent, passing), async (directory) => {
      isMade = true;
      return await work(join(directory, basename(target)));
    });
  } catch (error) {
    throw isMade && !isFailureOfDisk(error) ? error : unwritable(parent, error);
  }
}

/** What is thrown where a directory cannot be made or written. */
export function unwritable(path: string, cause: unknown): UnavailableError {
  return new UnavailableError(`nothing can be written to ${path} (${(cause as NodeJS.ErrnoException).code})`, {
    cause,
    hint: 'check that the directory exists and is writable, and that its disk has room',
  });
}

/** Its owner's alone. */
export function makeEmpty(path: string): void {
  try {
    writeFileSync(path, '', { mode: 0o600 });
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** Its owner's alone, whatever the mode of `source`; `target` is what cannot be written where there is no room. */
export function makeCopy(source: string, path: string, target: string): void {
  try {
    copyFileSync(source, path);
  } catch (error) {
    throw unwritable(dirname(target), error);
  }
  chmodSync(path, 0o600);
}

/** Onto the disk, and under its own name, which is taken first so that nobody else's file is replaced. */
export function publish(path: string, target: string): void {
  sync(path, 'r+');
  try {
    closeSync(openSync(target, 'wx', 0o600));
  } catch (error) {
    refuseExisting(target);
    throw error;
  }
  renameSync(path, target);
  if (process.platform !== 'win32') sync(dirname(target), 'r');
}

function sync(path: string, flags: 'r' | 'r+'): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
