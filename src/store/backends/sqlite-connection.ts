/**
 * One connection to one SQLite file: how it is opened, how it waits for its turn, how it is replaced after a disk error.
 * What SQLite means by its statements is here and in the neighbouring sqlite-* files; nowhere else.
 */

import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import { BillingError, NotFoundError, UnavailableError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { makeDirectory } from '../../make-directory.ts';
import { factsOf } from '../file-facts.ts';
import type { StoreOptions } from '../store.ts';
import {
  isBusy,
  isInputOutputFailure,
  isNotWritable,
  lockedError,
  movedError,
  readOnlyError,
} from './sqlite-errors.ts';

export interface SqliteConnection {
  readonly path: string;
  readonly isReadOnly: boolean;
  readonly isTransaction: boolean;
  /** A read or write of the disk failed: nothing that this transaction does can be relied on. */
  readonly isBroken: boolean;
  /** The transaction that runs is one for writing. */
  readonly isWriting: boolean;
  /** How many handles and how many transactions there have been, the present ones included. */
  readonly handleCount: number;
  readonly transactionCount: number;
  /** How long a transaction waits for another writer. */
  readonly busyMilliseconds: number;
  /**
   * A prepared statement, the same one for the same text while the connection lives. Integers are read as bigint. A
   * transaction for reading is refused what could write.
   */
  prepare(sql: string): StatementSync;
  /** Runs statements that give nothing back; not in a transaction for reading. */
  execute(sql: string): void;
  /** Begins a transaction, waiting for the lock at most the busy timeout; gives the schema version that it sees. */
  begin(access: 'read' | 'write'): Promise<bigint>;
  /** The same without the wait: a lock is the error that SQLite makes of it. */
  tryBegin(access: 'read' | 'write'): Promise<bigint>;
  commit(): void;
  rollback(): void;
  /** Tells the connection what went wrong, so that it can replace a handle that must not be used again. */
  noteFailure(error: unknown): void;
  close(): void;
}

/** Before 3.51.3 two writers could damage the log (https://sqlite.org/wal.html#walresetbug). */
const oldestSqlite = [3, 51, 3];

/**
 * How long SQLite itself waits for a lock, which stops the whole process; between two such waits other work goes on.
 */
const sliceMilliseconds = 50;
const pauseMilliseconds = 5;
const cachedStatements = 500;

/**
 * FULL makes an acknowledged write survive power loss. A log of 10,000 pages before it is folded back, and a cache of
 * 64 MiB, are what a fast import needs. The last word reads the header, so that a file which is no database, or cannot
 * be used in this way, is found out at once.
 */
const settings = `PRAGMA trusted_schema = OFF;
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 10000;
  PRAGMA cache_size = -65536;
  PRAGMA application_id`;

/**
 * What cannot write, whatever it says further on. SQLite's own `query_only` would know, but has every statement prepared anew
 * each time that it is said: a server that reads a key and then writes said it twice a request.
 */
const reading =
  /^\s*(?:SELECT\b|WITH\b(?!.*\b(?:INSERT|UPDATE|DELETE|REPLACE)\b)|PRAGMA (?:user_version|application_id|data_version|\w+_check(?:\(\d+\))?)$|BEGIN$|COMMIT$|ROLLBACK$)/is;

const inMemory = ':memory:';

/** Opens `path`; makes the file where there is none, unless only reading is asked for. */
export async function openConnection(location: string, options: StoreOptions): Promise<SqliteConnection> {
  const path = location === inMemory ? location : resolve(location);
  const busyMilliseconds = options.busyTimeoutMilliseconds ?? limits.busyTimeoutMilliseconds;
  if (path !== inMemory) refuseWhatIsNoFile(path, { isRead: options.readOnly === true });
  if (!options.readOnly && path !== inMemory) createFile(path);

  const statements = new Map<string, { readonly statement: StatementSync; readonly isReading: boolean }>();
  const waiting = { path, busyMilliseconds };
  let handle = await waitForLock(waiting, () => openHandle(path, options));
  let isBroken = false;
  /** What the transaction that runs is for. */
  let access: 'read' | 'write' | undefined;
  let handleCount = 1;
  let transactionCount = 0;

  async function replaceIfNeeded(): Promise<void> {
    const isOutdated = handle.stamp !== undefined && handle.stamp !== stampOf(path);
    if (path === inMemory || (!isBroken && !isOutdated)) return;
    statements.clear();
    if (handle.database.isOpen) handle.database.close();
    handle = await waitForLock(waiting, () => openHandle(path, options));
    isBroken = false;
    handleCount += 1;
  }

  const connection: SqliteConnection = {
    path,
    get isReadOnly() {
      return handle.isReadOnly;
    },
    get isTransaction() {
      return handle.database.isTransaction;
    },
    get isBroken() {
      return isBroken;
    },
    get isWriting() {
      return access === 'write' && handle.database.isTransaction;
    },
    get handleCount() {
      return handleCount;
    },
    get transactionCount() {
      return transactionCount;
    },
    prepare(sql) {
      let known = statements.get(sql);
      if (known === undefined) {
        known = { statement: handle.database.prepare(sql), isReading: reading.test(sql) };
        statements.set(sql, known);
        if (statements.size > cachedStatements) statements.delete(statements.keys().next().value ?? sql);
      }
      if (access === 'read' && !known.isReading) throw readOnlyError(path);
      return known.statement;
    },
    execute(sql) {
      if (access === 'read') throw readOnlyError(path);
      handle.database.exec(sql);
    },
    busyMilliseconds,
    begin: async (access) => await waitForLock(waiting, async () => await connection.tryBegin(access)),
    async tryBegin(asked) {
      await replaceIfNeeded();
      if (asked === 'write') {
        if (handle.isReadOnly) throw readOnlyError(path);
        if (handle.place !== undefined && handle.place !== placeOf(path)) throw movedError(path);
      }
      const version = beginNow(connection, asked);
      access = asked;
      transactionCount += 1;
      return version;
    },
    commit() {
      connection.prepare('COMMIT').run();
      access = undefined;
    },
    rollback() {
      // A full disk or a failed write makes SQLite roll back by itself.
      if (handle.database.isTransaction) connection.prepare('ROLLBACK').run();
      access = undefined;
    },
    noteFailure(error) {
      // A sync that failed once may report success the next time, with the data gone: only a new handle is safe.
      if (isInputOutputFailure(error)) isBroken = true;
    },
    close() {
      statements.clear();
      if (handle.database.isOpen) handle.database.close();
    },
  };
  return connection;
}

/** Reading the version takes the snapshot at once, so that a lock is met here and not in the middle of the work. */
function beginNow(connection: SqliteConnection, access: 'read' | 'write'): bigint {
  connection.prepare(access === 'write' ? 'BEGIN IMMEDIATE' : 'BEGIN').run();
  try {
    return pragma(connection, 'user_version');
  } catch (error) {
    connection.rollback();
    throw error;
  }
}

export function pragma(connection: Pick<SqliteConnection, 'prepare'>, name: 'user_version' | 'application_id'): bigint {
  return connection.prepare(`PRAGMA ${name}`).get()?.[name] as bigint;
}

export interface LockWait {
  readonly path: string;
  readonly busyMilliseconds: number;
}

/** Tries until it succeeds, fails for another reason than a lock, or the busy timeout has passed. */
export async function waitForLock<T>({ path, busyMilliseconds }: LockWait, attempt: () => T | Promise<T>): Promise<T> {
  let timeout: AbortSignal | undefined;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error)) throw error;
      // Set on the first refusal alone, which came after one slice.
      timeout ??= AbortSignal.timeout(Math.max(0, busyMilliseconds - sliceMilliseconds));
      if (timeout.aborted || busyMilliseconds <= sliceMilliseconds) throw lockedError(path, busyMilliseconds, error);
    }
    await sleep(pauseMilliseconds);
  }
}

interface Handle {
  readonly database: DatabaseSync;
  readonly isReadOnly: boolean;
  /** Which file it is that may be written. SQLite goes on writing it when another one has taken its name. */
  readonly place?: string | undefined;
  /** What the file looked like, where SQLite was told that nobody changes it. */
  readonly stamp?: string | undefined;
}

function openHandle(path: string, options: StoreOptions): Handle {
  if (path === inMemory) return { database: connect(path, options, false), isReadOnly: false };
  if (!options.readOnly && isWritable(path)) {
    try {
      return { database: connect(path, options, false), isReadOnly: false, place: placeOf(path) };
    } catch (error) {
      if (!isNotWritable(error)) throw error;
    }
  }
  try {
    return { database: connect(path, options, true), isReadOnly: true };
  } catch (error) {
    // Where the directory cannot be written, SQLite reads a file only when told that it does not change. That is so as
    // long as there is no log beside it; the stamp notices when it ceases to be.
    if (!isNotWritable(error) || !isFile(path) || hasLog(path)) throw error;
    const url = pathToFileURL(path);
    url.searchParams.set('immutable', '1');
    const stamp = stampOf(path);
    return { database: connect(url, options, true), isReadOnly: true, stamp };
  }
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
    refuseOldSqlite(database);
    database.exec(settings);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function refuseOldSqlite(database: DatabaseSync): void {
  const version = database.prepare('SELECT sqlite_version() AS version').get()?.['version'] as string;
  const numbers = version.split('.').map(Number);
  const difference = oldestSqlite.map((least, index) => (numbers[index] ?? 0) - least).find((n) => n !== 0) ?? 0;
  if (difference >= 0) return;
  throw new BillingError('internal', `SQLite ${version} can damage a database that two processes write`, {
    hint: `use a Node with SQLite ${oldestSqlite.join('.')} or newer`,
  });
}

/** SQLite would call a directory a failure of the disk. */
function refuseWhatIsNoFile(path: string, { isRead }: { readonly isRead: boolean }): void {
  const found = factsOf(path);
  if (found === undefined && isRead)
    throw new NotFoundError(`there is no database ${path}`, { hint: 'check the path' });
  if (found === undefined || found.isFile()) return;
  throw new UnavailableError(
    `the database ${path} cannot be used: it is ${found.isDirectory() ? 'a directory' : 'no file'}`,
    {
      hint: 'name a file, which is made where there is none',
    },
  );
}

function createFile(path: string): void {
  try {
    makeDirectory(dirname(path));
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (isFile(path)) return;
    const { code } = error as NodeJS.ErrnoException;
    throw new UnavailableError(`the database ${path} cannot be created (${code})`, {
      cause: error,
      hint: 'check the path, and that its directory is writable',
    });
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function hasLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function placeOf(path: string): string {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts === undefined ? 'gone' : `${facts.dev} ${facts.ino}`;
}

function stampOf(path: string): string {
  const facts = statSync(path, { throwIfNoEntry: false, bigint: true });
  return facts === undefined ? 'gone' : `${facts.ino} ${facts.size} ${facts.mtimeNs}`;
}
