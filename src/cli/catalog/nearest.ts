/** The known name that was probably meant: at most two letters away, and fewer than half of its length. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, distance: distanceOf(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= 2 && distance < candidate.length / 2)
    .toSorted((one, other) => one.distance - other.distance);
  return best?.candidate;
}

/** Number of letters to add, remove or exchange. */
function distanceOf(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [row, letter] of [...one].entries()) {
    const current = [row + 1];
    for (const [column, against] of [...other].entries()) {
      const exchanged = (above[column] ?? 0) + (letter === against ? 0 : 1);
      current.push(Math.min(exchanged, (above[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    above = current;
  }
  return above.at(-1) ?? 0;
}
