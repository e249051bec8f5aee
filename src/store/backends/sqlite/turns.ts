/**
 * Transactions of one connection, so a process runs one at a time. Others queue in order of arrival, and a transaction that
 * waits for another process returns to the end of the queue. Every write begins IMMEDIATE, because a transaction that reads
 * first and writes later fails at once if another has committed in between.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { createTurns } from '../../../turns.ts';
import type { Transaction } from '../../database.ts';
import type { WriteOptions } from '../../store.ts';
import type { Access, SqliteConnection } from './connection.ts';
import { mayBeCommitted, unknownCommitError } from './errors.ts';
import { waitForLock } from './lock-wait.ts';
import { createTransactions, failure } from './queries.ts';
import { refuseOtherSchema } from './schema.ts';

type Work<T> = (tx: Transaction) => Promise<T>;

export interface SqliteTurns {
  /**
   * Does `work` in its own transaction. Waiting for another process's lock happens outside of the queue, so that readers and
   * others go on meanwhile.
   */
  transact<T>(access: Access, work: Work<T>, options?: WriteOptions): Promise<T>;
  /** The same, but fails at once if another process holds the lock. */
  attempt<T>(access: Access, work: Work<T>): Promise<T>;
  /** Whether the caller is itself inside a transaction. */
  isInside(): boolean;
  /** Closes the connection after running work has ended. */
  close(): Promise<void>;
}

export function createSqliteTurns(connection: SqliteConnection): SqliteTurns {
  const beginQueries = createTransactions(connection);
  const insideTransaction = new AsyncLocalStorage<true>();
  const inTurn = createTurns();
  let isClosed = false;

  async function attempt<T>(access: Access, work: Work<T>): Promise<T> {
    return await inTurn(async () => {
      if (isClosed) throw new Error('the connection of this store is destroyed');
      await begin(connection, access);
      const { tx, end } = beginQueries();
      try {
        const answer = await insideTransaction.run(true, async () => await work(tx));
        commit(connection);
        return answer;
      } catch (error) {
        connection.rollback();
        // A translated lock error is final: only what has not begun may be tried again without doing its work twice.
        throw failure(connection, error);
      } finally {
        end();
      }
    });
  }

  return {
    attempt,
    async transact(access, work, { busyTimeoutMilliseconds = connection.busyMilliseconds } = {}) {
      const waiting = { path: connection.path, busyMilliseconds: busyTimeoutMilliseconds };
      try {
        return await waitForLock(waiting, async () => await attempt(access, work));
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

/** Throws UnknownOutcomeError if the disk failed after everything was written. */
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

async function begin(connection: SqliteConnection, access: Access): Promise<void> {
  const version = await connection.begin(access);
  try {
    refuseOtherSchema(connection.path, version);
  } catch (error) {
    connection.rollback();
    throw error;
  }
}
