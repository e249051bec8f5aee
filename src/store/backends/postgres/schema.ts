/** Whether a database is ours, which version it has, and how it is upgraded to the version of this program. */

import type { Pool, PoolClient } from 'pg';

import { sha256 } from '../../../digest.ts';
import { BillingError, OutdatedError, UnavailableError } from '../../../errors.ts';
import { limits } from '../../../limits.ts';
import { meaningOf } from './errors.ts';
import { processOf, refuseChangingSessions } from './pooler.ts';
import { postgresSchemaVersion } from './migrations/migration.ts';
import { allTables } from './tables.ts';
import { withoutLimit } from './without-limit.ts';

/** Before 16 a CHECK cannot say IS JSON. */
const oldestServer = 160_000;

/** The first table made, with a name that nobody else uses: a database of ours is recognised by it. */
export const versionTable = 'tallybookSchema';
export const versionQuery = `SELECT "version" FROM "${versionTable}"`;

const current = BigInt(postgresSchemaVersion);

export interface ServerFacts {
  /** The schema in use; other schemas of the same database may hold other books. */
  readonly schema: string;
  readonly isReadOnly: boolean;
  /** Only because the server is a standby, which may become the primary one. */
  readonly isStandby: boolean;
  /** Functions look for their tables in another schema, which only a write can mend: `bindFunctions` has to come before any. */
  readonly isAstray: boolean;
}

interface FactsRow {
  readonly number: string;
  readonly release: string;
  readonly encoding: string;
  readonly schema: string | null;
  readonly access: string;
  readonly standby: string;
  readonly own: string | null;
  readonly backend: string;
  readonly other: string | null;
  readonly astray: string;
}

/**
 * Upgrades the database to the schema of this program. A database of another application or of a newer version is refused
 * before anything is written to it.
 */
export async function prepareServer(
  pool: Pool,
  { location, readOnly }: { readonly location: string; readonly readOnly: boolean },
): Promise<ServerFacts> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<FactsRow>(factsQuery);
    const [facts] = rows;
    if (facts === undefined) throw new Error('the server says nothing of itself');
    refuseServer(facts, location);
    if (facts.backend !== processOf(client)) await refuseChangingSessions(pool, client, { location, ...facts });
    const schema = facts.schema ?? '';
    const isReadOnly = readOnly || facts.access === 'on';
    const version = facts.own === null ? 0n : await readVersion(client);
    if (version > current) throw newerVersionError(location, version);
    if (version < current) {
      if (isReadOnly) throw outdatedError(location, version);
      if (version === 0n && facts.other !== null) throw foreignError(location, facts.other);
      await migrate(client, { location, schema });
    }
    const isAstray = facts.astray === 'true';
    if (isAstray && !isReadOnly) await bindFunctions(client, schema);
    return { schema, isReadOnly, isStandby: !readOnly && facts.standby === 'true', isAstray: isAstray && isReadOnly };
  } catch (error) {
    throw meaningOf(error, location);
  } finally {
    client.release();
  }
}

const namesIn = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ');
const functions = ['tallybookRefuse', 'tallybookKeepVersion', 'tallybookMarkDays'];

/** `access` is on for a standby, too. `astray` tells whether functions look for their tables in another schema. */
const factsQuery = `SELECT current_setting('server_version_num') AS "number", current_setting('server_version') AS "release",
  current_setting('server_encoding') AS "encoding", current_schema() AS "schema",
  current_setting('transaction_read_only') AS "access", pg_is_in_recovery()::text AS "standby",
  to_regclass('"${versionTable}"')::text AS "own", pg_backend_pid()::text AS "backend",
  (SELECT min(relname) FROM pg_class WHERE relnamespace = quote_ident(current_schema())::regnamespace
    AND relname IN (${namesIn(allTables)})) AS "other",
  (EXISTS (SELECT FROM pg_proc WHERE pronamespace = quote_ident(current_schema())::regnamespace
    AND proname IN (${namesIn(functions)})
    AND 'search_path=' || quote_ident(current_schema()) || ', pg_temp' <> ALL (coalesce(proconfig, '{}'))))::text AS "astray"`;

function refuseServer({ number, release, encoding, schema }: FactsRow, location: string): void {
  if (Number(number) < oldestServer) {
    throw new BillingError('usage', `the server of ${location} is PostgreSQL ${release}; 16 or newer is needed`);
  }
  if (encoding !== 'UTF8') {
    throw new BillingError('usage', `the database ${location} has the encoding ${encoding}, not UTF8`, {
      hint: `create one that has: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0`,
    });
  }
  if (schema === null) {
    throw new BillingError('usage', `the search path of ${location} leads to no schema`, {
      hint: 'create the schema, or name another one: ?options=-csearch_path%3DNAME',
    });
  }
}

async function readVersion(client: PoolClient): Promise<bigint> {
  const { rows } = await client.query<{ readonly version: bigint }>(versionQuery);
  return rows[0]?.version ?? 0n;
}

/** Every step reads the version again under a lock that excludes writers: another process may be upgrading. */
async function migrate(
  client: PoolClient,
  { location, schema }: { readonly location: string; readonly schema: string },
): Promise<void> {
  const { migrations } = await import('./migrations/index.ts');
  const key = lockKey(schema, allWrites);
  await client.query(`SELECT set_config('lock_timeout', $1, true), pg_advisory_lock($2)`, [
    String(limits.migrationMilliseconds),
    key,
  ]);
  try {
    for (const { version, statements } of migrations) {
      // Triggers must find the tables of this schema, whatever the path of the session that fires them. There is no time limit,
      // because an index of a large table takes as long as it takes.
      const wait = `SET LOCAL lock_timeout = ${limits.migrationMilliseconds}`;
      await client.query(`BEGIN; SET LOCAL search_path TO ${pathOf(schema)}; ${wait}; ${withoutLimit}`);
      await client.query(`CREATE TABLE IF NOT EXISTS "${versionTable}" ("id" smallint PRIMARY KEY CHECK ("id" = 1),
        "version" bigint NOT NULL)`);
      const found = await readVersion(client);
      if (found > current) throw newerVersionError(location, found);
      if (found < BigInt(version)) {
        for (const statement of statements) await client.query(statement);
        await client.query(
          `INSERT INTO "${versionTable}" VALUES (1, $1) ON CONFLICT ("id") DO UPDATE SET "version" = $1`,
          [String(version)],
        );
      }
      await client.query('COMMIT');
    }
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [key]).catch(() => undefined);
  }
}

/**
 * Has the functions look for their tables in the schema in which they are. One that was renamed has them look under its old
 * name, where there may be nothing, or another book: it would be given what replaced events were before.
 */
export async function bindFunctions(client: PoolClient, schema: string): Promise<void> {
  const bind = functions.map((name) => `ALTER FUNCTION "${name}"() SET search_path FROM CURRENT`).join('; ');
  // Two processes that alter one function at once would be an error.
  const alone = `LOCK TABLE "${versionTable}" IN SHARE ROW EXCLUSIVE MODE`;
  try {
    await client.query(`BEGIN READ WRITE; SET LOCAL search_path TO ${pathOf(schema)}; ${alone}; ${bind}; COMMIT`);
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

const pathOf = (schema: string): string => `"${schema.replaceAll('"', '""')}", pg_temp`;

/** Every writer shares this lock; whoever must be alone holds it exclusively. */
export const allWrites = 'writes';

/** Locks are numbers and apply to a whole database, so the schema tells its books apart. */
export function lockKey(schema: string, name: string): string {
  return String(sha256().update(`tallybook ${schema} ${name}`).digest().readBigInt64BE());
}

/** Throws OutdatedError if another program has changed the schema since this one opened the database. */
export function refuseOtherVersion(location: string, version: bigint | undefined): void {
  if (version !== current) throw new OutdatedError(location, { found: version, known: current });
}

function newerVersionError(location: string, version: bigint): BillingError {
  return new BillingError(
    'internal',
    `the database ${location} has schema ${version}, but this program only knows ${current}; it was left as it is`,
    { hint: 'use a newer tallybook with this database' },
  );
}

function outdatedError(location: string, version: bigint): UnavailableError {
  const state = version === 0n ? 'has no tables of this program' : 'has an older schema';
  return new UnavailableError(`the database ${location} ${state}, and was opened read-only`, {
    hint: 'where it is writable, any command that writes brings its tables up to date, and so does a list: tally customers list',
  });
}

function foreignError(location: string, table: string): BillingError {
  return new BillingError(
    'internal',
    `${location} has a table ${table} that tallybook did not make; the database was left as it is`,
    { hint: 'give an empty database, or a schema of its own: ?options=-csearch_path%3DNAME' },
  );
}
