/** Results as a table, for the terminal and for README. */

import { cpus } from 'node:os';

export interface Result {
  readonly name: string;
  /** Median of all rounds. */
  readonly measured: number;
  readonly unit:
    | 'ms'
    | 's'
    | 'us'
    | 'rows/s'
    | 'contracts/s'
    | 'commits/s'
    | 'deductions/s'
    | 'events/s'
    | 'requests/s'
    | 'units'
    | 'MiB';
  /** To the limit that was measured in the same rounds. */
  readonly ratio?: number;
  readonly ratioTo?: string;
  readonly highestRatio?: number;
  readonly lowestRatio?: number;
  readonly lowest?: number;
  readonly highest?: number;
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

/** Whether the goal was met; undefined if there is none. */
function isMet({ measured, ratio: reached, highestRatio, lowestRatio, lowest, highest }: Result): boolean | undefined {
  if (highestRatio !== undefined) return reached !== undefined && reached <= highestRatio;
  if (lowestRatio !== undefined) return reached !== undefined && reached >= lowestRatio;
  if (lowest !== undefined) return measured >= lowest;
  if (highest !== undefined) return measured <= highest;
  return undefined;
}

function code({ name }: Result): string {
  return /^(tally|node) [^,]*$/.test(name) ? `\`${name}\`` : name;
}

function amount({ measured, unit }: Result): string {
  const figure = ['ms', 's', 'us'].includes(unit) ? measured.toFixed(1) : Math.round(measured).toLocaleString('en-US');
  return `${figure} ${unit}`;
}

function ratio({ ratio: reached, ratioTo }: Result): string {
  return reached === undefined ? '' : `${reached.toFixed(2)} x ${ratioTo ?? ''}`.trim();
}

function goal(result: Result): string {
  const met = isMet(result);
  if (met === undefined) return '';
  return `${wantedOf(result)}: ${met ? 'met' : 'missed'}`;
}

function wantedOf({ unit, highestRatio, lowestRatio, lowest, highest }: Result): string {
  if (highestRatio !== undefined) return `at most ${highestRatio}`;
  if (lowestRatio !== undefined) return `at least ${lowestRatio}`;
  const bound = (lowest ?? highest)?.toLocaleString('en-US');
  return `${lowest === undefined ? 'at most' : 'at least'} ${bound} ${unit}`;
}
