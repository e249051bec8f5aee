/**
 * The SQLite backend: a Kysely dialect over node:sqlite, and the store on top.
 * One connection, so one transaction at a time in a process: others queue in the order in which they came, and what waits
 * for another process comes back to the end of the queue. Every write
 * begins IMMEDIATE, because a transaction that reads first and writes later fails at once when another has committed
 * in between.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';

import type { Database, Transaction } from '../database.ts';
import type { Inspection, InspectionOptions } from '../inspection.ts';
import { type RunDirectly, runDirectly } from '../prepared.ts';
import type { Store, StoreOptions, WriteOptions } from '../store.ts';
import { createGroupCommit } from './group-commit.ts';
import { createPending } from './pending.ts';
import { createSharedReading } from './shared-reading.ts';
import { type SqliteConnection, openConnection, waitForLock } from './sqlite-connection.ts';
import { meaningOf } from './sqlite-errors.ts';
import { type SqliteEventStore, createSqliteEventStore } from './sqlite-events.ts';
import { inspectDatabase } from './sqlite-inspection.ts';
import { prepareSchema, refuseOtherSchema } from './sqlite-schema.ts';

/** Opens the file at `location` (a path or `:memory:`), made and upgraded as needed. */
export async function openSqliteStore(location: string, options: StoreOptions): Promise<Store> {
  const connection = await open(location, options);
  const database = new Kysely<Database>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => createDriver(connection),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  const insideTransaction = new AsyncLocalStorage<true>();

  /** What waits for another process, and what runs. */
  const pending = createPending();

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
    const transaction = database.transaction().setAccessMode(accessMode);
    let hasBegun = false;
    try {
      return await transaction.execute(async (tx) => {
        hasBegun = true;
        const run: RunDirectly = (sql, parameters) => execute(connection, sql, parameters).rows;
        const end = runDirectly(tx, { run, isSnapshot: accessMode === 'read only' });
        try {
          return await insideTransaction.run(true, async () => await work(tx));
        } finally {
          end();
        }
      });
    } catch (error) {
      // Once translated a lock is final: only what has not begun may be tried again without doing its work twice.
      throw hasBegun ? failure(connection, error) : error;
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

  /** Queues behind what is running; what is asked for later finds the driver destroyed. */
  async function close(): Promise<void> {
    if (insideTransaction.getStore()) throw new Error('a store cannot be closed inside a transaction');
    await pending.settled();
    await database.connection().execute(() => database.destroy());
    connection.close();
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

function failure(connection: SqliteConnection, error: unknown): unknown {
  connection.noteFailure(error);
  return meaningOf(error, connection.path);
}

function createDriver(connection: SqliteConnection): Driver {
  const databaseConnection = createDatabaseConnection(connection);
  return {
    init: async () => {},
    acquireConnection: async () => databaseConnection,
    async beginTransaction(_, { accessMode }) {
      const version = await connection.tryBegin(accessMode === 'read only' ? 'read' : 'write');
      try {
        refuseOtherSchema(connection.path, version);
      } catch (error) {
        connection.rollback();
        throw error;
      }
    },
    commitTransaction: async () => connection.commit(),
    rollbackTransaction: async () => connection.rollback(),
    releaseConnection: async () => {},
    destroy: async () => {},
  };
}

function createDatabaseConnection(connection: SqliteConnection): DatabaseConnection {
  return {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      return execute(connection, sql, parameters) as QueryResult<R>;
    },
    streamQuery() {
      throw new Error('streaming is the business of the event store');
    },
  };
}

function execute(connection: SqliteConnection, sql: string, parameters: readonly unknown[]): QueryResult<unknown> {
  const values = parameters.map(bindable);
  try {
    const statement = connection.prepare(sql);
    const columns = columnsOf(statement);
    if (columns.names.length > 0) return { rows: rowsOf(statement.all(...values) as unknown as List[], columns) };
    const { changes, lastInsertRowid } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  } catch (error) {
    throw failure(connection, error);
  }
}

type List = readonly SQLOutputValue[];
type Row = Record<string, SQLOutputValue>;

interface Columns {
  readonly names: readonly string[];
  /** A row of nothing. What is copied from it has its place for each column, and none has to be made as it is filled. */
  readonly blank: Row;
}

const knownColumns = new WeakMap<StatementSync, Columns>();

/** Asked once of a statement: the description of its columns takes longer than most rows do. None where it gives no rows. */
function columnsOf(statement: StatementSync): Columns {
  let columns = knownColumns.get(statement);
  if (columns === undefined) {
    const names = statement.columns().map(({ name }) => name);
    columns = { names, blank: Object.fromEntries(names.map((name) => [name, null])) };
    statement.setReturnArrays(true);
    knownColumns.set(statement, columns);
  }
  return columns;
}

/** The objects that Node makes of rows are dictionaries: slow to make, and slow to whoever reads or copies them. */
function rowsOf(lists: readonly List[], { names, blank }: Columns): Row[] {
  return lists.map((list) => {
    const row = { ...blank };
    for (let index = 0; index < names.length; index += 1) row[names[index] as string] = list[index] as SQLOutputValue;
    return row;
  });
}

/** Node would bind a number as REAL and NaN as NULL: whole numbers go as integers, all others are refused. */
function bindable(value: unknown): SQLInputValue {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is not a safe integer; use a decimal text`);
    return BigInt(value);
  }
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (value === null || typeof value === 'bigint' || typeof value === 'string') return value;
  throw new TypeError(`a value of type ${typeof value} cannot be stored`);
}
