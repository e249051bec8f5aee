/** A bill run over a large book, and its memory. */

import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { writeBillingBook } from './billing-book.ts';
import { removeDatabase } from './event-limits.ts';
import type { InstalledPackage } from './installed-package.ts';
import { median, runCommand } from './measure.ts';
import type { Result } from './report.ts';

const contracts = 10_000;
const events = 1_000_000;
const longestSeconds = 60;
const mostMebibytes = 1024;
/** A run takes half a minute and more, so a few are enough. */
const mostRounds = 3;
const copyName = 'billed.db';

/** The largest book, its memory and its checks; takes minutes. */
export async function measureLargeBillRun(installed: InstalledPackage, rounds: number): Promise<Result[]> {
  const folder = join(installed.folder, 'bill-run');
  mkdirSync(folder);
  const book = join(folder, 'book.db');
  await writeBillingBook(book, { contracts, events });
  const runs = Array.from({ length: Math.min(rounds, mostRounds) }, () => billOnce(installed, { folder, book }));
  const [many, ofAll] = [contracts, events].map((count) => count.toLocaleString('en-US'));
  return [
    {
      name: `tally bill run, ${many} contracts of one meter, ${ofAll} events`,
      measured: median(runs.map((run) => contracts / run.seconds)),
      unit: 'contracts/s',
      lowest: Math.ceil(contracts / longestSeconds),
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

/** Seconds that the checks take on the book that was billed last. */
function examined(installed: InstalledPackage, folder: string): number {
  return installed.run('--database', join(folder, copyName), 'doctor', '--full').milliseconds / 1000;
}

/** Bills a copy of the book with the installed program. */
function billOnce(
  installed: InstalledPackage,
  { folder, book }: { readonly folder: string; readonly book: string },
): { readonly seconds: number; readonly mebibytes: number } {
  const [copy, memory] = [join(folder, copyName), join(folder, 'memory')];
  removeDatabase(copy);
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

/** A module that writes the peak resident size of its process, in KiB, when the process ends. */
function noteMemory(file: string): string {
  const source = `import { writeFileSync } from 'node:fs';
    process.on('exit', () => writeFileSync(${JSON.stringify(file)}, String(process.resourceUsage().maxRSS)));`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
