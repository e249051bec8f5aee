/** A balance over time as a line of steps. Labels are exact; only the course of the line is rounded, to columns and rows. */

import { vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { ChartStyle } from './bars.ts';
import { textWidth } from './text-width.ts';

export interface Step {
  readonly atEpochMs: number;
  /** The balance from this instant on. */
  readonly level: bigint;
}

export interface StepChart {
  /** Level before the first step. */
  readonly opening: bigint;
  /** In order of time. */
  readonly steps: readonly Step[];
  readonly fromEpochMs: number;
  readonly toEpochMs: number;
  readonly label: (level: bigint) => SafeText;
}

/**
 * In asciichart's order: origin, axis, two ends, level, fall to, rise to, fall from, rise from, vertical. The origin looks
 * like the axis, because asciichart 1.5.25 marks zero in the wrong row if there are levels below it.
 */
const unicodeSigns = ['┤', '┤', '╶', '╴', '─', '╰', '╭', '╮', '╯', '│'];
const asciiSigns = ['|', '|', '-', '-', '-', '+', '+', '+', '+', '|'];
const most = { rows: 10, columns: 100 };
const fewestColumns = 10;
const axisWidth = 2;

/** The chart as lines, from the highest level to the dates below; empty if the width leaves no room for it. */
export async function stepLines(chart: StepChart, style: ChartStyle): Promise<SafeText[]> {
  const levels = [0n, chart.opening, ...chart.steps.map(({ level }) => level)];
  const [lowest, highest] = [least(levels), greatest(levels)];
  const perRow = roundStep(highest - lowest);
  const [bottom, top] = [floorDivide(lowest, perRow), -floorDivide(-highest, perRow)];
  const labels = Array.from({ length: Number(top - bottom) + 1 }, (_, row) =>
    chart.label((top - BigInt(row)) * perRow),
  );
  const labelWidth = Math.max(...labels.map(textWidth));
  const columns = Math.min(style.width - labelWidth - axisWidth, most.columns);
  if (columns < fewestColumns) return [];
  const { default: asciichart } = await import('asciichart');
  const picture = asciichart.plot(
    sampled(chart, columns).map((level) => Number(level) / Number(perRow)),
    {
      height: Number(top - bottom),
      min: Number(bottom),
      max: Number(top),
      symbols: style.hasUnicode ? unicodeSigns : asciiSigns,
      format: (_level, row) => (labels[row] ?? '').padStart(labelWidth),
    },
  );
  const lines = picture.split('\n').map((line) => line.trimEnd());
  return [...lines, dates(chart, columns, labelWidth + axisWidth - 1)].map(vouch);
}

/** The level at the beginning of each column, and at the end: one more than columns, because a line runs between two. */
function sampled({ opening, steps, fromEpochMs, toEpochMs }: StepChart, columns: number): bigint[] {
  let next = 0;
  let level = opening;
  return Array.from({ length: columns + 1 }, (_, column) => {
    const untilEpochMs = fromEpochMs + ((toEpochMs - fromEpochMs) * column) / columns;
    for (let step = steps[next]; step !== undefined && step.atEpochMs <= untilEpochMs; step = steps[next]) {
      level = step.level;
      next += 1;
    }
    return level;
  });
}

/** The first day at the left end and the last at the right, if there is room for both. */
function dates({ fromEpochMs, toEpochMs }: StepChart, columns: number, indent: number): string {
  const [first = '', last = ''] = [fromEpochMs, toEpochMs].map((at) =>
    Temporal.Instant.fromEpochMilliseconds(at).toString().slice(0, 10),
  );
  const room = columns + 1;
  const shown = first === last || first.length + last.length + 1 > room ? '' : last;
  return `${' '.repeat(indent)}${first}${shown.padStart(room - first.length)}`.trimEnd();
}

/** The smallest of 1, 2, 5, 10, 20, 50 and so on with which the rows span the range. */
function roundStep(range: bigint): bigint {
  for (let power = 1n; ; power *= 10n) {
    const found = [power, 2n * power, 5n * power].find((step) => step * BigInt(most.rows - 1) >= range);
    if (found !== undefined) return found;
  }
}

/** Rounds towards negative infinity. */
function floorDivide(value: bigint, divisor: bigint): bigint {
  return value / divisor - (value % divisor < 0n ? 1n : 0n);
}

function least(levels: readonly bigint[]): bigint {
  return levels.reduce((one, other) => (other < one ? other : one));
}

export function greatest(levels: readonly bigint[]): bigint {
  return levels.reduce((one, other) => (other > one ? other : one));
}
