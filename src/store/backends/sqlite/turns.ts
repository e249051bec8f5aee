/**
 * Transactions of one connection, so one at a time in a process: others queue in the order in which they came, and what waits
 * for another process comes back to the end of the queue. Every write begins IMMEDIATE, because a transaction that reads first
 * and writes later fails at once when another has committed in between.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { createTurns } from '../../../turns.ts';
import type { Transaction } from '../../database.ts';
import type { WriteOptions } from '../../store.ts';
import type { SqliteConnection } from './connection.ts';
import { mayBeCommitted, unknownCommitError } from './errors.ts';
import { waitForLock } from './lock-wait.ts';
import { createTransactions, failure } from './queries.ts';
import { refuseOtherSchema } from './schema.ts';

type AccessMode = 'read only' | 'read write';
type Work<T> = (tx: Transaction) => Promise<T>;

export interface SqliteTurns {
  /**
   * Does `work` in a transaction of its own. The wait for another process's lock is outside of the queue: readers and others
   * go on meanwhile.
   */
  transact<T>(accessMode: AccessMode, work: Work<T>, options?: WriteOptions): Promise<T>;
  /** The same, but a lock of another process fails it at once. */
  attempt<T>(accessMode: AccessMode, work: Work<T>): Promise<T>;
  /** Whether who asks is itself within a transaction. */
  isInside(): boolean;
  /** Closes the connection behind what is running. */
  close(): Promise<void>;
}

export function createSqliteTurns(connection: SqliteConnection): SqliteTurns {
  const beginQueries = createTransactions(connection);
  const insideTransaction = new AsyncLocalStorage<true>();
  const inTurn = createTurns();
  let isClosed = false;

  async function attempt<T>(accessMode: AccessMode, work: Work<T>): Promise<T> {
    return await inTurn(async () => {
      if (isClosed) throw new Error('the connection of this store is destroyed');
      await begin(connection, accessMode);
      const { tx, end } = beginQueries();
      try {
        const answer = await insideTransaction.run(true, async () => await work(tx));
        commit(connection);
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

  return {
    attempt,
    async transact(accessMode, work, { busyTimeoutMilliseconds = connection.busyMilliseconds } = {}) {
      const waiting = { path: connection.path, busyMilliseconds: busyTimeoutMilliseconds };
      try {
        return await waitForLock(waiting, async () => await attempt(accessMode, work));
      } catch (error) {
        throw failure(connection, error);
      }
    },
    isInside: () => insideTransaction.getStore() === true,
    async close() {
      await inTurn(async () => {
        isClosed = true;
        connection.close();
      });
    },
  };
}

/** Throws UnknownOutcomeError where the disk failed when all was written. */
function commit(connection: SqliteConnection): void {
  const { isWriting } = connection;
  try {
    connection.commit();
  } catch (error) {
    if (!isWriting || !mayBeCommitted(error)) throw error;
    connection.noteFailure(error);
    throw unknownCommitError(connection.path, error);
  }
}

async function begin(connection: SqliteConnection, accessMode: AccessMode): Promise<void> {
  const version = await connection.tryBegin(accessMode === 'read only' ? 'read' : 'write');
  try {
    refuseOtherSchema(connection.path, version);
  } catch (error) {
    connection.rollback();
    throw error;
  }
}
