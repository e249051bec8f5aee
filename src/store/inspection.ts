/** What can be said of a database as a file and a schema, whatever its rows mean. */

/** How closely a database is inspected. */
export interface InspectionOptions {
  /** Also check that every index matches its table and every UNIQUE holds; takes far longer. */
  readonly isFull: boolean;
}

/** What was found; all lists are empty if nothing is wrong. */
export interface Inspection {
  readonly location: string;
  readonly schemaVersion: number;
  /** Files of the database that other users of the machine may read or write. */
  readonly exposedFiles: readonly string[];
  /** Directories beside it with copies in the making, or left behind when their process was killed. */
  readonly passingCopies?: readonly string[];
  /** The room on its disk, where that is less than it may need at once. */
  readonly scarceDisk?: ScarceDisk | undefined;
  /** Writes that were acknowledged and are missing. */
  readonly lostSpans: readonly LostSpan[];
  /** Damage to pages, rows and indexes, in the words of the database. */
  readonly damages: readonly string[];
  /** Rows that name a missing row. Not looked for in a damaged database; on a server only if `isFull`. */
  readonly danglingReferences: readonly DanglingReference[];
  readonly schemaDifferences: readonly SchemaDifference[];
  /** Why the schema could not be compared. */
  readonly schemaUnknown?: string;
}

/** A disk with less room than the database may come to need. */
export interface ScarceDisk {
  readonly freeBytes: number;
  /** What a copy before an upgrade takes, or a log at its largest. */
  readonly neededBytes: number;
}

/** Acknowledged writes that the database does not have: those after the first instant, up to and including the second. */
export interface LostSpan {
  /** The newest write that the database has; empty if it has none. */
  readonly after: string;
  readonly until: string;
}

/** A row that names a missing row. */
export interface DanglingReference {
  readonly table: string;
  /** Undefined in a table without row numbers. */
  readonly row: number | undefined;
  /** The table that lacks the named row. */
  readonly parent: string;
}

/** Where the schema is not what the migrations make. */
export interface SchemaDifference {
  /** A table, index or trigger. */
  readonly name: string;
  readonly difference: 'missing' | 'changed' | 'unexpected';
}

/** Where the objects of a schema differ from the expected ones, by name; each value is the object's definition. */
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
