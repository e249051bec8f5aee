/**
 * The PostgreSQL backend: Kysely over a pool of sessions, and the store on top.
 * Writes of one organization happen one after another, over all processes, and those of different organizations side by side;
 * a write that names none is alone. Locks see to that before a transaction begins, so that its snapshot is never old; below
 * them every write is SERIALIZABLE, and is done again as a whole where the server finds that it was not alone after all.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery, Kysely } from 'kysely';
import type { Pool } from 'pg';

import { withoutPassword } from '../../database-url.ts';
import { limits } from '../../limits.ts';
import type { Database, Transaction } from '../database.ts';
import type { InspectionOptions } from '../inspection.ts';
import { keepPageEnds, type PageEnds } from '../page-ends.ts';
import { rowsOfText } from '../raw-query.ts';
import type { Store, StoreOptions, WriteOptions } from '../store.ts';
import { createGroupCommit } from './group-commit.ts';
import { createPending } from './pending.ts';
import { createDialect, openPool, releaseLocks } from './postgres-driver.ts';
import { contendedError, isConflict, isLost, lockedError, meaningOf, readOnlyError } from './postgres-errors.ts';
import { createPostgresEventStore } from './postgres-events.ts';
import { allWrites, lockKey, prepareServer, refuseOtherVersion } from './postgres-schema.ts';
import { createNamedTurns } from './postgres-turns.ts';
import { answerMillisecondsOf, connectionOf } from './postgres-url.ts';

/** What went wrong inside a transaction, whoever caught it there. */
interface Trouble {
  hasConflict: boolean;
  /** By a conflict, or by the loss of the session. */
  isSpoilt: boolean;
}

/** Connects to the server at `url`; makes and upgrades the tables as needed. */
export async function openPostgresStore(url: string, options: StoreOptions): Promise<Store> {
  const location = withoutPassword(url);
  const pool = openPool(connectionOf(url));
  try {
    const facts = await prepareServer(pool, { location, readOnly: options.readOnly === true });
    const answerMilliseconds = answerMillisecondsOf(url);
    return createStore(pool, {
      ...facts,
      location,
      answerMilliseconds,
      busyMilliseconds: options.busyTimeoutMilliseconds,
    });
  } catch (error) {
    await pool.end();
    throw meaningOf(error, location);
  }
}

interface StoreFacts {
  readonly location: string;
  readonly answerMilliseconds: number | undefined;
  readonly schema: string;
  readonly isReadOnly: boolean;
  readonly busyMilliseconds: number | undefined;
}

function createStore(pool: Pool, facts: StoreFacts): Store {
  const { location, schema, isReadOnly, busyMilliseconds, answerMilliseconds } = facts;
  const inside = new AsyncLocalStorage<Trouble>();
  const database = new Kysely<Database>({
    dialect: createDialect({
      pool,
      location,
      answerMilliseconds,
      onError: (error) => {
        const trouble = inside.getStore();
        if (trouble === undefined) return;
        trouble.hasConflict ||= isConflict(error);
        trouble.isSpoilt ||= trouble.hasConflict || isLost(error);
      },
      checkVersion: (version) => refuseOtherVersion(location, version),
    }),
  });
  const ends: PageEnds = new Map();
  const turns = createNamedTurns();
  const pending = createPending();
  let closing: Promise<void> | undefined;

  async function read<T>(query: (tx: Transaction) => Promise<T>): Promise<T> {
    return await persistently(
      async () =>
        await database
          .transaction()
          .setAccessMode('read only')
          .execute(async (tx) => {
            keepPageEnds(tx, { ends, state: async () => await stateOf(tx) });
            return await query(tx);
          }),
    );
  }

  async function write<T>(change: (tx: Transaction) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    if (isReadOnly) throw readOnlyError(location);
    const { turn, busyTimeoutMilliseconds } = options;
    // Who waits longer or shorter than others does not wait with them.
    if (busyTimeoutMilliseconds === undefined) return await shareCommit(turn, change);
    if (busyTimeoutMilliseconds === 0 && !turns.isFree(turn)) throw lockedError(location);
    // To the server, 0 is no limit at all.
    return await writeAlone(turn, change, Math.max(1, busyTimeoutMilliseconds));
  }

  async function writeAlone<T>(
    turn: string | undefined,
    change: (tx: Transaction) => Promise<T>,
    waitMilliseconds: number,
  ): Promise<T> {
    return await turns.take(turn, async () =>
      persistently(async (tries) =>
        database.connection().execute(async (session) => {
          // Pages of an index are shared with neighbours, so that writes of other turns may be in the way: then without them.
          const lock = lockOf(tries > limits.transactionAttemptsBesideOthers ? undefined : turn, waitMilliseconds);
          try {
            // Before the transaction: its snapshot has to be taken when its turn has come.
            await session.executeQuery(lock);
            return await session.transaction().setAccessMode('read write').execute(change);
          } catch (error) {
            // What commits gives its locks back with it; a session that broke has lost them, too. Of two locks that were
            // asked for, the first is held also where the second was not had.
            await session.executeQuery(release).catch(() => undefined);
            throw error;
          }
        }),
      ),
    );
  }

  const shareCommit = createGroupCommit({
    transact: async (turn, work) => await writeAlone(turn, work, busyMilliseconds ?? limits.busyTimeoutMilliseconds),
    isSpoilt: () => inside.getStore()?.isSpoilt === true,
  });

  function lockOf(turn: string | undefined, milliseconds: number): CompiledQuery {
    const wait = `set_config('lock_timeout', $1, false)`;
    const common = lockKey(schema, allWrites);
    if (turn === undefined) return raw(`SELECT ${wait}, pg_advisory_lock($2)`, [milliseconds, common]);
    const own = lockKey(schema, `turn ${turn}`);
    return raw(`SELECT ${wait}, pg_advisory_lock_shared($2), pg_advisory_lock($3)`, [milliseconds, common, own]);
  }

  /** Again from its beginning where the server found a conflict; the engine is made to be run again. */
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

  async function exclusively<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    const key = lockKey(schema, `exclusively ${name}`);
    return await database.connection().execute(async (session) => {
      const { rows } = await session.executeQuery(raw(`SELECT pg_try_advisory_lock($1)::int AS "isOurs"`, [key]));
      const [row] = rows as { readonly isOurs: bigint }[];
      if (row?.isOurs !== 1n) return undefined;
      try {
        return await work();
      } finally {
        await session.executeQuery(release).catch(() => undefined);
      }
    });
  }

  /** What is begun inside a transaction would wait for that transaction, or see a state that is none of its. */
  async function counted<T>(work: () => Promise<T>): Promise<T> {
    if (inside.getStore()) throw new Error('a transaction was begun inside another; pass its tx on instead');
    if (closing !== undefined) throw new Error(`the store of ${location} is closed, and its sessions are destroyed`);
    return await pending.run(work);
  }

  async function close(): Promise<void> {
    await pending.settled();
    await database.destroy();
    if (!pool.ended) await pool.end();
  }

  return {
    location,
    isReadOnly,
    events: createPostgresEventStore(),
    get pendingTransactions() {
      return pending.count;
    },
    read: (query) => counted(() => read(query)),
    write: (change, options) => counted(() => write(change, options)),
    exclusively,
    inspect: (options: InspectionOptions) =>
      counted(async () => {
        const { inspectServer } = await import('./postgres-inspection.ts');
        return await inspectServer(pool, { ...options, location, schema });
      }),
    close: () => {
      if (inside.getStore()) throw new Error('a store cannot be closed inside a transaction');
      return (closing ??= close());
    },
  };
}

/** Which transactions a reader sees, and so the same only where none was committed in between. */
async function stateOf(tx: Transaction): Promise<string> {
  const [row] = await rowsOfText(tx, `SELECT pg_current_snapshot()::text AS "state"`);
  return String(row?.['state']);
}

const raw = (text: string, parameters: readonly unknown[] = []): CompiledQuery =>
  CompiledQuery.raw(text, [...parameters]);

const release = raw(releaseLocks);

/** Twice as long each time. No chance is needed to part the two: the server has let one of them go on. */
function pauseAfter(tries: number): number {
  return Math.min(limits.transactionPauseMilliseconds * 2 ** (tries - 1), limits.transactionPauseCapMilliseconds);
}
