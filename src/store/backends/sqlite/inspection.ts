/** Inspects a SQLite file: SQLite itself checks pages and references, and the schema is compared with a new one. */

import { closeSync, openSync, readSync, statSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { inMemory } from '../../../database-url.ts';
import { limits } from '../../../limits.ts';
import { realPathOf } from '../../file-facts.ts';
import { passingBeside } from '../../new-file.ts';
import type {
  DanglingReference,
  Inspection,
  InspectionOptions,
  ScarceDisk,
  SchemaDifference,
} from '../../inspection.ts';
import { differencesBetween } from '../../inspection.ts';
import { type SqliteConnection, openConnection, pragma } from './connection.ts';
import { isCorrupt } from './errors.ts';
import { openForReading } from './handle.ts';
import { lossesOf, type NewestNote } from './newest-note.ts';
import { prepareSchema } from './schema.ts';

/** Belongs in a transaction, so that pages, references and schema are of one state; `note` is read before it begins. */
export async function inspectDatabase(
  connection: SqliteConnection,
  { isFull }: InspectionOptions,
  note: NewestNote,
): Promise<Inspection> {
  const damages = damagesOf(connection, isFull ? 'integrity_check' : 'quick_check');
  // A damaged file's rows prove nothing, and reading them may fail.
  const isSound = damages.length === 0;
  return {
    location: connection.path,
    schemaVersion: Number(pragma(connection, 'user_version')),
    exposedFiles: exposedFiles(connection.path),
    passingCopies: connection.path === inMemory ? [] : passingBeside(connection.path),
    scarceDisk: connection.path === inMemory ? undefined : scarceDisk(connection.path),
    lostSpans: isSound ? lossesOf(note, newestIn(connection)) : [],
    damages,
    danglingReferences: isSound ? danglingReferences(connection) : [],
    schemaDifferences: isSound ? await schemaDifferences(connection) : [],
  };
}

/** What can be said of a file that can no longer be read as a database; `failure` is the reason. */
export function inspectDamaged(path: string, failure: Error): Inspection {
  const damages = openForReading(path, damagesAt).opened;
  return {
    location: path,
    schemaVersion: versionInHeader(path),
    exposedFiles: exposedFiles(path),
    passingCopies: passingBeside(path),
    scarceDisk: scarceDisk(path),
    lostSpans: [],
    damages: damages.length > 0 ? damages : [failure.message],
    danglingReferences: [],
    schemaDifferences: [],
  };
}

function damagesAt(location: string | URL): string[] {
  const database = new DatabaseSync(location, { readOnly: true, readBigInts: true, defensive: true });
  try {
    return damagesOf(database, 'integrity_check');
  } finally {
    database.close();
  }
}

/** SQLite itself reads nothing from a file that was cut. https://sqlite.org/fileformat.html#user_version */
function versionInHeader(path: string): number {
  const bytes = Buffer.alloc(4);
  const file = openSync(path, 'r');
  try {
    readSync(file, bytes, { position: 60 });
  } finally {
    closeSync(file);
  }
  return bytes.readInt32BE();
}

/**
 * What SQLite finds wrong with the file: pages, indexes, UNIQUE and NOT NULL, but not CHECK, which it skips when it only reads.
 * At most `limits.findingsPerCheck` sentences; empty if the file is sound.
 */
export function damagesOf(
  connection: Pick<SqliteConnection, 'prepare'>,
  check: 'integrity_check' | 'quick_check',
): string[] {
  try {
    const rows = connection.prepare(`PRAGMA ${check}(${limits.findingsPerCheck})`).all();
    return rows.map((row) => String(row[check])).filter((sentence) => sentence !== 'ok');
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return [(error as Error).message];
  }
}

/** Rows that name a missing row. */
export function danglingReferences(connection: Pick<SqliteConnection, 'prepare'>): DanglingReference[] {
  return connection
    .prepare('PRAGMA foreign_key_check')
    .all()
    .map(({ table, rowid, parent }) => ({
      table: String(table),
      row: rowid === null ? undefined : Number(rowid),
      parent: String(parent),
    }));
}

/** The newest instant of a row of any organization; empty if there is none. */
export function newestIn(connection: Pick<SqliteConnection, 'prepare'>): string {
  const row = connection.prepare('SELECT max("lastCreatedAt") AS "newest" FROM "organizations"').get();
  return String(row?.['newest'] ?? '');
}

/** File modes on Windows say nothing about who may read. */
function exposedFiles(path: string): string[] {
  if (process.platform === 'win32') return [];
  const real = realPathOf(path);
  return [path, `${real}-wal`, `${real}-shm`].filter((file) => {
    const facts = statSync(file, { throwIfNoEntry: false });
    return facts !== undefined && (facts.mode & 0o077) !== 0;
  });
}

function scarceDisk(path: string): ScarceDisk | undefined {
  const { bavail, bsize } = statfsSync(dirname(realPathOf(path)));
  const freeBytes = bavail * bsize;
  const neededBytes = Math.max(statSync(path).size, limits.logBytes);
  return freeBytes < neededBytes ? { freeBytes, neededBytes } : undefined;
}

async function schemaDifferences(connection: SqliteConnection): Promise<SchemaDifference[]> {
  const model = await openConnection(inMemory, {});
  try {
    await prepareSchema(model);
    return differencesBetween(schemaOf(model), schemaOf(connection));
  } finally {
    model.close();
  }
}

/** The statement of each table, index and trigger, without what SQLite makes for itself. */
function schemaOf(connection: SqliteConnection): Map<string, string> {
  const rows = connection.prepare('SELECT "type", "name", "sql" FROM sqlite_schema ORDER BY "name"').all();
  const own = rows.filter((row) => !String(row['name']).startsWith('sqlite_'));
  return new Map(own.map((row) => [`${String(row['type'])} ${String(row['name'])}`, String(row['sql'])]));
}
