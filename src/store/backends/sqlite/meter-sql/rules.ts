/** What an SQL meter may use of SQLite. It is passed to the process that reads the meter, so all of it is data. */

import type { DatabaseSyncOptions } from 'node:sqlite';

import { limits } from '../../../../limits.ts';

/** The rules for every query. */
export interface ChildRules {
  /** Limits of SQLite; in addition a query may have no variables. */
  readonly limits: NonNullable<DatabaseSyncOptions['limits']>;
  readonly columns: readonly string[];
  readonly functions: readonly string[];
  /** Functions of dates and times, with the index of each argument that is one. */
  readonly timeFunctions: Readonly<Record<string, readonly number[]>>;
  /** The largest absolute value. */
  readonly maximum: number;
  /** How long one reading may take if the asking process is gone. */
  readonly orphanSeconds: number;
}

/**
 * Functions whose result depends on their arguments alone and is the same on every machine: no randomness, no clock, no names
 * of the engine, and none that the platform's mathematics library rounds in its own way.
 */
const functions = [
  ['count', 'sum', 'total', 'avg', 'min', 'max', 'median', 'percentile', 'percentile_cont', 'percentile_disc'],
  ['row_number', 'rank', 'dense_rank', 'percent_rank', 'cume_dist', 'ntile', 'lag', 'lead'],
  ['first_value', 'last_value', 'nth_value'],
  ['abs', 'round', 'ceil', 'ceiling', 'floor', 'trunc', 'mod', 'sign', 'sqrt'],
  ['coalesce', 'ifnull', 'nullif', 'iif', 'if', 'typeof', 'likely', 'unlikely', 'likelihood'],
  ['->', '->>', 'json_extract', 'json_type', 'json_valid', 'json_array_length'],
  ['length', 'octet_length', 'lower', 'upper', 'trim', 'ltrim', 'rtrim', 'substr', 'substring', 'instr', 'replace'],
  ['concat', 'concat_ws', 'like', 'glob', 'unicode', 'char'],
  ['date', 'time', 'datetime', 'julianday', 'unixepoch', 'strftime', 'timediff'],
].flat();

/** The limits of security 6; the other rules follow from semantics 8. */
export const childRules: ChildRules = {
  limits: {
    length: 1_000_000,
    sqlLength: limits.sqlCharacters,
    vdbeOp: 25_000,
    attach: 0,
    compoundSelect: 4,
    exprDepth: 100,
    column: 64,
    functionArg: 16,
    likePatternLength: 200,
    triggerDepth: 0,
  },
  columns: ['event_name', 'timestamp', 'properties'],
  functions,
  timeFunctions: {
    date: [0],
    time: [0],
    datetime: [0],
    julianday: [0],
    unixepoch: [0],
    strftime: [1],
    timediff: [0, 1],
  },
  maximum: limits.meterSqlValueMaximum,
  orphanSeconds: 30,
};
