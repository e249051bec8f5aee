/**
 * The progress of long work: a bar for a person, on standard error; nothing for a program, or on a terminal that cannot
 * overwrite what it shows.
 */

import type { Session } from './session.ts';

export interface Progress {
  /** Shows `done` of the total, which took `rows` rows. */
  readonly update: (progress: { readonly done: number; readonly rows: number }) => void;
  readonly stop: () => void;
}

/** Leaves room for the rest of the line in 80 columns. */
const barColumns = 24;

export async function createProgress(session: Session, total: number | undefined, noun = 'rows'): Promise<Progress> {
  const isDrawn = session.terminal.stderr.isTerminal && session.dependencies.env['TERM'] !== 'dumb';
  if (!isDrawn || session.flags.quiet === true || total === undefined || total === 0) {
    return { update: () => undefined, stop: () => undefined };
  }
  const { SingleBar, Presets } = await import('cli-progress');
  const format = `{bar} {percentage}% | {rows} ${noun}, {rate} ${noun}/s | {left} left`;
  const preset = session.terminal.stderr.hasUnicode ? Presets.shades_classic : Presets.legacy;
  function open() {
    const { output, close } = session.terminal.openProgress();
    const bar = new SingleBar({ format, barsize: barColumns, hideCursor: true, stream: output }, preset);
    return { bar, close };
  }
  let drawn: ReturnType<typeof open> | undefined;
  const started = performance.now();
  return {
    // Drawn from the first update on: earlier messages, and short work, need no bar.
    update: ({ done, rows }) => {
      const seconds = (performance.now() - started) / 1000;
      const rate = Math.round(rows / Math.max(seconds, 0.001));
      const shown = { rows, rate, left: durationText(done > 0 ? (seconds * (total - done)) / done : undefined) };
      if (drawn !== undefined) return drawn.bar.update(Math.min(done, total), shown);
      drawn = open();
      drawn.bar.start(total, Math.min(done, total), shown);
    },
    stop: () => {
      drawn?.bar.stop();
      drawn?.close();
    },
  };
}

/** `9s`, `2m 5s`, `3h 20m`; `?` if it cannot be known yet. */
export function durationText(seconds: number | undefined): string {
  if (seconds === undefined) return '?';
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 60) return `${whole}s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes}m ${whole % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
