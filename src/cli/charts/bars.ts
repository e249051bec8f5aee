/** Horizontal bars, one per line: a label, a bar on a track, and the exact value. Only the bar is rounded. */

import { Chalk } from 'chalk';

import { vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { fitted, textWidth } from './text-width.ts';

export interface Bar {
  readonly label: SafeText;
  /** The value as text: `12.50 USD`. Never cut. */
  readonly value: SafeText;
  /** Length of the bar as a part of the room for bars, from 0; above 1 it is drawn full, with an arrow at its end. */
  readonly ratio: number;
  /** Length of the light track behind the bar, from 0 to 1; none when not given. */
  readonly track?: number;
  readonly tone?: 'calm' | 'warning' | 'alarm';
}

/** What a chart may draw with. */
export interface ChartStyle {
  /** The most columns of a line, except for a line with an amount: half an amount would be a different one. */
  readonly width: number;
  readonly hasUnicode: boolean;
  readonly hasColor: boolean;
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const unicode = { full: '█', track: '░', beyond: '►', cut: '…' };
const ascii = { full: '#', track: '.', beyond: '>', cut: '~' };
const gap = 2;
const shortestBar = 4;
const longestBar = 60;

/** The bars as lines without line ends. If room is short, first the bars go, then labels are cut; values stay whole. */
export function barLines(bars: readonly Bar[], style: ChartStyle): SafeText[] {
  const widest = (textOf: (bar: Bar) => SafeText) =>
    bars.reduce((most, bar) => Math.max(most, textWidth(textOf(bar))), 0);
  const valueWidth = widest(({ value }) => value);
  const room = style.width - valueWidth - gap;
  const { labelWidth, barWidth } = shares(
    widest(({ label }) => label),
    room,
  );
  const paint = painter(style.hasColor);
  return bars.flatMap(({ label, value, ...bar }) => {
    if (room < 1) return [fitted(label, style.width, cutMark(style)), value];
    const start = `${fitted(label, labelWidth, cutMark(style))}${' '.repeat(gap)}`;
    const middle = barWidth === 0 ? '' : `${drawnBar(bar, barWidth, { style, paint })}${' '.repeat(gap)}`;
    return vouch(`${start}${middle}${' '.repeat(valueWidth - textWidth(value))}${value}`);
  });
}

function shares(longestLabel: number, room: number): { readonly labelWidth: number; readonly barWidth: number } {
  const labelWidth = Math.min(longestLabel, Math.max(Math.floor(room * 0.7), room - gap - longestBar));
  const barWidth = Math.min(room - labelWidth - gap, longestBar);
  return barWidth < shortestBar ? { labelWidth: Math.min(longestLabel, room), barWidth: 0 } : { labelWidth, barWidth };
}

function cutMark({ hasUnicode }: ChartStyle): string {
  return hasUnicode ? unicode.cut : ascii.cut;
}

type Paint = (text: string, tone: Bar['tone']) => string;

function painter(hasColor: boolean): Paint {
  const chalk = new Chalk({ level: hasColor ? 1 : 0 });
  const colors = { calm: chalk.cyan, warning: chalk.yellow, alarm: chalk.red };
  return (text, tone = 'calm') => (text === '' ? '' : colors[tone](text));
}

function drawnBar(
  { ratio, track = 0, tone }: Omit<Bar, 'label' | 'value'>,
  width: number,
  { style, paint }: { readonly style: ChartStyle; readonly paint: Paint },
): string {
  const signs = style.hasUnicode ? unicode : ascii;
  const bar = ratio > 1 ? `${signs.full.repeat(width - 1)}${signs.beyond}` : partOf(ratio, width, style.hasUnicode);
  const trackWidth = Math.max(0, Math.round(Math.min(1, track) * width) - bar.length);
  return `${paint(bar, tone)}${signs.track.repeat(trackWidth)}${' '.repeat(width - bar.length - trackWidth)}`;
}

/** A part above 0 shows at least the thinnest sign. */
function partOf(ratio: number, width: number, hasUnicode: boolean): string {
  if (!(ratio > 0)) return '';
  if (!hasUnicode) return ascii.full.repeat(Math.max(1, Math.round(ratio * width)));
  const parts = Math.max(1, Math.round(ratio * width * 8));
  return `${unicode.full.repeat(Math.floor(parts / 8))}${eighths[parts % 8]}`;
}
