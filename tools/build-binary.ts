/**
 * Makes one executable that needs no Node and no other file. It consists of the Node that runs this, the bundle of tools/build.ts
 * as assets, and for each file of the bundle the bytecode of what the commands below ran of it, so that others compile little.
 */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

import { asFunction } from './pack.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const ending = process.platform === 'win32' ? '.exe' : '';
const output = resolve(process.argv[2] ?? join(root, `dist-bin/tally${ending}`));

const folder = mkdtempSync(join(tmpdir(), 'tally-binary-'));
const launcher = join(folder, 'bin/tally.js');
const env = {
  HOME: folder,
  USERPROFILE: folder,
  XDG_CACHE_HOME: join(folder, 'cache'),
  TALLY_CONFIG_DIR: join(folder, 'config'),
  TALLY_DATA_DIR: join(folder, 'data'),
};

try {
  execFileSync(process.execPath, [join(root, 'tools/build.ts'), join(folder, 'dist')]);
  cpSync(join(root, 'bin'), dirname(launcher), { recursive: true });
  await warmUp();
  const config = join(folder, 'executable.json');
  const assets = { ...byName('dist/{*.cjs,main.txt}'), ...bytecode() };
  const main = join(root, 'tools/binary-launcher.cjs');
  // Room for what a short command allocates: it ends before V8's first garbage collection, which takes several milliseconds.
  const execArgv = ['--min-semi-space-size=4'];
  writeFileSync(config, JSON.stringify({ main, output, assets, execArgv, disableExperimentalSEAWarning: true }));
  mkdirSync(dirname(output), { recursive: true });
  execFileSync(process.execPath, ['--build-sea', config]);
  chmodSync(output, 0o755);
  // An ad-hoc signature: macOS starts no program without one, and adding to Node's file has invalidated Node's own.
  if (process.platform === 'darwin') execFileSync('codesign', ['--force', '--sign', '-', output]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`${output}: ${Math.round(statSync(output).size / 1_000_000)} MB\n`);

/**
 * Runs the most frequent commands, and with them most of what the others share. The bytecode that the package's launcher keeps
 * fits the executable's launcher: both wrap a file in the same words.
 */
async function warmUp(): Promise<void> {
  run('--version');
  run('--help');
  run('customers', '--help');
  run('customers', 'create', '--name', 'Acme', '--contact', 'name=Ada,email=ada@example.com,roles=primary');
  const lists = ['customers', 'contracts', 'invoices', 'plans', 'meters'].map((group) => [group, 'list']);
  for (const words of lists) run(...words, '-o', 'json');
  const { key } = JSON.parse(run('keys', 'create', '--name', 'warm-up', '--scopes', '*', '-o', 'json')).data;

  // Bytecode of what only a server runs in the same files would make each command read more.
  const server = spawn(process.execPath, [launcher, 'serve', '--port', '0'], {
    env: { ...env, NODE_DISABLE_COMPILE_CACHE: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(server, 'exit');
  const [line] = await Promise.race([once(server.stdout, 'data'), ended]);
  const remote = {
    TALLY_BASE_URL: /http:\S+/.exec(String(line))?.[0],
    TALLY_API_KEY: key,
    TALLY_ENVIRONMENT: 'sandbox',
  };
  Object.assign(env, remote);
  for (const words of lists) run(...words);
  server.kill('SIGTERM');
  await ended;
}

/** The bytecode of each file; throws if this Node would reject it, because the executable would silently be slow. */
function bytecode(): Record<string, string> {
  const kept = byName('cache/tallybook/bytecode/*/*.cjs');
  return Object.fromEntries(
    Object.entries(kept).map(([name, path]) => {
      // The launcher stores bytecode twice, to notice damage on a user's disk.
      const twice = readFileSync(path);
      const cachedData = twice.subarray(0, twice.length / 2);
      const text = asFunction(readFileSync(join(folder, 'dist', name), 'utf8'));
      if (new Script(text, { cachedData }).cachedDataRejected !== false)
        throw new Error(`${name}: its bytecode is none`);
      const once = `${path}.once`;
      writeFileSync(once, cachedData);
      return [`${name}.bytecode`, once];
    }),
  );
}

function run(...words: readonly string[]): string {
  return execFileSync(process.execPath, [launcher, ...words], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function byName(pattern: string): Record<string, string> {
  return Object.fromEntries(globSync(join(folder, pattern)).map((path) => [basename(path), path]));
}
