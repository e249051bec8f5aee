import { afterAll, beforeAll, expect, test } from 'vitest';

import { createStage } from '../../support/stage.ts';
import type { CommandStage } from '../../support/stage.ts';

let stage: CommandStage;
let customer = '';
let contract = '';
let grant = '';

beforeAll(async () => {
  stage = await createStage('embedded');
  const made = async (line: string) => (await stage.tally([...line.split(' '), '-o', 'name'])).stdout.trim();
  customer = await made(
    'customers create --name Acme --contact name=Ada,email=ada@acme.example,roles=accounts_payable',
  );
  const price = await made(
    'pricing create --product-name Seats --name Seat --model FLAT --unit-amount 1 --price-interval MONTH',
  );
  const plan = await made(`plans create --name Team --item pricingId=${price}`);
  contract = await made(`contracts create --customer-id ${customer} --plan-id ${plan} --start-date 2026-03-01`);
  grant = await made(`credits grant ${contract} --amount-cents 500 --expires-at 2099-01-01T00:00:00Z`);
});
afterAll(async () => await stage.close());

test.each([
  ['an entry', () => `${contract} nothing`, 'no ledger entry of this contract has this id: nothing', 'credits ledger'],
  ['a contract', () => `nothing ${grant}`, 'no contract has this id: nothing', 'contracts list'],
])('of two ids the one that is not there is named: %s', async (_case, ids, words, list) => {
  const { stderr, exitCode } = await stage.tally(['credits', 'reverse', ...ids().split(' ')]);
  expect([exitCode, stderr.split('\n')[0]]).toEqual([4, `tally: ${words}`]);
  expect(stderr).toContain(`hint: see them with: tally ${list}`);
});

test('the id of a customer in the place of a contract leads to the contracts of the customer', async () => {
  const { stderr, exitCode } = await stage.tally(['credits', 'balance', customer]);
  expect([exitCode, stderr]).toEqual([
    4,
    `tally: no contract has this id: ${customer}\n` +
      `  hint: ${customer} is a customer; see the contracts with: tally contracts list --customer-id ${customer}\n`,
  ]);
});

test.each(['acme', 'ADA@acme.example', 'Ac'])(
  '%s is known as a customer, of whom there are contracts',
  async (text) => {
    expect((await stage.tally(['customers', 'get', text])).stderr).toContain(`hint: the id of Acme is ${customer}\n`);
    expect((await stage.tally(['credits', 'balance', text])).stderr).toContain(
      `hint: Acme is a customer; see the contracts with: tally contracts list --customer-id ${customer}\n`,
    );
    const listed = await stage.tally(['invoices', 'list', '--customer-id', text]);
    expect(listed.stderr).toContain(`there is no customer of the id ${text}; that of Acme is ${customer}\n`);
  },
);

test('who is meant is told of one customer alone', async () => {
  const words = ['customers', 'create', '--name', 'Acme Two', '--contact', 'name=B,email=b@acme.example,roles=primary'];
  const other = (await stage.tally([...words, '-o', 'name'])).stdout.trim();
  expect((await stage.tally(['customers', 'get', 'ac'])).stderr).toContain('hint: see them with: tally customers list');
  expect((await stage.tally(['customers', 'get', 'acme'])).stderr).toContain(`is ${customer}\n`);
  expect((await stage.tally(['customers', 'get', 'acme t'])).stderr).toContain(`is ${other}\n`);
});

test('what a refusal names itself is not named twice', async () => {
  const { stderr } = await stage.tally(['orgs', 'update', 'nobody', '--sales-tax-enabled']);
  expect(stderr.split('\n')[0]).toBe('tally: no organization has the id or name "nobody"');
});

test('a correction that goes too far says where to look', async () => {
  const line = `credits adjust ${contract} --grant-entry-id ${grant} --amount-cents -501 --reason slip`;
  const { stderr, exitCode } = await stage.tally(line.split(' '));
  expect(exitCode).toBe(7);
  expect(stderr).toContain(`see what each grant holds with: tally credits balance ${contract}\n`);
});
