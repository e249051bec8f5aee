/** The migrations one at a time, each with a connection of its own, as programs of that version made them one after another. */

import { migrations } from '../../src/store/backends/sqlite/migrations/index.ts';
import { withDatabase } from './database-image.ts';

const applicationId = 0x74616c6c;

/** Brings the database from the version that it has, 0 for a new one, to `target`. */
export function migrateTo(file: string, target: number): void {
  for (const { version, statements, fill, rebuildsTables } of migrations) {
    withDatabase(file, (database) => {
      const found = database.prepare('PRAGMA user_version').get()?.['user_version'] as bigint;
      if (version > target || BigInt(version) <= found) return;
      if (rebuildsTables) database.exec('PRAGMA foreign_keys = OFF');
      database.exec('BEGIN');
      for (const statement of statements) database.exec(statement);
      fill?.({ prepare: (sql) => database.prepare(sql), execute: (sql) => database.exec(sql) });
      database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}; COMMIT`);
    });
  }
}
