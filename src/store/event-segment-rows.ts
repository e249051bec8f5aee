/**
 * Which rows of a segment are read: chosen by time and contract once for all meters, and told apart by the names of events, of
 * which most meters count one.
 */

import { millisecondsPerDay, type Segment } from './event-segment.ts';

/** Which rows: those that `takes` says, in `[from, to)` of the day's milliseconds; late ones never. */
export interface RowChoice {
  readonly from: number;
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

export function chooseRows({ fixed, rowCount }: Segment, { from, to, takes }: RowChoice): ChosenRows {
  // Columns are unpacked when they are looked at, so each only where it is needed.
  const { isLate } = fixed;
  let all: Int32Array = new Int32Array(rowCount);
  for (let row = 0; row < rowCount; row += 1) all[row] = row;
  if (isLate.includes(1)) all = keptRows(all, (row) => isLate[row] === 0);
  if (from > 0 || to < millisecondsPerDay) {
    const { millisecond } = fixed;
    all = keptRows(all, (row) => (millisecond[row] ?? 0) >= from && (millisecond[row] ?? 0) < to);
  }
  if (takes !== undefined) all = keptRows(all, takes);
  let split: ReadonlyMap<number, Int32Array> | undefined;
  return {
    ofNames({ wantsName }) {
      if (wantsName === undefined) return all;
      split ??= splitByName(all, fixed.nameId);
      const wanted = [...split].filter(([nameId]) => wantsName(nameId)).map(([, rows]) => rows);
      return wanted.length === split.size ? all : together(wanted);
    },
  };
}

/** Those that pass; an array's own filter takes several times as long. */
export function keptRows(rows: Int32Array, test: (row: number) => boolean): Int32Array {
  const chosen = new Int32Array(rows.length);
  let count = 0;
  for (let place = 0; place < rows.length; place += 1) {
    const row = rows[place] ?? 0;
    if (!test(row)) continue;
    chosen[count] = row;
    count += 1;
  }
  return chosen.subarray(0, count);
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
