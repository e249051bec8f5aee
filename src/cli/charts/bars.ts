/** Horizontal bars, one a line: a label, a bar on a track, and the exact value. The bar alone is rounded, to what can be drawn. */

import { Chalk } from 'chalk';

import { vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { fitted, textWidth } from './text-width.ts';

export interface Bar {
  readonly label: SafeText;
  /** The value as it is to be read: `12.50 USD`. Never cut. */
  readonly value: SafeText;
  /** Length of the bar as a part of the room for bars, from 0; what goes beyond 1 is drawn full, with an arrow at its end. */
  readonly ratio: number;
  /** Length of the light track that the bar stands on, from 0 to 1; none when not given. */
  readonly track?: number;
  readonly tone?: 'calm' | 'warning' | 'alarm';
}

/** What a chart may draw with. */
export interface ChartStyle {
  /** Columns that no line goes beyond but one of an amount, half of which would be another. */
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

/** The bars as lines without line ends. Where room is short the bars go first, then the labels; values stay whole. */
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

/** What is above nothing shows at least as the thinnest sign. */
function partOf(ratio: number, width: number, hasUnicode: boolean): string {
  if (!(ratio > 0)) return '';
  if (!hasUnicode) return ascii.full.repeat(Math.max(1, Math.round(ratio * width)));
  const parts = Math.max(1, Math.round(ratio * width * 8));
  return `${unicode.full.repeat(Math.floor(parts / 8))}${eighths[parts % 8]}`;
}
