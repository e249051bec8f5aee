/** A step of the schema, and the version that this program reads and writes. */

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
   * The step rebuilds a table that others refer to and gives it the old name. References are not enforced meanwhile, which SQLite
   * can only be told outside a transaction (https://sqlite.org/lang_altertable.html#otheralter). Rows keep their ids.
   */
  readonly rebuildsTables?: true;
  /** Work that SQL cannot express; runs after the statements, in the same transaction. */
  readonly fill?: (connection: MigrationConnection) => void;
}

/** The version of the last migration. Kept apart from the steps, so that opening a current database loads none of them. */
export const schemaVersion = 17;
