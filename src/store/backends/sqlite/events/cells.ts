/**
 * Exact running quantities by combination of dimensions: scaled integers, plain numbers while those keep every digit and
 * bigints beyond. Folds of segments add to them, and the kept totals of a day consist of them.
 */

import type { AggregationType } from '../../../../operations/wire-values.ts';
import { scaledDecimal } from '../../../../calculation/money.ts';
import type { UsageDimensions } from '../../../../calculation/specifiers.ts';
import type { UsageReading } from '../../../../calculation/usage-atoms.ts';
import type { MeterRules } from '../../../../calculation/usage-fold.ts';

/** An integer: a plain number if it is a safe integer. */
export type Coefficient = number | bigint;

/** The total of the events of one combination: `coefficient / 10^scale`, of `count` values, at least one. */
export interface Cell {
  coefficient: Coefficient;
  scale: number;
  count: number;
}

/** Keyed by the JSON of `[event name, property texts or null, group texts]`. */
export type Cells = Map<string, Cell>;

/** Adds the total of other events of the same combination; `cell` stays the caller's. */
export function addCell(cells: Cells, key: string, cell: Readonly<Cell>, type: AggregationType): void {
  addTo(cellOf(cells, key), cell, type);
}

/** The cell of a combination, without any value if it was not there: whoever asks adds to it. */
export function cellOf(cells: Cells, key: string): Cell {
  return cells.getOrInsertComputed(key, () => ({ coefficient: 0, scale: 0, count: 0 }));
}

/** Adds in place, because each day of a reading comes here with all its combinations. */
export function addTo(cell: Cell, { coefficient, scale, count }: Readonly<Cell>, type: AggregationType): void {
  if (cell.count === 0) {
    cell.coefficient = coefficient;
    cell.scale = scale;
  } else {
    const common = Math.max(cell.scale, scale);
    const left = rescaled(cell.coefficient, common - cell.scale);
    const right = rescaled(coefficient, common - scale);
    cell.coefficient = combined(left, right, type);
    cell.scale = common;
  }
  cell.count += count;
}

function combined(a: Coefficient, b: Coefficient, type: AggregationType): Coefficient {
  if (type === 'MAX') return a >= b ? a : b;
  if (type === 'MIN') return a <= b ? a : b;
  return sumOf(a, b);
}

/** Exact: a number if both were numbers and the sum is a safe integer, otherwise a bigint. */
export function sumOf(a: Coefficient, b: Coefficient): Coefficient {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return BigInt(a) + BigInt(b);
}

/** `coefficient * 10^places`. */
export function rescaled(coefficient: Coefficient, places: number): Coefficient {
  if (places === 0) return coefficient;
  if (typeof coefficient === 'number' && places <= 15) {
    const product = coefficient * 10 ** places;
    if (Number.isSafeInteger(product)) return product;
  }
  return BigInt(coefficient) * 10n ** BigInt(places);
}

/** Cells as readings; their keys must have been made with the same `rules` and `dimensions`. */
export function readingsOfCells(cells: Cells, rules: MeterRules, { propertyKeys }: UsageDimensions): UsageReading[] {
  return [...cells].map(([key, { coefficient, scale, count }]) => {
    const [eventName, properties, groups] = JSON.parse(key) as [string, (string | null)[], string[]];
    return {
      groupValues: Object.fromEntries(rules.groupKeys.map((name, index) => [name, groups[index] ?? ''])),
      eventName,
      properties: Object.fromEntries(
        propertyKeys.flatMap((name, index) => {
          const text = properties[index] ?? null;
          return text === null ? [] : [[name, text]];
        }),
      ),
      quantity: scaledDecimal(BigInt(coefficient), scale),
      count,
    };
  });
}
