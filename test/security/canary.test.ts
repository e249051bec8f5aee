/**
 * SEC-3 and SEC-7: whatever a command does, and however it fails, the key that it works with stands in nothing that it
 * says or writes. Every command is run in this process, with the real client, against a service that repeats the key in
 * every failure; a few are run as processes, where Node itself could tell.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { localCommands, localVerbs } from '../../src/cli/commands/index.ts';
import { base64Cores } from '../../src/cli/terminal/redact.ts';
import type { OpenBilling } from '../../src/cli/session/session.ts';
import type { RemoteTarget, Target } from '../../src/cli/target/target.ts';
import { createClient } from '../../src/client/client.ts';
import { createShell, exampleLineOf, manifest } from '../cli/shell.ts';
import { launcher, runProgram } from '../support/program.ts';
import { listenOnLoopback } from '../support/free-port.ts';
import { newDirectory } from '../support/temporary-files.ts';

const canary = `tally_live_${'0badcafe17'.repeat(5).slice(0, 48)}`;
const traces = [canary.slice('tally_live_'.length), encodeURIComponent(canary), ...base64Cores(canary)];

function leaked(text: string): string | undefined {
  const trace = traces.find((each) => text.includes(each));
  return trace && text.slice(Math.max(0, text.indexOf(trace) - 60), text.indexOf(trace) + 20);
}

test('the traces that are looked for are found in every alignment and alphabet', () => {
  for (const before of ['', 'B', 'Be', 'Bearer ']) {
    for (const alphabet of ['base64', 'base64url'] as const) {
      expect(leaked(Buffer.from(`${before}${canary}"}`).toString(alphabet))).toBeDefined();
    }
  }
  expect(leaked(`https://a.example/?key=${encodeURIComponent(canary)}`)).toBeDefined();
});

/** What the service says to each request, and how often it was shown the key. */
let mode: string;
let shownKeys = 0;
let service: Server;
let address: string;

beforeAll(async () => {
  service = createServer(answer);
  const port = await listenOnLoopback(service);
  address = `http://127.0.0.1:${port}`;
});
afterAll(() => {
  service.closeAllConnections();
  service.close();
});

/** What any write may be answered with. */
const done = '{"data":{"id":"x","results":[]},"status":"accepted"}';

function answer(request: IncomingMessage, response: ServerResponse): void {
  const key = request.headers.authorization ?? '';
  if (key.includes(canary)) shownKeys += 1;
  const echo = [key, canary, Buffer.from(key).toString('base64'), Buffer.from(`xy${canary}`).toString('base64url')];
  response.setHeader('tallybook-version', canary);
  response.setHeader('x-request-id', canary);
  response.setHeader('tallybook-hint', encodeURIComponent(echo.join(' ')));
  response.setHeader('content-type', 'application/json');
  request.resume().on('end', () => {
    if (request.url?.endsWith('/healthz') === true) return response.end('{}');
    if (mode === 'ok') return response.end(request.method === 'GET' ? '{"data":[],"hasMore":false,"total":0}' : done);
    if (mode === 'malformed') return response.end(echo.join('\n'));
    if (mode === 'redirect') return response.writeHead(302, { location: `https://${canary}.example/` }).end();
    response.statusCode = Number(mode);
    return response.end(JSON.stringify({ error: { code: canary, message: `input[0]: refused ${echo.join(' ')}` } }));
  });
}

const sleep = async () => await Promise.resolve();

function openRemote(target: RemoteTarget): OpenBilling {
  if (mode === 'thrown') throw thrown();
  const baseUrl = mode === 'unreachable' ? 'http://127.0.0.1:9' : target.baseUrl;
  const client = createClient({ ...target, baseUrl, now: Date.now, sleep, random: () => 0 });
  return { billing: client, connection: () => client.connection(), close: async () => await client.close() };
}

/** As a library words it that shows the header which it could not send. */
function thrown(): Error {
  const inner = new TypeError(`Headers.append: "Bearer ${canary}\\r\\nX: 1" is an invalid header value`);
  return new Error(`outer ${Buffer.from(canary).toString('base64')}`, { cause: new Error(canary, { cause: inner }) });
}

const modes = ['ok', '401', '403', '404', '409', '422', '429', '500', '503'];
const otherModes = ['malformed', 'redirect', 'unreachable', 'thrown'];

/** The three places that a key can come from. */
const sources = ['environment', 'file', 'keyring'] as const;

async function shellOf(source: (typeof sources)[number]) {
  const entries = new Map<string, string>();
  const keyring = {
    read: async (account: string) => await Promise.resolve(entries.get(account)),
    write: async (account: string, key: string) => await Promise.resolve(void entries.set(account, key)),
    remove: async (account: string) => await Promise.resolve(void entries.delete(account)),
  };
  const inEnvironment = { TALLY_BASE_URL: address, TALLY_API_KEY: canary, TALLY_ENVIRONMENT: 'sandbox' };
  const shell = createShell({
    env: source === 'environment' ? inEnvironment : {},
    dependencies: {
      openKeyring: async () => await Promise.resolve(keyring),
      openBilling: async (target: Target) => {
        if (target.kind === 'embedded') throw new Error('this shell has no database');
        return await Promise.resolve(openRemote(target));
      },
    },
  });
  if (source !== 'environment') {
    const words = source === 'keyring' ? ' --keyring' : '';
    mode = 'ok';
    const add = `profile add p --environment sandbox --base-url ${address} --key-stdin --no-check${words}`;
    expect(await shell.run(add, { input: canary })).toMatchObject({ code: 0, stdout: '' });
    expect(await shell.run('profile use p')).toMatchObject({ code: 0 });
    expect(entries.size).toBe(source === 'keyring' ? 1 : 0);
  }
  return shell;
}

/** The files below a folder, but for the one that keys are kept in. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => !path.endsWith('credentials.json') && statSync(path).isFile());
}

/** Commands that are no operation, with words that they take. */
const otherLines = `profile list
profile show
profile check
journal list
journal verify
journal export
api GET /v1/customers
catalog export
catalog diff /nowhere
__complete profile
help environment
credits grant --resume
import events - --event-name e --customer c --yes
import events - --event-name e --customer c --yes --refused NEW
customers create --from - --yes --ignore timestamp
customers create --from - --yes --ignore timestamp --result NEW`.split('\n');

/** Every command: operations by their first example, the others by name too, even where they need more. */
const lines: readonly string[] = [
  ...manifest.commands.map((command) => `${exampleLineOf(command).replace(/^tally /, '')} --yes`),
  ...Object.keys(localCommands).filter((name) => name !== 'serve'),
  ...Object.entries(localVerbs).flatMap(([group, verbs]) => Object.keys(verbs ?? {}).map((verb) => `${group} ${verb}`)),
  ...otherLines,
];

describe.each(sources)('with the key from the %s', (source) => {
  test('no command says or writes it, whatever happens', { timeout: 60_000 }, async () => {
    const shell = await shellOf(source);
    const input =
      'timestamp,name,externalCustomerId,contact.name,contact.email,contact.roles\n2026-01-01T00:00:00Z,A,a,B,b@c.de,primary\n';
    const found: string[] = [];
    let failures = 0;
    shownKeys = 0;
    const place = sources.indexOf(source);
    for (const [index, line] of lines.entries()) {
      // Every command meets every outcome, and every source; the three together are dealt out.
      for (const [turn, each] of [...modes, ...otherModes].entries()) {
        if ((index + turn) % sources.length !== place) continue;
        mode = each;
        const format = turn % 2 === 0 ? ' -o json' : '';
        const words = line.replace('NEW', join(shell.home, `written-${index}-${turn}`));
        const { code, stdout, stderr } = await shell.run(`${words} --debug${format}`, { input });
        if (code !== 0) failures += 1;
        const trace = leaked(stdout + stderr);
        if (trace !== undefined) found.push(`${mode}: ${line}: ${trace}`);
      }
    }
    const files = filesBelow(shell.home);
    expect(found).toEqual([]);
    expect(files.filter((path) => leaked(readFileSync(path, 'latin1')) !== undefined)).toEqual([]);
    expect(files.some((path) => path.endsWith('journal.jsonl'))).toBe(true);
    expect(files.filter((path) => path.includes('written-')).length).toBeGreaterThan(4);
    // Otherwise nothing was tried.
    expect(shownKeys).toBeGreaterThan(200);
    expect(failures).toBeGreaterThan(200);
  });
});

test.each([...modes, ...otherModes])('adding a profile does not say it when the service answers %s', async (each) => {
  const shell = await shellOf('file');
  mode = each;
  const add = `profile add q --environment sandbox --base-url ${address} --key-stdin --debug -o json`;
  const { stdout, stderr } = await shell.run(add, { input: canary });
  expect(leaked(stdout + stderr)).toBeUndefined();
});

describe('a process', () => {
  /** Runs `customers list` against a service that never answers; the script runs in it too, once the program has begun. */
  async function meddledWith(script: string, nodeOptions = '') {
    const home = newDirectory();
    const path = join(home, 'meddle.mjs');
    const hasBegun = "process.listenerCount('uncaughtException') > 0";
    writeFileSync(
      path,
      `const timer = setInterval(() => { if (${hasBegun}) { clearInterval(timer); ${script} } }, 20);`,
    );
    const silent = createServer(() => undefined);
    const port = await listenOnLoopback(silent);
    const environment = {
      TALLY_BASE_URL: `http://127.0.0.1:${port}`,
      TALLY_API_KEY: canary,
      NODE_OPTIONS: `--import=${path} ${nodeOptions}`,
    };
    const outcome = await runProgram(['customers', 'list', '--debug'], { home, environment });
    silent.closeAllConnections();
    silent.close();
    return outcome;
  }

  const key = JSON.stringify(canary);

  test.each([
    ['an unhandled rejection', `Promise.reject(new Error(${key}, { cause: new Error(${key}) }));`],
    ['an exception', `throw new Error(Buffer.from(${key}).toString('base64'));`],
    ['a thrown text', `throw ${key};`],
  ])('that ends by %s does not say it', async (_name, script) => {
    const { code, stdout, stderr } = await meddledWith(script);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^tally: unexpected: /);
    expect(leaked(stderr)).toBeUndefined();
  });

  test('that runs out of memory leaves no report with it', async () => {
    const reports = newDirectory();
    const { stderr } = await meddledWith(
      'const all = []; for (;;) all.push(Array(1e5).fill(all.length / 7));',
      `--report-on-fatalerror --report-directory=${reports} --max-old-space-size=40`,
    );
    expect(stderr).toContain('heap');
    expect(leaked(stderr)).toBeUndefined();
    expect(filesBelow(reports)).toHaveLength(1);
    for (const path of filesBelow(reports)) expect(leaked(readFileSync(path, 'latin1'))).toBeUndefined();
  });

  test('that is asked for a report of itself leaves no password of a database in it', async () => {
    const home = newDirectory();
    const path = join(home, 'report.mjs');
    const report = join(home, 'report.json');
    writeFileSync(path, `process.on('exit', () => process.report.writeReport(${JSON.stringify(report)}));`);
    const environment = {
      TALLY_DATABASE: `postgres://tally:${canary}@127.0.0.1/billing`,
      PGPASSWORD: canary,
      NODE_OPTIONS: `--import=${path}`,
    };
    expect(await runProgram(['--version'], { home, environment })).toMatchObject({ code: 0 });
    const text = readFileSync(report, 'latin1');
    expect(text).toContain('"header"');
    expect(leaked(text)).toBeUndefined();
  });

  test.each([{ NODE_DEBUG: 'net' }, { NODE_OPTIONS: '--inspect_port=0' }])(
    'that is told to show what it knows does nothing: %j',
    async (told) => {
      const home = newDirectory();
      const environment = { TALLY_BASE_URL: address, TALLY_API_KEY: canary, TALLY_ENVIRONMENT: 'sandbox', ...told };
      shownKeys = 0;
      const { code, stdout, stderr } = await runProgram(['customers', 'list'], { home, environment });
      expect([code, stdout, shownKeys]).toEqual([2, '', 0]);
      expect(stderr).toContain('--allow-inspect');
      expect(leaked(stderr)).toBeUndefined();
    },
  );

  test.skipIf(process.platform === 'win32')('does not open a debugger at a signal', async () => {
    const home = newDirectory();
    const program = spawn(process.execPath, [launcher, 'serve', '--port', '0', '--bill-every', '0'], {
      env: { PATH: process.env['PATH'], TALLY_CONFIG_DIR: home, TALLY_DATA_DIR: home },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    program.stderr.on('data', (chunk: Buffer) => void (said += chunk.toString()));
    await once(program.stdout, 'data');
    program.kill('SIGUSR1');
    program.kill('SIGTERM');
    await once(program, 'close');
    expect(said).not.toContain('Debugger');
  });
});
