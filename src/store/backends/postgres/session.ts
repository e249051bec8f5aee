/**
 * Sessions of a pool: one statement after another, how transactions begin and end, how long to wait for an answer, and which
 * sessions can no longer be relied on.
 */

import type { AccessMode, CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import pg from 'pg';
import type { Pool, PoolClient, PoolConfig, QueryResultBase } from 'pg';

import { limits } from '../../../limits.ts';
import {
  goneError,
  isCrowded,
  isLost,
  isOfCommit,
  isOfStandby,
  isSilence,
  isWithoutStandby,
  isWithoutTables,
  meaningOf,
  readOnlyError,
  unknownOutcomeError,
} from './errors.ts';
import { ownSettings } from './own-settings.ts';
import { refuseOtherVersion, versionQuery } from './schema.ts';
import { bindable, types } from './values.ts';
import { withoutLimit } from './without-limit.ts';

/** A pool that outlives every failure of its sessions; each session gets `settings` before it is used. */
export function openPool(config: PoolConfig, settings: Readonly<Record<string, string>> = {}): Pool {
  // oxlint-disable-next-line typescript/no-misused-promises -- the library waits for it, and its types do not say so
  const pool = new pg.Pool({ ...config, types, onConnect: ownSettings(settings) });
  // A session that breaks while idle has left the pool already; one in use fails in its own statement.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const connected = new Set<PoolClient>();
  connectedOf.set(pool, connected);
  // Of one that breaks before it is prepared the pool tells only that it is removed.
  pool.on('connect', (client) => connected.add(client)).on('remove', (client) => connected.delete(client));
  return pool;
}

/** What all sessions of a store share. */
export interface SessionOptions {
  readonly pool: Pool;
  readonly location: string;
  /** How long to wait for the answer to a statement; undefined means for ever. */
  readonly answerMilliseconds: number | undefined;
  /** Called with every error of a statement, as the library threw it. */
  readonly onError: (error: unknown) => void;
}

/** Gives a function that takes a session from the pool. */
export function createSessions(options: SessionOptions): () => Promise<Session> {
  const { pool, location } = options;
  /** Counts unanswered statements; the map has the count at which each session was last taken. */
  let silences = 0;
  const silencesBefore = new WeakMap<PoolClient, number>();

  const onError = (error: unknown): void => {
    if (isSilence(error)) silences += 1;
    options.onError(error);
  };

  /**
   * When one session has gone silent, older ones most likely have, too. Whoever took such a session would wait as long again, so
   * they are discarded.
   */
  async function connect(): Promise<PoolClient> {
    for (;;) {
      const client = await connectOrWait(pool);
      if (silences === (silencesBefore.get(client) ?? silences)) {
        silencesBefore.set(client, silences);
        return client;
      }
      discard(client);
    }
  }

  return async () => {
    try {
      return new Session(await connect(), { ...options, onError });
    } catch (error) {
      options.onError(error);
      throw meaningOf(error, location);
    }
  };
}

/**
 * If the server takes no more sessions, the existing ones have to do: the pool is limited to them for a while, so that a caller
 * waits until one is released.
 */
async function connectOrWait(pool: Pool): Promise<PoolClient> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await pool.connect();
    } catch (error) {
      const count = connectedOf.get(pool)?.size ?? 0;
      if (!isCrowded(error) || count === 0 || tries === limits.databaseSessions) throw error;
      holdTo(pool, count);
    }
  }
}

/** Per pool, the sessions that are connected, used or not. */
const connectedOf = new WeakMap<Pool, ReadonlySet<PoolClient>>();
const held = new WeakSet<Pool>();

function holdTo(pool: Pool, count: number): void {
  const { max } = pool.options;
  pool.options.max = count;
  if (held.has(pool)) return;
  held.add(pool);
  setTimeout(() => {
    held.delete(pool);
    pool.options.max = max;
  }, limits.crowdedServerMilliseconds).unref();
}

/**
 * One state of the database from the first statement to the last; see "writers" under PostgreSQL in src/README.md. A reading may
 * pause for as long as another database takes to answer, because nobody waits for the reading.
 */
const beginnings = {
  'read only': 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0',
  'read write': 'BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE',
} as const;

/** Sent right behind a commit, so that whoever waits begins at once. */
export const releaseLocks = 'SELECT pg_advisory_unlock_all()';

/** A connection that is taken from the pool until it is released. */
export class Session implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #options: SessionOptions;
  /** Nothing that its transaction did can be relied on, and it takes no more statements. */
  #isBroken = false;
  /** Its transaction may write. */
  #isWriting = false;
  /** Statements may take any time until its transaction ends. */
  #isPatient = false;
  /** Settles when the last requested statement has ended. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: PoolClient, options: SessionOptions) {
    this.#client = client;
    this.#options = options;
  }

  async begin(accessMode: AccessMode): Promise<void> {
    this.#isWriting = accessMode === 'read write';
    this.#isPatient = false;
    try {
      const found = (await this.#run(`${beginnings[accessMode]}; ${versionQuery}`)).at(-1);
      const [row] = (found as pg.QueryResult<{ readonly version: bigint }> | undefined)?.rows ?? [];
      refuseOtherVersion(this.#options.location, row?.version);
    } catch (error) {
      // The first of these statements may have begun the transaction; whoever took the session next could do nothing in it.
      await this.rollBack();
      if (isOfStandby(error)) throw readOnlyError(this.#options.location, error);
      throw isWithoutTables(error) ? goneError(this.#options.location, error) : error;
    }
  }

  async commit(): Promise<void> {
    let warning: unknown;
    const onNotice = (notice: { readonly routine: string | undefined }): void => {
      if (isWithoutStandby(notice)) warning = notice;
    };
    this.#client.on('notice', onNotice);
    const [ended] = await this.#run(this.#isWriting ? `COMMIT; ${releaseLocks}` : 'COMMIT')
      .catch(async (error: unknown) => {
        // A server whose disk fails ends with words of the disk, and may find the commit in its log when it is back. Any other
        // error may be that of the statement behind the commit.
        await this.rollBack();
        const isUnknown = this.#isBroken || !isOfCommit(error);
        throw isUnknown && this.#isWriting ? unknownOutcomeError(this.#options.location, error) : error;
      })
      .finally(() => this.#client.off('notice', onNotice));
    // Cancelled while it waited for a standby, a commit succeeds with a warning, and is lost with the primary server.
    if (warning !== undefined && this.#isWriting) throw unknownOutcomeError(this.#options.location, warning);
    // The server rolls back a transaction in which a statement failed, even on COMMIT. A reading loses nothing by that: doctor
    // notes what could not be read, and ends well.
    if (ended?.command === 'ROLLBACK' && this.#isWriting)
      throw new Error('a transaction went on after a statement of it had failed');
  }

  async rollBack(): Promise<void> {
    if (!this.#isBroken) await this.#run('ROLLBACK').catch(() => (this.#isBroken = true));
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    // The library warns if a statement is sent before the one before it has ended.
    const result = this.#last.then(async () => await this.#execute<R>(query));
    this.#last = result.catch(() => undefined);
    return await result;
  }

  streamQuery(): never {
    throw new Error('streaming is the business of the event store');
  }

  release(): void {
    if (this.#isBroken) discard(this.#client);
    else this.#client.release();
  }

  /** Sends one or several statements without parameters as they are; gives the result of each. */
  async #run(text: string): Promise<readonly QueryResultBase[]> {
    this.#refuseBroken();
    try {
      const results = (await this.#client.query({ text, ...this.#patience() })) as unknown as
        | QueryResultBase
        | QueryResultBase[];
      return Array.isArray(results) ? results : [results];
    } catch (error) {
      throw this.#noted(error);
    }
  }

  async #execute<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const values = parameters.map(bindable);
    this.#refuseBroken();
    this.#isPatient ||= sql === withoutLimit;
    try {
      const name = values.length === 0 ? undefined : statementName(sql);
      const { rows, rowCount, command } = await this.#client.query({ name, text: sql, values, ...this.#patience() });
      const isChange = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE';
      return { rows: rows as R[], ...(isChange ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}) };
    } catch (error) {
      // Whoever took the session next would not know of its locks.
      this.#isBroken ||= sql === releaseLocks;
      throw this.#noted(error);
    }
  }

  /** The server gives up a statement earlier, unless the connection swallows what is sent. */
  #patience(): { readonly query_timeout?: number } {
    const { answerMilliseconds } = this.#options;
    return this.#isPatient || answerMilliseconds === undefined ? {} : { query_timeout: answerMilliseconds };
  }

  /** A statement on a lost session would wait behind the one that was lost. */
  #refuseBroken(): void {
    if (this.#isBroken) throw meaningOf(new Error('connection terminated before'), this.#options.location);
  }

  #noted(error: unknown): unknown {
    if (isLost(error)) this.#isBroken = true;
    this.#options.onError(error);
    return meaningOf(error, this.#options.location);
  }
}

/** The closing message may never be answered: no process waits for that. */
function discard(client: PoolClient): void {
  // The library has the method, but its types do not.
  (client as PoolClient & { readonly unref: () => void }).unref();
  client.release(true);
}

const keptStatements = 500;
const statementNames = new Map<string, string>();

/** A named statement is planned once per session. Beyond the first hundreds, statements have no name and are not kept. */
function statementName(sql: string): string | undefined {
  const known = statementNames.get(sql);
  if (known !== undefined || statementNames.size === keptStatements) return known;
  const name = `tallybook_${statementNames.size}`;
  statementNames.set(sql, name);
  return name;
}
