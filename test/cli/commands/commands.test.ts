import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { localCommands } from '../../../src/cli/commands/index.ts';
import { globalFlags } from '../../../src/cli/command-line/global-flags.ts';
import { localPages } from '../../../src/cli/help-pages.ts';
import type { Answer } from '../../../src/operations/index.ts';
import { root } from '../../support/sources.ts';
import { createShell, manifest } from '../shell.ts';

describe('tally api', () => {
  test.each<[string, string, object]>([
    ["GET '/v1/customers?limit=5'", 'customers.list', { params: {}, query: { limit: '5' } }],
    ['get /v1/customers/c1', 'customers.get', { params: { customerId: 'c1' }, query: {} }],
    ['GET /v1/customers/a%2Fb', 'customers.get', { params: { customerId: 'a/b' }, query: {} }],
    [
      'POST /v1/customers/csm-assignments --input -',
      'customers.assignCsm',
      { params: {}, query: {}, body: { assignments: [] } },
    ],
  ])('%s is %s', async (line, name, input) => {
    const shell = createShell();
    const { code, stdout } = await shell.run(`api ${line}`, { input: '{"assignments":[]}' });
    expect(code).toBe(0);
    expect(shell.calls).toEqual([{ name, input }]);
    expect(JSON.parse(stdout)).toEqual({ data: [], hasMore: false, total: 0 });
  });

  test.each([
    ["'/v1/customers?limit=1&limit=2'", 'limit: is given twice'],
    ["'/v1/customers?limit=1&%6Cimit=2'", 'limit: is given twice'],
    ["'/v1/customers?externalCustomerId=%ff'", 'the query is not valid percent-encoded UTF-8'],
  ])('reads the query as a service does: GET %s is refused', async (path, words) => {
    const shell = createShell();
    const { code, stderr } = await shell.run(`api GET ${path}`);
    expect([code, shell.calls]).toEqual([8, []]);
    expect(stderr).toContain(words);
  });

  test.each([
    ['GET /v1/nothing', 'there is no GET /v1/nothing'],
    ['DELETE /v1/customers', 'there is no DELETE /v1/customers'],
    ['GET', 'missing <method> or <path>'],
    ['GET https://billing.example.com/v1/customers', 'is not a path'],
    ['GET //billing.example.com/v1/customers', 'is not a path'],
    ['GET http://[', 'is not a path'],
    ['GET /v1/customers/%zz', 'is not a path'],
    ['POST /v1/invoices/../contracts/k1/cancel', 'is not a path'],
    ['POST /v1/invoices/%2e%2E/contracts/k1/cancel', 'is not a path'],
    ["POST '/v1/contracts/k1/cancel#/../../plans'", 'is not a path'],
    [String.raw`POST '/v1\contracts\k1/cancel'`, 'is not a path'],
    ["POST '/v1/contracts/k1/can\ncel'", 'is not a path'],
    ["GET '/v1/customers?limit=1#&offset=5'", 'is not a path'],
    ["GET '/v1/customers?limit=1\t0'", 'is not a path'],
    ['GET /v1/customers --input -', 'a GET has no body'],
    ['GET /v1/customers --json id', 'an answer is printed whole'],
  ])('%s is refused', async (line, words) => {
    const { code, stderr } = await createShell().run(`api ${line}`);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });

  test('asks before a write to production, like the command of its own', async () => {
    const env = { TALLY_BASE_URL: 'https://a.example', TALLY_API_KEY: `tally_live_${'0'.repeat(48)}` };
    const shell = createShell({ env });
    expect((await shell.run('api POST /v1/customers/c1/resume')).code).toBe(11);
    expect(shell.calls).toEqual([]);
  });

  test('shows a person what it sends to production, amounts included', async () => {
    const env = { TALLY_BASE_URL: 'https://a.example', TALLY_API_KEY: `tally_live_${'0'.repeat(48)}` };
    const shell = createShell({ env });
    const input = '{"amountCents":500000,"expiresAt":"2099-01-01T00:00:00Z"}';
    const line = 'api POST /v1/contracts/k1/credits/promotional/grant --input -';
    const { code, stderr } = await shell.run(line, { input, isTerminal: true, answers: ['no'] });
    expect(code).toBe(11);
    expect(stderr).toContain('Grant promotional credits to a contract: k1\n');
    expect(stderr).toContain('amountCents is 5000.00 USD');
  });

  test('does not print as its answer an entry that an earlier, different request made', async () => {
    const entry = { data: { id: 'e1', amountCents: 100 } } as unknown as Answer['body'];
    const shell = createShell({ reply: () => ({ body: entry, isReplay: true, mismatches: ['amountCents'] }) });
    const input = '{"amountCents":900,"expiresAt":"2099-01-01T00:00:00Z","externalId":"t1"}';
    const path = '/v1/contracts/k1/credits/promotional/grant';
    const { code, stdout, stderr } = await shell.run(`api POST ${path} --input -`, { input });
    expect([code, stdout]).toEqual([7, '']);
    expect(stderr).toContain('an entry with this externalId exists and differs in amountCents: nothing was created');
  });

  test('shows with --dry-run what would be sent as JSON, the one format of its answers', async () => {
    const { code, stdout } = await createShell().run('api POST /v1/customers/c1/resume --dry-run');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ dryRun: { method: 'POST', path: '/v1/customers/c1/resume' } });
  });

  test('--openapi prints the document', async () => {
    expect(JSON.parse((await createShell().run('api --openapi')).stdout)).toEqual({ openapi: '3.1.0' });
  });
});

describe('tally commands', () => {
  test('lists every command with its summary', async () => {
    const { stdout } = await createShell().run('commands');
    const pages = await localPages(manifest);
    const groups = pages.filter(({ words }) => /^(?:catalog|import|journal|profile|simulate)$/.test(words.join(' ')));
    expect(stdout.trimEnd().split('\n')).toHaveLength(manifest.commands.length + pages.length - groups.length);
    expect(stdout).toContain(
      'tally credits grant <contract-id>\tGrant promotional credits to a contract\tcontracts:write\n',
    );
    expect(stdout).toContain('tally backup <file>\tWrite a database to one file while it is used\t\n');
    expect(stdout).not.toMatch(/^tally catalog\t/m);
  });

  test.each([120, 80, 60, 30])('cuts nothing of a command on a terminal of %d columns', async (columns) => {
    const { stdout } = await createShell().run('commands', { isTerminal: true, columns });
    const lines = stdout.split('\n');
    const told = (await createShell().run('commands')).stdout.trimEnd().split('\n');
    for (const [command = '', summary = ''] of told.map((line) => line.split('\t'))) {
      const place = lines.findIndex((line) => line === command || line.startsWith(`${command}  `));
      expect([command, place >= 0]).toEqual([command, true]);
      if (columns >= 120) continue;
      const next = lines.findIndex((line, index) => index > place && !line.startsWith('  '));
      const below = lines.slice(place + 1, next === -1 ? undefined : next);
      expect(below.map((line) => line.trim()).join(' ')).toContain(summary);
      expect(below.filter((line) => line.length > columns)).toEqual([]);
    }
  });

  test('what is no operation stands in the reference of README too', async () => {
    const lines = (await createShell().run('commands')).stdout.trimEnd().split('\n');
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    for (const line of lines.slice(manifest.commands.length)) {
      const [command = '', summary = ''] = line.split('\t');
      expect(readme).toContain(`| \`${command.replaceAll('|', '\\|')}\` | ${summary} |`);
    }
  });

  test.each(['--json', '-o json'])(
    '%s is the whole manifest, with exit codes and what is no operation',
    async (flag) => {
      const { stdout } = await createShell().run(`commands ${flag}`);
      type Command = (typeof manifest.commands)[number] & { readonly exitCodes: readonly number[] };
      const told = JSON.parse(stdout) as Record<string, unknown> & { readonly commands: readonly Command[] };
      expect(told).toMatchObject(JSON.parse(JSON.stringify(manifest)));
      const grant = told.commands.find(({ operation }) => operation === 'credits.grant');
      expect(grant).toMatchObject({
        isWrite: true,
        scope: 'contracts:write',
        exitCodes: expect.arrayContaining([4, 7, 11]),
      });
      // Where --expect-env names another environment, a reading is refused, too.
      const list = told.commands.find(({ operation }) => operation === 'customers.list');
      expect(list).toMatchObject({ isWrite: false, exitCodes: expect.arrayContaining([11]) });
      // Some of many are not done, a check finds something, or the chart of a ledger would add up two currencies.
      const checking = told.commands.filter(({ exitCodes }) => exitCodes.includes(10));
      expect(checking.map(({ group, verb }) => `${group} ${verb}`)).toEqual([
        'customers create',
        'customers assign-csm',
        'credits grant',
        'credits ledger',
        'credits verify',
        'clock advance',
        'clock set',
        'bill run',
      ]);
      expect(told['exitCodes']).toMatchObject({ 0: 'done', 11: 'refused: confirmation needed or declined' });
      const serve = (await localPages(manifest)).find(({ words }) => words.join(' ') === 'serve');
      expect(told['localCommands']).toContainEqual(JSON.parse(JSON.stringify(serve)));
      expect(told['globalFlags']).toContainEqual({
        name: 'debug',
        description: 'print more detail when something fails',
      });
    },
  );
});

test('a flag that every command has means the same in all of them, unless the command says that it is its own', async () => {
  const everywhere = new Set<string>(globalFlags.map(({ name }) => name));
  const taken = (await localPages(manifest)).flatMap(({ words, flags }) =>
    flags
      .map(({ form }) => /--([a-z-]+)/.exec(form)?.[1] ?? '')
      .filter((name) => everywhere.has(name))
      .map((name) => `${words[0]} ${name}`),
  );
  const declared = Object.entries(localCommands).flatMap(([name, { ownFlags = [] }]) =>
    ownFlags.map((flag) => `${name} ${flag}`),
  );
  expect(taken).toEqual(declared);
});

test('a command says that it has verbs where it has', async () => {
  const pages = await localPages(manifest);
  const having = pages.filter(({ words }) => words.length > 1).map(({ words: [name = ''] }) => name);
  const said = Object.entries(localCommands).filter(([, { hasVerbs }]) => hasVerbs === true);
  const own = having.filter((name) => Object.hasOwn(localCommands, name));
  expect(new Set(said.map(([name]) => name))).toEqual(new Set(own));
});
