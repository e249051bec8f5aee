/**
 * `npm run bench [-- --rounds 3] [--full] [--only events] [--write-readme]`: measures the installed package against the best that
 * the machine can do. Prints the table and keeps it in bench/results.json and, on request, in README. Uses a million events, or
 * ten million with `--full`. A benchmark, not a test: a missed goal is shown and fails nothing.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { replaceBlock } from '../tools/marked-block.ts';
import { measureLargeBillRun } from './bill-run.ts';
import { measureImport } from './event-import.ts';
import { eventDiskBytes, measureEvents } from './events.ts';
import { measureHttp } from './http.ts';
import { installPackage } from './installed-package.ts';
import type { InstalledPackage } from './installed-package.ts';
import { measureLedger } from './ledger.ts';
import { measurePeers } from './peers.ts';
import { machineLine, markdownTable } from './report.ts';
import type { Result } from './report.ts';
import { measureStartUp } from './start-up.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const values = readFlags();
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) refuse(`--rounds must be a whole number from 1, not ${values.rounds}`);
if (values['write-readme'] && (rounds < 9 || values.only !== undefined)) {
  refuse('README takes only the whole table, of at least 9 rounds');
}

const eventCount = values.full ? 10_000_000 : 1_000_000;

const parts = {
  'start-up': measureStartUp,
  import: measureImport,
  // Takes minutes, so it runs only with `--full`.
  ...(values.full ? { 'large-bill-run': measureLargeBillRun } : {}),
  ledger: measureLedger,
  http: measureHttp,
  peers: measurePeers,
  events: async (installed: InstalledPackage) => await measureEvents(installed, eventCount),
};
const chosen = Object.entries(parts).filter(([name]) => values.only === undefined || values.only === name);
if (chosen.length === 0) refuse(`--only must be one of: ${Object.keys(parts).join(', ')}`);

if (chosen.some(([name]) => name === 'events')) {
  const gigabytes = eventDiskBytes(eventCount) / 1e9;
  process.stderr.write(`${eventCount} events: some ${gigabytes.toFixed(1)} GB of disk while it runs, in ${tmpdir()}\n`);
}
const installed = installPackage();
try {
  const results: Result[] = [];
  for (const [, measurePart] of chosen) results.push(...(await measurePart(installed, rounds)));
  const machine = machineLine(new Date());
  const table = markdownTable(results, machine, rounds);
  process.stdout.write(`${table}\n`);
  writeFileSync(join(root, 'bench/results.json'), `${JSON.stringify({ machine, rounds, results }, undefined, 2)}\n`);
  if (values['write-readme']) {
    const readme = join(root, 'README.md');
    writeFileSync(readme, replaceBlock(readFileSync(readme, 'utf8'), 'benchmark', table));
  }
} finally {
  rmSync(installed.folder, { recursive: true, force: true });
}

function readFlags() {
  const options = {
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    full: { type: 'boolean', default: false },
    'write-readme': { type: 'boolean', default: false },
  } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(why: string): never {
  process.stderr.write(`${why}\nnpm run bench [-- --rounds 3] [--full] [--only events] [--write-readme]\n`);
  process.exit(2);
}
