/** Which columns of a table a terminal has room for, and how wide each of them is. */

import type { Column } from '../../operations/operation.ts';
import { isRightAligned } from '../wire/rows.ts';

export interface MeasuredColumn {
  readonly column: Column;
  /** Width of its widest cell, or of its header. */
  readonly natural: number;
  readonly isEmpty: boolean;
  /** Whether every cell is 0 or empty. */
  readonly isZero: boolean;
}

export interface FittedColumn {
  readonly column: Column;
  /** Its place among all columns. */
  readonly index: number;
  readonly width: number;
  /** Whether there is only room for dates, not for times. */
  readonly asDates: boolean;
}

const gap = 2;
/** Also the width of a date. */
const narrowest = 10;
const readable = 24;

/**
 * The columns that are shown: all of them, if there is room. If it is too small, empty columns go, times become
 * dates, and texts are cut to at least ten columns. If that is not enough, whole columns are left out, from the right: first
 * zeros, then ids of other resources, then texts and times, then names and numbers, at last money. Half an id cannot be copied
 * and half an amount is a different one, so those are shown whole or not at all. The id of a row stays, and so does every
 * requested column.
 */
export function fittedColumns(
  measured: readonly MeasuredColumn[],
  { width, mayLeaveOut }: { readonly width: number | undefined; readonly mayLeaveOut: boolean },
): FittedColumn[] {
  const all = [...measured.keys()];
  const at = (index: number) => measured[index] as MeasuredColumn;
  const total = (shown: readonly number[], widthOf: (each: MeasuredColumn) => number) =>
    shown.reduce((sum, index) => sum + widthOf(at(index)) + gap, -gap);
  if (width === undefined || total(all, (each) => each.natural) <= width) {
    return measured.map(({ column, natural }, index) => ({ column, index, width: natural, asDates: false }));
  }
  const shown = mayLeaveOut ? chosen(measured, (some) => total(some, leastWidth) <= width) : all;
  return widened(shown, { at, room: width - total(shown, leastWidth) });
}

/** The columns that stay, in their order. */
function chosen(measured: readonly MeasuredColumn[], fits: (shown: readonly number[]) => boolean): number[] {
  const at = (index: number) => measured[index] as MeasuredColumn;
  const mayGo = (index: number) => index > 0 && kindOf(at(index).column) !== 'id' && at(index).column.isAsked !== true;
  const shown = new Set([...measured.keys()].filter((index) => !mayGo(index) || !at(index).isEmpty));
  const leaving = [...shown].filter(mayGo).toSorted((a, b) => worthOf(at(a)) - worthOf(at(b)) || b - a);
  const left: number[][] = [];
  for (const index of leaving) {
    if (fits([...shown])) break;
    const together = leaving.filter((other) => shown.has(other) && isTogether(at(index).column, at(other).column));
    for (const each of together) shown.delete(each);
    left.unshift(together);
  }
  // A wide column that went after a narrow one may have made room for it.
  for (const together of left) {
    if (fits([...shown, ...together])) for (const index of together) shown.add(index);
  }
  return [...shown].toSorted((a, b) => a - b);
}

function isTogether(one: Column, other: Column): boolean {
  return one === other || one.beside === other.path || other.beside === one.path;
}

/** Distributes the remaining room: to the first column, to texts until they are readable, to times, then to texts again. */
function widened(
  shown: readonly number[],
  { at, room }: { readonly at: (index: number) => MeasuredColumn; readonly room: number },
): FittedColumn[] {
  const widths = new Map(shown.map((index) => [index, leastWidth(at(index))]));
  const widthOf = (index: number) => widths.get(index) ?? 0;
  let spare = room;
  const widen = (index: number, by: number) => {
    widths.set(index, widthOf(index) + by);
    spare -= by;
  };
  const lacks = (index: number) => at(index).natural - widthOf(index);
  const times = shown.filter((index) => kindOf(at(index).column) === 'time');
  const widenTimes = (some: readonly number[]) => {
    for (const index of some) if (lacks(index) <= spare) widen(index, lacks(index));
  };
  const widenTexts = (most: number) => {
    for (;;) {
      const texts = shown.filter(
        (index) => kindOf(at(index).column) === 'text' && lacks(index) > 0 && widthOf(index) < most,
      );
      const [narrow] = texts.toSorted((a, b) => widthOf(a) - widthOf(b));
      if (narrow === undefined || spare <= 0) return;
      widen(narrow, 1);
    }
  };
  widenTimes(times.filter((index) => index === 0));
  widenTexts(readable);
  widenTimes(times);
  widenTexts(Infinity);
  return shown.map((index) => ({
    column: at(index).column,
    index,
    width: widthOf(index),
    asDates: times.includes(index) && lacks(index) > 0,
  }));
}

function leastWidth({ column, natural }: MeasuredColumn): number {
  const kind = kindOf(column);
  return kind === 'text' || kind === 'time' ? Math.min(natural, Math.max(column.header.length, narrowest)) : natural;
}

/** The column with the lowest worth is left out first. */
function worthOf({ column, isZero }: MeasuredColumn): number {
  if (isZero) return 0;
  if (column.format === 'money') return 4;
  const kind = kindOf(column);
  if (kind === 'amount' || column.path === 'name' || column.path === 'displayName') return 3;
  return kind === 'otherId' && !/external/i.test(column.path) ? 1 : 2;
}

function kindOf(column: Column): 'id' | 'otherId' | 'text' | 'time' | 'amount' {
  if (isRightAligned(column)) return 'amount';
  if (column.path === 'id' || column.isWhole === true) return 'id';
  if (column.path.endsWith('Id')) return 'otherId';
  return column.format === 'timestamp' || column.format === 'date' ? 'time' : 'text';
}
