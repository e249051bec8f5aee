/** Bill runs over books of two sizes, the memory that one takes, and grants on the way there. */

import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { type BookSize, writeBillingBook } from './billing-book.ts';
import { rollUpMilliseconds } from './event-limits.ts';
import type { InstalledPackage } from './installed-package.ts';
import { median, runCommand } from './measure.ts';
import type { Result } from './report.ts';

const size = { contracts: 10_000, events: 1_000_000, meters: 1 };
const ofGoal = { contracts: 1_000, events: 100_000, meters: 5 };
const longestSeconds = 60;
const mostMebibytes = 1024;
/** One takes half a minute and more, so a few say enough. */
const mostRounds = 3;
const copyName = 'billed.db';

/** Goal 5: a thousand customers of five meters, beside a loop that only reads as many daily sums. */
export async function measureBillRun(installed: InstalledPackage, rounds: number): Promise<Result[]> {
  const { grantsPerSecond, runs, folder } = await billed(installed, ofGoal, rounds);
  const loopMilliseconds = rollUpMilliseconds(join(folder, 'days.db')) * ofGoal.contracts * ofGoal.meters;
  const milliseconds = median(runs.map((run) => run.seconds)) * 1000;
  return [
    { name: 'grants, each durable for itself', measured: grantsPerSecond, unit: 'grants/s' },
    {
      name: `goal 5: tally bill run, ${nameOf(ofGoal)}`,
      measured: milliseconds,
      unit: 'ms',
      ratio: milliseconds / loopMilliseconds,
      ratioTo: 'a loop over daily sums',
      highestRatio: 2,
    },
    {
      name: 'goal 5: its invoices, written durably',
      measured: (ofGoal.contracts / milliseconds) * 1000,
      unit: 'contracts/s',
      lowest: 1_000,
    },
  ];
}

/** The largest book, its memory and its checks; takes minutes. */
export async function measureLargeBillRun(installed: InstalledPackage, rounds: number): Promise<Result[]> {
  const { runs, folder } = await billed(installed, size, rounds);
  return [
    {
      name: `tally bill run, ${nameOf(size)}`,
      measured: median(runs.map((run) => size.contracts / run.seconds)),
      unit: 'contracts/s',
      lowest: Math.ceil(size.contracts / longestSeconds),
    },
    {
      name: 'its peak memory',
      measured: median(runs.map((run) => run.mebibytes)),
      unit: 'MiB',
      highest: mostMebibytes,
    },
    { name: 'tally doctor --full, on that book', measured: examined(installed, folder), unit: 's' },
  ];
}

const nameOf = ({ contracts, events, meters }: BookSize): string =>
  `${contracts.toLocaleString('en-US')} contracts x ${meters} meters, ${events.toLocaleString('en-US')} events`;

async function billed(installed: InstalledPackage, bookSize: BookSize, rounds: number) {
  const folder = join(installed.folder, 'bill-run');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const book = join(folder, 'book.db');
  const grantsPerSecond = await writeBillingBook(book, bookSize);
  const runs = Array.from({ length: Math.min(rounds, mostRounds) }, () =>
    billOnce(installed, { folder, book, contracts: bookSize.contracts }),
  );
  return { grantsPerSecond, runs, folder };
}

/** Seconds that the checks of the book take that was billed last. */
function examined(installed: InstalledPackage, folder: string): number {
  return installed.run('--database', join(folder, copyName), 'doctor', '--full').milliseconds / 1000;
}

/** Bills a copy of the book with the installed program. */
function billOnce(
  installed: InstalledPackage,
  { folder, book, contracts }: { readonly folder: string; readonly book: string; readonly contracts: number },
): { readonly seconds: number; readonly mebibytes: number } {
  const [copy, memory] = [join(folder, copyName), join(folder, 'memory')];
  for (const part of ['-wal', '-shm']) rmSync(`${copy}${part}`, { force: true });
  copyFileSync(book, copy);
  const command = installed.command('--database', copy, 'bill', 'run', '-o', 'json');
  const { milliseconds, stdout } = runCommand({
    ...command,
    environment: { ...command.environment, NODE_OPTIONS: `--import ${noteMemory(memory)}` },
  });
  const { finalizedCount } = JSON.parse(stdout).data;
  if (finalizedCount !== contracts) throw new Error(`${finalizedCount} of ${contracts} were finalized`);
  return { seconds: milliseconds / 1000, mebibytes: Number(readFileSync(memory, 'utf8')) / 1024 };
}

/** A module that writes the highest resident size of its process, in KiB, when it ends. */
function noteMemory(file: string): string {
  const source = `import { writeFileSync } from 'node:fs';
    process.on('exit', () => writeFileSync(${JSON.stringify(file)}, String(process.resourceUsage().maxRSS)));`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
