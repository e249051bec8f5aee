/** How a SQLite file is opened: whether it may be written, how SQLite is configured, and whether it is still the same file. */

import { accessSync, closeSync, constants, existsSync, openSync, rmSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

import { inMemory } from '../../../database-url.ts';
import { BillingError, NotFoundError, reasonOfFile, UnavailableError } from '../../../errors.ts';
import { limits } from '../../../limits.ts';
import { makeDirectory } from '../../../make-directory.ts';
import { factsOf, realPathOf, refuseLongPath } from '../../file-facts.ts';
import type { StoreOptions } from '../../store.ts';
import {
  cutFileError,
  foreignFileError,
  halfWrittenError,
  isHalfWritten,
  isNotWritable,
  strayLogError,
} from './errors.ts';
import { sliceMilliseconds } from './lock-wait.ts';
import { watchNames } from './names.ts';
import { removeNewestNote } from './newest-note.ts';
import type { NameFault } from './names.ts';

/** Before 3.51.3 two writers could damage the log (https://sqlite.org/wal.html#walresetbug). */
const oldestSqlite = [3, 51, 3];

/**
 * FULL makes an acknowledged write survive power loss. A fast import needs a log of up to 10,000 pages before a checkpoint, and
 * a cache of 64 MiB. A log that grew beyond 64 MiB during a long reading returns its space to the disk when it is restarted,
 * rather than when the last process ends. What is kept to take back a part of a transaction stays in memory: many a machine has
 * no other place for it than the database's, or a small one. The last statement reads the header, so that a file that is not a
 * database, or cannot be used in this way, is found out at once.
 */
const settings = `PRAGMA trusted_schema = OFF;
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 10000;
  PRAGMA journal_size_limit = ${limits.logBytes};
  PRAGMA cache_size = -65536;
  PRAGMA temp_store = MEMORY;
  PRAGMA application_id`;

/** A file, or a database in memory, as SQLite has it open. */
export interface Handle {
  readonly database: DatabaseSync;
  readonly isReadOnly: boolean;
  /** Why a writable file must not be written to: the write could end up in no file that anybody opens. */
  readonly nameFault: () => NameFault | undefined;
  /** Called in each transaction that writes: from then on the log has to stay the same. */
  readonly noteLog: () => void;
  /** Whether a file has changed that SQLite was told never changes. */
  readonly isOutdated: () => boolean;
  /** Leaves the file open until the process ends if closing it would lose what others have written. */
  readonly close: () => void;
}

const never = (): boolean => false;
const none = (): undefined => undefined;

/** Opens what `prepareFile` has checked; for reading only, if that is requested or nothing else is possible. */
export function openHandle(path: string, options: StoreOptions): Handle {
  const writing = { isReadOnly: false, isOutdated: never } as const;
  if (path === inMemory)
    return { ...writing, ...closing(connect(path, options, false)), nameFault: none, noteLog: none };
  if (!options.readOnly && isWritable(path)) {
    try {
      const database = connect(path, options, false);
      const holdsLog = database.prepare('PRAGMA journal_mode').get()?.['journal_mode'] === 'wal';
      // For a file without a log, as a restored one is at first, SQLite misses the directory only when it writes.
      if (holdsLog || isWritable(dirname(realPathOf(path)))) {
        const { fault, noteLog, isSafeToClose } = watchNames(path, holdsLog);
        return { ...writing, ...closing(database, isSafeToClose), nameFault: fault, noteLog };
      }
      database.close();
    } catch (error) {
      if (!isNotWritable(error)) throw error;
    }
  }
  const { opened, isOutdated } = openForReading(path, (location) => connect(location, options, true));
  return { isReadOnly: true, ...closing(opened), isOutdated, nameFault: none, noteLog: none };
}

/**
 * Opens a file that is only read. If its directory is not writable, SQLite reads a file only when told that it never changes.
 * That holds while there is no log beside the file; the stamp notices when the file changes after all, or gets a log. SQLite then
 * also ignores a journal, so what that has to undo is undone first, or the file is refused.
 */
export function openForReading<T>(
  path: string,
  open: (location: string | URL) => T,
): Pick<Handle, 'isOutdated'> & { readonly opened: T } {
  try {
    return { opened: open(path), isOutdated: never };
  } catch (error) {
    if (isHalfWritten(error)) {
      undoHalfWritten(path);
      return { opened: open(path), isOutdated: never };
    }
    const real = realPathOf(path);
    const hasLogNow = (): boolean => hasContent(`${real}-wal`);
    if (!isNotWritable(error) || !isFile(path) || hasLogNow() || hasContent(`${real}-journal`)) throw error;
    const url = pathToFileURL(path);
    url.searchParams.set('immutable', '1');
    const stamp = stampOf(path);
    return { opened: open(url), isOutdated: () => hasLogNow() || stampOf(path) !== stamp };
  }
}

/** SQLite undoes it with the first statement of whoever may write to the file. */
function undoHalfWritten(path: string): void {
  const database = new DatabaseSync(path, { timeout: sliceMilliseconds });
  try {
    database.exec('PRAGMA application_id');
  } catch (error) {
    throw isHalfWritten(error) ? halfWrittenError(path, error) : error;
  } finally {
    database.close();
  }
}

function closing(database: DatabaseSync, isSafeToClose = (): boolean => true): Pick<Handle, 'database' | 'close'> {
  return {
    database,
    close() {
      if (database.isOpen && isSafeToClose()) database.close();
    },
  };
}

function connect(location: string | URL, options: StoreOptions, readOnly: boolean): DatabaseSync {
  const busyMilliseconds = options.busyTimeoutMilliseconds ?? limits.busyTimeoutMilliseconds;
  const database = new DatabaseSync(location, {
    readOnly,
    readBigInts: true,
    timeout: Math.min(busyMilliseconds, sliceMilliseconds),
    enableForeignKeyConstraints: true,
    enableDoubleQuotedStringLiterals: false,
    allowExtension: false,
    defensive: true,
  });
  try {
    refuseOldSqlite(database.prepare('SELECT sqlite_version() AS version').get()?.['version'] as string);
    database.exec(settings);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Throws for a version of SQLite with which two writers could damage a file. */
export function refuseOldSqlite(version: string): void {
  const numbers = version.split('.').map(Number);
  const difference = oldestSqlite.map((least, index) => (numbers[index] ?? 0) - least).find((n) => n !== 0) ?? 0;
  if (difference >= 0) return;
  throw new BillingError('internal', `SQLite ${version} can damage a database that two processes write`, {
    hint: `use a Node with SQLite ${oldestSqlite.join('.')} or newer`,
  });
}

/**
 * Makes the file if there is none, unless it is only to be read. Throws NotFoundError or UnavailableError, and an internal error
 * for a file shorter than a database's header: SQLite would take it for a new one, and the rest of its log for another file's.
 */
export function prepareFile(path: string, { isRead }: { readonly isRead: boolean }): void {
  refuseLongPath(path);
  const found = factsOf(path);
  if (found === undefined && isRead)
    throw new NotFoundError(`there is no database ${path}`, { hint: 'check the path' });
  if (found === undefined) {
    refuseStrayLog(path);
    createFile(path);
  } else if (found.isFile()) refuseCut(path, found.size);
  else throw noFileError(path, found);
}

/** SQLite would report a directory as a disk failure. */
function noFileError(path: string, found: Stats): UnavailableError {
  return new UnavailableError(
    `the database ${path} cannot be used: it is ${found.isDirectory() ? 'a directory' : 'not a file'}`,
    { hint: 'name a file; it is created when it does not exist' },
  );
}

/** https://sqlite.org/fileformat.html#the_database_header */
const headerBytes = 100;

/** Marks a file that was made and is still empty, even after its maker was killed. */
const pathOfMark = (path: string): string => `${path}-new`;

function refuseCut(path: string, size: number): void {
  if (size >= headerBytes) return;
  if (size > 0) throw foreignFileError(path);
  // Its maker removes the mark once the file has content, so the size is read again after looking for the mark.
  if (!existsSync(pathOfMark(path)) && factsOf(path)?.size === 0) throw cutFileError(path);
}

/** SQLite would remove the log of a file that was moved away, with all that was acknowledged in it, for one that is made now. */
function refuseStrayLog(path: string): void {
  // Another process may have made both meanwhile, the file first.
  if (hasContent(`${path}-wal`) && !isFile(path)) throw strayLogError(path);
}

/** Called once the file has content. */
export function noteBegun(path: string): void {
  rmSync(pathOfMark(path), { force: true });
}

function createFile(path: string): void {
  try {
    makeDirectory(dirname(path));
    removeNewestNote(path);
    closeSync(openSync(pathOfMark(path), 'w', 0o600));
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // Another process has made the file, and removed the mark as soon as it had content.
    const isMade = isFile(path);
    if (existsSync(pathOfMark(path)) && (!isMade || (factsOf(path)?.size ?? 0) > 0)) noteBegun(path);
    if (isMade) return;
    throw new UnavailableError(`the database ${path} cannot be created: ${reasonOfFile(error)}`, {
      cause: error,
      hint: 'check the path, and that its directory is writable',
    });
  }
}

/** Whether the system would let this user write to the file, or into the directory. */
export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isFile(path: string): boolean {
  return factsOf(path)?.isFile() ?? false;
}

function hasContent(path: string): boolean {
  return (factsOf(path)?.size ?? 0) > 0;
}

function stampOf(path: string): string {
  const facts = factsOf(path);
  return facts === undefined ? 'gone' : `${facts.ino} ${facts.size} ${facts.mtimeMs}`;
}
