import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { BillingError } from '../../../src/errors.ts';
import type { Billing } from '../../../src/operations/index.ts';
import { createShell } from '../shell.ts';

test.each(['show', 'check'])('profile %s takes one name', async (verb) => {
  const shell = createShell();
  for (const name of ['one', 'two']) await shell.run(`profile add ${name} --environment embedded`);
  const { code, stderr } = await shell.run(`profile ${verb} one --profile two`);
  expect([code, shell.calls]).toEqual([2, []]);
  expect(stderr).toContain('one and --profile two both name a profile');
  expect((await shell.run('profile show one --profile one')).code).toBe(0);
});

test.each([
  ['--database other.db', '--profile and --database both say what to work on'],
  ['--org eu', '--org is for databases'],
])('a profile of a service is not worked on with %s', async (flags, words) => {
  const shell = createShell();
  const add = 'profile add box --environment sandbox --base-url https://box.example.com --no-check --key-stdin';
  await shell.run(add, { input: `tally_live_${'c0ffee'.repeat(8)}` });
  const { code, stderr } = await shell.run(`customers list --profile box ${flags}`);
  expect([code, shell.targets]).toEqual([2, []]);
  expect(stderr).toContain(words);
});

test('profile show says of a name behind it that it stands there', async () => {
  const shell = createShell();
  await shell.run('profile add one --environment embedded');
  const sourceOf = async (words: string) =>
    (await shell.run(`profile show ${words} --jq .data[0].source`)).stdout.trim();
  expect([await sourceOf('one'), await sourceOf('--profile one')]).toEqual(['argument', '--profile']);
});

test('profile add says what it replaced', async () => {
  const shell = createShell();
  const add = async (words: string) => (await shell.run(`profile add books ${words}`)).stderr;
  expect(await add('--environment production --database postgres://ada:hidden@db/books')).toMatch(
    /^profile books added;/,
  );
  const replaced = /^profile books replaced \(it was production, postgres:\/\/ada\S*@db\/books\); use it with/;
  const told = await add('--environment embedded --yes --expect-env production');
  expect(told).toMatch(replaced);
  expect(told).not.toContain('hidden');
  expect(await add('--environment embedded')).toContain('(it was embedded, the default database)');
});

test('a profile of production becomes one that never asks only with a yes', async () => {
  const shell = createShell();
  const add = async (words: string, terminal = {}) => await shell.run(`profile add books ${words}`, terminal);
  const environment = async () =>
    (await shell.run('profile list --json environment --jq .[].environment')).stdout.trim();
  expect(await add('--environment production --database ./books.db')).toMatchObject({ code: 0 });
  for (const flags of ['', '--yes', '--expect-env production']) {
    const { code, stderr } = await add(`--environment embedded --database ./demo.db ${flags}`);
    expect([code, stderr]).toEqual([11, expect.stringContaining('writes to it would no longer ask: nothing was')]);
  }
  const person = { isTerminal: true, answers: ['no'] };
  expect(await add('--environment sandbox --database ./demo.db', person)).toMatchObject({ code: 11 });
  expect(await environment()).toBe('production');
  expect(await add('--environment production --database ./other.db')).toMatchObject({ code: 0 });
  expect(await add('--environment embedded --yes --expect-env production')).toMatchObject({ code: 0 });
  expect(await environment()).toBe('embedded');
  expect(await add('--environment sandbox --database ./demo.db')).toMatchObject({ code: 0 });
});

test('a profile of production that was changed by hand does not send its key: its writes would not ask', async () => {
  const shell = createShell();
  const change = (file: string, before: RegExp, after: string): void => {
    const path = join(shell.home, 'config', file);
    writeFileSync(path, readFileSync(path, 'utf8').replace(before, after));
  };
  const way = '--base-url https://box.example.com --no-check --key-stdin';
  await shell.run(`profile add box --environment production ${way}`, { input: `tally_live_${'c0ffee'.repeat(8)}` });
  change('config.json', /production/, 'sandbox');
  const { code, stderr } = await shell.run('customers list --profile box');
  expect([code, shell.targets]).toEqual([2, []]);
  expect(stderr).toContain('the key of profile "box" was stored for production\n');
  // As keys were stored before their environment was noted.
  change('credentials.json', /,\s*"environment": "production"/, '');
  expect((await shell.run('customers list --profile box')).code).toBe(0);
});

test('what a profile without a key is told to do stores one', async () => {
  const shell = createShell();
  const input = `tally_live_${'c0ffee'.repeat(8)}`;
  const url = 'https://box.example.com';
  await shell.run(`profile add box --environment sandbox --base-url ${url} --no-check --key-stdin`, { input });
  writeFileSync(join(shell.home, 'config', 'credentials.json'), '{}');
  const { stderr } = await shell.run('customers list --profile box');
  const told = /store one with: tally (.*), or set/.exec(stderr)?.[1]?.replace(' URL ', ` ${url} `);
  expect((await shell.run(`${told} --no-check`, { input })).stderr).toContain('profile box replaced');
  expect((await shell.run('customers list --profile box')).code).toBe(0);
});

test.each(['profile check books', 'profile check --profile books'])(
  '%s says once that it made a file',
  async (line) => {
    const body = { data: { organization: { name: 'default' }, environment: 'sandbox', scopes: ['*'] } };
    const billing = { call: async () => await Promise.resolve({ body }) } as unknown as Billing;
    const openBilling = async () => await Promise.resolve({ billing, isNew: true, close: async () => {} });
    const shell = createShell({ dependencies: { openBilling } });
    const path = join(shell.home, 'books.db');
    await shell.run(`profile add books --environment embedded --database ${path}`);
    expect(await shell.run(line)).toMatchObject({ code: 0, stderr: `created ${path}: there was no database\n` });
  },
);

test.each(['profile check box', 'profile check --profile box'])(
  'a failed %s names the profile to scripts',
  async (line) => {
    const refusal = new BillingError('network', 'nothing answers', { hint: 'see: tally keys list' });
    const shell = createShell({ dependencies: { openBilling: async () => await Promise.reject(refusal) } });
    const add = 'profile add box --environment sandbox --base-url https://box.example.com --no-check --key-stdin';
    await shell.run(add, { input: `tally_live_${'c0ffee'.repeat(8)}` });
    const { code, stderr } = await shell.run(`${line} -o json`);
    const { error } = JSON.parse(stderr.split('\n').at(-2) ?? '') as { error: unknown };
    expect([code, error]).toMatchObject([
      9,
      { profile: 'box', environment: 'sandbox', hint: 'see: tally keys list --profile box' },
    ]);
  },
);
