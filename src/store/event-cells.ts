/**
 * Exact running quantities by combination of dimensions: scaled integers, plain while they keep every digit and bigints
 * beyond. They are what folds of segments add to, and what is kept of a day.
 */

import type { AggregationType } from '../calculation/aggregation.ts';
import { scaledDecimal } from '../calculation/money.ts';
import type { UsageDimensions } from '../calculation/specifiers.ts';
import type { UsageReading } from '../calculation/usage-atoms.ts';
import type { MeterRules } from '../calculation/usage-fold.ts';

/** A whole number: plain where it is a safe integer. */
export type Coefficient = number | bigint;

/** What events of one combination came to: `coefficient / 10^scale`, of `count` values, at least one. */
export interface Cell {
  readonly coefficient: Coefficient;
  readonly scale: number;
  readonly count: number;
}

/** By the JSON of `[event name, property texts or null, group texts]`. */
export type Cells = Map<string, Cell>;

/** Adds what other events of the same combination came to. */
export function addCell(cells: Cells, key: string, cell: Cell, type: AggregationType): void {
  const known = cells.get(key);
  cells.set(key, known === undefined ? cell : combined(known, cell, type));
}

function combined(a: Cell, b: Cell, type: AggregationType): Cell {
  const count = a.count + b.count;
  const scale = Math.max(a.scale, b.scale);
  const [left, right] = [scaledTo(a, scale), scaledTo(b, scale)];
  if (type === 'MAX' || type === 'MIN') {
    const isLeft = type === 'MAX' ? left >= right : left <= right;
    return { coefficient: isLeft ? left : right, scale, count };
  }
  return { coefficient: sumOf(left, right), scale, count };
}

export function sumOf(a: Coefficient, b: Coefficient): Coefficient {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return BigInt(a) + BigInt(b);
}

function scaledTo({ coefficient, scale: from }: Pick<Cell, 'coefficient' | 'scale'>, scale: number): Coefficient {
  return rescaled(coefficient, scale - from);
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

/** Cells as readings; `rules` and `dimensions` are those by which their keys were made. */
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
