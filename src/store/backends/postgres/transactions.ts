/**
 * Transactions on one pool of sessions. A write waits for the lock of its turn before it begins, so that its snapshot is never
 * old. Beneath the locks every write is SERIALIZABLE, and is repeated as a whole if the server finds that it was not alone after
 * all.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery, Kysely } from 'kysely';

import { limits } from '../../../limits.ts';
import type { Database, Transaction } from '../../database.ts';
import { createDialect } from './driver.ts';
import { contendedError, isConflict, isLost } from './errors.ts';
import { allWrites, lockKey } from './schema.ts';
import { releaseLocks, type SessionOptions } from './session.ts';
import { createNamedTurns } from './turns.ts';

/** The transactions of one store; none may begin inside another. */
export interface PostgresTransactions {
  /** Does `work` on one snapshot. */
  read<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Does `work` when its turn has come; a write without a turn runs alone. Waits for others at most `waitMilliseconds`. */
  write<T>(turn: string | undefined, work: (tx: Transaction) => Promise<T>, waitMilliseconds: number): Promise<T>;
  /** Whether no write of this process would keep a write of this turn waiting. */
  isFree(turn: string | undefined): boolean;
  /** Does `work`, unless somebody on the same database is doing work of this name; then gives undefined. */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T | undefined>;
  /** Whether the caller is itself inside a transaction. */
  isInside(): boolean;
  /** Whether the caller's transaction can no longer be committed, whatever is undone. */
  isSpoilt(): boolean;
  /** Ends the sessions. */
  close(): Promise<void>;
}

/** What went wrong inside a transaction, whoever caught it there. */
interface Trouble {
  hasConflict: boolean;
  /** Because of a conflict, or because the session was lost. */
  isSpoilt: boolean;
}

export interface TransactionOptions extends Omit<SessionOptions, 'onError'> {
  /** The schema of the tables. */
  readonly schema: string;
}

export function createPostgresTransactions({ schema, ...options }: TransactionOptions): PostgresTransactions {
  const { location } = options;
  const inside = new AsyncLocalStorage<Trouble>();
  const database = new Kysely<Database>({
    dialect: createDialect({
      ...options,
      onError: (error) => {
        const trouble = inside.getStore();
        if (trouble !== undefined) note(trouble, error);
      },
    }),
  });
  const turns = createNamedTurns();

  /** Repeats `attempt` from its beginning when the server finds a conflict; the engine is made to be run again. */
  async function persistently<T>(attempt: (tries: number) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const trouble: Trouble = { hasConflict: false, isSpoilt: false };
      try {
        return await inside.run(trouble, attempt, tries);
      } catch (error) {
        if (!trouble.hasConflict) throw error;
        if (tries === limits.transactionAttempts) throw contendedError(location, error);
      }
      await sleep(pauseAfter(tries));
    }
  }

  async function writeLocked<T>(lock: CompiledQuery, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return await database.connection().execute(async (session) => {
      try {
        // Before the transaction begins: its snapshot has to be taken when its turn has come.
        await session.executeQuery(lock);
        return await session.transaction().setAccessMode('read write').execute(work);
      } catch (error) {
        // A commit releases its locks along with it, and a broken session has lost them. If two locks were requested, the first
        // is held even if the second could not be had.
        await session.executeQuery(release).catch(() => undefined);
        throw error;
      }
    });
  }

  return {
    read: async (work) =>
      await persistently(async () => await database.transaction().setAccessMode('read only').execute(work)),
    write: async (turn, work, waitMilliseconds) =>
      await turns.take(turn, async () =>
        persistently(async (tries) => {
          // Neighbours share pages of an index, so writes of other turns may conflict again and again: later attempts run alone.
          const isBesideOthers = tries <= limits.transactionAttemptsBesideOthers;
          return await writeLocked(lockOf(schema, isBesideOthers ? turn : undefined, waitMilliseconds), work);
        }),
      ),
    isFree: (turn) => turns.isFree(turn),
    async exclusively(name, work) {
      const key = lockKey(schema, `exclusively ${name}`);
      return await database.connection().execute(async (session) => {
        const { rows } = await session.executeQuery(raw(`SELECT pg_try_advisory_lock($1)::int AS "isOurs"`, [key]));
        const [row] = rows as { readonly isOurs: bigint }[];
        if (row?.isOurs !== 1n) return undefined;
        // The server ends a session that is idle for long, and its lock with it.
        const signs = setInterval(() => {
          session.executeQuery(signOfLife).catch(() => undefined);
        }, limits.sessionLifeMilliseconds);
        try {
          return await work();
        } finally {
          clearInterval(signs);
          await session.executeQuery(release).catch(() => undefined);
        }
      });
    },
    isInside: () => inside.getStore() !== undefined,
    isSpoilt: () => inside.getStore()?.isSpoilt === true,
    async close() {
      await database.destroy();
      // If the store was never used, Kysely has no driver to end.
      if (!options.pool.ended) await options.pool.end();
    },
  };
}

function note(trouble: Trouble, error: unknown): void {
  trouble.hasConflict ||= isConflict(error);
  trouble.isSpoilt ||= trouble.hasConflict || isLost(error);
}

function lockOf(schema: string, turn: string | undefined, milliseconds: number): CompiledQuery {
  // For this statement alone: a later reading in this session may meet a lock as well, such as that of a VACUUM.
  const wait = `set_config('lock_timeout', $1, true)`;
  const common = lockKey(schema, allWrites);
  if (turn === undefined) return raw(`SELECT ${wait}, pg_advisory_lock($2)`, [milliseconds, common]);
  const own = lockKey(schema, `turn ${turn}`);
  return raw(`SELECT ${wait}, pg_advisory_lock_shared($2), pg_advisory_lock($3)`, [milliseconds, common, own]);
}

const raw = (text: string, parameters: readonly unknown[] = []): CompiledQuery =>
  CompiledQuery.raw(text, [...parameters]);

const release = raw(releaseLocks);
const signOfLife = raw('SELECT 1');

/** Doubles each time. Needs no randomness to part two writers: the server has let one of them go on. */
function pauseAfter(tries: number): number {
  return Math.min(limits.transactionPauseMilliseconds * 2 ** (tries - 1), limits.transactionPauseCapMilliseconds);
}
