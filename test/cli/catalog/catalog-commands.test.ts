/** How the verbs of `tally catalog` show, ask, print and end. */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import type { Answer } from '../../../src/operations/index.ts';
import { openStage, saved, stage } from '../../support/use-stage.ts';
import { catalog, dearer } from './catalog-sample.ts';
import { createShell } from '../shell.ts';
import type { Reply, Shell } from '../shell.ts';

beforeEach(async () => await openStage('embedded'));

const tally = async (line: string, input = '', rest = {}) => await stage.tally(line.split(' '), { input, ...rest });
const apply = async (text: string, flags = '') => await tally(`catalog apply - --yes${flags}`, text);
const linesOf = (text: string) => text.trimEnd().split('\n');

describe('diff', () => {
  test.each([
    ['there is a difference', dearer, 10, 'tally: the catalog differs from standard input: 3 changes\n'],
    ['there is none', catalog, 0, ''],
  ])('--exit-code tells a pipeline whether %s', async (_case, file, exitCode, words) => {
    await apply(catalog);
    const result = await tally('catalog diff - --exit-code', file);
    expect(result.exitCode).toBe(exitCode);
    expect(result.stderr).toContain(words);
    expect(await tally('catalog diff -', file)).toMatchObject({ exitCode: 0 });
  });

  test.each(['', ' --prune'])('--exit-code names the command that makes these changes: %s', async (flag) => {
    await apply(catalog);
    const file = saved('other.yaml', catalog.replaceAll('Solo', 'Single'));
    const { stderr } = await tally(`catalog diff ${file} --exit-code${flag}`);
    const told = /change it to what the file says with: tally (.*)/.exec(stderr)?.[1];
    await tally(`${told} --yes`);
    expect((await tally(`catalog diff ${file} --exit-code${flag}`)).exitCode).toBe(0);
  });

  test('is text for people on a terminal', async () => {
    await apply(catalog);
    const file = `${dearer.replace('  - name: Solo\n    netTerms: "30"\n    items:\n      - product: Seats\n        price: Seats\n', '')}  - name: Big\n    items:\n      - product: Seats\n        price: Seats\n`;
    const { stdout } = await stage.tally(['catalog', 'diff', '-', '--prune'], {
      input: file,
      isTerminal: true,
      isInputTerminal: false,
    });
    expect(linesOf(stdout)).toEqual([
      '+ create',
      '    plan       Big',
      '~ replace',
      '    price      Seats / Seats',
      expect.stringMatching(/^ {15}pricingTiers: \[.*"9\.50".* -> \[.*"9\.75"/),
      '    plan       Team (team)',
      '               contains Seats / Seats, replaced',
      '- archive',
      '    plan       Solo',
      '               not in the file',
      '= 5 unchanged',
      'Contracts keep the prices, rates and meters that they were made with; new contracts get the new ones.',
    ]);
  });

  test.each([
    ['-o csv', '"action","kind","name","why"\n"replace","plan","Solo","netTerms: 30 -> 31"\n'],
    ['-o name', 'Solo\n'],
    [
      '-o jsonl --json kind,differences',
      '{"kind":"plan","differences":[{"field":"netTerms","from":"30","to":"31"}]}\n',
    ],
    ['--columns name,action', 'Solo\treplace\n'],
  ])('is data with %s', async (flags, stdout) => {
    await apply(catalog);
    expect(await tally(`catalog diff - ${flags}`, catalog.replace('"30"', '"31"'))).toMatchObject({ stdout });
  });

  test('shows what a new plan gives away', async () => {
    await apply(catalog);
    const file = `${catalog}  - name: Gift\n    metadata: { defaultCreditGrantCents: 5000 }\n    items: [{ product: Seats, price: Seats }]\n`;
    expect((await tally('catalog diff -', file)).stdout).toBe(
      'create\tplan\tGift\tmetadata.defaultCreditGrantCents: 5000\n',
    );
  });

  test('shows what others wrote without letting it touch the terminal', async () => {
    const hostile = 'products: [{ name: "\\e[31mred", description: "\\u202e" }]';
    const { stdout } = await stage.tally(['catalog', 'diff', '-'], {
      input: hostile.replace('\\e', '\\x9b'),
      isTerminal: true,
      isInputTerminal: false,
    });
    expect(stdout).toContain('product    \\u{9b}[31mred');
  });
});

describe('apply', () => {
  const terminal = { isTerminal: true };
  const path = () => join(stage.directory, 'catalog.yaml');
  const inFile = async (flags: string, options: object) => {
    writeFileSync(path(), catalog);
    return await stage.tally(['catalog', 'apply', path(), ...flags.split(' ').filter(Boolean)], options);
  };
  const isEmpty = async () => (await tally('products list')).stdout === '';

  test('shows the changes and asks', async () => {
    const done = await inFile('', { ...terminal, answers: ['yes'] });
    expect(done.stdout).toBe('8 created, 0 replaced, 0 archived, 0 unchanged\n');
    expect(done.stderr).toMatch(
      /^\+ create\n {4}product {4}Inference\n[^]*= 0 unchanged\n\? Make 8 changes to the catalog on embedded\?\n$/,
    );
    // Whoever agrees has seen what it will cost.
    expect(done.stderr).toMatch(/\n {4}price {6}Inference \/ \S+\n {15}unitAmount: 0\.\d+\n/);
    expect(done.stderr).toMatch(/\n {4}rate card {2}\S+\n {15}fallbackUnitAmount: \S+\n {15}rates: \[\{.*\}\]\n/);
    expect(done.stderr).toMatch(/\n {4}price {6}Seats \/ Seats\n {15}pricingTiers: \[\{.*"9\.50".*\}\]\n/);
    expect((await tally('catalog export')).stdout).toBe(catalog);
  });

  test.each([
    ['a no', { ...terminal, answers: ['no'] }],
    ['the end of input', terminal],
    ['nobody to ask', {}],
  ])('does nothing at %s', async (_case, options) => {
    expect(await inFile('', options)).toMatchObject({ exitCode: 11, stdout: '' });
    expect(await isEmpty()).toBe(true);
  });

  test('asks nothing where there is nothing to do', async () => {
    await apply(catalog);
    expect(await inFile('', terminal)).toEqual({
      stdout: '0 created, 0 replaced, 0 archived, 8 unchanged\n',
      stderr: '',
      exitCode: 0,
    });
  });

  test('--dry-run shows the changes and makes none', async () => {
    const rehearsed = await inFile('--dry-run', {});
    expect(rehearsed).toMatchObject({ exitCode: 0, stderr: 'dry run on embedded: nothing was changed\n' });
    expect(rehearsed.stdout).toContain('create\tplan\tTeam (team)\t\n');
    expect(await isEmpty()).toBe(true);
  });

  test('writes each change into the journal, and no reading', async () => {
    await apply(catalog);
    expect(linesOf((await tally('journal list --columns operation')).stdout).toSorted()).toEqual([
      'meters.create',
      'meters.setRateCard',
      'plans.create',
      'plans.create',
      'pricing.create',
      'pricing.create',
      'products.create',
      'products.create',
    ]);
  });

  test('a file that is not there is a usage error', async () => {
    expect(await tally('catalog apply nothing.yaml')).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

describe('export', () => {
  test('--file writes it, and replaces other content only with --force', async () => {
    await apply(catalog);
    const file = join(stage.directory, 'catalog.yaml');
    expect((await tally(`catalog export --file ${file} --dry-run`)).stderr).toBe(`dry run: ${file} was not written\n`);
    expect(existsSync(file)).toBe(false);
    expect(await tally(`catalog export --file ${file}`)).toEqual({
      stdout: '',
      stderr: `wrote ${file}\n`,
      exitCode: 0,
    });
    expect(readFileSync(file, 'utf8')).toBe(catalog);
    expect(await tally(`catalog export --file ${file}`)).toMatchObject({ exitCode: 0 });
    writeFileSync(file, 'mine');
    expect(await tally(`catalog export --file ${file}`)).toMatchObject({
      exitCode: 11,
      stderr: expect.stringContaining(`see what differs with: tally catalog diff ${file}, or give --force`),
    });
    expect(await tally(`catalog export --file ${file} --dry-run`)).toMatchObject({ exitCode: 11 });
    expect(readFileSync(file, 'utf8')).toBe('mine');
    await tally(`catalog export --file ${file} --force`);
    expect(readFileSync(file, 'utf8')).toBe(catalog);
  });

  test.skipIf(process.platform === 'win32')('--file does not wait for what a pipe might bring', async () => {
    const pipe = join(stage.directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(await tally(`catalog export --file ${pipe}`)).toEqual({
      stdout: '',
      stderr: `tally: ${pipe} already exists: nothing was written\n  hint: name a file that does not exist yet\n`,
      exitCode: 11,
    });
  });

  test.each(['-o csv', '-o table', '--json name'])('is no table: %s', async (flags) => {
    expect(await tally(`catalog export ${flags}`)).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

test.each(['catalog schema', 'simulate schema'])('%s is JSON, whole or through jq, and nothing else', async (line) => {
  const { stdout } = await tally(line);
  expect(await tally(`${line} --jq .title`)).toEqual({
    stdout: `${(JSON.parse(stdout) as { readonly title: string }).title}\n`,
    stderr: '',
    exitCode: 0,
  });
  for (const flags of ['-o csv', '--columns title', '--json title']) {
    expect(await tally(`${line} ${flags}`)).toMatchObject({ exitCode: 2, stdout: '' });
  }
});

test('the schema that is printed is the one in the repository', async () => {
  const path = new URL('../../../schemas/catalog.schema.json', import.meta.url);
  expect((await tally('catalog schema')).stdout).toBe(readFileSync(path, 'utf8').replaceAll('\r\n', '\n'));
});

describe('on production,', () => {
  const env = { TALLY_BASE_URL: 'https://a.example', TALLY_API_KEY: `tally_live_${'0'.repeat(48)}` };
  const reply: Reply = ({ name }) =>
    name.endsWith('.create') ? { body: { data: { id: 'made' } } as unknown as Answer['body'] } : {};
  const input = 'products: [{ name: Inference }]';
  const writes = ({ calls }: Shell) => calls.filter(({ name }) => !name.endsWith('.list'));

  test.each(['', '--yes', '--expect-env production', '--no-input'])(
    'a script with %s changes nothing',
    async (flags) => {
      const shell = createShell({ env, reply });
      const refused = await shell.run(`catalog apply - ${flags}`, { input });
      expect(refused).toMatchObject({ code: 11, stdout: '' });
      expect(refused.stderr).toContain('a write to production needs confirmation: nothing was sent');
      expect(writes(shell)).toEqual([]);
    },
  );

  test('a script that says yes and where applies', async () => {
    const shell = createShell({ env, reply });
    expect((await shell.run('catalog apply - --yes --expect-env production', { input })).code).toBe(0);
    expect(writes(shell)).toEqual([{ name: 'products.create', input: { body: { name: 'Inference' } } }]);
  });

  test('a person sees the changes and the target before the question, whatever --yes says', async () => {
    const shell = createShell({ env, reply });
    const path = join(shell.home, 'catalog.yaml');
    writeFileSync(path, input);
    const { stderr } = await shell.run(['catalog', 'apply', path, '--yes', '--quiet'], {
      isTerminal: true,
      answers: ['no'],
    });
    expect(stderr).toMatch(
      /^\+ create\n {4}product {4}Inference\n= 0 unchanged\nPRODUCTION {2}https:\/\/a\.example\nMake 1 change to the catalog\n\? Go on\?\n/,
    );
    expect(writes(shell)).toEqual([]);
  });
});
