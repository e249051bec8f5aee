/** The SQLite backend: the store on top of one connection. */

import { inMemory } from '../../../database-url.ts';
import { once } from '../../../once.ts';
import type { Transaction } from '../../database.ts';
import type { Inspection, InspectionOptions } from '../../inspection.ts';
import type { Store, StoreOptions, WriteOptions } from '../../store.ts';
import { createGroupCommit } from '../group-commit.ts';
import { createPending } from '../../../pending.ts';
import { createSharedReading } from '../shared-reading.ts';
import { type SqliteConnection, openConnection } from './connection.ts';
import { meaningOf } from './errors.ts';
import { type SqliteEventStore, createSqliteEventStore } from './events/events.ts';
import { inspectDatabase, newestIn } from './inspection.ts';
import { createNewestNoter, readNewestNote } from './newest-note.ts';
import { failure } from './queries.ts';
import { prepareSchema } from './schema.ts';
import { createSqliteTurns } from './turns.ts';

/** Opens the file at `location` (a path or `:memory:`); makes or upgrades it as needed. */
export async function openSqliteStore(location: string, options: StoreOptions): Promise<Store> {
  const { connection, copyBefore } = await open(location, options);
  const turns = createSqliteTurns(connection);
  /** Counts work that runs or waits for another process. */
  const pending = createPending();

  async function inspect(options: InspectionOptions): Promise<Inspection> {
    let inspection: Inspection | undefined;
    try {
      const note = readNewestNote(connection.path);
      return await turns.transact('read', async () => (inspection = await inspectDatabase(connection, options, note)));
    } catch (error) {
      // A transaction that met damage cannot even end; what it found is the answer.
      if (inspection === undefined || inspection.damages.length === 0) throw error;
      return inspection;
    }
  }

  const isSpoilt = (): boolean => !connection.isTransaction || connection.isBroken;

  // One connection has one turn, whoever writes.
  const shareCommit = createGroupCommit({
    transact: async (_turn, work) => await turns.transact('write', work),
    isSpoilt,
  });

  const noter = connection.path === inMemory ? undefined : createNewestNoter(connection.path);

  /** Runs before the first write, which would hide an older note; other writes wait for it, to avoid overtaking it. */
  const compareNote = once(async () => {
    if (noter === undefined) return;
    const note = readNewestNote(connection.path);
    if (note.newest === '') noter.compare(note, '');
    else await turns.transact('read', async () => noter.compare(note, newestIn(connection)));
  });

  async function write<T>(change: (tx: Transaction) => Promise<T>, writeOptions?: WriteOptions): Promise<T> {
    await compareNote();
    // A write with its own timeout does not join the others.
    if (writeOptions?.busyTimeoutMilliseconds !== undefined) return await turns.transact('write', change, writeOptions);
    try {
      return await shareCommit(undefined, change);
    } catch (error) {
      throw failure(connection, error);
    }
  }

  /** With one connection, waiting inside a transaction for another one would never end. */
  async function queued<T>(work: () => Promise<T>): Promise<T> {
    if (turns.isInside()) throw new Error('a transaction was begun inside another; pass its tx on instead');
    return await pending.run(work);
  }

  let eventStore: SqliteEventStore | undefined;
  /** Made on first use: short commands do not use events, and loading their code takes as long as the command's own. */
  const events = (): SqliteEventStore => (eventStore ??= createSqliteEventStore(connection, options.eventUpkeep));

  /** The event store reads without the query layer, so SQLite's own errors are translated here. */
  async function readInOurWords<T>(query: (tx: Transaction) => Promise<T>): Promise<T> {
    return await read(async (tx) => {
      try {
        return await query(tx);
      } catch (error) {
        throw failure(connection, error);
      }
    });
  }

  /** Totals that a reader computed are kept afterwards, if nobody else is writing just then. */
  const read = createSharedReading({
    async transact(work) {
      await turns.transact('read', work);
      if (eventStore?.hasFoundTotals() === true) void queued(keepTotals);
    },
    isSpoilt,
  });

  async function keepTotals(): Promise<void> {
    try {
      await turns.attempt('write', async () => events().keepFoundTotals());
    } catch (error) {
      // The totals can be computed again, and whoever uses the database next meets the same failure.
      connection.noteFailure(error);
    }
  }

  let closing: Promise<void> | undefined;

  /** Closes after running work has ended. */
  async function close(): Promise<void> {
    if (turns.isInside()) throw new Error('a store cannot be closed inside a transaction');
    await pending.settled();
    await turns.close();
    noter?.close();
  }

  return {
    location: connection.path,
    copyBefore,
    get isReadOnly() {
      return connection.isReadOnly;
    },
    get events() {
      return events();
    },
    get pendingTransactions() {
      return pending.count;
    },
    read: (query) => queued(() => readInOurWords(query)),
    write: (change, writeOptions) => queued(() => write(change, writeOptions)),
    noteNewest: (instant) => noter?.note(instant),
    forgetNewest: () => noter?.forget(),
    // On one file, transactions alone keep processes apart.
    exclusively: async (_name, work) => await work(),
    inspect: (inspectionOptions) => queued(() => inspect(inspectionOptions)),
    close: () => (closing ??= close()),
  };
}

async function open(
  location: string,
  options: StoreOptions,
): Promise<{ readonly connection: SqliteConnection; readonly copyBefore: string | undefined }> {
  let connection: SqliteConnection | undefined;
  try {
    connection = await openConnection(location, options);
    return { connection, copyBefore: await prepareSchema(connection) };
  } catch (error) {
    connection?.close();
    throw meaningOf(error, connection?.path ?? location);
  }
}
