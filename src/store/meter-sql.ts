/**
 * Meters whose quantity is a query that a person wrote (semantics 8, `sql`). Such a query runs where it can reach nothing but
 * the rows handed in (security 6). `createMeterSql` makes the runner; the backend decides how the query is isolated.
 */

/** A row of the table `events` that a query reads. */
export interface MeterSqlEvent {
  readonly eventName: string;
  /** The column `timestamp` shows it as `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  readonly timestampEpochMs: number;
  /** A JSON object of primitives. */
  readonly propertiesJson: string;
}

/** One reading: the query over these events and, if `keepsEvents`, those of the reading before. */
export interface MeterSqlReading {
  readonly keepsEvents: boolean;
  /** In the order in which the query finds them. */
  readonly events: readonly MeterSqlEvent[];
}

/** One query over the events of several readings. */
export interface MeterSqlRun {
  /** Whose events these are: a process that served one scope never serves another, and a scope runs one query at a time. */
  readonly scope: string;
  readonly sql: string;
  readonly readings: readonly MeterSqlReading[];
  /** For all readings together, from the start of the query to the last value; waiting for a turn does not count. */
  readonly deadlineMilliseconds: number;
}

/** Runs queries that others wrote, over nothing but the events that are handed in. */
export interface MeterSql {
  /**
   * Decides whether a query may become a meter, by a trial run on an empty table and one on a single event without properties.
   * Rejects with an InvalidInputError whose path is `sql`, or with an UnavailableError if no trial was possible.
   */
  check(query: { readonly scope: string; readonly sql: string }): Promise<void>;
  /**
   * The value of each reading: plain decimal text, or null if the query gives NULL. Whole numbers are exact; a sum of fractions
   * uses the query's own floating-point arithmetic and is written with the fewest digits that identify it. Rejects with a
   * MeterSqlError if the query fails, gives anything but one number, or runs out of time or memory; never gives only some of
   * the values.
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
  /** The arguments with which a self-contained executable starts itself as such a process. */
  readonly ownWords?: readonly string[] | undefined;
}
