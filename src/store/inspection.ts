/** What can be said of a database as a file and a schema, whatever its rows mean. */

/** How closely a database is looked over. */
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
  /** Directories beside it with copies that are being made, or were when their process was killed. */
  readonly passingCopies?: readonly string[];
  /** What was acknowledged and is not there. */
  readonly lostSpans: readonly LostSpan[];
  /** Damage to pages, rows and indexes, in the words of the database. */
  readonly damages: readonly string[];
  /** Rows that name a row that is not there. Not asked of a damaged database, and of a server only where `isFull`. */
  readonly danglingReferences: readonly DanglingReference[];
  readonly schemaDifferences: readonly SchemaDifference[];
  /** Why the schema could not be compared. */
  readonly schemaUnknown?: string;
}

/** Between these two instants, the first excluded, writes were acknowledged that a database does not have. */
export interface LostSpan {
  /** The newest that it has; empty where it has none. */
  readonly after: string;
  readonly until: string;
}

/** A row that names one that is not there. */
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

/** Where the objects that a schema has differ from those that it should have, by name; each with how it is written down. */
export function differencesBetween(
  expected: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, string>,
): SchemaDifference[] {
  return [...new Set([...expected.keys(), ...found.keys()])]
    .toSorted()
    .filter((name) => expected.get(name) !== found.get(name))
    .map((name) => ({ name, difference: differenceOf(expected.has(name), found.has(name)) }));
}

function differenceOf(isExpected: boolean, isFound: boolean): SchemaDifference['difference'] {
  if (!isFound) return 'missing';
  return isExpected ? 'changed' : 'unexpected';
}
