/** Which segments lie in which intervals, and which are read as one. */

import type { AggregatedEvents } from '../../../event-store.ts';
import { isAlike, readHeader, type SegmentPart } from './segment-bytes.ts';
import { hourOf, millisecondsPerHour } from './segment-hours.ts';
import { millisecondsPerDay } from './segment.ts';

/** A segment's row; `small` has its bytes if the segment is to be read together with others. */
export type HeaderRow = readonly [
  id: number,
  day: number,
  days: number,
  revision: number,
  rowCount: number,
  small: Uint8Array | null,
];

/** Segments that are read as one, as far as they lie in the interval. */
export interface JoinedSegments {
  readonly interval: number;
  /** Of all their days. */
  readonly start: number;
  end: number;
  readonly parts: SegmentPart[];
}

/** Joins small segments of one interval as long as they are alike; all others are `headers`. */
export function joinedByInterval(
  rows: readonly HeaderRow[],
  boundsEpochMs: readonly number[],
): { readonly headers: readonly HeaderRow[]; readonly joined: readonly JoinedSegments[] } {
  const headers: HeaderRow[] = [];
  const joined: JoinedSegments[] = [];
  const newest = new Map<number, JoinedSegments>();
  for (const { row, start, end, firstInterval } of inIntervals(rows, boundsEpochMs)) {
    const [, , , , , small] = row;
    if (small === null) {
      headers.push(row);
      continue;
    }
    const packed = readHeader(small);
    for (let interval = firstInterval; interval + 1 < boundsEpochMs.length; interval += 1) {
      if ((boundsEpochMs[interval] ?? 0) >= end) break;
      let group = newest.get(interval);
      const last = group?.parts.at(-1);
      if (group === undefined || last === undefined || !isAlike(last.packed, packed)) {
        group = { interval, start, end, parts: [] };
        newest.set(interval, group);
        joined.push(group);
      }
      group.parts.push({ packed, offset: start - group.start });
      group.end = Math.max(group.end, end);
    }
  }
  return { headers, joined };
}

/** A segment, and when its days begin and end. */
export interface PlacedSegment extends Span {
  readonly row: HeaderRow;
  /** The first interval that it may share an instant with. */
  readonly firstInterval: number;
}

/** Milliseconds since 1970, [start, end). */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** In the order of the rows, which are ordered by day. */
export function* inIntervals(rows: readonly HeaderRow[], boundsEpochMs: readonly number[]): Generator<PlacedSegment> {
  let firstInterval = 0;
  for (const row of rows) {
    const [, day, days] = row;
    const start = day * millisecondsPerDay;
    while ((boundsEpochMs[firstInterval + 1] ?? Infinity) <= start) firstInterval += 1;
    yield { row, start, end: start + days * millisecondsPerDay, firstInterval };
  }
}

export function isWithinInterval(boundsEpochMs: readonly number[], interval: number, { start, end }: Span): boolean {
  return (boundsEpochMs[interval] ?? Infinity) <= start && end <= (boundsEpochMs[interval + 1] ?? -Infinity);
}

/** Which rows of a segment are read. */
export interface CutSegment {
  /** The beginning of the segment's first day. */
  readonly start: number;
  /** In milliseconds since `start`; `to` is Infinity if the interval ends after all rows. */
  readonly from: number;
  readonly to: number;
  readonly interval: number;
}

/** The rows of a segment that lie in an interval. */
export function rowsWithin(
  { boundsEpochMs }: Pick<AggregatedEvents, 'boundsEpochMs'>,
  interval: number,
  { start, end }: Span,
): CutSegment {
  const [from = 0, to = 0] = boundsEpochMs.slice(interval, interval + 2);
  return { start, from: Math.max(0, from - start), to: to >= end ? Infinity : to - start, interval };
}

/** Whole hours `[firstHour, endHour)` of a cut segment, and what is left of it before and after them; without an end, Infinity. */
export interface CutIntoHours {
  readonly firstHour: number;
  readonly endHour: number;
  readonly edges: readonly CutSegment[];
}

/** Undefined if the cut has no whole hour. */
export function cutIntoHours(cut: CutSegment): CutIntoHours | undefined {
  const [firstHour, endHour] = [Math.ceil(cut.from / millisecondsPerHour), hourOf(cut.to)];
  if (firstHour >= endHour) return undefined;
  const edges = [
    { ...cut, to: firstHour * millisecondsPerHour },
    { ...cut, from: endHour * millisecondsPerHour },
  ].filter((edge) => edge.from < edge.to);
  return { firstHour, endHour, edges };
}
