/** How long a command takes to come up, as a ratio to a Node that does nothing. */

import { join } from 'node:path';

import type { InstalledPackage } from './installed-package.ts';
import { interleaved, runCommand } from './measure.ts';
import type { Result } from './report.ts';

const customers = 100;

/** Commands and the highest ratio that is still fine. */
const goals = [
  { words: ['--version'], goal: 1.8 },
  { words: ['--help'], goal: 1.8 },
  { words: ['customers', '--help'], goal: 1.9 },
  { words: ['customers', 'list', '-o', 'json'], goal: 2.5 },
];

export function measureStartUp(installed: InstalledPackage, rounds: number): Result[] {
  const database = join(installed.folder, 'start-up.db');
  for (let i = 1; i <= customers; i += 1) {
    installed.run(
      '--database',
      database,
      'customers',
      'create',
      '--name',
      `Customer ${i}`,
      '--contact',
      'name=Ada,email=ada@example.com,roles=primary',
      '-o',
      'json',
    );
  }
  const { environment } = installed.command();
  const bare = { file: process.execPath, words: ['-e', '0'], environment };
  const commands = goals.map(({ words, goal }) => ({
    name: `tally ${words.join(' ')}`,
    goal,
    command: installed.command('--database', database, ...words),
  }));
  const medians = interleaved(
    [
      { name: 'node -e 0', run: () => runCommand(bare).milliseconds },
      ...commands.map(({ name, command }) => ({ name, run: () => runCommand(command).milliseconds })),
    ],
    rounds,
  );
  const limit = medians.get('node -e 0') ?? Number.NaN;
  return [
    { name: 'node -e 0', measured: limit, unit: 'ms' },
    ...commands.map(({ name, goal }) => {
      const measured = medians.get(name) ?? Number.NaN;
      return { name, measured, unit: 'ms' as const, ratio: measured / limit, ratioTo: 'node -e 0', highestRatio: goal };
    }),
  ];
}
