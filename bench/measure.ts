/** Measures in turns, so that other load on the machine affects all alike, and keeps the medians; runs commands for that. */

import { spawnSync } from 'node:child_process';

/** Carries out one run and gives its measure: milliseconds, rows per second. */
export type Measure = (turn: number) => number | Promise<number>;

/** The median of each measure over so many turns, of which the first ones only warm up. */
export async function inTurns<Name extends string>(
  measures: Readonly<Record<Name, Measure>>,
  { turns, warming = 0 }: { readonly turns: number; readonly warming?: number },
): Promise<Record<Name, number>> {
  const names = Object.keys(measures) as Name[];
  const seen = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let turn = 0; turn < turns; turn += 1) {
    for (const name of names) {
      const measured = await measures[name](turn);
      if (turn >= warming) seen.get(name)?.push(measured);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(seen.get(name) ?? [])])) as Record<Name, number>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  const lower = sorted[sorted.length % 2 === 0 ? middle - 1 : middle];
  if (upper === undefined || lower === undefined) throw new Error('no runs to take a median of');
  return (lower + upper) / 2;
}

export interface Command {
  readonly file: string;
  readonly words: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

export interface Outcome {
  readonly milliseconds: number;
  readonly stdout: string;
}

/** Runs a command to its end. If it fails, throws with its words and its error output, so that no failure is timed. */
export function runCommand({ file, words, environment }: Command): Outcome {
  const start = performance.now();
  const { status, stdout, stderr, error } = spawnSync(file, words, {
    encoding: 'utf8',
    env: environment,
    maxBuffer: 64 * 1024 * 1024,
  });
  const milliseconds = performance.now() - start;
  if (status === 0) return { milliseconds, stdout };
  const complaint = error?.message ?? stderr.trim();
  throw new Error(`${[file, ...words].join(' ')} ended with ${status ?? 'no status'}: ${complaint}`);
}
