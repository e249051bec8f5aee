/**
 * Which rows of a segment are read: chosen by time and contract once for all meters, and told apart by the names of events, of
 * which most meters count one.
 */

import type { Segment } from './segment.ts';

/** Which rows: those that `takes` says, in `[from, to)` of the segment's milliseconds; late ones never. */
export interface RowChoice {
  readonly from: number;
  /** Infinity where all rows are before it. */
  readonly to: number;
  /** Absent: every contract, and rows that name none. */
  readonly takes?: ((row: number) => boolean) | undefined;
}

interface NameQuestion {
  /** Whether events of this name are counted; undefined where all are. */
  readonly wantsName: ((nameId: number) => boolean) | undefined;
}

export interface ChosenRows {
  /** Those of the names that a meter counts, ascending. */
  readonly ofNames: (query: NameQuestion) => Int32Array;
}

const none = new Int32Array(0);

export function chooseRows(segment: Segment, choice: RowChoice): ChosenRows {
  return toldApart(segment, chosenRows(segment, choice));
}

/**
 * The same of each contract that a row of the segment names, 0 where one names none, in the order in which they come first.
 * To ask `takes` of each of them would be to look at every row for each.
 */
export function chooseByContract(
  segment: Segment,
  span: Pick<RowChoice, 'from' | 'to'>,
): readonly (readonly [contractSeq: number, rows: ChosenRows])[] {
  const only = segment.valueOfAll?.('contractSeq');
  if (only !== undefined) return [[only, chooseRows(segment, span)]];
  const { contractSeq } = segment.fixed;
  const lists = new Map([...new Set(contractSeq)].map((seq): [number, number[]] => [seq, []]));
  for (const row of chosenRows(segment, span)) lists.get(contractSeq[row] ?? 0)?.push(row);
  return [...lists].map(([seq, rows]) => [seq, toldApart(segment, Int32Array.from(rows))]);
}

function chosenRows({ fixed, valueOfAll, rowCount }: Segment, { from, to, takes }: RowChoice): Int32Array {
  const isLate = valueOfAll?.('isLate') === 0 ? undefined : fixed.isLate;
  // Columns are unpacked when they are looked at, and times decide only where a segment is cut.
  const millisecond = from > 0 || to < Infinity ? fixed.millisecond : undefined;
  const isOutside = (at: number): boolean => at < from || at >= to;
  const chosen = new Int32Array(rowCount);
  let count = 0;
  for (let row = 0; row < rowCount; row += 1) {
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
  // Every row comes here twice, for which a map would take many times as long.
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
