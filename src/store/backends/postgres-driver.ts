/**
 * How Kysely speaks to the server: sessions of a pool, values on their way in and out, and the beginning of transactions.
 * Values stand in rows as database.ts says; this is the one place that converts them.
 */

import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type Dialect,
} from 'kysely';
import pg from 'pg';
import type { Pool, PoolClient, PoolConfig, QueryResultBase } from 'pg';

import { isLost, isSilence, meaningOf, unknownOutcomeError } from './postgres-errors.ts';

export interface DriverOptions {
  readonly pool: Pool;
  readonly location: string;
  /** How long to wait for the answer to a statement; undefined: for ever. */
  readonly answerMilliseconds: number | undefined;
  /** Told of every error of a statement, as the library threw it. */
  readonly onError: (error: unknown) => void;
  /** Throws where the schema that a transaction found is not the one of this program. */
  readonly checkVersion: (version: bigint | undefined) => void;
}

/** Integers of every width come as bigint, all else as the server wrote it. */
const integerTypes = new Set<number>([pg.types.builtins.INT2, pg.types.builtins.INT4, pg.types.builtins.INT8]);
const types = {
  getTypeParser: (type: number) => (integerTypes.has(type) ? BigInt : (text: string) => text),
};

/** A pool that outlives every failure of its sessions. */
export function openPool(config: PoolConfig): Pool {
  const pool = new pg.Pool({ ...config, types });
  // A session that breaks while nobody uses it has left the pool already; one in use fails in its own statement.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

export function createDialect(options: DriverOptions): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => createDriver(options),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

interface Session extends DatabaseConnection {
  readonly client: PoolClient;
  isBroken: boolean;
  isWriting: boolean;
  /** Until its transaction ends: what runs there may take as long as it takes. */
  isPatient: boolean;
  /** Settles when the last statement that was asked for has ended. */
  last: Promise<unknown>;
}

/**
 * One state of the database from the first statement to the last; see "PostgreSQL: writers" in src/README.md. A reading may
 * pause for as long as another database takes to answer, since nobody waits for it.
 */
const beginnings = {
  'read only': 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0',
  'read write': 'BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE',
} as const;

/** Behind a commit, so that who waits begins at once. */
export const releaseLocks = 'SELECT pg_advisory_unlock_all()';

/** Lifts the limit of time of every statement of a transaction, the server's and our own. */
export const withoutLimit = 'SET LOCAL statement_timeout = 0';

export const versionQuery = 'SELECT "version" FROM "tallybookSchema"';

function createDriver({ pool, location, answerMilliseconds, onError, checkVersion }: DriverOptions): Driver {
  /** How often a statement was never answered, and how often that was when a session was last taken. */
  let silences = 0;
  const silencesBefore = new WeakMap<PoolClient, number>();

  /** Statements without parameters go as they are, several at once too; gives what each of them gave. */
  async function run(session: Session, text: string): Promise<readonly QueryResultBase[]> {
    refuseBroken(session);
    try {
      const results = (await session.client.query({ text, ...patienceOf(session) })) as unknown as
        | QueryResultBase
        | QueryResultBase[];
      return Array.isArray(results) ? results : [results];
    } catch (error) {
      throw noted(session, error);
    }
  }

  /**
   * A session from before one of the others went silent is most likely as silent: it would cost the next who takes it as
   * long again.
   */
  async function connect(): Promise<PoolClient> {
    for (;;) {
      const client = await pool.connect();
      if (silences === (silencesBefore.get(client) ?? silences)) {
        silencesBefore.set(client, silences);
        return client;
      }
      discard(client);
    }
  }

  /** The server gives up a statement before, unless the way to it swallows what is sent. */
  function patienceOf({ isPatient }: Session): { readonly query_timeout?: number } {
    return isPatient || answerMilliseconds === undefined ? {} : { query_timeout: answerMilliseconds };
  }

  /** What is asked of a lost session would wait behind what was lost. */
  function refuseBroken({ isBroken }: Session): void {
    if (isBroken) throw meaningOf(new Error('connection terminated before'), location);
  }

  function noted(session: Session, error: unknown): unknown {
    if (isLost(error)) session.isBroken = true;
    if (isSilence(error)) silences += 1;
    onError(error);
    return meaningOf(error, location);
  }

  return {
    init: async () => {},
    async acquireConnection() {
      try {
        const client = await connect();
        const session: Session = {
          client,
          isBroken: false,
          isWriting: false,
          isPatient: false,
          last: Promise.resolve(),
          executeQuery: async (query) => {
            // The library warns of a statement that is sent before another has ended.
            const result = session.last.then(async () => await execute<never>(session, query));
            session.last = result.catch(() => undefined);
            return await result;
          },
          streamQuery: () => {
            throw new Error('streaming is the business of the event store');
          },
        };
        return session;
      } catch (error) {
        onError(error);
        throw meaningOf(error, location);
      }
    },
    async beginTransaction(connection, { accessMode }) {
      const session = connection as Session;
      session.isWriting = accessMode !== 'read only';
      session.isPatient = false;
      const found = (await run(session, `${beginnings[accessMode ?? 'read write']}; ${versionQuery}`)).at(-1);
      try {
        checkVersion((found as pg.QueryResult<{ readonly version: bigint }> | undefined)?.rows[0]?.version);
      } catch (error) {
        await run(session, 'ROLLBACK');
        throw error;
      }
    },
    async commitTransaction(connection) {
      const session = connection as Session;
      const [ended] = await run(session, session.isWriting ? `COMMIT; ${releaseLocks}` : 'COMMIT').catch(
        (error: unknown) => {
          throw session.isBroken && session.isWriting ? unknownOutcomeError(location, error) : error;
        },
      );
      // The server ends a transaction in which a statement failed by taking it back, whatever was asked. A reading loses
      // nothing by that: doctor notes what could not be read, and ends well.
      if (ended?.command === 'ROLLBACK' && session.isWriting)
        throw new Error('a transaction went on after a statement of it had failed');
    },
    async rollbackTransaction(connection) {
      const session = connection as Session;
      if (!session.isBroken) await run(session, 'ROLLBACK').catch(() => (session.isBroken = true));
    },
    async releaseConnection(connection) {
      const session = connection as Session;
      session.isPatient = false;
      if (session.isBroken) discard(session.client);
      else session.client.release();
    },
    destroy: async () => {
      await pool.end();
    },
  };

  async function execute<R>(session: Session, { sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const values = parameters.map(bindable);
    refuseBroken(session);
    session.isPatient ||= sql === withoutLimit;
    try {
      const name = values.length === 0 ? undefined : statementName(sql);
      const { rows, rowCount, command } = await session.client.query({
        name,
        text: sql,
        values,
        ...patienceOf(session),
      });
      const isChange = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE';
      return { rows: rows as R[], ...(isChange ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}) };
    } catch (error) {
      throw noted(session, error);
    }
  }
}

/** Its parting word may never be answered: no process waits for that. */
function discard(client: PoolClient): void {
  // The library has it, and its types do not.
  (client as PoolClient & { readonly unref: () => void }).unref();
  client.release(true);
}

const keptStatements = 500;
const statementNames = new Map<string, string>();

/** A statement with a name is planned once a session. Those beyond the first hundreds have none, and are forgotten at once. */
function statementName(sql: string): string | undefined {
  const known = statementNames.get(sql);
  if (known !== undefined || statementNames.size === keptStatements) return known;
  const name = `tallybook_${statementNames.size}`;
  statementNames.set(sql, name);
  return name;
}

/** The library would print a number that is no whole one, and `true` where a column counts: those are said here. */
function bindable(value: unknown): string | null | readonly (string | null)[] {
  if (Array.isArray(value)) return value.map((each) => bindable(each) as string | null);
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is not a safe integer; use a decimal text`);
    return String(value);
  }
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'bigint') return String(value);
  if (value === null || typeof value === 'string') return value;
  throw new TypeError(`a value of type ${typeof value} cannot be stored`);
}
