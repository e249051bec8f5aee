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

function goal({ measured, unit, ratio: reached = Number.NaN, ...wanted }: Result): string {
  const { highestRatio, lowestRatio, lowest, highest } = wanted;
  const bound = (value: number): string => `${value.toLocaleString('en-US')} ${unit}`;
  const told = (words: string, isMet: boolean): string => `${words}: ${isMet ? 'met' : 'missed'}`;
  if (highestRatio !== undefined) return told(`at most ${highestRatio}`, reached <= highestRatio);
  if (lowestRatio !== undefined) return told(`at least ${lowestRatio}`, reached >= lowestRatio);
  if (lowest !== undefined) return told(`at least ${bound(lowest)}`, measured >= lowest);
  return highest === undefined ? '' : told(`at most ${bound(highest)}`, measured <= highest);
}
