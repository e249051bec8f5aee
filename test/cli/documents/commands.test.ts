import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { BillingError, NotFoundError } from '../../../src/errors.ts';
import { stage, useStage } from '../../support/use-stage.ts';
import { createShell } from '../shell.ts';
import { hostileName, invoiceDocument, shownName, textOf } from './sample.ts';

describe.each(['embedded', 'http'] as const)('documents of a real book, %s', (surface) => {
  useStage(surface);
  const ids: Record<string, string> = {};
  const tally = async (line: string, ...more: readonly string[]) => {
    const words = line.split(' ').map((word) => word.replaceAll(/\$(\w+)/g, (_all, name: string) => ids[name] ?? ''));
    return await stage.tally([...words, ...more]);
  };
  const keep = async (name: string, line: string, ...more: readonly string[]) => {
    ids[name] = (await tally(line, ...more, '-o', 'name')).stdout.trim().split('\n')[0] ?? '';
  };
  const file = (name: string) => join(stage.directory, name);

  beforeAll(async () => {
    await keep('meter', 'meters create --code TOKENS --display-name Tokens --aggregation-key tokens');
    await keep(
      'price',
      'pricing create --product-name Inference --name Tokens --model USAGE --meter-id $meter --unit-amount 0.03 --price-interval MONTH',
    );
    await keep('plan', 'plans create --name Basic --item pricingId=$price');
    const address =
      '{"address1":"1 Main Street","city":"Springfield","region":"IL","postalCode":"62701","country":"US"}';
    await keep(
      'customer',
      'customers create --external-customer-id acme --contact name=Ada,email=ada@acme.example,roles=accounts_payable',
      '--name',
      'Acme <b>Inc</b>',
      '--billing-address',
      address,
    );
    await keep('contract', 'contracts create --customer-id $customer --plan-id $plan --start-date 2026-03-01');
    await tally(
      'credits grant $contract --amount-cents 500 --expires-at 2027-01-01T00:00:00Z --external-id a --reason Welcome',
    );
    await tally('usage ingest --event-name call --external-customer-id acme --property tokens=300');
    stage.clock.set('2026-04-02T00:00:00Z');
    const drafts = (await tally('invoices list --customer-id $customer --columns id,invoiceDate -o tsv')).stdout;
    ids['invoice'] =
      drafts
        .split('\n')
        .find((row) => row.endsWith('2026-04-01'))
        ?.split('\t')[0] ?? '';
    await tally('invoices finalize $invoice');
  });

  test('an invoice has its customer, its address, its lines and what is due', async () => {
    const { stdout, stderr, exitCode } = await tally('invoices export $invoice');
    expect([exitCode, stderr]).toEqual([0, '']);
    const text = textOf(stdout);
    expect(text).toEqual(
      expect.arrayContaining([
        'Acme <b>Inc</b>',
        '1 Main Street',
        'Springfield, IL 62701',
        'Invoice number INV-000001',
        'Tokens Inference 300 0.03 9.00 USD',
        'Subtotal 9.00 USD',
        'Credits applied Welcome −5.00 USD',
        'Amount due 4.00 USD',
      ]),
    );
    expect(stdout).not.toContain('<b>Inc');
  });

  test('an invoice as CSV has its lines, with numbers as numbers', async () => {
    expect((await tally('invoices export $invoice --format csv')).stdout.split('\n').slice(0, 3)).toEqual([
      '"name","description","quantity","unitPrice","totalAmount","totalAmountCents","servicePeriod.start","servicePeriod.end"',
      '"Tokens","Inference",300,"0.03","9",900,"2026-03-01T00:00:00.000Z","2026-04-01T00:00:00.000Z"',
      '"Credits applied","Welcome",1,"-5","-5",-500,"2026-03-01T00:00:00.000Z","2026-04-01T00:00:00.000Z"',
    ]);
  });

  test('an invoice as JSON has what the page is made of', async () => {
    const { data } = JSON.parse((await tally('invoices export $invoice --format json')).stdout);
    expect(data.invoice).toMatchObject({ invoiceNumber: 'INV-000001', totalCents: 400 });
    expect(data.customer.name).toBe('Acme <b>Inc</b>');
    expect(data.billingAddress.city).toBe('Springfield');
  });

  test('a statement ties out with the balance', async () => {
    const { data } = JSON.parse((await tally('credits statement $contract --format json')).stdout);
    const balance = JSON.parse((await tally('credits balance $contract -o json')).stdout).data.balance;
    expect(data.closing).toEqual({ balanceCents: balance.balanceCents, creditBalance: balance.creditBalance });
    expect(
      data.lines.map((line: Record<string, unknown>) => [line['type'], line['amountCents'], line['balanceCents']]),
    ).toEqual([
      ['opening', undefined, 0],
      ['grant', 500, 500],
      ['usage', -500, 0],
      ['closing', undefined, 0],
    ]);
  });

  test('a statement of a month says so, with the customer', async () => {
    const text = textOf((await tally('credits statement $contract --from 2026-03-01 --to 2026-04-01')).stdout);
    expect(text).toEqual(
      expect.arrayContaining([
        '1 March 2026 to 31 March 2026',
        'Acme <b>Inc</b>',
        'Opening balance 0.00 USD',
        'Closing balance 5.00 USD',
      ]),
    );
  });

  test('a table of a period without movements has no totals', async () => {
    const { stdout } = await tally('credits statement $contract --from 2020-01-01 --to 2020-02-01 -o table');
    expect(stdout).not.toContain('totals');
    expect(stdout).toMatch(/^closing credit balance +0\n\nCREATED/m);
    expect((await tally('credits statement $contract -o table')).stdout).toContain('totals\nTYPE');
  });

  test('a file is new, for its owner alone, and says by its ending what it is', async () => {
    const { stdout, stderr } = await tally('invoices export $invoice --file', file('invoice.html'));
    expect([stdout, stderr]).toEqual(['', `wrote ${file('invoice.html')}\n`]);
    expect(readFileSync(file('invoice.html'), 'utf8')).toMatch(/^<!doctype html>/);
    expect(statSync(file('invoice.html')).mode & 0o777).toBe(0o600);
    await tally('credits statement $contract --file', file('statement.csv'));
    expect(readFileSync(file('statement.csv'), 'utf8')).toMatch(/^"createdAt","type"/);
  });

  test('a file that is there is replaced only by force, and a link never followed', async () => {
    writeFileSync(file('mine.html'), 'mine');
    const refused = await tally('invoices export $invoice --file', file('mine.html'));
    expect(refused).toMatchObject({ exitCode: 11, stdout: '' });
    expect(refused.stderr).toContain('already exists: nothing was written');
    expect(readFileSync(file('mine.html'), 'utf8')).toBe('mine');
    symlinkSync(file('mine.html'), file('link.html'));
    expect((await tally('invoices export $invoice --force --file', file('link.html'))).exitCode).not.toBe(0);
    expect(readFileSync(file('mine.html'), 'utf8')).toBe('mine');
    expect((await tally('invoices export $invoice --force --file', file('mine.html'))).exitCode).toBe(0);
    expect(readFileSync(file('mine.html'), 'utf8')).toContain('INV-000001');
  });

  test('a letterhead stands at the top', async () => {
    writeFileSync(file('sender.txt'), 'Tally Books Ltd\r\n\n 12 Ledger Lane \n');
    expect(textOf((await tally('invoices export $invoice --sender', file('sender.txt'))).stdout)).toContain(
      'Tally Books Ltd 12 Ledger Lane',
    );
  });

  test.each([
    ['invoices export $invoice --format csv -o json', 2, '--format and an output flag ask for two formats'],
    ['invoices export $invoice --format pdf', 2, 'Allowed choices are html, csv, json, table'],
    ['invoices export $invoice --file invoice.pdf', 2, 'end it with .html: a browser saves that page as PDF'],
    ['invoices export $invoice --file invoice.xlsx', 2, 'end it with .html, .csv or .json, or give --format'],
    ['invoices export $invoice --force', 2, '--force works only with --file'],
    ['invoices export $invoice --dry-run', 2, '--dry-run is for commands that change something'],
    ['invoices export $invoice --sender /nowhere/at/all', 2, 'cannot read /nowhere/at/all'],
    ['invoices export 01900000-0000-7000-8000-00000000ffff', 4, '01900000-0000-7000-8000-00000000ffff'],
    ['credits statement $contract --from 2026-04-01 --to 2026-04-01', 2, '--to must be after --from'],
    ['credits statement $contract --from March', 2, '--from takes a date such as 2026-03-01, not March'],
    ['credits statement 01900000-0000-7000-8000-00000000ffff', 4, '01900000-0000-7000-8000-00000000ffff'],
  ])('%s ends with %i', async (line, code, message) => {
    const { exitCode, stdout, stderr } = await tally(line);
    expect([exitCode, stdout]).toEqual([code, '']);
    expect(stderr).toContain(message);
  });

  test('a statement says which invoice a draft has become, since a description names the draft for good', async () => {
    await keep('later', 'contracts create --customer-id $customer --plan-id $plan --start-date 2026-04-01');
    const grant = (until: string) => `credits grant $later --amount-cents 100 --expires-at ${until}T00:00:00Z`;
    await tally(grant('2026-04-10'));
    await tally('usage ingest --event-name call --external-customer-id acme --contract-id $later --property tokens=70');
    stage.clock.set('2026-04-11T00:00:00Z');
    // What has expired is settled before a grant that comes after it.
    await tally(grant('2027-01-01'));
    const lines = JSON.parse((await tally('credits statement $later --format json')).stdout).data.lines;
    const { invoiceId, description } = lines.find((line: Record<string, unknown>) => line['type'] === 'usage');
    expect(description).toMatch(/on invoice DRAFT-/);
    ids['draft'] = invoiceId;
    const page = async () => textOf((await tally('credits statement $later')).stdout).join('\n');
    expect(await page()).not.toContain('Invoice INV-');
    stage.clock.set('2026-05-02T00:00:00Z');
    const { invoiceNumber } = JSON.parse((await tally('invoices finalize $draft -o json')).stdout).data;
    expect(await page()).toContain(`${description} Invoice ${invoiceNumber} `);
  });
});

describe('a statement that names a draft', () => {
  const entry = {
    id: 'e',
    type: 'usage',
    amountCents: -1,
    creditAmount: 0,
    description: 'Usage on invoice DRAFT-0a1b2c3d',
    invoiceId: 'i',
    createdAt: '2026-03-02T00:00:00.000Z',
  };
  const shell = () =>
    createShell({
      reply: ({ name }) => {
        if (name === 'credits.ledger') return { body: { data: { totalCount: 1, entries: [entry] } } as never };
        throw new BillingError(name === 'invoices.get' ? 'rateLimited' : 'notOffered', 'no');
      },
    });

  test('asks for nothing but the ledger where it is no page', async () => {
    const asking = shell();
    expect(await asking.run('credits statement k --format json')).toMatchObject({ code: 0 });
    expect(asking.calls.map(({ name }) => name)).toEqual(['credits.ledger']);
  });

  test.each([
    ['in our words', new NotFoundError('no contract has this id')],
    ['in its own', new BillingError('network', 'not a valid response', { answeredStatus: 404 })],
  ])('is a page without a name where a service without contracts answers 404 %s', async (_, error) => {
    const answers = { body: { data: { totalCount: 1, entries: [entry] } } as never };
    const reply = ({ name }: { readonly name: string }) => {
      if (name === 'credits.ledger') return answers;
      throw error;
    };
    const { code, stdout } = await createShell({ reply }).run('credits statement k --format html');
    expect([code, stdout]).toEqual([0, expect.stringContaining('Usage on invoice DRAFT-0a1b2c3d')]);
  });

  test('is a page without the number where that cannot be had', async () => {
    const { code, stdout } = await shell().run('credits statement k --format html');
    expect([code, stdout]).toEqual([0, expect.stringContaining('Usage on invoice DRAFT-0a1b2c3d')]);
  });
});

describe('documents', () => {
  const { customer, invoice } = invoiceDocument({ invoiceNumber: hostileName }, hostileName);
  const reply = ({ name }: { readonly name: string }) => {
    if (name === 'customers.billingAddress') throw new BillingError('notOffered', 'this service has no addresses');
    return { body: { data: name === 'customers.get' ? customer : invoice } as never };
  };

  test('do without the address where a service does not show one', async () => {
    const { code, stdout } = await createShell({ reply }).run('invoices export i');
    expect(code).toBe(0);
    expect(textOf(stdout)).toContain(shownName);
  });

  test.each([
    ['csv', ['invoices.get']],
    ['json', ['invoices.get', 'customers.get', 'customers.billingAddress']],
  ])('ask for a customer only where one is shown: %s', async (format, asked) => {
    const shell = createShell({ reply });
    expect(await shell.run(`invoices export i --format ${format}`)).toMatchObject({ code: 0 });
    expect(shell.calls.map(({ name }) => name)).toEqual(asked);
  });

  test('are a table on a terminal, in which foreign texts do nothing', async () => {
    const { stdout } = await createShell({ reply }).run('invoices export i', { isTerminal: true, columns: 200 });
    expect(stdout).toMatch(/^NAME +DESCRIPTION +QUANTITY/m);
    expect(stdout).not.toContain('\u001b');
  });

  test('never take the name of a file from what a service answered', async () => {
    const shell = createShell({ reply });
    mkdirSync(join(shell.home, 'out'));
    const { code } = await shell.run(['invoices', 'export', 'i', '--file', join(shell.home, 'out')]);
    expect(code).not.toBe(0);
  });
});
