/** Copies one SQLite file into another, whatever is written meanwhile. */

import { backup, DatabaseSync } from 'node:sqlite';

import { limits } from '../../../limits.ts';
import { isFullDisk, meaningOf } from './errors.ts';

/** More than any database has. All pages go in one step, because writers between two steps could make it restart for ever. */
const allPages = 2_147_483_647;

/**
 * Copies the database at `source`, as it stands now, into `target`, an empty file that will be called `name`. The copy needs no
 * log beside it.
 */
export async function copyDatabase(source: string, target: string, name: string): Promise<void> {
  try {
    const database = new DatabaseSync(source, { readOnly: true, timeout: limits.busyTimeoutMilliseconds });
    try {
      await backup(database, target, { rate: allPages });
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
