/** `tally pull`: documented operations alone, at the pace of the service, and to the end however often it is stopped. */

import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, dirname } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import { BillingError } from '../../../src/errors.ts';
import { limits } from '../../../src/limits.ts';
import { allOperations } from '../../../src/operations/all.ts';
import type { Billing } from '../../../src/operations/index.ts';
import type { CallInput } from '../../../src/operations/operation.ts';
import type { CommandResult } from '../../support/stage.ts';
import { openPullStage, results } from './pull-stage.ts';
import type { PullStage } from './pull-stage.ts';
import { listenOnLoopback } from '../../support/free-port.ts';
import { made, saved, stage } from '../../support/use-stage.ts';

let on: PullStage;
beforeEach(async () => {
  on = await openPullStage();
});

describe('pulling', () => {
  test('asks for documented operations alone, and changes nothing at the service', async () => {
    const routes = allOperations.flatMap(({ route, documented }) =>
      route === undefined || !documented
        ? []
        : [new RegExp(`^${route.method} ${route.path.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`)],
    );
    const begun = on.proxy.requests.length;
    await on.pullAll('--plan', on.plan);
    await on.pull(['--check']);
    const asked = on.proxy.requests.slice(begun);
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.filter((request) => !routes.some((route) => route.test(request)))).toEqual([]);
    expect(asked.filter((request) => !request.startsWith('GET ') && request !== 'POST /v1/usage/cost')).toEqual([]);
  });

  test('finds the customer of a contract by an invoice that its credits paid, else in the list of invoices', async () => {
    const begun = on.proxy.requests.length;
    await on.pullAll();
    const asked = on.proxy.requests.slice(begun);
    const { stdout } = await on.offline('customers', 'list', '-o', 'json');
    expect((JSON.parse(stdout) as { data: unknown[] }).data).toHaveLength(2);
    expect(asked.filter((request) => /invoices\/[^?]/.test(request))).toHaveLength(1);
    expect(asked.filter((request) => /invoices\?limit/.test(request)).length).toBeGreaterThan(0);
    const again = on.proxy.requests.length;
    await on.pull([]);
    expect(on.proxy.requests.slice(again).filter((request) => /invoices(\/|\?limit)/.test(request))).toEqual([]);
  });

  test('again says what is new, changed and the same, and brings the mirror up to date', async () => {
    const first = await on.pullAll('-o', 'json');
    expect(first.exitCode).toBe(0);
    expect(results(first.stdout)).toEqual(['new', 'new', 'new']);
    expect(first.stderr).toContain('not shown by the documented interface');
    expect(results((await on.pull(['-o', 'json'])).stdout)).toEqual(['same', 'same', 'same']);
    const grant = [
      'credits',
      'grant',
      on.contracts[2] ?? '',
      '--amount-cents',
      '250',
      '--expires-at',
      '2027-01-01T00:00:00Z',
    ];
    const entry = await made(...grant);
    const check = await on.pull(['--check', '-o', 'json']);
    expect(check.exitCode).toBe(10);
    expect(JSON.parse(check.stdout)).toEqual({
      data: [{ contractId: on.contracts[2], kind: 'entry', id: entry, difference: 'not in the mirror', fields: [] }],
    });
    const again = await on.pull(['-o', 'json']);
    const { data } = JSON.parse(again.stdout) as { data: unknown[] };
    expect(data).toMatchObject([{ result: 'same' }, { result: 'same' }, { result: 'changed', new: 1, changed: 0 }]);
    expect((await on.offline('credits', 'ledger', on.contracts[2] ?? '', '-o', 'name')).stdout).toContain(entry);
    expect((await on.pull(['--check'])).exitCode).toBe(0);
  });

  test('waits where the service has had too many requests, and loses and doubles nothing', async () => {
    on.beUnkind(true);
    const outcome = await on.pullAll('-o', 'json');
    expect(outcome.exitCode).toBe(0);
    expect(on.proxy.counts.refused).toBeGreaterThan(2);
    on.beUnkind(false);
    expect((await on.pull(['--check'])).exitCode).toBe(0);
  });

  test('of a contract whose service was away for a while ends like any other', async () => {
    const [id = ''] = on.contracts;
    let left: number = limits.requestAttempts;
    on.watch(() => {
      if (on.proxy.requests.at(-1)?.includes(id) !== true || left === 0) return;
      left -= 1;
      throw new Error('hung up');
    });
    const { exitCode, stdout, stderr } = await on.pull(['--contract', id, '-o', 'json']);
    expect([exitCode, results(stdout), left]).toEqual([0, ['new'], 0]);
    expect(stderr).toContain('trying again for half a minute');
  });

  async function nineContracts(): Promise<string[]> {
    const extra: string[] = [];
    for (let count = 0; count < 6; count += 1) {
      on.tick();
      const terms = ['--plan-id', on.plan, '--start-date', '2026-03-01', '--customer-id', on.acme];
      extra.push(await made('contracts', 'create', ...terms));
    }
    return [...on.contracts, ...extra];
  }

  /** Stops a pull in its middle. */
  async function interrupted(words: readonly string[]): Promise<CommandResult> {
    const outcome = await stopped(words, 12);
    expect(outcome.exitCode).toBe(130);
    return outcome;
  }

  /** Stops a pull while it waits for the answer to its request of that number. */
  async function stopped(words: readonly string[], requestNumber: number): Promise<CommandResult> {
    let stop: () => void = () => undefined;
    const untilStopped = async () => await new Promise<void>((resolve) => (stop = resolve));
    const from = on.proxy.requests.length;
    on.watch(() => {
      if (on.proxy.requests.length === from + requestNumber) stop();
    });
    const outcome = await on.pull([...words, '-o', 'json'], { untilStopped });
    on.watch(() => undefined);
    on.tick();
    return outcome;
  }

  /** Stops a pull of nine contracts in its middle. */
  async function pullInterrupted(): Promise<{ readonly all: readonly string[]; readonly before: readonly string[] }> {
    const all = await nineContracts();
    const { stdout, stderr } = await interrupted(['--contract', ...all]);
    expect(stderr).toContain('it goes on where it stopped');
    const before = results(stdout);
    expect(before).toContain('new');
    expect(before).toContain('pending');
    return { all, before };
  }

  test('that is interrupted after its last request is whole', async () => {
    const words = ['--contract', ...(await nineContracts())];
    await on.pull(words);
    const began = on.proxy.requests.length;
    await on.pull(words);
    const requestCount = on.proxy.requests.length - began;
    const outcome = await stopped(words, requestCount);
    expect([outcome.exitCode, results(outcome.stdout)]).toEqual([0, Array.from({ length: 9 }, () => 'same')]);
  });

  test('goes on where it was interrupted', async () => {
    const { all, before } = await pullInterrupted();
    const rest = await on.pull(['--contract', ...all, '-o', 'json']);
    expect(rest.exitCode).toBe(0);
    expect(results(rest.stdout)).toEqual(before.map((result) => (result === 'new' ? 'earlier' : 'new')));
    expect((await on.pull(['--check'])).exitCode).toBe(0);
    expect(results((await on.pull(['--contract', ...all, '-o', 'json'])).stdout)).toEqual(all.map(() => 'same'));
  });

  test('says of a check that was interrupted how much it did not compare, and not that it goes on', async () => {
    await on.pull(['--contract', ...(await nineContracts())]);
    const { stderr } = await interrupted(['--check']);
    expect(stderr).toMatch(/interrupted \([1-8] of 9 contracts not compared\)$/m);
    expect(stderr).not.toContain('goes on');
  });

  test.each([
    [23, true],
    [24, false],
    [-23, true],
    [-25, false],
  ])(
    'repeated %i hours after an interruption, by the clock of the machine, it goes on there: %s',
    async (hours, goesOn) => {
      const { all } = await pullInterrupted();
      stage.clock.advance({ hours });
      const rest = await on.pull(['--contract', ...all, '-o', 'json']);
      expect([rest.exitCode, results(rest.stdout).includes('earlier')]).toEqual([0, goesOn]);
    },
  );

  test.each([
    ['a plan', () => ['--plan', on.plan]],
    ['--published', () => ['--published']],
  ])('repeated with %s after an interruption, it reads again what it has pulled without', async (_, words) => {
    const { all } = await pullInterrupted();
    const rest = await on.pull(['--contract', ...all, ...words(), '-o', 'json']);
    expect(rest.exitCode).toBe(0);
    expect(results(rest.stdout)).not.toContain('earlier');
    const listed = await on.offline('contracts', 'list', '--columns', 'planId', '-o', 'tsv', '--quiet');
    expect(listed.stdout.trim().split('\n')).toEqual(all.map(() => on.plan));
  });

  test('an id that the service does not know is named, and the others are kept; one that is alone ends with 4', async () => {
    const unknown = '01900000-0000-7000-8000-00000000dead';
    const outcome = await on.pull(['--contract', on.contracts[0] ?? '', unknown, on.contracts[2] ?? '', '-o', 'json']);
    expect(outcome.exitCode).toBe(10);
    expect(outcome.stderr).toContain(`${unknown}: no contract has this id\n  hint: the others are done`);
    expect(results(outcome.stdout)).toEqual(['new', 'failed', 'new']);
    expect((await on.offline('credits', 'balance', on.contracts[2] ?? '')).exitCode).toBe(0);
    const alone = await on.pull(['--contract', unknown]);
    expect(alone).toMatchObject({ exitCode: 4, stdout: '' });
    expect(alone.stderr).not.toContain('the others');
    expect(results((await on.pull(['-o', 'json'])).stdout)).toEqual(['same', 'same']);
  });

  test('a key that may not read all of it is told which scope it lacks, and what helps', async () => {
    const words = ['keys', 'create', '--name', 'k', '--scopes', 'pricing:read', '--jq', '.data.key', '--quiet'];
    const key = (await stage.tally(words)).stdout.trim().replaceAll('"', '');
    const env = { ...stage.remote, TALLY_API_KEY: key };
    const { exitCode, stderr } = await on.pull(['--contract', ...on.contracts], { env });
    expect([exitCode, stderr]).toEqual([6, expect.stringContaining('(3 of 3 contracts not pulled)')]);
    expect(stderr).toContain(
      'hint: use a key that has this scope; then repeat the command: it goes on where it stopped',
    );
    expect(stderr).not.toContain(key);
  });

  test('a service that wants a longer wait than a command makes has its word printed', async () => {
    const server = createServer(({ url }, response) => {
      if (url?.startsWith('/v1/pricing') === true) response.end('{"data":[],"total":0,"hasMore":false}');
      else response.writeHead(429, { 'retry-after': '3600' }).end('{}');
    });
    const port = await listenOnLoopback(server);
    const url = `http://127.0.0.1:${port}`;
    const outcome = await on.pull(['--contract', ...on.contracts], {
      env: { ...stage.remote, TALLY_BASE_URL: url },
    });
    server.close();
    expect(outcome.exitCode).toBe(5);
    expect(outcome.stderr).toContain('\n  hint: wait 3600 s, and repeat the command');
  });

  /** A service that answers at once, that knows every contract as one of Acme, and that fails for one. */
  const openPrompt = (failing?: string) => async () => {
    const bodies: Readonly<Record<string, object>> = {
      'credits.ledger': { data: { entries: [] } },
      'budgets.usage': { data: {} },
      'usage.cost': {},
      'customers.get': { data: { id: 'acme', name: 'Acme' } },
    };
    const call = async (name: string, { params }: CallInput = {}) => {
      if (failing !== undefined && params?.['contractId'] === failing)
        throw new BillingError('internal', 'out of order');
      return await Promise.resolve({ status: 200, body: bodies[name] ?? { data: [], total: 0, hasMore: false } });
    };
    return await Promise.resolve({ billing: { call } as Billing, close: async () => {} });
  };

  test('counts a customer of two contracts once, however fast the service answers', async () => {
    const words = ['--contract', 'a', 'b', '--customer', 'acme', '-o', 'json'];
    const { stdout, stderr } = await on.pull(words, { openBilling: openPrompt() });
    expect(results(stdout)).toEqual(['new', 'new']);
    // The customer, and of each contract itself and its budgets.
    expect(stderr).toContain('2 of 2 contracts; 5 records new, 0 changed, 1 same');
  });

  test('gives the customer of a flag to no contract for which another row of the file names one', async () => {
    const path = saved('ids.csv', 'contractId,customerId\na,acme\na,\nb,\n');
    const words = ['--from', path, '--customer', 'globex', '-o', 'json'];
    const { stdout } = await on.pull(words, { openBilling: openPrompt() });
    const { data } = JSON.parse(stdout) as { data: { contractId: string; customerId: string }[] };
    expect(data.map(({ contractId, customerId }) => [contractId, customerId])).toEqual([
      ['a', 'acme'],
      ['b', 'globex'],
    ]);
  });

  test('of which one contract failed is gone on with by the same command', async () => {
    const words = ['--contract', 'a', 'b', 'c', '--customer', 'acme', '-o', 'json'];
    const first = await on.pull(words, { openBilling: openPrompt('b') });
    expect([first.exitCode, results(first.stdout)]).toEqual([10, ['new', 'failed', 'new']]);
    const second = await on.pull(words, { openBilling: openPrompt() });
    expect([second.exitCode, results(second.stdout)]).toEqual([0, ['earlier', 'new', 'earlier']]);
    expect(second.stderr).toContain('2 of 3 were pulled before the interruption');
  });

  test('takes a price out of the list where the service does, and keeps it for the plans that have it', async () => {
    const price = ['--product-name', 'Support', '--name', 'Spare', '--model', 'FLAT', '--unit-amount', '5'];
    const spare = await made('pricing', 'create', ...price, '--price-interval', 'MONTH');
    await on.pullAll();
    const listed = async () => (await on.offline('pricing', 'list', '-o', 'name')).stdout.trim().split('\n');
    const before = await listed();
    expect(before).toContain(spare);
    await made('pricing', 'archive', spare);
    const check = await on.pull(['--check', '-o', 'json']);
    const gone = { contractId: null, kind: 'pricing', id: spare, difference: 'not at the service', fields: [] };
    expect([check.exitCode, JSON.parse(check.stdout)]).toEqual([10, { data: [gone] }]);
    expect((await on.pull([])).stderr).toContain('0 records new, 0 changed');
    expect(await listed()).toEqual(before.filter((id) => id !== spare));
    expect((await on.offline('pricing', 'get', spare)).exitCode).toBe(0);
    expect((await on.pull(['--check'])).exitCode).toBe(0);
  });

  test('--published that got no contract is not heeded again', async () => {
    expect((await on.pullAll()).exitCode).toBe(0);
    const unknown = '01900000-0000-7000-8000-00000000dead';
    expect((await on.pull(['--contract', unknown, '--published'])).exitCode).toBe(4);
    const from = on.proxy.requests.length;
    expect((await on.pull([])).exitCode).toBe(0);
    expect(on.proxy.requests.slice(from)).not.toContain(`GET /v1/contracts/${on.contracts[0]}`);
    expect((await on.pull(['--published'])).exitCode).toBe(0);
    expect((await on.pull([])).exitCode).toBe(0);
    expect(on.proxy.requests.filter((each) => each === `GET /v1/contracts/${on.contracts[0]}`)).toHaveLength(2);
  });

  test('a file that got no contract goes again where the pull had made it, and what stands beside it', async () => {
    expect((await on.pull(['--contract', '01900000-0000-7000-8000-00000000dead'])).exitCode).toBe(4);
    expect(readdirSync(dirname(on.mirror)).filter((name) => name.startsWith(basename(on.mirror)))).toEqual([]);
  });

  test.each([
    ['ids alone', () => `${on.contracts.join('\n')}\n\n`],
    [
      'CSV with more columns',
      () => ['name,Contract ID,plan-id', ...on.contracts.map((id) => `x,${id},${on.plan}`)].join('\n'),
    ],
    [
      'what on.contracts list writes',
      () => ['id,customerId,planId', ...on.contracts.map((id) => `${id},,`)].join('\n'),
    ],
  ])('takes a file of %s', async (_, text) => {
    const path = saved('ids.csv', text());
    expect(results((await on.pull(['--from', path, '-o', 'json'])).stdout)).toEqual(['new', 'new', 'new']);
  });

  test.each([
    ['a header without ids', 'name,plan\nx,y\n', 'there is no column contractId'],
    ['an empty file', '', 'ids.csv names no contract\n  hint: a file has one id per line'],
    ['a header alone', 'contractId,planId\n', 'ids.csv names no contract\n  hint: a file has one id per line'],
    ['a row without an id', 'contractId,planId\n,y\n', 'line 2 has no contract id'],
  ])('refuses %s, and makes no file', async (_, text, words) => {
    const path = saved('ids.csv', text);
    expect(await on.pull(['--from', path])).toMatchObject({ exitCode: 8, stderr: expect.stringContaining(words) });
    expect(existsSync(on.mirror)).toBe(false);
  });
});
