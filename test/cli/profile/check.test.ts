/** What `profile add` and `profile check` find out about a service, over HTTP: ours, a hosted one, a broken one, none. */

import { unknownPathMessage } from '../../../src/errors.ts';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterEach, beforeAll, describe, expect, test } from 'vitest';

import { clockWords } from '../../../src/cli/profile/service-check.ts';
import { createClient } from '../../../src/client/client.ts';
import { stage, useStage } from '../../support/use-stage.ts';
import { createShell } from '../shell.ts';
import type { Shell } from '../shell.ts';

const key = `tally_live_${'c0ffee'.repeat(8)}`;
const now = () => Temporal.Now.instant();

/** A shell with the real client, on the real clock. */
function shellOverHttp(env: Readonly<Record<string, string>> = {}): Shell {
  return createShell({
    env,
    dependencies: {
      openBilling: (target) => {
        if (target.kind !== 'remote') throw new Error('this shell has no database');
        const sleep = async () => await Promise.resolve();
        const client = createClient({
          baseUrl: target.baseUrl,
          key: target.key,
          now: Date.now,
          sleep,
          random: () => 0,
        });
        const connection = () => client.connection();
        return Promise.resolve({ billing: client, connection, close: async () => await client.close() });
      },
    },
  });
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A service that is not ours; gives its address. */
async function hosted(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function answering(status: number, message = 'no'): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { code: 'X', message } }));
  };
}

/** Knows the documented paths alone, and a key that may read invoices and customers. */
function documentedService(seen: string[] = []): RequestListener {
  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    seen.push(`${request.method} ${path} ${request.headers.authorization === undefined ? 'without' : 'with'} key`);
    if (path === '/v1/invoices') {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end('{"data":[],"hasMore":false,"total":0}');
    }
    if (path.startsWith('/v1/customers/')) return answering(404, 'Customer not found')(request, response);
    return answering(path.startsWith('/v1/') ? 403 : 404, 'API key does not have it')(request, response);
  };
}

const add = (url: string, environment = 'sandbox') =>
  `profile add box --environment ${environment} --base-url ${url} --key-stdin`;

function stored(shell: Shell): boolean {
  const path = join(shell.home, 'config', 'credentials.json');
  return existsSync(path) && readFileSync(path, 'utf8').includes('c0ffee');
}

describe('a service of ours', () => {
  useStage('http');
  let url: string;
  beforeAll(() => {
    url = stage.remote.TALLY_BASE_URL;
  });

  async function keyWith(scopes: string, ...words: string[]): Promise<string> {
    const { stdout } = await stage.tally(['keys', 'create', '--name', 'k', '--scopes', scopes, '-o', 'json', ...words]);
    return (JSON.parse(stdout) as { data: { key: string } }).data.key;
  }

  test('tells whose key it is before the key is stored', async () => {
    const shell = shellOverHttp();
    const { code, stdout, stderr } = await shell.run(add(url), { input: stage.remote.TALLY_API_KEY });
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^the key works: default, sandbox; scopes \*\nprofile box added; /);
  });

  test('check shows organization, scopes, expiry, clock, latency and version, to any key', async () => {
    const shell = shellOverHttp();
    const input = await keyWith('usage:write', '--expires-at', '2099-01-01T00:00:00Z');
    await shell.run(add(url), { input });
    const { code, stdout } = await shell.run('profile check box -o json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout).data).toMatchObject({
      environment: 'sandbox',
      where: url,
      key: `tally_live_…${input.slice(-4)}`,
      status: 'ok',
      organization: 'default',
      scopes: ['usage:write'],
      knowsAllScopes: true,
      expiresAt: '2099-01-01T00:00:00.000Z',
      clock: 'as on this machine, to a second',
      latencyMilliseconds: expect.any(Number),
      version: '0.0.0',
    });
  });

  test('check tells a person what the words say, and not the facts for programs beside them', async () => {
    const shell = shellOverHttp();
    await shell.run(add(url), { input: stage.remote.TALLY_API_KEY });
    const { stdout } = await shell.run('profile check box', { isTerminal: true });
    expect(stdout).toContain('clock         as on this machine, to a second\n');
    expect(stdout).not.toMatch(/knows|ahead/);
    const asked = await shell.run('profile check box --columns knowsAllScopes', { isTerminal: true });
    expect(asked.stdout).toMatch(/\ntrue *\n$/);
  });

  test('does not take a key that it does not know, and nothing is stored', async () => {
    const shell = shellOverHttp();
    const { code, stdout, stderr } = await shell.run(add(url), { input: key });
    expect([code, stdout, stored(shell)]).toEqual([3, '', false]);
    expect(stderr).toMatch(/^tally: Invalid API key: nothing was stored\n {2}hint: give a key of this service/);
    expect((await shell.run('profile list')).stdout).toBe('');
  });

  test('a check of a key that is refused says how the profile gets another one', async () => {
    const shell = shellOverHttp();
    await shell.run(`${add(url)} --no-check`, { input: key });
    const { code, stderr } = await shell.run('profile check box');
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^tally: Invalid API key\n {2}hint: give the profile /)]);
    const [, again = ''] = /another key with: tally (.*)\n/.exec(stderr) ?? [];
    expect((await shell.run(`${again} --key-stdin`, { input: stage.remote.TALLY_API_KEY })).code).toBe(0);
    expect((await shell.run('profile check box')).code).toBe(0);
    const nameless = shellOverHttp({ TALLY_BASE_URL: url, TALLY_API_KEY: key });
    expect((await nameless.run('profile check')).stderr).toContain('hint: the key is that of TALLY_API_KEY: set it');
  });

  test('that is production is no sandbox, neither to add nor in a check', async () => {
    const shell = shellOverHttp();
    const input = await keyWith('*');
    await shell.run(add(url), { input });
    await stage.tally(['orgs', 'update', 'default', '--environment', 'production']);
    const refused = await shell.run(add(url).replace(' box ', ' other '), { input });
    expect([refused.code, refused.stderr]).toEqual([
      11,
      expect.stringContaining('this service is production, not sandbox: nothing was stored'),
    ]);
    const checked = await shell.run('profile check box');
    expect(checked.code).toBe(10);
    expect(checked.stderr).toContain('the profile says sandbox, but the service is production');
    const [, again = ''] = /add it again: tally (.*)\n/.exec(checked.stderr) ?? [];
    expect((await shell.run(`${again} --key-stdin`, { input })).code).toBe(0);
    const nameless = shellOverHttp({ TALLY_BASE_URL: url, TALLY_API_KEY: input });
    const { code, stderr } = await nameless.run('profile check');
    expect(code).toBe(10);
    expect(stderr).toMatch(
      /without a profile it counts as sandbox, but .* production\n {2}hint: set TALLY_ENVIRONMENT=prod/,
    );
    await stage.tally(['orgs', 'update', 'default', '--environment', 'sandbox']);
  });

  test('a database is checked the same way', async () => {
    const { stdout, exitCode } = await stage.tally(
      ['profile', 'check', '-o', 'json', '--database', `${stage.directory}/stage.db`],
      {},
      { env: {} },
    );
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).data).toMatchObject({ environment: 'embedded', status: 'ok', organization: 'default' });
  });

  test('a database of production is told where writes would not ask', async () => {
    const database = `${stage.directory}/stage.db`;
    const check = async (...words: string[]) => await stage.tally(['profile', 'check', ...words], {}, { env: {} });
    await stage.tally(['orgs', 'update', 'default', '--environment', 'production']);
    const add = ['profile', 'add', 'books', '--environment', 'production', '--database', database];
    await stage.tally(add, {}, { env: {} });
    expect((await check('--database', database)).stderr).toContain(
      'this organization is production: to be asked before each write',
    );
    expect(await check('books')).toMatchObject({ exitCode: 0, stderr: '' });
    await stage.tally(['orgs', 'update', 'default', '--environment', 'sandbox']);
  });
});

describe('a service of somebody else', () => {
  test('is asked what the interface documents, and its key goes nowhere else', async () => {
    const seen: string[] = [];
    const url = await hosted(documentedService(seen));
    const shell = shellOverHttp();
    const { code, stderr } = await shell.run(add(url), { input: key });
    expect([code, stored(shell)]).toEqual([0, true]);
    expect(stderr).toContain('it may at least invoices:read, customers:read\n');
    expect(seen[0]).toBe('GET /healthz without key');
    const nothing = '00000000-0000-0000-0000-000000000000';
    expect(seen.slice(1)).toEqual([
      'GET /v1/invoices with key',
      'GET /v1/pricing with key',
      `GET /v1/customers/${nothing} with key`,
      `GET /v1/plans/${nothing} with key`,
      `GET /v1/contracts/${nothing}/budgets with key`,
    ]);
  });

  test('a check shows what could be found out, and says that it is not all', async () => {
    const shell = shellOverHttp();
    await shell.run(add(await hosted(documentedService())), { input: key });
    const { code, stdout, stderr } = await shell.run('profile check box -o json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout).data).toMatchObject({
      organization: null,
      scopes: ['invoices:read', 'customers:read'],
      knowsAllScopes: false,
      clock: 'as on this machine, to a second',
      version: null,
    });
    expect(stderr).toBe(
      'this service does not tell the scopes of a key: these are the read scopes that were found to work\n',
    );
  });

  test.each<[string, RequestListener, number, string]>([
    ['refuses the key', answering(401, 'Invalid API key'), 3, 'Invalid API key: nothing was stored'],
    ['lets the key do nothing', answering(403), 6, 'lets it read none of'],
    [
      'is behind another path',
      answering(404, unknownPathMessage),
      12,
      'the service is not at this base URL: nothing was stored',
    ],
    ['limits the rate', answering(429), 5, 'no: nothing was stored'],
    ['fails', answering(500), 1, 'no: nothing was stored'],
    ['is no such service', (_request, response) => response.end('<html>'), 9, 'not a valid response'],
    ['hangs up', (request) => request.socket.destroy(), 9, 'the connection broke'],
    [
      'leads elsewhere',
      (_request, response) => response.writeHead(302, { location: 'https://evil.example' }).end(),
      9,
      'redirects are not followed',
    ],
  ])('that %s: nothing is stored', async (_name, listener, exitCode, words) => {
    const shell = shellOverHttp();
    const { code, stdout, stderr } = await shell.run(add(await hosted(listener)), { input: key });
    expect([code, stdout, stored(shell), existsSync(join(shell.home, 'config', 'config.json'))]).toEqual([
      exitCode,
      '',
      false,
      false,
    ]);
    expect(stderr).toContain(words);
    expect(stderr).toContain('nothing was stored');
    expect(stderr).toContain('--no-check');
  });

  test('that cannot be reached gets its key with --no-check alone, and a check then says so', async () => {
    const shell = shellOverHttp();
    const url = await hosted(() => undefined);
    servers.splice(0).forEach((server) => server.close());
    const refused = await shell.run(add(url), { input: key });
    expect([refused.code, stored(shell)]).toEqual([9, false]);
    expect(refused.stderr).toContain('nothing answers at this address: nothing was stored');
    expect(refused.stderr).toContain('check the base URL of the profile and the network; --no-check stores the key');
    expect((await shell.run(`${add(url)} --no-check`, { input: key })).code).toBe(0);
    expect(stored(shell)).toBe(true);
    expect((await shell.run('profile check box')).code).toBe(9);
  });
});

describe('the clock', () => {
  test.each<[number, number, string]>([
    [0, 10, 'as on this machine, to a second'],
    [-1_000, 0, 'as on this machine, to a second'],
    [1_400, 900, 'as on this machine, to a second'],
    [3_020, 10, 'this machine is 3 s behind'],
    [-3_020, 10, 'this machine is 3 s ahead'],
    [3_600_000, 10, 'this machine is 60 min behind'],
  ])('of a service %i ms ahead, at a latency of %i ms: %s', (clockAheadMilliseconds, latencyMilliseconds, words) => {
    expect(clockWords({ clockAheadMilliseconds, latencyMilliseconds })).toBe(words);
  });

  test('is told from the Date header, with the sign of the service', async () => {
    const date = now().add({ hours: 1 }).toZonedDateTimeISO('UTC');
    const url = await hosted((request, response) => {
      response.setHeader('date', new Date(date.epochMilliseconds).toUTCString());
      documentedService()(request, response);
    });
    const shell = shellOverHttp();
    await shell.run(add(url), { input: key });
    const { stdout } = await shell.run('profile check box --columns clock');
    expect(stdout).toBe('this machine is 60 min behind\n');
  });
});
