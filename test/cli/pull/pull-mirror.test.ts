/** A mirror of a remote service: the same answers under the same ids, and a file that nothing else is taken for. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { beforeEach, describe, expect, test } from 'vitest';

import type { Target } from '../../../src/cli/target/target.ts';
import { openPullStage, results } from './pull-stage.ts';
import type { PullStage } from './pull-stage.ts';
import { BillingError, NotFoundError } from '../../../src/errors.ts';
import type { Billing } from '../../../src/operations/index.ts';
import type { CallInput } from '../../../src/operations/operation.ts';
import { openMirror, openMirrorOf } from '../../../src/store/mirror-file.ts';
import { launcher } from '../../support/program.ts';
import { made, saved, stage } from '../../support/use-stage.ts';

let on: PullStage;
beforeEach(async () => {
  on = await openPullStage();
});

const shownOf = (contract: string) => [
  ['credits', 'ledger', contract],
  ['credits', 'ledger', contract, '--type', 'usage'],
  ['credits', 'ledger', contract, '--limit', '1', '--offset', '1'],
  ['credits', 'balance', contract],
  ['budgets', 'list', contract],
  ['budgets', 'usage', contract],
];

describe('what the mirror answers', () => {
  test('stays as it was when another service has moved in at the address', async () => {
    expect((await on.pullAll()).exitCode).toBe(0);
    expect((await stage.tally(['orgs', 'create', '--name', 'other', '--yes'])).exitCode).toBe(0);
    const key = ['keys', 'create', '--org', 'other', '--name', 'k', '--scopes', '*', '--jq', '.data.key', '--quiet'];
    const { stdout } = await stage.tally(key);
    const env = { ...stage.remote, TALLY_API_KEY: stdout.trim().replaceAll('"', '') };
    const price = ['--product-name', 'Other', '--name', 'Theirs', '--model', 'FLAT', '--unit-amount', '1'];
    const made = await stage.tally(['pricing', 'create', ...price, '--price-interval', 'MONTH'], {}, { env });
    expect(made.exitCode).toBe(0);
    const before = await on.offline('pricing', 'list', '-o', 'json');
    expect((await on.pull([], { env })).exitCode).toBe(4);
    expect((await on.offline('pricing', 'list', '-o', 'json')).stdout).toBe(before.stdout);
  });

  test('is what the service answers, byte for byte, under the same ids', async () => {
    await on.pullAll('--plan', on.plan);
    const invoices = JSON.parse((await stage.tally(['invoices', 'list', '--all', '-o', 'json'])).stdout) as {
      data: { id: string; status: string }[];
    };
    expect(new Set(invoices.data.map(({ status }) => status))).toEqual(new Set(['Drafted', 'In Progress', 'Paid']));
    const [oldest] = invoices.data.toReversed();
    const [contract = ''] = on.contracts;
    const ledger = JSON.parse((await stage.tally(['credits', 'ledger', contract, '-o', 'json'])).stdout) as {
      data: { entries: { createdAt: string }[] };
    };
    const newest = ledger.data.entries[0]?.createdAt ?? '';
    const commands = [
      ...on.contracts.flatMap(shownOf),
      ['credits', 'ledger', contract, '--created-after', newest],
      ['credits', 'ledger', contract, '--created-before', newest],
      ['customers', 'list'],
      ['customers', 'get', on.acme],
      ['customers', 'list', '--external-customer-id', 'globex'],
      ['plans', 'get', on.plan],
      ['pricing', 'list'],
      ['pricing', 'list', '--model', 'FLAT'],
      ['invoices', 'list', '--all'],
      ['invoices', 'list', '--all', '--include', 'lineItems'],
      ['invoices', 'list', '--customer-id', on.acme, '--limit', '3', '--offset', '2'],
      [
        'invoices',
        'list',
        '--status',
        'in-progress',
        '--created-after',
        '2026-01-01',
        '--created-before',
        '2026-04-01',
      ],
      ['invoices', 'get', oldest?.id ?? '', '--include', 'lineItems'],
      ['invoices', 'get', oldest?.id ?? ''],
    ];
    const differing: string[] = [];
    for (const words of commands) {
      const [there, here] = [await stage.tally([...words, '-o', 'json']), await on.offline(...words, '-o', 'json')];
      expect([words, there.exitCode, there.stdout.length > 20]).toEqual([words, 0, true]);
      if (there.stdout !== here.stdout) differing.push(words.join(' '));
    }
    expect(differing).toEqual([]);
  });

  test('has the time of the service, whatever the clock of the machine that pulled', async () => {
    const [contract = ''] = on.contracts;
    const pulled = await on.pull(['--contract', contract], {
      machine: { platform: process.platform, userId: process.getuid?.(), now: () => Date.parse('2030-01-01') },
    });
    expect(pulled.exitCode).toBe(0);
    const words = ['credits', 'balance', contract, '-o', 'json'];
    const { stdout } = await stage.tally(words);
    expect(JSON.parse(stdout)).not.toMatchObject({ data: { balance: { balanceCents: 0 } } });
    expect((await on.offline(...words)).stdout).toBe(stdout);
  });

  test.each([
    ['whole amounts with decimals', /"(?:amountCents|creditRateCents)":-?\d+/g, '$&.0'],
    ['null in place of no credits', /"(creditAmount|creditRateCents)":0(?=[,}])/g, '"$1":null'],
  ])('is the same balance where the service writes %s', async (_what, form, instead) => {
    await on.pullAll();
    const [contract = ''] = on.contracts;
    const words = ['credits', 'balance', contract, '-o', 'json'];
    const before = await on.offline(...words);
    const file = new DatabaseSync(on.mirror);
    const { body } = file.prepare(`SELECT body FROM records WHERE kind = 'ledger' AND id = ?`).get(contract) ?? {};
    const written = String(body).replaceAll(form, instead);
    expect(written).not.toBe(body);
    file.prepare(`UPDATE records SET body = ? WHERE kind = 'ledger' AND id = ?`).run(written, contract);
    file.close();
    expect(await on.offline(...words)).toEqual(before);
  });

  test('is no balance where an entry does not say which grant it moves', async () => {
    await on.pullAll();
    const [contract = ''] = on.contracts;
    const file = new DatabaseSync(on.mirror);
    const { body } = file.prepare(`SELECT body FROM records WHERE kind = 'ledger' AND id = ?`).get(contract) ?? {};
    const written = String(body).replaceAll(/"grantEntryId":"[^"]+"/g, '"grantEntryId":null');
    file.prepare(`UPDATE records SET body = ? WHERE kind = 'ledger' AND id = ?`).run(written, contract);
    file.close();
    expect(await on.offline('credits', 'balance', contract)).toMatchObject({
      exitCode: 7,
      stdout: '',
      stderr: expect.stringMatching(
        /^tally: entry \S+ \(usage\) names no grant, so what the grants hold cannot be told\n/,
      ),
    });
  });

  test('of a balance is in the currency of its ledger', async () => {
    await on.pullAll();
    const database = new DatabaseSync(on.mirror);
    database.exec(`UPDATE records SET body = replace(body, '"USD"', '"EUR"') WHERE kind = 'ledger'`);
    database.close();
    const { stdout } = await on.offline('credits', 'balance', on.contracts[0] ?? '', '-o', 'json');
    expect(stdout.match(/"currency": "\w+"/g)).toEqual(Array.from({ length: 3 }, () => '"currency": "EUR"'));
  });

  test('of a contract is its dates and customer, its plan where it was named, and all of it with --published', async () => {
    await on.pullAll('--plan', on.plan);
    const get = async (contract = '') => {
      const { stdout } = await on.offline('contracts', 'get', contract, '-o', 'json');
      return (JSON.parse(stdout) as { data: unknown }).data;
    };
    const [rolling, fixed] = on.contracts;
    expect(await get(rolling)).toEqual({ id: rolling, customerId: on.acme, planId: on.plan, startDate: '2026-01-01' });
    expect(await get(fixed)).toMatchObject({ startDate: '2026-01-01', endDate: '2026-06-01' });
    await on.pull(['--published']);
    for (const words of [
      ['get', fixed ?? ''],
      ['list'],
      ['list', '--is-active', 'true', '--external-customer-id', 'acme'],
    ]) {
      const command = ['contracts', ...words, '-o', 'json'];
      expect((await on.offline(...command)).stdout).toBe((await stage.tally(command)).stdout);
    }
    // Once they are read, refreshing keeps them.
    const again = await on.pull(['-o', 'json']);
    expect(results(again.stdout)).toEqual(['same', 'same', 'same']);
    expect(await get(fixed)).toMatchObject({ isActive: true });
  });

  test('is nothing that was not pulled, and what a mirror cannot know is refused', async () => {
    await on.pull(['--contract', on.contracts[2] ?? '']);
    const [other = '', , pulled = ''] = on.contracts;
    const refusals: readonly (readonly [readonly string[], number, string])[] = [
      [['credits', 'ledger', other], 4, 'the mirror has no contract with this id'],
      [['invoices', 'list', '--include', 'period'], 8, 'include: a mirror has no periods, which the documented'],
      [
        ['credits', 'ledger', pulled, '--include', 'origin'],
        8,
        'include: a mirror has no origins, which the documented',
      ],
      [
        ['credits', 'balance', pulled, '--include', 'projected'],
        8,
        'include: a mirror cannot project, since it has no',
      ],
      [['customers', 'list', '--limit', '0'], 8, 'limit: must be'],
      [
        ['meters', 'list'],
        12,
        '; it has no answer to meters list\n  hint: ask the service itself with --profile, or try',
      ],
    ];
    for (const [words, exitCode, said] of refusals) {
      expect(await on.offline(...words)).toEqual({ exitCode, stdout: '', stderr: expect.stringContaining(said) });
    }
    expect((await on.offline('plans', 'get', on.plan)).exitCode).toBe(4);
    expect(results((await on.offline('customers', 'list', '-o', 'json')).stdout)).toHaveLength(1);
  });

  test('never changes: writes, billing, the clock, doctor, backup and service refuse it', async () => {
    await on.pullAll();
    const before = readFileSync(on.mirror);
    const [contract = ''] = on.contracts;
    const refused = [
      ['credits', 'grant', contract, '--amount-cents', '1', '--expires-at', '2027-01-01T00:00:00Z'],
      ['contracts', 'cancel', contract],
      ['bill', 'run'],
      ['clock', 'reset'],
      ['doctor'],
      ['usage', 'cost', '--contract-id', contract],
      ['orgs', 'list'],
    ];
    for (const words of refused) {
      const { exitCode, stdout, stderr } = await on.offline(...words, '--yes');
      expect([words, exitCode, stdout]).toEqual([words, 12, '']);
      expect(stderr).toContain(`mirrors`);
    }
    const changes = refused.slice(0, 4);
    for (const words of [...changes, ['customers', 'update', on.acme, '--name', 'Other']]) {
      const { exitCode, stdout, stderr } = await on.offline(...words, '--dry-run');
      expect([words, exitCode, stdout]).toEqual([words, 12, '']);
      expect(stderr).toContain('it is read-only');
    }
    expect((await on.offline('backup', join(stage.directory, 'copy.db'))).exitCode).toBe(12);
    expect(existsSync(join(stage.directory, 'copy.db'))).toBe(false);
    expect(readFileSync(on.mirror).equals(before)).toBe(true);
  });
});

describe('the file', () => {
  test('takes no copy of a book, and its dry run says so, too', async () => {
    expect((await on.pullAll()).exitCode).toBe(0);
    const before = readFileSync(on.mirror);
    const words = ['copy', '--from', join(stage.directory, 'stage.db'), '--to', on.mirror];
    const [real, dry] = [await stage.tally(words), await stage.tally([...words, '--dry-run'])];
    expect(real).toMatchObject({ exitCode: 12, stdout: '' });
    expect(dry).toEqual(real);
    expect(readFileSync(on.mirror).equals(before)).toBe(true);
  });

  test('is never another database, nor the mirror of another service', async () => {
    const database = join(stage.directory, 'own.db');
    await stage.tally(['customers', 'list'], {}, { env: { TALLY_DATABASE: database } });
    const text = saved('notes.txt', 'notes');
    for (const path of [database, text]) {
      const before = readFileSync(path);
      const outcome = await stage.tally(['pull', '--to', path, '--contract', ...on.contracts]);
      expect(outcome).toMatchObject({ exitCode: 7, stdout: '' });
      expect(outcome.stderr).toContain('is not a mirror');
      expect(readFileSync(path).equals(before)).toBe(true);
    }
    await on.pullAll();
    const openBilling = async (_target: Target) => await Promise.reject(new Error('nothing may be asked'));
    const env = {
      TALLY_BASE_URL: 'http://127.0.0.1:9',
      TALLY_API_KEY: `tb_live_${'a'.repeat(48)}`,
      TALLY_ENVIRONMENT: 'sandbox',
    };
    const other = await on.pull([], { env, openBilling });
    expect(other.exitCode).toBe(7);
    expect(other.stderr).toContain('http://127.0.0.1:9');
  });

  test('has to be there for a check, and for a pull that names no contract', async () => {
    expect((await on.pull(['--check', '--contract', ...on.contracts])).exitCode).toBe(4);
    expect((await on.pull([])).exitCode).toBe(4);
    expect((await stage.tally(['pull', '--contract', ...on.contracts])).exitCode).toBe(2);
    expect((await on.pull(['--contract', ...on.contracts, '--dry-run'])).exitCode).toBe(2);
    const local = await on.pull(['--contract', ...on.contracts], { env: { TALLY_DATABASE: on.mirror } });
    expect(local.exitCode).toBe(12);
    expect(existsSync(on.mirror)).toBe(false);
  });

  test('of which somebody changed a record is found to differ, record by record, and is left as it is', async () => {
    await on.pullAll('--plan', on.plan);
    const database = new DatabaseSync(on.mirror);
    const change = (kind: string, from: string, to: string) =>
      database.prepare('UPDATE records SET body = replace(body, ?, ?) WHERE kind = ?').run(from, to, kind);
    // Acme has two contracts.
    change('customer', '"Acme"', '"Initech"');
    change('ledger', '"amountCents":700', '"amountCents":701');
    database.exec("DELETE FROM records WHERE rowid IN (SELECT rowid FROM records WHERE kind = 'invoice' LIMIT 1)");
    database.exec(
      "INSERT INTO records SELECT kind, 'other', contractId, rank, body, pulledAt FROM records WHERE kind = 'invoice' LIMIT 1",
    );
    database.close();
    const before = join(stage.directory, 'before.db');
    copyFileSync(on.mirror, before);
    const { exitCode, stdout, stderr } = await on.pull(['--check', '-o', 'json']);
    expect(exitCode).toBe(10);
    expect(stderr).toContain(
      '3 of 3 contracts compared: 4 differences\ntally: the mirror differs from the service in 4 places',
    );
    const { data } = JSON.parse(stdout) as { data: { kind: string; difference: string; fields: string[] }[] };
    expect(data.map(({ kind, difference, fields }) => `${kind} ${difference} ${fields.join()}`).toSorted()).toEqual([
      'customer differs name',
      'entry differs amountCents',
      'invoice not at the service ',
      'invoice not in the mirror ',
    ]);
    expect(readFileSync(on.mirror).equals(readFileSync(before))).toBe(true);
    expect((await on.pull([])).exitCode).toBe(0);
    expect((await on.pull(['--check'])).exitCode).toBe(0);
  });

  test('has the prices of a plan that are listed no more, each under its id', async () => {
    const price = ['--name', 'Old seat', '--model', 'FLAT', '--unit-amount', '5', '--price-interval', 'MONTH'];
    const old = await made('pricing', 'create', '--product-name', 'Seats', ...price);
    const plan = await made('plans', 'create', '--name', 'Old plan', '--item', `pricingId=${old}`);
    const terms = ['--customer-id', on.acme, '--plan-id', plan, '--start-date', '2026-03-01'];
    const contract = await made('contracts', 'create', ...terms);
    await made('plans', 'archive', plan);
    await made('pricing', 'archive', old);
    expect((await on.pull(['--contract', contract, '--plan', plan])).exitCode).toBe(0);
    const asked = ['pricing', 'get', old, '-o', 'json'];
    expect((await on.offline(...asked)).stdout).toBe((await stage.tally(asked)).stdout);
  });

  test('is said to lack at the service only what the service does not know', async () => {
    await on.pullAll();
    const [failing = '', unknown = ''] = on.contracts;
    const call = async (_name: string, { params }: CallInput = {}) => {
      if (params === undefined)
        return await Promise.resolve({ status: 200, body: { data: [], total: 0, hasMore: false } });
      throw params['contractId'] === failing
        ? new BillingError('internal', 'internal error')
        : new NotFoundError('none');
    };
    const openBilling = async () => await Promise.resolve({ billing: { call } as Billing, close: async () => {} });
    const words = ['--check', '--contract', failing, unknown, '-o', 'json'];
    const { exitCode, stdout, stderr } = await on.pull(words, { openBilling });
    expect([exitCode, stderr]).toEqual([10, expect.stringContaining(`${failing}: internal error`)]);
    const { data } = JSON.parse(stdout) as { data: { kind: string }[] };
    expect(data.filter(({ kind }) => kind === 'contract')).toEqual([
      { contractId: unknown, kind: 'contract', id: unknown, difference: 'not at the service', fields: [] },
    ]);
  });

  test('stays when one of two first pulls finds nothing, and the other goes on in it', async () => {
    const source = { environment: 'sandbox', address: 'http://127.0.0.1:9', hasContracts: false };
    const facts = { pulledAt: '2026-03-05T00:00:00.000Z' };
    const plan = { kind: 'plan' as const, id: 'plan', rank: 0, body: { id: 'plan' } };
    const [one, other, third] = await Promise.all([1, 2, 3].map(async () => await openMirrorOf(source, on.mirror)));
    await one?.noteRun({ digest: 'one', startedAt: facts.pulledAt });
    await Promise.all([other, third].map(async (mirror) => await mirror?.keep([plan], facts)));
    await one?.close();
    await other?.keep([{ ...plan, id: 'plan 2' }], facts);
    await Promise.all([other?.close(), third?.close()]);
    const made = await openMirror(on.mirror);
    expect((await made.list('plan', {})).total).toBe(2);
    await made.close();
  });

  test('of a pull that was killed holds whole contracts, and the same command ends it', async () => {
    const env = {
      PATH: process.env['PATH'],
      TALLY_CONFIG_DIR: join(stage.directory, 'config'),
      TALLY_DATA_DIR: join(stage.directory, 'data'),
      ...stage.remote,
      TALLY_ENVIRONMENT: 'sandbox',
    };
    const terms = ['--plan-id', on.plan, '--start-date', '2026-03-01', '--customer-id', on.acme];
    const contracts = [...on.contracts];
    while (contracts.length < 6) contracts.push(await made('contracts', 'create', ...terms));
    const words = ['pull', '--to', on.mirror, '--contract', ...contracts, '-o', 'json'];
    const child = spawn(process.execPath, [launcher, ...words], { env });
    on.watch(() => {
      // Four are pulled at a time, and the first of them makes the file.
      if (existsSync(on.mirror)) child.kill('SIGKILL');
    });
    const [, signal] = (await once(child, 'close')) as [number | null, string | null];
    expect(signal).toBe('SIGKILL');
    on.watch(() => undefined);
    const rest = await on.pull(['--contract', ...contracts, '-o', 'json']);
    expect(rest.exitCode).toBe(0);
    expect((await on.pull(['--check'])).exitCode).toBe(0);
    expect((await on.offline('invoices', 'list', '--all', '-o', 'name')).stdout).toBe(
      (await stage.tally(['invoices', 'list', '--all', '-o', 'name'])).stdout,
    );
  });
});
