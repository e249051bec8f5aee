/**
 * The SQLite backend: the store on top of one connection.
 * One connection, so one transaction at a time in a process: others queue in the order in which they came, and what waits
 * for another process comes back to the end of the queue. Every write
 * begins IMMEDIATE, because a transaction that reads first and writes later fails at once when another has committed
 * in between.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { createTurns } from '../../turns.ts';
import type { Transaction } from '../database.ts';
import type { Inspection, InspectionOptions } from '../inspection.ts';
import type { Store, StoreOptions, WriteOptions } from '../store.ts';
import { createGroupCommit } from './group-commit.ts';
import { createPending } from './pending.ts';
import { createSharedReading } from './shared-reading.ts';
import { type SqliteConnection, openConnection, waitForLock } from './sqlite-connection.ts';
import { meaningOf } from './sqlite-errors.ts';
import { type SqliteEventStore, createSqliteEventStore } from './sqlite-events.ts';
import { inspectDatabase } from './sqlite-inspection.ts';
import { createTransactions, failure } from './sqlite-queries.ts';
import { prepareSchema, refuseOtherSchema } from './sqlite-schema.ts';

/** Opens the file at `location` (a path or `:memory:`), made and upgraded as needed. */
export async function openSqliteStore(location: string, options: StoreOptions): Promise<Store> {
  const connection = await open(location, options);
  const beginQueries = createTransactions(connection);
  const insideTransaction = new AsyncLocalStorage<true>();

  /** What waits for another process, and what runs. */
  const pending = createPending();
  const inTurn = createTurns();

  /**
   * The wait for another process's lock is outside of the queue for the connection: readers and others go on meanwhile.
   */
  async function transact<T>(
    accessMode: 'read only' | 'read write',
    work: (tx: Transaction) => Promise<T>,
    { busyTimeoutMilliseconds = connection.busyMilliseconds }: WriteOptions = {},
  ): Promise<T> {
    const waiting = { path: connection.path, busyMilliseconds: busyTimeoutMilliseconds };
    try {
      return await waitForLock(waiting, async () => await attempt(accessMode, work));
    } catch (error) {
      throw failure(connection, error);
    }
  }

  async function attempt<T>(accessMode: 'read only' | 'read write', work: (tx: Transaction) => Promise<T>): Promise<T> {
    return await inTurn(async () => {
      if (isClosed) throw new Error('the connection of this store is destroyed');
      await begin(accessMode);
      const { tx, end } = beginQueries();
      try {
        const answer = await insideTransaction.run(true, async () => await work(tx));
        connection.commit();
        return answer;
      } catch (error) {
        connection.rollback();
        // Once translated a lock is final: only what has not begun may be tried again without doing its work twice.
        throw failure(connection, error);
      } finally {
        end();
      }
    });
  }

  async function begin(accessMode: 'read only' | 'read write'): Promise<void> {
    const version = await connection.tryBegin(accessMode === 'read only' ? 'read' : 'write');
    try {
      refuseOtherSchema(connection.path, version);
    } catch (error) {
      connection.rollback();
      throw error;
    }
  }

  async function inspect(options: InspectionOptions): Promise<Inspection> {
    let inspection: Inspection | undefined;
    try {
      return await transact('read only', async () => (inspection = await inspectDatabase(connection, options)));
    } catch (error) {
      // A transaction that met damage cannot even end; what it found is the answer.
      if (inspection === undefined || inspection.damages.length === 0) throw error;
      return inspection;
    }
  }

  const isSpoilt = (): boolean => !connection.isTransaction || connection.isBroken;

  // One connection has one turn, whoever writes.
  const shareCommit = createGroupCommit({
    transact: async (_turn, work) => await transact('read write', work),
    isSpoilt,
  });

  async function write<T>(change: (tx: Transaction) => Promise<T>, writeOptions?: WriteOptions): Promise<T> {
    // Who waits longer or shorter than others does not wait with them.
    if (writeOptions?.busyTimeoutMilliseconds !== undefined) return await transact('read write', change, writeOptions);
    try {
      return await shareCommit(undefined, change);
    } catch (error) {
      throw failure(connection, error);
    }
  }

  /** There is one connection: waiting here for the transaction that waits for us would never end. */
  async function queued<T>(work: () => Promise<T>): Promise<T> {
    if (insideTransaction.getStore()) throw new Error('a transaction was begun inside another; pass its tx on instead');
    return await pending.run(work);
  }

  let eventStore: SqliteEventStore | undefined;
  /** Made when it is asked for: short commands want nothing of events, and their code takes as long to load as theirs. */
  const events = (): SqliteEventStore => (eventStore ??= createSqliteEventStore(connection, options.eventUpkeep));

  /** What a reader found out is kept behind its back, where nobody else writes just then. */
  const read = createSharedReading({
    async transact(work) {
      await transact('read only', work);
      if (eventStore?.hasFoundTotals() === true) void queued(keepTotals);
    },
    isSpoilt,
  });

  async function keepTotals(): Promise<void> {
    try {
      await attempt('read write', async () => events().keepFoundTotals());
    } catch (error) {
      // They can be found out again, and whoever uses the database next meets the same failure.
      connection.noteFailure(error);
    }
  }

  let closing: Promise<void> | undefined;
  let isClosed = false;

  /** Queues behind what is running. */
  async function close(): Promise<void> {
    if (insideTransaction.getStore()) throw new Error('a store cannot be closed inside a transaction');
    await pending.settled();
    await inTurn(async () => {
      isClosed = true;
      connection.close();
    });
  }

  return {
    location: connection.path,
    get isReadOnly() {
      return connection.isReadOnly;
    },
    get events() {
      return events();
    },
    get pendingTransactions() {
      return pending.count;
    },
    read: (query) => queued(() => read(query)),
    write: (change, writeOptions) => queued(() => write(change, writeOptions)),
    // Work of two processes on one file takes turns by its transactions.
    exclusively: async (_name, work) => await work(),
    inspect: (inspectionOptions) => queued(() => inspect(inspectionOptions)),
    close: () => (closing ??= close()),
  };
}

async function open(location: string, options: StoreOptions): Promise<SqliteConnection> {
  let connection: SqliteConnection | undefined;
  try {
    connection = await openConnection(location, options);
    await prepareSchema(connection);
    return connection;
  } catch (error) {
    connection?.close();
    throw meaningOf(error, connection?.path ?? location);
  }
}
