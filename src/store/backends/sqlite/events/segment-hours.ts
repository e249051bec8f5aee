/** The rows of a segment by hour. */

export const millisecondsPerHour = 3_600_000;

/** The hour of a segment, from 0, that a millisecond of it lies in. */
export const hourOf = (millisecond: number): number => Math.floor(millisecond / millisecondsPerHour);

/** Gives the rows of an hour, ascending: the order of arrival, since events do not come in the order of their times. */
export function sortedByHour(millisecond: Float64Array): (hour: number) => Int32Array {
  const ends: number[] = [];
  for (let row = 0; row < millisecond.length; row += 1) {
    const hour = hourOf(millisecond[row] ?? 0);
    while (ends.length <= hour) ends.push(0);
    ends[hour] = (ends[hour] ?? 0) + 1;
  }
  const next: number[] = [];
  let sum = 0;
  for (const [hour, count] of ends.entries()) {
    next.push(sum);
    sum += count;
    ends[hour] = sum;
  }
  const sorted = new Int32Array(millisecond.length);
  for (let row = 0; row < millisecond.length; row += 1) {
    const hour = hourOf(millisecond[row] ?? 0);
    const place = next[hour] ?? 0;
    sorted[place] = row;
    next[hour] = place + 1;
  }
  return (hour) => sorted.subarray(ends[hour - 1] ?? 0, ends[hour] ?? sorted.length);
}
