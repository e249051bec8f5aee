/** Copies one SQLite file into another, whatever is written meanwhile. */

import { backup, DatabaseSync } from 'node:sqlite';

import { limits } from '../../../limits.ts';
import { changedError, isFullDisk, meaningOf } from './errors.ts';
import { openForReading } from './handle.ts';

/** More than any database has. All pages go in one step, because writers between two steps could make it restart for ever. */
const allPages = 2_147_483_647;

/**
 * Copies the database at `source`, as it stands now, into `target`, an empty file that will be called `name`. The copy needs no
 * log beside it.
 */
export async function copyDatabase(source: string, target: string, name: string): Promise<void> {
  try {
    const { opened: database, isOutdated } = openForReading(source, connect);
    try {
      await backup(database, target, { rate: allPages });
      if (isOutdated()) throw changedError(source);
    } finally {
      database.close();
    }
    const copy = new DatabaseSync(target);
    try {
      copy.exec('PRAGMA journal_mode = DELETE');
    } finally {
      copy.close();
    }
  } catch (error) {
    // Only the copy takes space.
    throw meaningOf(error, isFullDisk(error) ? name : source);
  }
}

function connect(location: string | URL): DatabaseSync {
  const database = new DatabaseSync(location, { readOnly: true, timeout: limits.busyTimeoutMilliseconds });
  try {
    // SQLite opens the file and its log with the first statement.
    database.exec('PRAGMA application_id');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
