/** The cost of usage, a bar for each part. */

import type { ExactNumber } from '../../exact-json.ts';
import { cellText, wireText } from '../wire/rows.ts';
import { asLines, say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { barLines } from './bars.ts';
import type { ChartStyle } from './bars.ts';

/** The cost of usage, in parts that add up to it. */
export interface UsageSplit {
  readonly by: string;
  readonly totalAmount: ExactNumber;
  readonly unit: 'currency' | 'credits';
  readonly startDate: string;
  readonly endDate: string;
  readonly rows: readonly UsagePart[];
}

export interface UsagePart {
  /** A day, a month or a value of the key; null for usage of meters without the key. */
  readonly value: string | null;
  readonly totalAmount: ExactNumber;
}

export function drawUsage(
  { by, unit, totalAmount, startDate, endDate, rows }: UsageSplit,
  style: ChartStyle,
): SafeText {
  const amount = (value: ExactNumber) => cellText({ value, unit }, { header: '', path: 'value', format: 'usd' });
  const most = rows.reduce((highest, row) => Math.max(highest, Number(wireText(row.totalAmount))), 0);
  const bars = rows.map((row) => ({
    label: labelOf(row, by),
    value: amount(row.totalAmount),
    ratio: most === 0 ? 0 : Number(wireText(row.totalAmount)) / most,
  }));
  const head = say`Cost by ${by}, ${startDate.slice(0, 10)} to ${endDate.slice(0, 10)}: ${amount(totalAmount)}`;
  const lines = [head, ...barLines(bars, style)];
  return asLines(lines);
}

/** The label of a part, in words if its value says nothing. */
export function labelOf({ value }: UsagePart, by: string): SafeText {
  if (value === null) return say`(not by ${by})`;
  return value === '' ? say`(without ${by})` : say`${value}`;
}
