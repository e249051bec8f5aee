/** The order of texts: that of their code units, the same on every machine whatever its language. */

/** Negative where `a` comes first, 0 where they are the same. Instants and dates of one form are in the order of time. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
