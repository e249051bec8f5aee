/** Rows of events as SQLite gives them fastest. */

import type { StatementSync } from 'node:sqlite';

import type { SqliteConnection } from '../connection.ts';

/** For where integers are wanted as numbers and rows as arrays: no other reading may have the same text. */
export function plainRows(connection: Pick<SqliteConnection, 'prepare'>, sql: string): StatementSync {
  const statement = connection.prepare(sql);
  statement.setReadBigInts(false);
  statement.setReturnArrays(true);
  return statement;
}
