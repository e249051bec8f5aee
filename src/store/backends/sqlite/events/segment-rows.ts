/**
 * Which rows of a segment are read: selected by time and contract once for all meters, and split by event name, because most
 * meters count a single name.
 */

import { hourOf } from './segment-hours.ts';
import type { Segment } from './segment.ts';

/** Selects the rows that `takes` accepts, in `[from, to)` of the segment's milliseconds; never late ones. */
export interface RowChoice {
  readonly from: number;
  /** Infinity if the choice ends after all rows. */
  readonly to: number;
  /** Absent: rows of every contract, and those that name none. */
  readonly takes?: ((row: number) => boolean) | undefined;
}

interface NameQuestion {
  /** Whether events of this name are counted; undefined if all are. */
  readonly wantsName: ((nameId: number) => boolean) | undefined;
}

export interface ChosenRows {
  /** The rows with the names that a meter counts, ascending. */
  readonly ofNames: (query: NameQuestion) => Int32Array;
}

const none = new Int32Array(0);

export function chooseRows(segment: Segment, choice: RowChoice): ChosenRows {
  return toldApart(segment, chosenRows(segment, choice));
}

/**
 * The same for each contract that rows of the segment name (0 for none), ordered by first occurrence. Calling `chooseRows` with
 * `takes` for each contract would look at every row each time.
 */
export function chooseByContract(
  segment: Segment,
  span: Pick<RowChoice, 'from' | 'to'>,
): readonly (readonly [contractSeq: number, rows: ChosenRows])[] {
  const only = segment.valueOfAll?.('contractSeq');
  if (only !== undefined) return [[only, chooseRows(segment, span)]];
  const { contractSeq } = segment.fixed;
  const seqs =
    rowsOfOneHour(segment, span)
      ?.values()
      .map((row) => contractSeq[row] ?? 0) ?? contractSeq.values();
  const lists = new Map([...new Set(seqs)].map((seq): [number, number[]] => [seq, []]));
  for (const row of chosenRows(segment, span)) lists.get(contractSeq[row] ?? 0)?.push(row);
  return [...lists].map(([seq, rows]) => [seq, toldApart(segment, Int32Array.from(rows))]);
}

/** Undefined if the span is longer than an hour of the segment: looking for its rows among all of them then costs as much. */
function rowsOfOneHour(segment: Segment, { from, to }: Pick<RowChoice, 'from' | 'to'>): Int32Array | undefined {
  return hourOf(from) === hourOf(to - 1) ? segment.rowsOfHour?.(hourOf(from)) : undefined;
}

function chosenRows(segment: Segment, { from, to, takes }: RowChoice): Int32Array {
  const { fixed, valueOfAll, rowCount } = segment;
  const isLate = valueOfAll?.('isLate') === 0 ? undefined : fixed.isLate;
  // Columns are unpacked on first access, and times matter only if a segment is cut.
  const millisecond = from > 0 || to < Infinity ? fixed.millisecond : undefined;
  const isOutside = (at: number): boolean => at < from || at >= to;
  const candidates = rowsOfOneHour(segment, { from, to });
  const chosen = new Int32Array(candidates?.length ?? rowCount);
  let count = 0;
  for (let place = 0; place < chosen.length; place += 1) {
    const row = candidates === undefined ? place : (candidates[place] ?? 0);
    if ((isLate !== undefined && isLate[row] !== 0) || (millisecond !== undefined && isOutside(millisecond[row] ?? 0)))
      continue;
    if (takes?.(row) === false) continue;
    chosen[count] = row;
    count += 1;
  }
  return chosen.subarray(0, count);
}

function toldApart({ fixed, valueOfAll }: Segment, all: Int32Array): ChosenRows {
  let split: ReadonlyMap<number, Int32Array> | undefined;
  return {
    ofNames({ wantsName }) {
      if (wantsName === undefined) return all;
      const only = valueOfAll?.('nameId');
      if (only !== undefined) return wantsName(only) ? all : none;
      split ??= splitByName(all, fixed.nameId);
      const wanted = [...split].filter(([nameId]) => wantsName(nameId)).map(([, rows]) => rows);
      return wanted.length === split.size ? all : together(wanted);
    },
  };
}

function splitByName(rows: Int32Array, nameId: Float64Array): ReadonlyMap<number, Int32Array> {
  // Every row is looked up twice, for which a Map would take many times as long.
  const counts: number[] = [];
  for (let place = 0; place < rows.length; place += 1) {
    const name = nameId[rows[place] ?? 0] ?? 0;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  const sorted = new Int32Array(rows.length);
  const places: number[] = [];
  const lists = new Map<number, Int32Array>();
  let start = 0;
  for (const [name, count] of Object.entries(counts)) {
    places[Number(name)] = start;
    lists.set(Number(name), sorted.subarray(start, start + count));
    start += count;
  }
  for (let place = 0; place < rows.length; place += 1) {
    const row = rows[place] ?? 0;
    const name = nameId[row] ?? 0;
    const next = places[name] ?? 0;
    sorted[next] = row;
    places[name] = next + 1;
  }
  return lists;
}

function together(lists: readonly Int32Array[]): Int32Array {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  const rows = new Int32Array(lists.reduce((sum, { length }) => sum + length, 0));
  let count = 0;
  for (const list of lists) {
    rows.set(list, count);
    count += list.length;
  }
  return rows.sort();
}
