/** Values on their way to the server and back: they stand in rows as database.ts says, and this is the one place that converts them. */

import pg from 'pg';

const { builtins } = pg.types;
const integerTypes = new Set<number>([builtins.INT2, builtins.INT4, builtins.INT8]);

/** Integers of every width come as bigint, all else as the server wrote it. */
export const types = {
  getTypeParser: (type: number) => (integerTypes.has(type) ? BigInt : (text: string) => text),
};

/** The library would print a number that is no whole one, and `true` where a column counts: those are said here. */
export function bindable(value: unknown): string | null | readonly (string | null)[] {
  if (Array.isArray(value)) return value.map((each) => bindable(each) as string | null);
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is not a safe integer; use a decimal text`);
    return String(value);
  }
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'bigint') return String(value);
  if (value === null || typeof value === 'string') return value;
  throw new TypeError(`a value of type ${typeof value} cannot be stored`);
}
