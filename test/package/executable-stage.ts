/** A command line on a stage, as in test/support/stage.ts, of which each command is a process of the executable. */

import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import type { ScriptStage } from '../scripts/script.ts';
import { isOwnerOnly } from '../support/stage.ts';
import type { CommandResult, Surface } from '../support/stage.ts';
import { createClock, worldStart } from '../support/world.ts';

const frozenWorld = new URL('frozen-world.cjs', import.meta.url).pathname;

export async function createExecutableStage(executable: string, surface: Surface): Promise<ScriptStage> {
  const directory = mkdtempSync(join(tmpdir(), 'tally-executable-'));
  const file = (name: string) => join(directory, name);
  const clock = createClock();
  const setClock = (timestamp: string) => {
    clock.set(timestamp);
    writeFileSync(file('clock'), timestamp);
  };
  setClock(worldStart);
  writeFileSync(file('ids'), '0');
  const world = {
    PATH: process.env['PATH'],
    HOME: directory,
    TMPDIR: directory,
    TALLY_CONFIG_DIR: file('config'),
    TALLY_DATA_DIR: file('data'),
    TALLY_TEST_CLOCK: file('clock'),
    TALLY_TEST_IDS: file('ids'),
    NODE_OPTIONS: `--require ${frozenWorld}`,
  };
  const local = { ...world, TALLY_DATABASE: file('stage.db') };
  const run = (words: readonly string[], env: NodeJS.ProcessEnv) => spawn(executable, words, { env, cwd: directory });

  // By another user, whose journal is not that of the script.
  const setUp = { ...local, TALLY_CONFIG_DIR: file('set-up'), TALLY_DATA_DIR: file('set-up') };
  const { stdout } = await ended(run(['keys', 'create', '--name', 'stage', '--scopes', '*', '-o', 'json'], setUp));
  const { key } = JSON.parse(stdout).data;
  const server = run(['serve', '--port', '0', '--rate-limit', '0', '--bill-every', '0'], local);
  const serverEnded = once(server, 'close');
  const [line] = await Promise.race([once(server.stdout.setEncoding('utf8'), 'data'), serverEnded]);
  const [url] = /http:\S+/.exec(String(line)) ?? [];
  if (url === undefined) throw new Error(`serve ended: ${line}`);
  const remote = { ...world, TALLY_BASE_URL: url, TALLY_API_KEY: key, TALLY_ENVIRONMENT: 'sandbox' };

  return {
    clock: { ...clock, set: setClock },
    directory,
    tally: async (words, { input = '' } = {}) => {
      const isLocal = surface === 'embedded' || isOwnerOnly(words);
      return await ended(run(words, isLocal ? local : remote), input);
    },
    close: async () => {
      server.kill('SIGTERM');
      await serverEnded;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function ended(child: ChildProcessWithoutNullStreams, input = ''): Promise<CommandResult> {
  // A command that ends without reading its input closes the pipe.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const closed = once(child, 'close') as Promise<[number]>;
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { stdout, stderr, exitCode };
}
