/** Long lists in conditions. */

/** A list as long as the next power of two, its last element repeated: so lists of all lengths share few statements. */
export function padded(values: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(values.length));
  return Array.from({ length }, (_value, index) => values[Math.min(index, values.length - 1)] ?? '');
}
