/**
 * One connection to one SQLite file: its statements, its transactions, and how its handle is replaced after a disk error.
 * Only the files of this folder know what SQLite means by its statements.
 */

import { resolve } from 'node:path';
import type { StatementSync } from 'node:sqlite';

import { inMemory } from '../../../database-url.ts';
import { limits } from '../../../limits.ts';
import { keepNewest } from '../../../once.ts';
import type { StoreOptions } from '../../store.ts';
import { changedError, isInputOutputFailure, nameFaults, readOnlyError } from './errors.ts';
import { isWritable, openHandle, prepareFile } from './handle.ts';
import { waitForLock } from './lock-wait.ts';

/** Whether a transaction may write. */
export type Access = 'read' | 'write';

/** What the SQLite backend needs of its file. */
export interface SqliteConnection {
  readonly path: string;
  readonly isReadOnly: boolean;
  readonly isTransaction: boolean;
  /** A read or write of the disk failed: nothing that this transaction does can be relied on. */
  readonly isBroken: boolean;
  /** The running transaction may write. */
  readonly isWriting: boolean;
  /** How many handles and transactions there have been, including the present ones. */
  readonly handleCount: number;
  readonly transactionCount: number;
  /** How long a transaction waits for another writer. */
  readonly busyMilliseconds: number;
  /**
   * A prepared statement; the same text gives the same statement while the connection lives. Integers are read as bigint. A
   * transaction for reading is refused any statement that could write, and any once a file has changed that SQLite was told
   * never changes: it would read a part of each state.
   */
  prepare(sql: string): StatementSync;
  /** Runs statements that give no rows; not in a transaction for reading. */
  execute(sql: string): void;
  /** Begins a transaction without waiting for a lock (lock-wait.ts); gives the schema version that it sees. */
  begin(access: Access): Promise<bigint>;
  commit(): void;
  rollback(): void;
  /** Notes what went wrong, so that the connection can replace a handle that must not be used again. */
  noteFailure(error: unknown): void;
  close(): void;
}

const cachedStatements = 500;

/**
 * Whether a statement cannot write, whatever follows in it. SQLite's own `query_only` would know, but every switch of it makes
 * SQLite prepare all statements again. A server that reads a key and then writes would switch twice per request.
 */
function isReading(sql: string): boolean {
  return ownReadings.has(sql) || sql.startsWith('select ') || /^\s*SELECT\b/i.test(sql) || otherReadings.test(sql);
}

const ends = new Set(['COMMIT', 'ROLLBACK']);
const factsOfFile = ['user_version', 'application_id', 'data_version'].map((name) => `PRAGMA ${name}`);
const ownReadings = new Set(['BEGIN', ...ends, ...factsOfFile]);
const otherReadings = /^\s*WITH\b(?!.*\b(?:INSERT|UPDATE|DELETE|REPLACE)\b)|^PRAGMA \w+_check(?:\(\d+\))?$/is;

/** Opens `path`; makes a missing file, unless it is opened for reading only. */
export async function openConnection(location: string, options: StoreOptions): Promise<SqliteConnection> {
  const path = location === inMemory ? location : resolve(location);
  const busyMilliseconds = options.busyTimeoutMilliseconds ?? limits.busyTimeoutMilliseconds;
  if (path !== inMemory) prepareFile(path, { isRead: options.readOnly === true });

  const statements = new Map<string, { readonly statement: StatementSync; isReading?: boolean }>();
  const waiting = { path, busyMilliseconds };
  let handle = await waitForLock(waiting, () => openHandle(path, options));
  let isBroken = false;
  /** The access of the running transaction. */
  let access: Access | undefined;
  let handleCount = 1;
  let transactionCount = 0;
  const wasWritable = !handle.isReadOnly;

  /** A disk that failed comes back for reading alone at first, and takes writes again later. */
  const isReadOnlyForNow = (): boolean => wasWritable && handle.isReadOnly;

  async function replaceIfNeeded(asked: Access): Promise<void> {
    const isToBeWritten = asked === 'write' && isReadOnlyForNow() && isWritable(path);
    if (path === inMemory || (!isBroken && !isToBeWritten && !handle.isOutdated())) return;
    statements.clear();
    // Until there is another handle, which may take more than one try.
    isBroken = true;
    handle.close();
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
        known = { statement: handle.database.prepare(sql) };
        statements.set(sql, known);
        keepNewest(statements, cachedStatements);
      }
      if (access === 'read' && handle.isOutdated() && !ends.has(sql)) throw changedError(path);
      // Tested only where it matters, because the patterns are compiled on first use.
      if (access === 'read' && !(known.isReading ??= isReading(sql))) throw readOnlyError(path);
      return known.statement;
    },
    execute(sql) {
      if (access === 'read') throw readOnlyError(path);
      handle.database.exec(sql);
    },
    busyMilliseconds,
    async begin(asked) {
      await replaceIfNeeded(asked);
      if (asked === 'write') {
        if (handle.isReadOnly) throw readOnlyError(path);
        const fault = handle.nameFault();
        if (fault !== undefined) throw nameFaults[fault](path);
      }
      const version = beginNow(connection, asked);
      if (asked === 'write') handle.noteLog();
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
      // After a failed sync the next one may report success although the data is gone: only a new handle is safe.
      if (isInputOutputFailure(error)) isBroken = true;
    },
    close() {
      statements.clear();
      handle.close();
    },
  };
  return connection;
}

/** Reading the version takes the snapshot at once, so that a lock is met here and not in the middle of the work. */
function beginNow(connection: SqliteConnection, access: Access): bigint {
  connection.prepare(access === 'write' ? 'BEGIN IMMEDIATE' : 'BEGIN').run();
  try {
    return pragma(connection, 'user_version');
  } catch (error) {
    connection.rollback();
    throw error;
  }
}

/** A number in the header of the file. */
export function pragma(connection: Pick<SqliteConnection, 'prepare'>, name: 'user_version' | 'application_id'): bigint {
  return connection.prepare(`PRAGMA ${name}`).get()?.[name] as bigint;
}
