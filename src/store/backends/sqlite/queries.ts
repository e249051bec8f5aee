/**
 * Queries of a connection. Those with a known text run directly, others through a Kysely dialect over node:sqlite. Loading the
 * dialect takes as long as the rest of a short command, so it waits until a query has to be built.
 */

import {
  type ConnectionProvider,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  Transaction as KyselyTransaction,
} from 'kysely';
import type { SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';

import type { Database, Transaction } from '../../database.ts';
import { keepPageEnds, type PageEnds } from '../../page-ends.ts';
import { type RunDirectly, runDirectly } from '../../prepared.ts';
import type { SqliteConnection } from './connection.ts';
import { meaningOf } from './errors.ts';

/** Statements that leave everything unchanged that `onceUnchanged` keeps. */
const changesNothingKept =
  /^\s*(?:select\s|savepoint\s|release\s|insert into "ledgerEntries"\s|update "contracts" set "nextExpiryAt" =)/i;

/** Gives the transaction that the connection has just begun, and a function to call at its end. */
export function createTransactions(connection: SqliteConnection) {
  let build: ((isOver: () => boolean) => Transaction) | undefined;
  let changes = 0;
  const ends: PageEnds = new Map();

  function run(sql: string, parameters: readonly unknown[]): QueryResult<unknown> {
    // The query builder begins its readings this way.
    if (!sql.startsWith('select ') && !changesNothingKept.test(sql)) changes += 1;
    return execute(connection, sql, parameters);
  }

  /** The state of all tables with lists: what was written here, and whether another connection has committed anything. */
  function stateOf(): string | undefined {
    // What this transaction has written may be undone.
    if (connection.isWriting) return undefined;
    const others = connection.prepare('PRAGMA data_version').get()?.['data_version'];
    // Another handle may belong to another file.
    return `${connection.handleCount} ${changes} ${others}`;
  }

  return (): { readonly tx: Transaction; readonly end: () => void } => {
    let isOver = false;
    let whole: Transaction | undefined;
    const tx = new Proxy({} as Transaction, {
      get(_, name): unknown {
        whole ??= (build ??= createBuilder(run))(() => isOver);
        const member: unknown = Reflect.get(whole, name, whole);
        return typeof member === 'function' ? (member.bind(whole) as unknown) : member;
      },
    });
    const endDirect = runDirectly(tx, { run, changes: () => changes });
    keepPageEnds(tx, { ends, state: async () => stateOf() });
    const end = (): void => {
      isOver = true;
      endDirect();
    };
    return { tx, end };
  };
}

/** Every transaction uses the one connection; the store begins and ends it. */
function createBuilder(run: RunDirectly): (isOver: () => boolean) => Transaction {
  const databaseConnection: DatabaseConnection = {
    async executeQuery<R>({ sql, parameters }: { readonly sql: string; readonly parameters: readonly unknown[] }) {
      return run(sql, parameters) as QueryResult<R>;
    },
    streamQuery() {
      throw new Error('streaming is the business of the event store');
    },
  };
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => databaseConnection,
    beginTransaction: async () => {},
    commitTransaction: async () => {},
    rollbackTransaction: async () => {},
    releaseConnection: async () => {},
    destroy: async () => {},
  };
  const dialect: Dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
  const executor = new Kysely<Database>({ dialect }).getExecutor();
  return (isOver) => {
    const provider: ConnectionProvider = {
      async provideConnection(consumer) {
        if (isOver()) throw new Error('Transaction is already committed or rolled back');
        return await consumer(databaseConnection);
      },
    };
    const props = { config: { dialect }, dialect, driver, executor: executor.withConnectionProvider(provider) };
    return new KyselyTransaction<Database>(props);
  };
}

/** The error in our words; the connection notes it, too. */
export function failure(connection: SqliteConnection, error: unknown): unknown {
  connection.noteFailure(error);
  return meaningOf(error, connection.path);
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
  /** A row of nulls. A copy of it has its columns in place already, so that filling it creates none. */
  readonly blank: Row;
}

const knownColumns = new WeakMap<StatementSync, Columns>();

/** Read once per statement: describing its columns takes longer than most rows. Empty if it gives no rows. */
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

/** Node makes dictionary objects of rows, which are slow to make and slow to read or copy. */
function rowsOf(lists: readonly List[], { names, blank }: Columns): Row[] {
  return lists.map((list) => {
    const row = { ...blank };
    for (let index = 0; index < names.length; index += 1) row[names[index] as string] = list[index] as SQLOutputValue;
    return row;
  });
}

/** Node would bind a number as REAL and NaN as NULL. Here integers are bound as integers, and other numbers refused. */
function bindable(value: unknown): SQLInputValue {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is not a safe integer; use a decimal text`);
    return BigInt(value);
  }
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (value === null || typeof value === 'bigint' || typeof value === 'string') return value;
  throw new TypeError(`a value of type ${typeof value} cannot be stored`);
}
