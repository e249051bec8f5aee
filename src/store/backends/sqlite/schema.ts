/** Whether a file is ours, which version it has, and how it is upgraded to the version of this program. */

import { inMemory } from '../../../database-url.ts';
import { BillingError, OutdatedError, UnavailableError } from '../../../errors.ts';
import { applicationIds } from '../../application-id.ts';
import { type Migration, schemaVersion } from './migrations/migration.ts';
import { type SqliteConnection, pragma } from './connection.ts';
import { cutFileError, foreignFileError, mirrorFileError } from './errors.ts';
import { noteBegun } from './handle.ts';
import { waitForLock } from './lock-wait.ts';
import { readNewestNote } from './newest-note.ts';

const applicationId = BigInt(applicationIds.database);

const current = BigInt(schemaVersion);

/**
 * Upgrades the database to the schema of this program; gives the path of a copy of the old database, if it was older. A file of
 * another application or of a newer version is refused before anything is written to it.
 */
export async function prepareSchema(connection: SqliteConnection): Promise<string | undefined> {
  // A file without a log, as a restored one is at first, gets it only while nobody else uses the file.
  const version = await waitForLock(connection, () => prepareFileOf(connection));
  return version < current ? await migrate(connection) : undefined;
}

/** Gives the version of the file, which has a log afterwards if it may be written to. */
function prepareFileOf(connection: SqliteConnection): bigint {
  const isNew = isEmpty(connection);
  const isNewFile = isNew && connection.path !== inMemory;
  // The file was not new: the log that held all of it is gone.
  if (isNewFile && readNewestNote(connection.path).newest !== '') throw cutFileError(connection.path);
  const version = isNew ? 0n : checkOwnSchema(connection, connection.path);
  if (!connection.isReadOnly) {
    useLog(connection);
    if (isNewFile) noteBegun(connection.path);
  }
  return version;
}

/** The version of a database of ours; throws for a file of another application or of a newer program. */
export function checkOwnSchema(connection: Pick<SqliteConnection, 'prepare'>, path: string): bigint {
  const found = pragma(connection, 'application_id');
  if (found === BigInt(applicationIds.mirror)) throw mirrorFileError(path);
  if (found !== applicationId) throw foreignFileError(path);
  const version = pragma(connection, 'user_version');
  if (version > current) throw newerVersionError(path, version);
  return version;
}

/** Throws OutdatedError if another program has changed the schema since this one opened the database. */
export function refuseOtherSchema(path: string, version: bigint): void {
  if (version !== current) throw new OutdatedError(path, { found: version, known: current });
}

function isEmpty(connection: SqliteConnection): boolean {
  const isUnmarked = pragma(connection, 'application_id') === 0n && pragma(connection, 'user_version') === 0n;
  return isUnmarked && connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
}

/** Once set, the write-ahead log stays the file's mode; a database in memory has no log. */
function useLog(connection: SqliteConnection): void {
  const mode = connection.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'];
  if (mode === 'wal' || mode === 'memory') return;
  throw new UnavailableError(`the disk of the database ${connection.path} does not allow a write-ahead log`, {
    hint: 'put the database on a local disk',
  });
}

/** Every step reads the version again, inside its transaction: another process may be upgrading as well. */
async function migrate(connection: SqliteConnection): Promise<string | undefined> {
  if (connection.isReadOnly && isEmpty(connection)) {
    throw new UnavailableError(`there is nothing in the database ${connection.path} yet`, {
      hint: 'any command that writes to it creates its tables, and so does a list: tally customers list',
    });
  }
  if (connection.isReadOnly) {
    throw new UnavailableError(`the database ${connection.path} has an older schema, and was opened read-only`, {
      hint: 'where it is writable, any command that writes upgrades it, and so does a list: tally customers list',
    });
  }
  if (await makeAtOnce(connection)) return undefined;
  const version = checkOwnSchema(connection, connection.path);
  const { backUpBeforeUpgrade, upgradeFailure } = await import('./upgrade-backup.ts');
  const copy = version < current ? await backUpBeforeUpgrade(connection.path, version) : undefined;
  try {
    await takeSteps(connection);
    return copy;
  } catch (error) {
    throw copy === undefined ? error : upgradeFailure(connection, error, { copy, version });
  }
}

async function takeSteps(connection: SqliteConnection): Promise<void> {
  const { migrations } = await import('./migrations/index.ts');
  // The rows that a new index sorts may be more than the memory holds.
  connection.execute('PRAGMA temp_store = FILE');
  for (const migration of migrations) {
    if (migration.rebuildsTables) connection.execute('PRAGMA foreign_keys = OFF');
    try {
      await migrateBy(connection, migration);
    } finally {
      if (migration.rebuildsTables) connection.execute('PRAGMA foreign_keys = ON');
    }
  }
  connection.execute('PRAGMA temp_store = MEMORY');
}

/** Gives whether the database was empty. It then has the result of all steps, in one transaction and a fifth of the time. */
async function makeAtOnce(connection: SqliteConnection): Promise<boolean> {
  if (!isEmpty(connection)) return false;
  const { default: statements } = await import('./migrations/newest.json', { with: { type: 'json' } });
  return await inTransaction(connection, () => {
    // Another process may have begun it meanwhile.
    if (!isEmpty(connection)) return false;
    for (const statement of statements) connection.execute(statement);
    connection.execute(marks(schemaVersion));
    return true;
  });
}

async function migrateBy(connection: SqliteConnection, { version, statements, fill }: Migration): Promise<void> {
  await inTransaction(connection, (found) => {
    if (found >= BigInt(version)) return;
    for (const statement of statements) connection.execute(statement);
    fill?.(connection);
    connection.execute(marks(version));
  });
}

/** Does `change` in a transaction that writes, passing it the version found there. */
async function inTransaction<T>(connection: SqliteConnection, change: (found: bigint) => T): Promise<T> {
  const found = await waitForLock(connection, async () => await connection.begin('write'));
  try {
    const result = change(found);
    connection.commit();
    return result;
  } catch (error) {
    connection.rollback();
    throw error;
  }
}

const marks = (version: number): string => `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}`;

function newerVersionError(path: string, version: bigint): BillingError {
  return new BillingError(
    'internal',
    `the database ${path} has schema ${version}, but this program only knows ${current}; it was left as it is`,
    { hint: 'use a newer tallybook with this file' },
  );
}
