/** The real program in a process of its own: what only streams, signals and a home directory can show. */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, statSync, watch } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { promisify, stripVTControlCharacters } from 'node:util';

import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { hasUnsafe } from '../../src/cli/terminal/safe-text.ts';
import { subscribe, use } from '../support/billing-scenario.ts';
import { launcher } from '../support/program.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { createWorld } from '../support/world.ts';
import { listenOnLoopback } from '../support/free-port.ts';

const runFile = promisify(execFile);

function home(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const directory = newDirectory();
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^TALLY_|^NODE_|^VITEST|COLOR/.test(name)),
  );
  return {
    ...inherited,
    TALLY_CONFIG_DIR: join(directory, 'config'),
    TALLY_DATA_DIR: join(directory, 'data'),
    ...extra,
  };
}

async function tally(words: readonly string[], env: NodeJS.ProcessEnv) {
  try {
    return { code: 0, ...(await runFile(process.execPath, [launcher, ...words], { env })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

test('the first command works with nothing set up, on a database that only its user may read', async () => {
  const env = home();
  const outcome = await tally(['customers', 'list', '-o', 'json'], env);
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(outcome.stdout)).toEqual({ data: [], hasMore: false, total: 0 });
  const data = env['TALLY_DATA_DIR'] ?? '';
  expect(existsSync(join(data, 'tallybook.db'))).toBe(true);
  if (process.platform !== 'win32') {
    expect(statSync(data).mode & 0o077).toBe(0);
    expect(statSync(join(data, 'tallybook.db')).mode & 0o077).toBe(0);
  }
});

test('a database that is named and was not there is said to be made, since its name may be misspelt', async () => {
  const env = home();
  const path = join(newDirectory(), 'new.db');
  const list = ['--database', path, 'customers', 'list'];
  expect(await tally(list, env)).toMatchObject({
    code: 0,
    stdout: '',
    stderr: `created ${path}: there was no database\n`,
  });
  expect(await tally(list, env)).toMatchObject({ code: 0, stderr: '' });
  for (const memory of [':memory:', 'sqlite::memory:']) {
    expect(await tally(['--database', memory, 'customers', 'list'], env)).toMatchObject({ code: 0, stderr: '' });
  }
});

test('what one command writes the next one reads', async () => {
  const env = home();
  const contact = 'name=Ada,email=ada@acme.example,roles=primary';
  const created = await tally(['customers', 'create', '--name', 'Acme', '--contact', contact, '-o', 'name'], env);
  expect(created).toMatchObject({ code: 0, stderr: '' });
  const { stdout } = await tally(['customers', 'get', created.stdout.trim(), '--json', 'name'], env);
  expect(JSON.parse(stdout)).toEqual({ name: 'Acme' });
});

test.skipIf(process.platform === 'win32')(
  'a database that others may read is used all the same, and every write and serve say so, but for --quiet',
  async () => {
    const env = home();
    await tally(['customers', 'list'], env);
    const database = join(env['TALLY_DATA_DIR'] ?? '', 'tallybook.db');
    const contact = 'name=Ada,email=ada@acme.example,roles=primary';
    const create = ['customers', 'create', '--name', 'Acme', '--contact', contact];
    expect((await tally(create, env)).stderr).not.toContain('warning');
    chmodSync(database, 0o640);
    const warning = `warning: ${database} is open to other users of this machine; run: chmod 600 ${database}\n`;
    const written = await tally(create, env);
    expect(written).toMatchObject({ code: 0, stderr: expect.stringContaining(warning) });
    const byUrl = await tally(['--database', `file:${database}`, ...create], env);
    expect(byUrl).toMatchObject({ code: 0, stderr: expect.stringContaining(warning) });
    expect(await tally([...create, '--quiet'], env)).toMatchObject({ code: 0, stderr: '' });
    expect(await tally(['customers', 'list'], env)).toMatchObject({ code: 0, stderr: '' });
    const served = spawn(process.execPath, [launcher, 'serve', '--port', '0'], { env });
    expect((await once(served.stderr.setEncoding('utf8'), 'data'))[0]).toBe(warning);
    served.kill('SIGTERM');
    await once(served, 'exit');
  },
);

test('an organization that is not there is not found', async () => {
  expect(await tally(['customers', 'list', '--org', 'nowhere'], home())).toMatchObject({ code: 4, stdout: '' });
});

test.runIf(process.platform !== 'win32')('a reader that stops early is success', async () => {
  const script = `set -o pipefail; "$0" "$1" commands -o json | head -c 1`;
  const { stdout, stderr } = await runFile('bash', ['-c', script, process.execPath, launcher], { env: home() });
  expect([stdout, stderr]).toEqual(['{', '']);
});

test.runIf(process.platform !== 'win32')('a reader that stops early is success, whatever is printed', async () => {
  const env = home();
  for (const words of ['commands', 'commands -o jsonl', 'commands --jq .[]', '--help', 'help environment']) {
    const script = `set -o pipefail; "$0" "$1" ${words} | head -1`;
    const { stdout, stderr } = await runFile('bash', ['-c', script, process.execPath, launcher], { env });
    expect([words, stdout.split('\n').length, stderr]).toEqual([words, 2, '']);
  }
});

test.each([
  [{}, false],
  [{ FORCE_COLOR: '1' }, true],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  [{ FORCE_COLOR: '0' }, false],
  [{ NO_COLOR: '1' }, false],
])('with %j a table in a pipe has colours: %s', async (extra, hasColors) => {
  const env = home(extra);
  const plain = await tally(['orgs', 'list', '-o', 'table', '--no-color'], env);
  const { stdout } = await tally(['orgs', 'list', '-o', 'table'], env);
  expect([stdout.includes('\u001b['), plain.stdout.includes('\u001b')]).toEqual([hasColors, false]);
  expect(stripVTControlCharacters(stdout)).toBe(plain.stdout);
});

test.runIf(process.platform === 'linux')('a password on the command line is not in the list of processes', async () => {
  const words = ['customers', 'create', '--input', '-', '--database', 'postgres://ada:sesame@127.0.0.1:1/books'];
  const child = spawn(process.execPath, [launcher, ...words], { env: home() });
  const ended = once(child, 'exit');
  await new Promise((resolve) => child.stdin.write(' '.repeat(1_000_000), resolve));
  expect(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')).toMatch(/^tally\0*$/);
  child.kill('SIGKILL');
  await ended;
});

test('a key in the environment is not said, whatever its form and however early a command fails', async () => {
  const { code, stderr } = await tally(['open-sesame'], home({ TALLY_API_KEY: 'open-sesame' }));
  expect([code, stderr]).toEqual([2, expect.not.stringContaining('sesame')]);
});

test.runIf(process.platform !== 'win32')('an interrupted command ends with 130', async () => {
  const child = spawn(process.execPath, [launcher, 'customers', 'create', '--input', '-'], { env: home() });
  const ended = once(child, 'exit');
  // More than a pipe holds: once it is written, the command is reading.
  await new Promise((resolve) => child.stdin.write(' '.repeat(1_000_000), resolve));
  child.kill('SIGINT');
  expect(await ended).toEqual([130, null]);
});

test.runIf(process.platform !== 'win32').each([
  ['credits grant c1 --amount-cents 5 --expires-at 2099-01-01T00:00:00Z', 'repeat the command: it finishes this grant'],
  ['invoices finalize i1', 'check whether it took effect before repeating the command'],
  ['invoices list', ''],
])('interrupted while %s waits for an answer says what is known of it', async (line, hint) => {
  const silent = createServer();
  const port = await listenOnLoopback(silent);
  try {
    const env = home({
      TALLY_BASE_URL: `http://127.0.0.1:${port}`,
      TALLY_API_KEY: `test_live_${'5'.repeat(48)}`,
      TALLY_ENVIRONMENT: 'sandbox',
    });
    const child = spawn(process.execPath, [launcher, ...line.split(' ')], { env });
    const told: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => void told.push(text));
    const ended = once(child, 'close');
    await once(silent, 'request');
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    const words = 'tally: interrupted during the request: the outcome is unknown\n  hint: ';
    expect(told.join('').startsWith(hint === '' ? '' : `${words}${hint}`)).toBe(true);
    expect(told.join('') === '').toBe(hint === '');
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
});

test.runIf(process.platform === 'linux')(
  'what a backup that was killed has left is named by the next, and stays',
  async () => {
    const env = home();
    await tally(['orgs', 'list'], env);
    const target = newDirectory();
    const begun = once(watch(target), 'change');
    const child = spawn(process.execPath, [launcher, 'backup', join(target, 'killed.db')], { env });
    const ended = once(child, 'exit');
    await begun;
    child.kill('SIGKILL');
    await ended;
    // It may have been quicker.
    if (!readdirSync(target).some((name) => name.startsWith('.tally-'))) mkdtempSync(join(target, '.tally-'));
    const left = readdirSync(target).find((name) => name.startsWith('.tally-')) ?? '';
    const { code, stderr } = await tally(['backup', join(target, 'book.db')], env);
    expect(code).toBe(0);
    expect(stderr).toContain(
      `${join(target, left)} holds what another backup is making, or was making when it was killed`,
    );
    expect(readdirSync(target)).toContain(left);
  },
);

describe.runIf(process.platform === 'linux').each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s', (signal) => {
  async function stopped(words: readonly string[], env: NodeJS.ProcessEnv, directory: string): Promise<boolean> {
    const begun = once(watch(directory), 'change');
    const child = spawn(process.execPath, [launcher, ...words], { env });
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    await begun;
    child.kill(signal);
    // It may have been quicker.
    const [code, cause] = await ended;
    expect([0, 130, signal]).toContain(cause ?? code);
    return code !== 0;
  }

  test('leaves nothing of a backup where it was to stand', async () => {
    const env = home();
    await tally(['orgs', 'list'], env);
    const target = newDirectory();
    const isStopped = await stopped(['backup', join(target, 'book.db')], env, target);
    expect(readdirSync(target)).toEqual(isStopped ? [] : ['book.db', 'book.db.manifest.json']);
  });

  test('leaves nothing of the copy of a book that a comparison reads', async () => {
    const target = newDirectory();
    const env = home({ TMPDIR: target });
    await tally(['orgs', 'list'], env);
    await stopped(['simulate', 'compare', '--start-date', '2026-01-01'], env, target);
    expect(readdirSync(target)).toEqual([]);
  });
});

test.runIf(process.platform === 'linux').each(['def f: f; f', '[range(1e12)]'])(
  'an interrupt ends --jq %s, which never pauses',
  async (expression) => {
    const child = spawn(process.execPath, [launcher, 'customers', 'list', '--jq', expression], { env: home() });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    // Of its processor time a command that ends takes a fraction of a second.
    await vi.waitUntil(() => processorSeconds(child.pid) > 2, 25_000);
    child.kill('SIGINT');
    // By the signal itself, of which a shell makes 130.
    expect(await ended).toEqual([null, 'SIGINT']);
  },
);

test.each(['"x" * 3000000000', '.data[500000000] = 1'])(
  '--jq %s, for which there is no memory, ends with 2',
  async (expression) => {
    const outcome = await tally(['customers', 'list', '--jq', expression], home());
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toContain('tally: --jq: it needs more memory than jq has\n');
  },
);

function processorSeconds(pid = 0): number {
  const [, user = '0', system = '0'] =
    /\) \S(?: \S+){10} (\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  return (Number(user) + Number(system)) / 100;
}

describe('serve', () => {
  async function serving(env: NodeJS.ProcessEnv, ...words: string[]) {
    const child = spawn(process.execPath, [launcher, 'serve', '--port', '0', ...words], { env });
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
    const url = /^tally serve: listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line)?.[1] ?? '';
    return { child, url, ended: once(child, 'exit') };
  }

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'prints one line when it is ready, answers, and ends with 0 on %s',
    async (signal) => {
      const { child, url, ended } = await serving(home());
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      child.kill(signal);
      expect(await ended).toEqual([0, null]);
    },
  );

  test('ends with 0 when its terminal is closed, also where it is told so twice', async () => {
    const { child, ended } = await serving(home());
    child.kill('SIGHUP');
    child.kill('SIGHUP');
    expect(await ended).toEqual([0, null]);
  });

  test.runIf(process.platform !== 'win32').each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('a second %s ends it at once, with %i', async (signal, code) => {
    const { child, url, ended } = await serving(home(), '--drain-seconds', '60');
    child.kill(signal);
    await vi.waitUntil(async () => (await fetch(`${url}/readyz`)).status === 503, 25_000);
    child.kill(signal);
    expect(await ended).toEqual([code, null]);
  });

  test('ends with 9 where its database is upgraded beneath it, so that who watches it starts the newer program', async () => {
    const database = join(newDirectory(), 'upgraded.db');
    const { child, ended } = await serving(home({ TALLY_DATABASE: database }));
    const told = text(child.stderr);
    const newer = new DatabaseSync(database);
    newer.exec('PRAGMA user_version = 99');
    newer.close();
    expect(await ended).toEqual([9, null]);
    expect(await told).toContain(`tally: the database ${database} was upgraded to schema 99 while in use`);
  });

  test('says that its database was not there, since its name may be misspelt', async () => {
    const database = join(newDirectory(), 'new.db');
    const { child, ended } = await serving(home({ TALLY_DATABASE: database }));
    const told = text(child.stderr);
    child.kill('SIGTERM');
    await ended;
    expect(await told).toBe(`created ${database}: there was no database\n`);
  });

  test('gives the same answers to a client with a key', async () => {
    const env = home();
    const made = await tally(['keys', 'create', '--name', 'ci', '--scopes', '*', '--json', 'key'], env);
    const { key } = JSON.parse(made.stdout) as { key: string };
    const { child, url, ended } = await serving(env);
    const remote = { ...home(), TALLY_BASE_URL: url, TALLY_API_KEY: key };
    const contact = 'name=Ada,email=ada@acme.example,roles=primary';
    const created = await tally(['customers', 'create', '--name', 'Acme', '--contact', contact, '-o', 'name'], remote);
    expect(created).toMatchObject({ code: 0, stderr: '' });
    const [there, here] = [
      await tally(['customers', 'list', '-o', 'json'], remote),
      await tally(['customers', 'list', '-o', 'json'], env),
    ];
    expect(there).toEqual(here);
    expect(there.stdout).toContain('Acme');
    expect(
      await tally(['customers', 'list'], { ...remote, TALLY_API_KEY: `tally_live_${'0'.repeat(48)}` }),
    ).toMatchObject({ code: 3 });
    child.kill('SIGTERM');
    await ended;
  });

  test('writes no character to its log that a terminal would act on, whatever an event made of it', async () => {
    const database = join(newDirectory(), 'served.db');
    const world = await createWorld({ database, start: '2024-01-01T00:00:00Z' });
    const sql = "SELECT count(json_extract('{}', properties->>'path')) AS value FROM events";
    const contract = { startDate: '2024-01-01', endDate: '2024-02-01' };
    const acme = await subscribe(world, { meter: { sql }, contract });
    await use(world, acme, { tokens: 1, at: '2024-01-01T00:00:00Z', path: '\u009b2J\u202e' });
    await world.close();
    const { child, ended } = await serving(home({ TALLY_DATABASE: database }), '--bill-every', '1');
    const [line] = (await once(child.stderr.setEncoding('utf8'), 'data')) as [string];
    child.kill('SIGTERM');
    await ended;
    expect(line).toContain("bad JSON path: '\\u009b2J\\u202e'");
    expect(hasUnsafe(line)).toBe(false);
  });

  test('a port in use is said to be', async () => {
    const { child, url, ended } = await serving(home());
    const outcome = await tally(['serve', '--port', new URL(url).port], home());
    expect(outcome).toMatchObject({ code: 9, stdout: '' });
    child.kill('SIGTERM');
    await ended;
  });

  test.each([
    [['serve', '--port', '99999'], '--port takes a whole number up to 65535'],
    [['serve', '--rate-limit', 'many'], '--rate-limit takes a whole number, not many'],
    [['serve', '--database', ':memory:'], 'nobody could make a key for :memory:'],
    [['serve', '--drain-seconds', '-1'], '--drain-seconds takes a whole number'],
  ])('%j is refused', async (words, message) => {
    const { code, stderr } = await tally(words, home());
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test('a remote service cannot be served', async () => {
    const env = home({ TALLY_BASE_URL: 'https://a.example', TALLY_API_KEY: `tally_live_${'0'.repeat(48)}` });
    expect((await tally(['serve'], env)).stderr).toContain('serve needs a database');
  });

  test('the contracts of a remote service are compared by their mirror', async () => {
    const env = home({ TALLY_BASE_URL: 'https://a.example', TALLY_API_KEY: `tally_live_${'0'.repeat(48)}` });
    const { code, stderr } = await tally(['simulate', 'compare', '--grant', 'amount-cents=1'], env);
    expect(code).toBe(12);
    expect(stderr).toContain('or a --profile of one; or on a mirror, made by tally pull\n');
  });
});
