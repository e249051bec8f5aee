/** What usage costs, a bar for each part. */

import { Big } from 'big.js';

import type { ExactNumber } from '../../exact-json.ts';
import { wireText } from '../rows.ts';
import { say, vouch } from '../safe-text.ts';
import type { SafeText } from '../safe-text.ts';
import type { UsagePart, UsageSplit } from '../usage-split.ts';
import { barLines, cutMark } from './bars.ts';
import type { ChartStyle } from './bars.ts';
import { fitted } from './text-width.ts';

export function drawUsage(
  { by, unit, totalAmount, startDate, endDate, rows }: UsageSplit,
  style: ChartStyle,
): SafeText {
  const amount = (value: ExactNumber) => amountWords(value, unit);
  const most = Math.max(0, ...rows.map((row) => Number(wireText(row.totalAmount))));
  const bars = rows.map((row) => ({
    label: labelOf(row, by),
    value: amount(row.totalAmount),
    ratio: most === 0 ? 0 : Number(wireText(row.totalAmount)) / most,
  }));
  const head = say`Cost by ${by}, ${startDate.slice(0, 10)} to ${endDate.slice(0, 10)}: ${amount(totalAmount)}`;
  const lines = [fitted(head, style.width, cutMark(style)).trimEnd(), ...barLines(bars, style)];
  return vouch(lines.map((line) => `${line}\n`).join(''));
}

function labelOf({ value }: UsagePart, by: string): SafeText {
  if (value === null) return say`(not by ${by})`;
  return value === '' ? say`(without ${by})` : say`${value}`;
}

/** With its cents at least, and every digit below them: `12.50 USD`, `0.035 USD`. */
function amountWords(value: ExactNumber, unit: UsageSplit['unit']): SafeText {
  const decimal = new Big(wireText(value));
  const places = decimal.toFixed().split('.')[1]?.length ?? 0;
  return unit === 'credits' ? say`${decimal.toFixed()} credits` : say`${decimal.toFixed(Math.max(2, places))} USD`;
}
