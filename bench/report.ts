/** Results as a table, for the terminal and for README. */

import { cpus } from 'node:os';

export interface Result {
  readonly name: string;
  /** Median of all rounds. */
  readonly measured: number;
  readonly unit: 'ms' | 'rows/s';
  /** To the limit that was measured in the same rounds. */
  readonly ratio?: number;
  readonly ratioTo?: string;
  readonly highestRatio?: number;
  readonly lowest?: number;
}

/** `AMD EPYC 7763, 2 cores, linux x64, Node 26.10.0, 2026-11-21`. */
export function machineLine(today: Date): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() ?? 'unknown processor';
  const date = today.toISOString().slice(0, 10);
  return `${model}, ${processors.length} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}, ${date}`;
}

export function markdownTable(results: readonly Result[], machine: string, rounds: number): string {
  return [
    `Medians of ${rounds} interleaved runs of the installed package on ${machine}.`,
    '',
    '| what | median | ratio | goal |',
    '|---|---:|---:|---|',
    ...results.map((result) => `| ${code(result)} | ${amount(result)} | ${ratio(result)} | ${goal(result)} |`),
  ].join('\n');
}

/** Whether the goal was met; undefined where there is none. */
function isMet({ measured, ratio: reached, highestRatio, lowest }: Result): boolean | undefined {
  if (highestRatio !== undefined) return reached !== undefined && reached <= highestRatio;
  if (lowest !== undefined) return measured >= lowest;
  return undefined;
}

function code({ name }: Result): string {
  return /^(tally|node) [^,]*$/.test(name) ? `\`${name}\`` : name;
}

function amount({ measured, unit }: Result): string {
  return unit === 'ms' ? `${measured.toFixed(1)} ms` : `${Math.round(measured).toLocaleString('en-US')} rows/s`;
}

function ratio({ ratio: reached, ratioTo }: Result): string {
  return reached === undefined ? '' : `${reached.toFixed(2)} x ${ratioTo ?? ''}`.trim();
}

function goal(result: Result): string {
  const met = isMet(result);
  if (met === undefined) return '';
  const wanted =
    result.highestRatio === undefined
      ? `at least ${result.lowest?.toLocaleString('en-US')} rows/s`
      : `at most ${result.highestRatio}`;
  return met ? `${wanted}: met` : `${wanted}: missed`;
}
