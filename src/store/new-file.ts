/**
 * New files that replace nothing: each is made in a private directory beside its target and moved there once it is whole.
 */

import {
  chmodSync,
  closeSync,
  copyFileSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { ConflictError, isFailureOfDisk, reasonOfFile, UnavailableError } from '../errors.ts';
import { inPassingDirectory } from '../passing-directory.ts';
import { factsOf, isThere } from './file-facts.ts';

/**
 * Throws ConflictError if anything has the name, except an empty file if that is allowed; UnavailableError for a name that no
 * file can have.
 */
export function refuseExisting(path: string, { allowsEmpty = false } = {}): void {
  if (!isThere(path) || (allowsEmpty && factsOf(path)?.size === 0)) return;
  throw new ConflictError(`${path} already exists, and is never overwritten`, {
    hint: 'give another path, or move the file away',
  });
}

const passing = '.tally-';

/**
 * The directories that `beside` makes next to `target`. Nothing tells whether one is left over from a killed process or in use,
 * perhaps by another machine. So they are only named, and a person removes them.
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
 * Gives `work` a path for the future content of `target`: with the same name, on the same disk so that moving it into place is
 * one step, and in a directory that only its owner can open.
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

/** The error for a directory that cannot be made or written to. */
export function unwritable(path: string, cause: unknown): UnavailableError {
  return new UnavailableError(`nothing can be written to ${path}: ${reasonOfFile(cause)}`, {
    cause,
    hint: 'check that the directory exists and is writable, and that its disk has room',
  });
}

/** Makes an empty file that only its owner can read and write. */
export function makeEmpty(path: string): void {
  try {
    writeFileSync(path, '', { mode: 0o600 });
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** Makes a copy that only its owner can read and write, whatever the mode of `source`; an error names the place of `target`. */
export function makeCopy(source: string, path: string, target: string): void {
  try {
    copyFileSync(source, path);
  } catch (error) {
    throw unwritable(dirname(target), error);
  }
  chmodSync(path, 0o600);
}

/** Syncs a file to disk and moves it to `target`. It claims that name first, so that nobody else's file is replaced. */
export function publish(path: string, target: string): void {
  sync(path, 'r+');
  try {
    closeSync(openSync(target, 'wx', 0o600));
  } catch (error) {
    refuseExisting(target);
    throw error;
  }
  renameSync(path, target);
  if (process.platform !== 'win32') syncName(target);
}

/** A directory that takes files and cannot be listed is not opened; the common disks keep the name with the file, too. */
function syncName(target: string): void {
  try {
    sync(dirname(target), 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    sync(target, 'r+');
  }
}

function sync(path: string, flags: 'r' | 'r+'): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
