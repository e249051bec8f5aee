/** Converts values on their way to the server and back, to the forms that database.ts describes; nothing else does. */

import pg from 'pg';

const { builtins } = pg.types;
const integerTypes = new Set<number>([builtins.INT2, builtins.INT4, builtins.INT8]);

/** Integers of every width come as bigint, all else as the server wrote it. */
export const types = {
  getTypeParser: (type: number) => (integerTypes.has(type) ? BigInt : (text: string) => text),
};

/** Refuses a number that is not an integer and turns booleans into 1 and 0; the library would pass `true` and fractions on. */
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
