/** A step of the schema on PostgreSQL, and the version that this program reads and writes. */

export interface PostgresMigration {
  /** The schema version that the database has afterwards: 1, 2, 3. */
  readonly version: number;
  readonly statements: readonly string[];
}

/** The version of the last migration. Kept apart from the steps, so that opening a current database loads none of them. */
export const postgresSchemaVersion = 8;
