/**
 * Meters whose quantity is a query of the customer's own (semantics 8, `sql`): the text of a person decides what runs, so it
 * runs where there is nothing to reach but the rows that were handed in (security 6). `createMeterSql` makes one; the backend
 * says how the query is kept apart.
 */

/** A row of the table `events` that a query reads. */
export interface MeterSqlEvent {
  readonly eventName: string;
  /** The column `timestamp` shows it as `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  readonly timestampEpochMs: number;
  /** A JSON object of primitives. */
  readonly propertiesJson: string;
}

/** One reading: the query over these events, and over those of the reading before where they are kept. */
export interface MeterSqlReading {
  readonly keepsEvents: boolean;
  /** In the order in which the query finds them. */
  readonly events: readonly MeterSqlEvent[];
}

/** One query over the events of several readings. */
export interface MeterSqlRun {
  /** Whose events these are: what served one scope never serves another, and a scope runs one query at a time. */
  readonly scope: string;
  readonly sql: string;
  readonly readings: readonly MeterSqlReading[];
  /** For all readings together, from the start of the query to the last value; waiting for a turn does not count. */
  readonly deadlineMilliseconds: number;
}

/** Queries of somebody else's, run over nothing but the events that are handed in. */
export interface MeterSql {
  /**
   * Whether a query may become a meter: a trial run on an empty table, and one on a single event that has no
   * properties. Rejects with an InvalidInputError whose path is `sql`, or with an UnavailableError where no trial could
   * be made.
   */
  check(query: { readonly scope: string; readonly sql: string }): Promise<void>;
  /**
   * The value of each reading: plain decimal text, or null where the query gives NULL. Whole numbers are exact; a sum of
   * fractions is the query's own floating-point arithmetic, with the fewest digits that tell it apart. Rejects with a
   * MeterSqlError when the query fails, gives anything but one number, or runs out of time or memory; never with a
   * part of the values.
   */
  run(run: MeterSqlRun): Promise<readonly (string | null)[]>;
  /** Ends what is still running. Nothing can be read afterwards. */
  close(): void;
}

/** Why a query gave no value: a clause about the query, such as `it ran longer than 2 s`. */
export class MeterSqlError extends Error {
  override readonly name = 'MeterSqlError';
}

/** How queries are run. */
export interface MeterSqlOptions {
  /** Default: `limits.meterSqlMilliseconds`. */
  readonly checkMilliseconds?: number | undefined;
  /** Default: `limits.meterSqlResidentMebibytes`. */
  readonly residentMebibytes?: number | undefined;
  /** How long a process waits for the next query of its scope. Default: 2 s. */
  readonly idleMilliseconds?: number | undefined;
  /** What the program itself is told to become such a process, where it is a self-contained executable. */
  readonly ownWords?: readonly string[] | undefined;
}
