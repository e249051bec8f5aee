/** What can be said of a database as a file and a schema, whatever its rows mean. */

export interface InspectionOptions {
  /** Also whether every index says what its table says, and every UNIQUE holds; takes far longer. */
  readonly isFull: boolean;
}

/** What was found; all lists are empty where nothing is wrong. */
export interface Inspection {
  readonly location: string;
  readonly schemaVersion: number;
  /** Files of the database that other users of the machine may read or write. */
  readonly exposedFiles: readonly string[];
  /** Damage to pages, rows and indexes, in the words of the database. */
  readonly damages: readonly string[];
  /** Rows that name a row that is not there. Not asked of a damaged database, and of a server only where `isFull`. */
  readonly danglingReferences: readonly DanglingReference[];
  readonly schemaDifferences: readonly SchemaDifference[];
}

export interface DanglingReference {
  readonly table: string;
  /** Undefined in a table without row numbers. */
  readonly row: number | undefined;
  /** The table that lacks what is named. */
  readonly parent: string;
}

/** Where the schema is not what the migrations make. */
export interface SchemaDifference {
  /** A table, index or trigger. */
  readonly name: string;
  readonly difference: 'missing' | 'changed' | 'unexpected';
}
