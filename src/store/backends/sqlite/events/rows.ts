/** Rows of events in the form that SQLite gives fastest. */

import type { StatementSync } from 'node:sqlite';

import type { SqliteConnection } from '../connection.ts';

/** Gives integers as numbers and rows as arrays. No other reading may use the same text, because statements are shared. */
export function plainRows(connection: Pick<SqliteConnection, 'prepare'>, sql: string): StatementSync {
  const statement = connection.prepare(sql);
  statement.setReadBigInts(false);
  statement.setReturnArrays(true);
  return statement;
}
