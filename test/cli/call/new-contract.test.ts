/** What whoever makes a contract is told, where it may be a mistake: one on the same plan, one that begins long before. */

import { describe, expect, test } from 'vitest';

import type { Surface } from '../../support/stage.ts';
import { named, stage } from '../../support/use-stage.ts';
import { openStageWithAcme } from '../import/acme.ts';

/** What is told when the last of these contracts is made, each given as `start` or `start end`, and the ids of all. */
async function making(
  spans: readonly string[],
  flags: readonly string[] = ['-o', 'name'],
  terminal: { readonly isTerminal?: true } = {},
) {
  const customer = await named('customers list');
  const price = await named(
    'pricing create --product-name Platform --name Fee --model FLAT --unit-amount 10 --price-interval MONTH',
  );
  const plan = await named(`plans create --name Team --item pricingId=${price}`);
  const ids: string[] = [];
  let told: readonly string[] = [];
  for (const span of spans) {
    const [start = '', end] = span.split(' ');
    const dates = ['--start-date', start, ...(end === undefined ? [] : ['--end-date', end])];
    const words = ['contracts', 'create', '--customer-id', customer, '--plan-id', plan, ...dates, ...flags];
    const { stdout, stderr } = await stage.tally(words, terminal);
    ids.push(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/.exec(stdout)?.[0] ?? '');
    told = stderr.split('\n').filter((line) => line !== '');
  }
  return { ids, told };
}

describe.each<Surface>(['embedded', 'http'])('%s', (surface) => {
  test.each([
    ['the same days', ['2026-02-01 2027-02-01', '2026-02-01 2027-02-01'], '2026-02-01 to 2027-02-01'],
    ['one without an end', ['2026-02-01', '2030-01-01 2031-01-01'], 'since 2026-02-01'],
    ['a single day', ['2026-02-01 2027-02-01', '2027-01-31 2028-01-31'], '2026-02-01 to 2027-02-01'],
  ])('%s in common', async (_case, spans, time) => {
    await openStageWithAcme(surface);
    const { ids, told } = await making(spans);
    expect(told[0]).toBe(
      `warning: the customer already has another contract on this plan: ${ids[0]} (${time}); both are billed`,
    );
    expect(told[1]).toBe(
      `  hint: if it was made twice, end this one with: tally contracts cancel ${ids[1]}, and its drafts with: tally invoices cancel ID`,
    );
  });

  test.each([
    ['a first contract', ['2026-02-01']],
    ['one that begins when the other ends', ['2026-02-01 2027-02-01', '2027-02-01 2028-02-01']],
    ['one that ends when the other begins', ['2027-02-01', '2026-02-01 2027-02-01']],
  ])('nothing is said of %s', async (_case, spans) => {
    await openStageWithAcme(surface);
    expect((await making(spans)).told).toEqual([]);
  });
});

// The clock stands at 2026-03-01.
test.each([
  ['180 days before', '2025-09-02', undefined],
  ['181 days before', '2025-09-01', '181 days'],
  ['in the year before, by a slip', '2025-04-01', '334 days'],
  ['on a later day', '2027-01-01', undefined],
])('a person is told of a contract that begins %s', async (_case, start, days) => {
  await openStageWithAcme('embedded');
  const { ids, told } = await making([start], [], { isTerminal: true });
  const words = [
    `warning: the contract begins on ${start}, ${days} ago: the next bill run bills all periods that are over`,
    `  hint: if the date is wrong, end this one with: tally contracts cancel ${ids[0]}, and its drafts with: tally invoices cancel ID`,
  ];
  expect(told).toEqual(days === undefined ? [] : words);
});

test.each([
  ['where nothing shall be', ['--quiet'], { isTerminal: true } as const],
  ['to a script of a contract that begins long before', ['-o', 'name'], { isTerminal: true } as const],
  ['to a script that reads the table either', ['-o', 'table'], {}],
])('nothing is said %s', async (_case, flags, terminal) => {
  await openStageWithAcme('embedded');
  expect((await making(['2020-02-01'], flags, terminal)).told).toEqual([]);
});

test('nothing is said of a second contract where nothing shall be', async () => {
  await openStageWithAcme('embedded');
  expect((await making(['2026-02-01', '2026-02-01'], ['--quiet'])).told).toEqual([]);
});

test('a contract is shown all the same, and nothing said of others, to a key that may not read any', async () => {
  await openStageWithAcme('http');
  const customer = await named('customers list');
  await making(['2026-02-01']);
  const plan = await named('plans list');
  const key = await stage.tally(['keys', 'create', '--name', 'k', '--scopes', 'contracts:write', '--jq', '.data.key']);
  const words = ['contracts', 'create', '--customer-id', customer, '--plan-id', plan, '--start-date', '2026-02-01'];
  const env = { ...stage.remote, TALLY_API_KEY: key.stdout.trim() };
  const { exitCode, stdout, stderr } = await stage.tally([...words, '-o', 'name'], {}, { env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(/^[\da-f-]{36}\n$/);
});
