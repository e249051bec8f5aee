/** Runs candidates in turn, so that other load on the machine affects all of them alike, and keeps the medians. */

import { spawnSync } from 'node:child_process';

export interface Candidate {
  readonly name: string;
  /** Carries out one run and gives its measure: milliseconds, rows per second. */
  readonly run: () => number;
}

/** The median of each candidate over `rounds` rounds, after one round that only warms the caches. */
export function interleaved(candidates: readonly Candidate[], rounds: number): Map<string, number> {
  const seen = new Map<string, number[]>(candidates.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, run } of candidates) {
      const measured = run();
      if (round > 0) seen.get(name)?.push(measured);
    }
  }
  return new Map([...seen].map(([name, values]) => [name, median(values)]));
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
