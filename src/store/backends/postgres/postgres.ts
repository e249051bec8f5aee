/**
 * The PostgreSQL backend: the store on top of the transactions of a session pool. Writes of one organization run one after
 * another, across all processes, and those of different organizations side by side; a write that names none runs alone.
 */

import { withoutPassword } from '../../../database-url.ts';
import { limits } from '../../../limits.ts';
import type { Transaction } from '../../database.ts';
import { keepPageEnds, type PageEnds } from '../../page-ends.ts';
import { rowsOfText } from '../../raw-query.ts';
import type { Store, StoreOptions, WriteOptions } from '../../store.ts';
import { createGroupCommit } from '../group-commit.ts';
import { createPending } from '../../../pending.ts';
import { isOfStandby, lockedError, meaningOf, readOnlyError } from './errors.ts';
import { createPostgresEventStore } from './events.ts';
import { bindFunctions, prepareServer, type ServerFacts } from './schema.ts';
import { openPool } from './session.ts';
import { createPostgresTransactions, type TransactionOptions } from './transactions.ts';
import { answerMillisecondsOf, connectionOf, timeLimitsOf } from './url.ts';

/** Connects to the server at `url`; makes and upgrades the tables as needed. */
export async function openPostgresStore(url: string, options: StoreOptions): Promise<Store> {
  const location = withoutPassword(url);
  const answerMilliseconds = answerMillisecondsOf(url);
  const pool = openPool(connectionOf(url), timeLimitsOf(url));
  try {
    const facts = await prepareServer(pool, { location, readOnly: options.readOnly === true });
    const { busyTimeoutMilliseconds = limits.busyTimeoutMilliseconds } = options;
    const isStillReadOnly = async () => options.readOnly === true || (await isReadOnlyNow(url, location));
    return createStore({ ...facts, isStillReadOnly, pool, location, answerMilliseconds, busyTimeoutMilliseconds });
  } catch (error) {
    await pool.end();
    throw meaningOf(error, location);
  }
}

/** Whether a role or a database is set to read alone: a session knows what was true when it began. */
async function isReadOnlyNow(url: string, location: string): Promise<boolean> {
  const pool = openPool(connectionOf(url));
  try {
    const { rows } = await pool.query<{ readonly access: string }>(
      `SELECT current_setting('transaction_read_only') AS "access"`,
    );
    return rows[0]?.access === 'on';
  } catch (error) {
    throw meaningOf(error, location);
  } finally {
    await pool.end();
  }
}

interface Facts extends TransactionOptions, ServerFacts {
  /** Asked before a write where the store was opened read-only, unless that was on a standby. */
  readonly isStillReadOnly: () => Promise<boolean>;
  readonly busyTimeoutMilliseconds: number;
}

function createStore(facts: Facts): Store {
  const { pool, location, schema, isStandby, isStillReadOnly, busyTimeoutMilliseconds } = facts;
  let { isReadOnly, isAstray } = facts;
  const transactions = createPostgresTransactions(facts);
  const shareCommit = createGroupCommit({
    transact: async (turn, work) => await transactions.write(turn, work, busyTimeoutMilliseconds),
    isSpoilt: () => transactions.isSpoilt(),
  });
  const ends: PageEnds = new Map();
  const pending = createPending();
  let closing: Promise<void> | undefined;

  async function read<T>(query: (tx: Transaction) => Promise<T>): Promise<T> {
    return await transactions.read(async (tx) => {
      keepPageEnds(tx, { ends, state: async () => await stateOf(tx) });
      return await query(tx);
    });
  }

  /** Only a write can tell that a standby has become the primary server. */
  async function write<T>(change: (tx: Transaction) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    if (isReadOnly && !isStandby && (await isStillReadOnly())) throw readOnlyError(location);
    if (isAstray) await bind();
    const outcome = await transact(change, options);
    isReadOnly = false;
    return outcome;
  }

  /** What could not be done where the store was opened, on a standby for example. */
  async function bind(): Promise<void> {
    const client = await pool.connect();
    try {
      await bindFunctions(client, schema);
      isAstray = false;
    } catch (error) {
      throw isOfStandby(error) ? readOnlyError(location, error) : meaningOf(error, location);
    } finally {
      client.release();
    }
  }

  async function transact<T>(change: (tx: Transaction) => Promise<T>, options: WriteOptions): Promise<T> {
    const { turn, busyTimeoutMilliseconds: ownMilliseconds } = options;
    // A write with its own timeout does not join the others.
    if (ownMilliseconds === undefined) return await shareCommit(turn, change);
    if (ownMilliseconds === 0 && !transactions.isFree(turn)) throw lockedError(location);
    // The server takes 0 for no limit.
    return await transactions.write(turn, change, Math.max(1, ownMilliseconds));
  }

  /** Work begun inside a transaction would wait for that transaction, or see a state that is not the transaction's. */
  async function counted<T>(work: () => Promise<T>): Promise<T> {
    if (transactions.isInside()) throw new Error('a transaction was begun inside another; pass its tx on instead');
    if (closing !== undefined) throw new Error(`the store of ${location} is closed, and its sessions are destroyed`);
    return await pending.run(work);
  }

  async function close(): Promise<void> {
    await pending.settled();
    await transactions.close();
  }

  return {
    location,
    get isReadOnly() {
      return isReadOnly;
    },
    events: createPostgresEventStore(),
    get pendingTransactions() {
      return pending.count;
    },
    read: (query) => counted(() => read(query)),
    write: (change, options) => counted(() => write(change, options)),
    exclusively: async (name, work) => await transactions.exclusively(name, work),
    inspect: (options) =>
      counted(async () => {
        const { inspectServer } = await import('./inspection.ts');
        return await inspectServer(pool, { ...options, location, schema });
      }),
    close: () => {
      if (transactions.isInside()) throw new Error('a store cannot be closed inside a transaction');
      return (closing ??= close());
    },
  };
}

/** The transactions that a reader sees: the same text only if nothing was committed in between; undefined where it cannot tell. */
async function stateOf(tx: Transaction): Promise<string | undefined> {
  // On a standby the text does not name those that are under way, and which of them end.
  const [row] = await rowsOfText(
    tx,
    `SELECT "seen"::text AS "state" FROM pg_current_snapshot() AS "seen"
     WHERE NOT pg_is_in_recovery() OR pg_snapshot_xmin("seen") = pg_snapshot_xmax("seen")`,
  );
  return row?.['state'] as string | undefined;
}
