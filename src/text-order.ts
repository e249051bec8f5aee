/** The order of texts by their code units: the same on every machine, whatever its language. */

/** Negative if `a` comes first, 0 if they are equal. Instants and dates of one form are ordered by time. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
