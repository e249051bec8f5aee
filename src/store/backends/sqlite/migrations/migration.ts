/** What a step of the schema is, and the version that this program reads and writes. */

import type { StatementSync } from 'node:sqlite';

export interface MigrationConnection {
  prepare(sql: string): Pick<StatementSync, 'all' | 'get' | 'run'>;
  execute(sql: string): void;
}

export interface Migration {
  /** The schema version that the database has afterwards: 1, 2, 3. */
  readonly version: number;
  readonly statements: readonly string[];
  /**
   * A table that others refer to is made anew and takes the old one's name: references are not watched meanwhile, which only
   * a transaction that has not begun can be told (https://sqlite.org/lang_altertable.html#otheralter). Rows keep their ids.
   */
  readonly rebuildsTables?: true;
  /** What no statement can say; runs behind them, in the same transaction. */
  readonly fill?: (connection: MigrationConnection) => void;
}

/** The version of the last migration. Stands apart from the steps, so that opening a current database loads none. */
export const schemaVersion = 15;
