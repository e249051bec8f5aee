/** `--dry-run` on a real service: the request everywhere, and what would be answered where the service is in this process. */

import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import type { Surface } from '../../support/stage.ts';
import { made, openStage, saved, stage } from '../../support/use-stage.ts';

let customer: string;
let contract: string;

const tally = async (...words: string[]) => await stage.tally(words);
const json = async (...words: string[]): Promise<unknown> => JSON.parse((await tally(...words, '-o', 'json')).stdout);

async function begin(surface: Surface): Promise<void> {
  await openStage(surface);
  const contact = ['--contact', 'name=Ada,email=ada@acme.example,roles=primary'];
  const flat = ['--model', 'FLAT', '--unit-amount', '1', '--price-interval', 'MONTH'];
  customer = await made('customers', 'create', '--name', 'Acme', ...contact);
  const price = await made('pricing', 'create', '--product-name', 'P', '--name', 'Fee', ...flat);
  const plan = await made('plans', 'create', '--name', 'Plan', '--item', `pricingId=${price}`);
  const parties = ['--customer-id', customer, '--plan-id', plan];
  contract = await made('contracts', 'create', ...parties, '--start-date', '2026-03-01');
}

const grant = ['--amount-cents', '500', '--expires-at', '2099-01-01T00:00:00Z'];

describe('in this process', () => {
  beforeEach(async () => await begin('embedded'));

  test('the request is followed by what would be answered, and nothing is changed', async () => {
    const before = await json('customers', 'get', customer);
    const { stdout, stderr } = await tally('customers', 'update', customer, '--name', 'Other', '--dry-run');
    const request = `PATCH /v1/customers/${customer}\n\n{\n  "name": "Other"\n}\n`;
    expect(stdout).toMatch(new RegExp(`^${request.replaceAll(/[{}]/g, String.raw`\$&`)}\n${customer}\tOther\t.*\n$`));
    expect(stderr).toBe('dry run on embedded: nothing was changed\n');
    expect(await json('customers', 'get', customer)).toEqual(before);
  });

  test('a grant shows the balance that it would leave, as JSON beside the request', async () => {
    const answer = await json('credits', 'grant', contract, ...grant, '--dry-run');
    expect(answer).toMatchObject({
      dryRun: { body: { amountCents: 500 }, wouldAnswer: { data: { type: 'grant', balanceAfterCents: 500 } } },
    });
    expect((await tally('credits', 'ledger', contract)).stdout).toBe('');
    expect((await tally('journal', 'list', '--operation', 'credits.grant')).stdout).toBe('');
    expect((await tally('credits', 'verify', contract)).exitCode).toBe(0);
  });

  test('what is not there, or cannot be done now, is refused as it would be', async () => {
    const nobody = '01900000-0000-7000-8000-00000000dead';
    const unknown = await tally('credits', 'grant', nobody, ...grant, '--dry-run');
    expect(unknown).toMatchObject({ exitCode: 4, stdout: '', stderr: expect.stringContaining(nobody) });
    const invoice = (await tally('invoices', 'list', '-o', 'name')).stdout.split('\n')[0] ?? '';
    expect(await tally('invoices', 'send', invoice, '--dry-run')).toMatchObject({ exitCode: 7, stdout: '' });
    const budget = ['--event-property-key', 'model', '--event-property-value', 'a', '--max-credits-cents', '5'];
    await tally('budgets', 'add', contract, ...budget);
    const remove = ['budgets', 'remove', contract, '0', '--dry-run'];
    expect(await tally(...remove)).toMatchObject({ exitCode: 0 });
    expect(await tally(...remove, '--if-match', 'seen-before')).toMatchObject({ exitCode: 7, stdout: '' });
    expect(await tally('keys', 'rotate', nobody, '--dry-run')).toMatchObject({ exitCode: 4, stdout: '' });
    expect(await tally('webhooks', 'rotate', nobody, '--dry-run')).toMatchObject({ exitCode: 4, stdout: '' });
  });

  test('no secret is made, and time is not rehearsed', async () => {
    const create = await json('keys', 'create', '--name', 'ci', '--scopes', '*', '--dry-run');
    expect(create).toEqual({ dryRun: { method: 'CALL', path: 'keys.create', body: { name: 'ci', scopes: ['*'] } } });
    const set = await json('clock', 'set', '--to', '2027-01-01T00:00:00Z', '--dry-run');
    expect(set).toEqual({ dryRun: { method: 'CALL', path: 'clock.set', body: { to: '2027-01-01T00:00:00Z' } } });
  });
});

test('the clock is refused beforehand what reading it tells', async () => {
  await begin('embedded');
  for (const words of [
    ['set', '--to', '2020-01-01T00:00:00Z'],
    ['advance', '--to', '2020-01-01T00:00:00Z'],
    ['advance', '--by', 'P200Y'],
  ]) {
    const [dry, real] = [await tally('clock', ...words, '--dry-run'), await tally('clock', ...words, '--yes')];
    expect(dry).toEqual(real);
    expect(dry.exitCode).toBeGreaterThan(0);
  }
  expect(await json('clock', 'show')).toMatchObject({ data: { isSimulated: false } });
  expect(await tally('clock', 'advance', '--by', 'P1Y')).toMatchObject({ exitCode: 0 });
  const dry = await tally('clock', 'reset', '--dry-run');
  expect(dry).toEqual(await tally('clock', 'reset', '--yes'));
  expect(dry).toMatchObject({ exitCode: 7, stderr: expect.stringContaining('which is still in the future') });
  expect((await tally('clock', 'advance', '--by', 'P1D', '--dry-run')).exitCode).toBe(0);
});

test('the clock of a database without records may be set anywhere, and a rehearsal says so', async () => {
  await openStage('embedded');
  const words = ['clock', 'set', '--to', '2020-01-01T00:00:00Z'];
  expect((await tally(...words, '--dry-run')).exitCode).toBe(0);
  expect((await tally(...words)).exitCode).toBe(0);
});

describe('elsewhere', () => {
  beforeEach(async () => await begin('http'));

  test('the request alone is shown, and nothing is sent', async () => {
    const answer = await json('customers', 'update', customer, '--name', 'Other', '--dry-run');
    expect(answer).toEqual({
      dryRun: {
        method: 'PATCH',
        path: `/v1/customers/${customer}`,
        baseUrl: expect.stringMatching(/^http:/),
        authorization: expect.stringContaining('…'),
        body: { name: 'Other' },
      },
    });
    expect(await json('customers', 'get', customer)).toMatchObject({ data: { name: 'Acme' } });
  });

  test('what only a database does has no request, and is refused as it would be', async () => {
    for (const words of [
      ['keys', 'create', '--name', 'ci', '--scopes', '*'],
      ['clock', 'reset'],
    ]) {
      const remotely = async (flag: string) => await stage.tally([...words, flag], {}, { env: stage.remote });
      const [dry, real] = [await remotely('--dry-run'), await remotely('--yes')];
      expect(dry).toMatchObject({ exitCode: real.exitCode, stdout: '' });
      expect(dry).toMatchObject({ exitCode: 12, stderr: expect.stringContaining('needs a database') });
    }
  });
});

describe('a command that is no operation', () => {
  beforeEach(async () => await begin('embedded'));

  test.each([
    'backup ./made.db',
    'demo --into ./made',
    'profile add made --database ./made.db',
    'profile remove made',
    'webhooks deliver',
    'webhooks listen',
    'serve --port 0',
  ])('and cannot say before what it does is not run: %s', async (line) => {
    const { exitCode, stdout, stderr } = await tally(...inDirectory(line), '--dry-run', '--yes');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('this one was not run');
    expect(readdirSync(stage.directory).filter((name) => name.startsWith('made'))).toEqual([]);
  });

  test('restore holds the backup to its manifest, and makes nothing', async () => {
    await tally(...inDirectory('backup ./copy.db'));
    const { exitCode, stderr } = await tally(...inDirectory('restore ./copy.db --to ./made.db'), '--dry-run');
    expect(exitCode).toBe(0);
    expect(stderr).toContain('nothing was made');
    expect(existsSync(join(stage.directory, 'made.db'))).toBe(false);
  });

  test('copy counts what there is to copy, and makes nothing', async () => {
    const { exitCode, stdout } = await tally(...inDirectory('copy --to ./made.db'), '--dry-run');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^contracts\t1$/m);
    expect(existsSync(join(stage.directory, 'made.db'))).toBe(false);
  });

  const inDirectory = (line: string): string[] =>
    line.split(' ').map((word) => (word.startsWith('./') ? join(stage.directory, word) : word));
});

test.each<Surface>(['embedded', 'http'])('the policy judges a grant that is not sent, %s', async (surface) => {
  await begin(surface);
  mkdirSync(join(stage.directory, 'config'), { recursive: true });
  saved('config/policy.yaml', 'grants:\n  per-customer-and-month: 9.00\n');
  const words = ['credits', 'grant', contract, ...grant];
  expect(await tally(...words, '--dry-run')).toMatchObject({ exitCode: 0 });
  expect(await tally(...words)).toMatchObject({ exitCode: 0 });
  const second = await tally(...words, '--dry-run');
  expect(second).toMatchObject({ exitCode: 11, stdout: '' });
  expect(second.stderr).toContain('per-customer-and-month: 5.00 USD were granted to this customer');
  expect(await tally(...words, '--dry-run', '--override-policy', 'CFO agreed')).toMatchObject({ exitCode: 0 });
});
