/**
 * Column definitions that the migrations share. Released migrations depend on them: add to this file, never edit it.
 * Every column refuses null unless it is `optional`, and checks what it may hold.
 */

/** At or below 10^15 cents either way (security 8, SEC-70). */
const cents = '1000000000000000';
/** At or below 10^12 credits either way (semantics 9), in millionths. */
const creditMicros = '1000000000000000000';

const definition = (name: string, type: 'TEXT' | 'INTEGER', check: string): string =>
  `"${name}" ${type} NOT NULL CHECK (${check})`;

export const column = {
  sequence: '"seq" INTEGER PRIMARY KEY',
  id: (name: string): string => definition(name, 'TEXT', `length("${name}") BETWEEN 1 AND 64`),
  text: (name: string): string => `"${name}" TEXT NOT NULL`,
  oneOf: (name: string, values: readonly string[]): string =>
    definition(name, 'TEXT', `"${name}" IN (${values.map((value) => `'${value}'`).join(', ')})`),
  json: (name: string): string => definition(name, 'TEXT', `json_valid("${name}")`),
  instant: (name: string): string => definition(name, 'TEXT', `"${name}" LIKE '____-__-__T__:__:__.___Z'`),
  date: (name: string): string => definition(name, 'TEXT', `"${name}" LIKE '____-__-__'`),
  flag: (name: string): string => definition(name, 'INTEGER', `"${name}" IN (0, 1)`),
  count: (name: string): string => definition(name, 'INTEGER', `"${name}" BETWEEN 0 AND 9007199254740991`),
  cents: (name: string): string => definition(name, 'INTEGER', `"${name}" BETWEEN -${cents} AND ${cents}`),
  centsFromZero: (name: string): string => definition(name, 'INTEGER', `"${name}" BETWEEN 0 AND ${cents}`),
  creditMicros: (name: string): string =>
    definition(name, 'INTEGER', `"${name}" BETWEEN -${creditMicros} AND ${creditMicros}`),
  /** A sum of many amounts, so only the integer type bounds it. */
  balance: (name: string): string => definition(name, 'INTEGER', `"${name}" >= 0`),
  epochMilliseconds: (name: string): string => definition(name, 'INTEGER', `"${name}" BETWEEN 0 AND 9007199254740991`),
} as const;

/** The same column, where null means "none". By SQL's rules its CHECK accepts null. */
export function optional(columnDefinition: string): string {
  return columnDefinition.replace(' NOT NULL', '');
}

/** Triggers that refuse to change or remove a row of `table`. */
export function appendOnly(table: string, what: string): readonly string[] {
  return ['UPDATE', 'DELETE'].map(
    (action) =>
      `CREATE TRIGGER "${table}_${action.toLowerCase()}" BEFORE ${action} ON "${table}"
       BEGIN SELECT RAISE(ABORT, 'append-only: ${what} cannot be changed or removed'); END`,
  );
}
