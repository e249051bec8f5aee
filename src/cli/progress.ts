/** How far long work has come: a bar for a person, on standard error; nothing for a program. */

import type { Session } from './session.ts';

export interface Progress {
  /** `done` of the total, which was `rows` rows. */
  readonly update: (progress: { readonly done: number; readonly rows: number }) => void;
  readonly stop: () => void;
}

export async function createProgress(session: Session, total: number | undefined, noun = 'rows'): Promise<Progress> {
  if (!session.terminal.stderr.isTerminal || session.flags.quiet === true || total === undefined || total === 0) {
    return { update: () => undefined, stop: () => undefined };
  }
  const { SingleBar, Presets } = await import('cli-progress');
  const format = `{bar} {percentage}% | {rows} ${noun}, {rate} ${noun}/s | {eta_formatted} left`;
  const bar = new SingleBar(
    { format, hideCursor: true, stream: session.terminal.openProgress() },
    Presets.shades_classic,
  );
  const started = performance.now();
  return {
    // Drawn from here on alone: what is told before would be written behind it.
    update: ({ done, rows }) => {
      const seconds = (performance.now() - started) / 1000;
      const shown = { rows, rate: Math.round(rows / Math.max(seconds, 0.001)) };
      if (bar.isActive) bar.update(Math.min(done, total), shown);
      else bar.start(total, Math.min(done, total), shown);
    },
    stop: () => bar.stop(),
  };
}
