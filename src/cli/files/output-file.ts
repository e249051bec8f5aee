/**
 * Files that the person named for an answer: created anew, for their owner alone, and never through a link, which could lead
 * to somebody else's file (security 4, SEC-23). Their names never come from a service's answer.
 */

import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { databaseFile } from '../../database-url.ts';
import { BillingError, isFailureOfDisk, reasonOfFile, UnavailableError } from '../../errors.ts';

export interface OutputFileOptions {
  /** Whether an existing file is replaced. */
  readonly isForced?: boolean;
  /** What to do if a file is in the way. */
  readonly hint?: string;
}

const newFileHint = 'name a file that does not exist yet';

/**
 * Throws a refusal if a file is in the way, and a usage error if none can be written. A new file that cannot be written whole
 * is removed: it would be in the way when the command is repeated. A file that is replaced stays as it was until the new one is
 * whole, or is written in place where nothing can be made beside it or moved there.
 */
export function writeOutputFile(path: string, content: string | Uint8Array, options: OutputFileOptions = {}): void {
  const { isForced = false, hint = newFileHint } = options;
  refuseDash(path);
  if (isForced) {
    refuseDatabase(path);
    if (replaceWhole(path, content)) return;
  }
  const file = open(path, isForced ? constants.O_TRUNC : constants.O_EXCL, hint);
  let isWhole = false;
  try {
    // An existing file would keep its mode, and it names customers now. /dev/null has to stay everybody's.
    if (isForced && fstatSync(file).isFile()) fchmodSync(file, 0o600);
    writeFileSync(file, content);
    isWhole = true;
  } catch (cause) {
    throw unwritable(path, cause);
  } finally {
    closeSync(file);
    if (!isWhole && !isForced) rmSync(path, { force: true });
  }
}

/** Makes a file beside the one at `path` and puts it in its place; false where there is none, or none that can be replaced so. */
function replaceWhole(path: string, content: string | Uint8Array): boolean {
  let directory: string | undefined;
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.W_OK);
    directory = mkdtempSync(`${path}.`);
    const beside = join(directory, basename(path));
    writeFileSync(beside, content, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(beside, path);
    return true;
  } catch (cause) {
    // A file that was mounted by itself may be written to where its directory may not.
    if (isFailureOfDisk(cause) && (cause as NodeJS.ErrnoException).code !== 'EROFS') throw unwritable(path, cause);
    return false;
  } finally {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  }
}

/** Throws what `writeOutputFile` would throw for the path, before long work whose result goes there; writes nothing. */
export function checkOutputFile(path: string, { isForced = false }: OutputFileOptions = {}): void {
  try {
    refuseDash(path);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (path === '') throw unwritable(path, {});
    if (found?.isDirectory() === true) throw unwritable(path, { code: 'EISDIR' });
    if (found?.isSymbolicLink() === true) throw unwritable(path, { code: 'ELOOP' });
    if (found !== undefined && !isForced) throw inTheWay(path);
    refuseDatabase(path);
    accessSync(found === undefined ? dirname(path) : path, constants.W_OK);
  } catch (error) {
    throw error instanceof BillingError ? error : unwritable(path, error);
  }
}

/**
 * The same for a file that may replace the output of an earlier run, because repeating a command is how it continues. Throws a
 * usage error if the file begins otherwise than with `header`; `what` names the kind of file.
 */
export function checkEarlierOutput(path: string, { header, what }: { header: string; what: string }): void {
  checkOutputFile(path, { isForced: true });
  const beginning = beginningOf(path, header.length);
  if (beginning === '' || beginning === header) return;
  throw new BillingError('usage', `${path} exists and is not a ${what}`, {
    hint: `${newFileHint}, or the ${what} of an earlier run`,
  });
}

/** Writes such a file. Returns what keeps it from being written: by now the work is done, and has to be told all the same. */
export function replaceEarlierOutput(path: string, content: string): BillingError | undefined {
  try {
    writeOutputFile(path, content, { isForced: true });
    return undefined;
  } catch (error) {
    if (error instanceof BillingError) return error;
    throw error;
  }
}

/** The failure of work on rows that lacks nothing but such a file; `hint` says how to get it. */
export function doneWithout(unwritten: BillingError, hint: string): BillingError {
  return new BillingError('checkFailed', `${unwritten.message}; the rows are done`, { cause: unwritten, hint });
}

/** Where something is read, a dash is standard input; a file of that name is not what anybody wants. */
function refuseDash(path: string): void {
  if (path !== '-') return;
  throw new BillingError('usage', 'cannot write -: standard output has the answer when no file is named', {
    hint: 'leave the flag out, or name a file',
  });
}

/** Throws a usage error for a database or a file that it keeps beside itself: it may be the one in use. */
function refuseDatabase(path: string): void {
  const { beginning, endsBeside } = databaseFile;
  const end = endsBeside.find((each) => path.endsWith(each)) ?? '';
  const paths = [path, path.slice(0, path.length - end.length)];
  if (!paths.some((each) => beginningOf(each, beginning.length) === beginning)) return;
  throw new BillingError('usage', `${path} belongs to a database, which is never replaced: nothing was written`, {
    hint: newFileHint,
  });
}

/** The first characters of a file, never through a link. Empty for a pipe or a terminal: reading one would wait. */
function beginningOf(path: string, byteCount: number): string {
  let file: number | undefined;
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return '';
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const bytes = Buffer.alloc(byteCount);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, byteCount, 0));
  } catch (error) {
    throw unwritable(path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function inTheWay(path: string, hint = newFileHint, cause?: unknown): BillingError {
  return new BillingError('refused', `${path} already exists: nothing was written`, { hint, cause });
}

function open(path: string, whereThereIsOne: number, hint: string): number {
  try {
    return openSync(
      path,
      constants.O_WRONLY | constants.O_CREAT | whereThereIsOne | (constants.O_NOFOLLOW ?? 0),
      0o600,
    );
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(path, cause);
    throw inTheWay(path, hint, cause);
  }
}

/** The reason in words why nothing can be written there: a usage error, or `unavailable` if the same path may work later. */
export function unwritable(path: string, cause: unknown): BillingError {
  if (path === '') return new BillingError('usage', 'cannot write a file: its path is empty', { cause });
  const message = `cannot write ${path}: ${reasonOfFile(cause)}`;
  if (!isFailureOfDisk(cause)) return new BillingError('usage', message, { cause });
  return new UnavailableError(message, {
    cause,
    hint: 'check its disk and the free space there, then repeat the command',
  });
}
