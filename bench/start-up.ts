/**
 * How long a command takes to start, as a ratio to a Node that does nothing: for the installed package, and for the executable
 * made from it.
 */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { InstalledPackage } from './installed-package.ts';
import { inTurns, runCommand } from './measure.ts';
import type { Command } from './measure.ts';
import type { Result } from './report.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const customers = 100;
const list = ['customers', 'list', '-o', 'json'];
const contact = ['--contact', 'name=Ada,email=ada@example.com,roles=primary'];

/** Commands and their highest acceptable ratio. */
const goals = [
  { words: ['--version'], goal: 1.3 },
  { words: ['--help'], goal: 1.8 },
  { words: ['customers', '--help'], goal: 1.9 },
  { words: list, goal: 1.5 },
  { words: ['customers', 'create', '--name', 'Acme', ...contact, '-o', 'json'], goal: 1.6, name: 'a durable write' },
  { words: list, goal: 1.7, name: 'the same list of a server', isRemote: true },
];

export async function measureStartUp(installed: InstalledPackage, rounds: number): Promise<Result[]> {
  const database = ['--database', join(installed.folder, 'start-up.db')];
  for (let i = 1; i <= customers; i += 1) {
    installed.run(...database, 'customers', 'create', '--name', `Customer ${i}`, ...contact, '-o', 'json');
  }
  const executable = join(installed.folder, 'tally');
  execFileSync(process.execPath, [join(root, 'tools/build-binary.ts'), executable]);
  const server = await serve(installed, database);
  const { environment } = installed.command();
  const bare: Command = { file: process.execPath, words: ['-e', '0'], environment };
  const commands = goals.flatMap(({ words, goal, name = `tally ${words.join(' ')}`, isRemote = false }) => {
    const ofPackage = installed.command(...(isRemote ? words : [...database, ...words]));
    const remote = { ...environment, ...server.environment };
    const command = isRemote ? { ...ofPackage, environment: remote } : ofPackage;
    return [
      { name, goal, command },
      { name: `${name}, executable`, goal, command: { ...command, file: executable, words: command.words.slice(1) } },
    ];
  });
  try {
    const measures = [{ name: 'node -e 0', command: bare }, ...commands].map(
      ({ name, command }) => [name, () => runCommand(command).milliseconds] as const,
    );
    const medians = await inTurns(Object.fromEntries(measures), { turns: rounds + 1, warming: 1 });
    const limit = medians['node -e 0'] ?? Number.NaN;
    return [
      { name: 'node -e 0', measured: limit, unit: 'ms' },
      ...commands.map(({ name, goal }): Result => {
        const measured = medians[name] ?? Number.NaN;
        return { name, measured, unit: 'ms', ratio: measured / limit, ratioTo: 'node -e 0', highestRatio: goal };
      }),
    ];
  } finally {
    await server.stop();
  }
}

async function serve(installed: InstalledPackage, database: readonly string[]) {
  const key = installed.run(...database, 'keys', 'create', '--name', 'bench', '--scopes', '*', '-o', 'json').stdout;
  const { file, words, environment } = installed.command(...database, 'serve', '--port', '0', '--rate-limit', '0');
  const child = spawn(file, words, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  const [url = ''] = /http:\S+/.exec(String(line)) ?? [];
  return {
    environment: { TALLY_BASE_URL: url, TALLY_API_KEY: JSON.parse(key).data.key, TALLY_ENVIRONMENT: 'sandbox' },
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
