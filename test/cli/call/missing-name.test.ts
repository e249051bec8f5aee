import { beforeAll, describe, expect, test } from 'vitest';

import { idWithin } from '../../../src/cli/call/kinds-of-id.ts';
import { NotFoundError } from '../../../src/errors.ts';
import type { Answer } from '../../../src/operations/index.ts';
import { made, named, stage, useStage } from '../../support/use-stage.ts';
import { createShell } from '../shell.ts';

useStage('embedded');
let customer = '';
let contract = '';
let grant = '';
let plan = '';
let price = '';
let invoice = '';

beforeAll(async () => {
  customer = await named(
    'customers create --name Acme --contact name=Ada,email=ada@acme.example,roles=accounts_payable',
  );
  price = await named(
    'pricing create --product-name Seats --name Seat --model FLAT --unit-amount 1 --price-interval MONTH',
  );
  plan = await named(`plans create --name Team --item pricingId=${price}`);
  contract = await named(`contracts create --customer-id ${customer} --plan-id ${plan} --start-date 2026-03-01`);
  grant = await named(`credits grant ${contract} --amount-cents 500 --expires-at 2099-01-01T00:00:00Z`);
  [invoice = ''] = (await named('invoices list')).split('\n');
});

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
    for (const flags of [[], ['--all']]) {
      const listed = await stage.tally(['invoices', 'list', '--customer-id', text, ...flags]);
      expect(listed.stderr).toContain(`no customer has the id ${text}; that of Acme is ${customer}\n`);
    }
  },
);

test.each([
  ['credits ledger CONTRACT', 'created-after', 'created-before'],
  ['invoices list', 'created-after', 'created-before'],
  ['usage events', 'start', 'end'],
])('%s says that nothing can be between two instants of which the second is not later', async (command, from, to) => {
  const words = command.replace('CONTRACT', contract).split(' ');
  const told = `nothing can be between --${from} and --${to}: the second, which is excluded, must be later\n`;
  for (const [day, isTold] of [
    ['2026-03-01', true],
    ['2026-03-02T01:00:00.0000000000+02:00', true],
    ['2026-03-02', true],
    ['2026-03-03', false],
  ] as const) {
    const { stdout, stderr, exitCode } = await stage.tally([...words, `--${from}`, '2026-03-02', `--${to}`, day]);
    expect([stdout, stderr.includes(told), exitCode]).toEqual(['', isTold, 0]);
  }
});

test('where a piece of a name is that of several customers, all of them are named as long as they are few', async () => {
  const words = ['customers', 'create', '--name', 'Acme Two', '--contact', 'name=B,email=b@acme.example,roles=primary'];
  const other = (await stage.tally([...words, '-o', 'name'])).stdout.trim();
  const both = `that could be 2 customers: Acme Two ${other}, Acme ${customer}`;
  expect((await stage.tally(['customers', 'get', 'ac'])).stderr).toContain(`hint: ${both}\n`);
  expect((await stage.tally(['credits', 'balance', 'CME'])).stderr).toContain(
    `hint: ${both}; see the contracts with: tally contracts list --customer-id ID`,
  );
  const listed = await stage.tally(['invoices', 'list', '--customer-id', 'ac']);
  expect(listed.stderr).toContain(`no customer has the id ac; ${both}\n`);
  const spaces = await stage.tally(['invoices', 'list', '--customer-id', ' ']);
  expect(spaces.stderr).not.toContain('could be');
  expect((await stage.tally(['customers', 'get', 'two'])).stderr).toContain(`is ${other}\n`);
  expect((await stage.tally(['customers', 'get', 'acme'])).stderr).toContain(`is ${customer}\n`);
  expect((await stage.tally(['customers', 'get', 'acme t'])).stderr).toContain(`is ${other}\n`);
  for (const [name, hint] of [
    ['Acme 3', 'that could be 3 customers: Acme 3 '],
    ['Acme 4', 'that could be 4 customers: Acme 4 '],
    ['Acme 5', 'that could be 5 customers: Acme 5 '],
    ['Acme 6', 'that could be 6 customers: give more of the name\n'],
  ] as const) {
    expect((await stage.tally(words.map((word) => (word === 'Acme Two' ? name : word)))).exitCode).toBe(0);
    expect((await stage.tally(['customers', 'get', 'ac'])).stderr).toContain(`hint: ${hint}`);
  }
});

test.each([
  ['the first page', 5, 'the id of Initech is c5\n'],
  ['the last page that is read', 950, 'the id of Initech is c950\n'],
  ['no page that is read', 1050, 'the id of Old initech is c0\n'],
])('a name that begins with the text is meant before one that contains it, where it is on %s', async (_, at, hint) => {
  const names = (index: number) => (index === at ? 'Initech' : index === 0 ? 'Old initech' : `Customer ${index}`);
  const shell = createShell({
    reply({ name, input: { query = {} } }) {
      if (name !== 'customers.list') throw new NotFoundError('no customer has this id', { requestId: 'req-1' });
      const offset = Number(query['offset'] ?? 0);
      const rows = Array.from({ length: 100 }, (_row, index) => ({
        id: `c${offset + index}`,
        name: names(offset + index),
      }));
      const data = query['externalCustomerId'] === undefined ? rows : [];
      return { body: { data, hasMore: offset < 1100, total: 1200 } as unknown as Answer['body'] };
    },
  });
  const { code, stderr } = await shell.run('customers get init -o json');
  expect([code, stderr]).toEqual([4, expect.stringContaining(hint)]);
  expect(stderr).toContain('"requestId":"req-1"');
});

describe('an id', () => {
  test.each([
    ['in quotes', (id: string) => `"${id}"`],
    ['of a list', (id: string) => ` '${id}',`],
    ['with the end of its line', (id: string) => `${id}\n`],
  ])('%s is given as it is written', async (_case, pasted) => {
    const written = async (line: readonly string[], id: string) => {
      const { stderr } = await stage.tally([...line, pasted(id)]);
      expect(stderr).toContain(`the id is written ${id}\n`);
    };
    await written(['customers', 'get'], customer);
    await written(['invoices', 'explain'], invoice);
    await written(['credits', 'ledger'], contract);
    await written(['usage', 'cost', '--contract-id'], contract);
    await written(['invoices', 'list', '--customer-id'], customer);
    await written(['contracts', 'list', '--plan-id'], plan);
  });

  test.each([
    ['customers get', () => invoice, () => `${invoice} is an invoice, of the customer ${customer}`],
    ['customers get', () => `${contract} `, () => `${contract} is a contract, of the customer ${customer}`],
    ['credits ledger', () => invoice, () => `${invoice} is an invoice, of the contract ${contract}`],
    ['usage cost --contract-id', () => invoice, () => `${invoice} is an invoice, of the contract ${contract}`],
    [
      'invoices explain',
      () => contract,
      () => `${contract} is a contract; see the invoices with: tally invoices list --customer-id ${customer}`,
    ],
    [
      'invoices get',
      () => customer,
      () => `${customer} is a customer; see the invoices with: tally invoices list --customer-id ${customer}`,
    ],
    ['pricing get', () => plan, () => `${plan} is a plan: tally plans get ${plan}`],
    ['invoices list --customer-id', () => invoice, () => `${invoice} is an invoice, of the customer ${customer}`],
    ['contracts list --plan-id', () => price, () => `${price} is a price: tally pricing get ${price}`],
  ])('of another kind is known by %s', async (line, id, words) => {
    const { stdout, stderr } = await stage.tally([...line.split(' '), id()]);
    expect([stdout, stderr]).toEqual(['', expect.stringContaining(`${words()}\n`)]);
  });

  test('in capitals is given in small letters', () => {
    expect(idWithin('01A20A4F-2E2E-748C-B471-C9390935D9A3')).toBe('01a20a4f-2e2e-748c-b471-c9390935d9a3');
  });

  test('of your own may have the form of one', async () => {
    const own = '0b54a3a8-3a31-4f5c-8a6e-000000000001';
    const words = ['customers', 'create', '--name', 'Own', '--external-customer-id', own];
    const contact = ['--contact', 'name=B,email=b@own.example,roles=primary', '-o', 'name'];
    const id = (await stage.tally([...words, ...contact])).stdout.trim();
    expect((await stage.tally(['customers', 'get', own])).stderr).toContain(`${own} is your own id of Own: ${id}\n`);
  });

  test('of nothing leads to the list', async () => {
    const { stderr } = await stage.tally(['customers', 'get', '0b54a3a8-3a31-4f5c-8a6e-000000000002']);
    expect(stderr).toContain('hint: see them with: tally customers list\n');
  });
});

test('a number in small letters is known', async () => {
  await stage.tally(['invoices', 'finalize', invoice]);
  const number = (await stage.tally(['invoices', 'get', invoice, '--jq', '.data.invoiceNumber'])).stdout.trim();
  const { stderr } = await stage.tally(['invoices', 'explain', number.toLowerCase()]);
  expect(stderr).toContain(`hint: the id of ${number} is ${invoice}\n`);
});

test('a list of deliveries that is empty because its filter names no endpoint says so, and no other does', async () => {
  const endpoint = await made('webhooks', 'create', '--url', 'https://hooks.example.com/');
  const listed = async (id: string) => await stage.tally(['webhooks', 'deliveries', '--endpoint-id', id]);
  expect(await listed(customer)).toMatchObject({ exitCode: 0, stderr: `no endpoint has the id ${customer}\n` });
  expect(await listed(endpoint)).toMatchObject({ exitCode: 0, stderr: '' });
});

test('the name of a price is known where a grant takes its id', async () => {
  const line = `credits grant ${contract} --amount-cents 1 --expires-at 2099-01-01T00:00:00Z --specifiers pricingIds=seat`;
  const { stderr, exitCode } = await stage.tally(line.split(' '));
  expect([exitCode, stderr]).toEqual([8, expect.stringContaining(`hint: the id of Seat is ${price}\n`)]);
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

test('a correction of no grant says where the grants are', async () => {
  const line = `credits adjust ${contract} --grant-entry-id ${customer} --amount-cents -1 --reason slip`;
  const { stderr, exitCode } = await stage.tally(line.split(' '));
  expect(exitCode).toBe(8);
  expect(stderr).toContain(`hint: see what each grant holds with: tally credits balance ${contract}\n`);
});
