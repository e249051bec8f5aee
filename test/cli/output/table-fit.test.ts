/** What a table leaves out where a terminal is too narrow for it. */

import { expect, test } from 'vitest';

import { chooseOutput, render } from '../../../src/cli/output/output.ts';
import type { Answer } from '../../../src/operations/index.ts';
import type { View } from '../../../src/operations/operation.ts';
import { createShell } from '../shell.ts';

const terminal = { isTerminal: true, hasColor: false, hasUnicode: true, columns: undefined };

const ledger: View = {
  rows: 'data',
  columns: [
    { header: 'ID', path: 'id' },
    { header: 'CREATED', path: 'createdAt', format: 'timestamp' },
    { header: 'AMOUNT', path: 'amountCents', format: 'money' },
    { header: 'CREDITS', path: 'creditAmount', format: 'number' },
    { header: 'CONTRACT', path: 'contractId' },
    { header: 'EXTERNAL ID', path: 'metadata.externalId' },
    { header: 'NOTE', path: 'note' },
    { header: 'DESCRIPTION', path: 'description' },
  ],
};
const entry = {
  id: '01900000-0000-7000-8000-000000000001',
  createdAt: '2026-03-01T09:14:00.000Z',
  amountCents: 5000,
  creditAmount: 0,
  contractId: '01900000-0000-7000-8000-000000000002',
  metadata: { externalId: 'ticket-4711' },
  note: '',
  description: 'Apology for the outage',
};

test.each([
  {
    columns: 160,
    header: 'ID CREATED AMOUNT CREDITS CONTRACT EXTERNAL ID NOTE DESCRIPTION',
    holds: ['2026-03-01T09:14:00Z', 'Apology for the outage'],
    left: '',
  },
  {
    columns: 150,
    header: 'ID CREATED AMOUNT CREDITS CONTRACT EXTERNAL ID DESCRIPTION',
    holds: ['2026-03-01  ', 'Apology for the outage'],
    left: '',
  },
  {
    columns: 120,
    header: 'ID CREATED AMOUNT CREDITS EXTERNAL ID DESCRIPTION',
    holds: ['2026-03-01T09:14:00Z', 'Apology for the outage'],
    left: 'no room for CONTRACT (-o json has everything)',
  },
  {
    columns: 80,
    header: 'ID CREATED AMOUNT EXTERNAL ID',
    holds: ['2026-03-01  ', '50.00 USD  ticket-4711'],
    left: 'no room for CONTRACT, DESCRIPTION (-o json has everything)',
  },
  { columns: 50, header: 'ID AMOUNT', holds: ['50.00 USD'], left: 'no room for CREATED, CONTRACT' },
])('at $columns columns what has no room is left out and named, never half an id', async (each) => {
  const stdout = { ...terminal, columns: each.columns };
  const body = { data: [entry] };
  const text = await render(body, ledger, { choice: chooseOutput({}, stdout), fields: [], stdout });
  const [header = '', row = '', left = ''] = text.split('\n');
  expect(header.replaceAll(/ +/g, ' ')).toBe(each.header);
  expect(row).toContain(entry.id);
  for (const part of each.holds) expect(row).toContain(part);
  expect(row.length).toBeLessThanOrEqual(each.columns);
  expect(left.slice(0, each.left.length)).toBe(each.left);
  if (each.left === '') expect(left).toBe('');
});

test('what a row is called stays longer than its other texts and counts', async () => {
  const plans: View = {
    rows: 'data',
    columns: [
      { header: 'ID', path: 'id' },
      { header: 'PRODUCT', path: 'productName' },
      { header: 'NAME', path: 'name' },
      { header: 'UNIT USD', path: 'unitAmount', format: 'usd' },
      { header: 'NET TERMS (DAYS)', path: 'netTerms', format: 'number' },
    ],
  };
  const row = { id: entry.id, productName: 'Inference', name: 'Tokens', unitAmount: '0.000003', netTerms: '30' };
  const stdout = { ...terminal, columns: 60 };
  const text = await render({ data: [row] }, plans, { choice: chooseOutput({}, stdout), fields: [], stdout });
  expect(text.split('\n')[0]).toMatch(/^ID +NAME +UNIT USD$/);
});

test('an amount of money stays longer than the numbers that it comes from', async () => {
  const lines: View = {
    rows: 'data',
    columns: [
      { header: 'NAME', path: 'name' },
      { header: 'QUANTITY', path: 'quantity', format: 'number' },
      { header: 'UNIT USD', path: 'unitPrice', format: 'usd' },
      { header: 'AMOUNT', path: 'totalAmountCents', format: 'money' },
    ],
  };
  const row = { name: 'Generated tokens', quantity: 431375, unitPrice: '0.000015', totalAmountCents: 647 };
  const stdout = { ...terminal, columns: 40 };
  const text = await render({ data: [row] }, lines, { choice: chooseOutput({}, stdout), fields: [], stdout });
  expect(text.split('\n')[0]?.split(/ {2,}/)).toEqual(['NAME', 'QUANTITY', 'AMOUNT']);
});

test.each([
  { columns: 62, header: 'ID NAME EVERY INTERVAL' },
  { columns: 55, header: 'ID NAME' },
])('a count and its unit are left out together: $columns', async ({ columns, header }) => {
  const prices: View = {
    rows: 'data',
    columns: [
      { header: 'ID', path: 'id' },
      { header: 'NAME', path: 'name' },
      { header: 'EVERY', path: 'count', format: 'number', beside: 'interval' },
      { header: 'INTERVAL', path: 'interval' },
    ],
  };
  const body = { data: [{ id: entry.id, name: 'Tokens', count: 3, interval: 'MONTH' }] };
  const stdout = { ...terminal, columns };
  const text = await render(body, prices, { choice: chooseOutput({ output: 'table' }, stdout), fields: [], stdout });
  expect(text.split('\n')[0]?.trim().split(/\s+/).join(' ')).toBe(header);
  if (columns === 55) expect(text).toContain('no room for EVERY, INTERVAL');
});

test('columns that were asked for are all there, however narrow the terminal', async () => {
  const stdout = { ...terminal, columns: 40 };
  const choice = chooseOutput({ columns: 'id,contractId,note,description' }, stdout);
  const text = await render({ data: [entry] }, ledger, { choice, fields: [], stdout });
  expect(text).toContain(`${entry.id}  ${entry.contractId}`);
  expect(text).toContain('DESCRIPTION');
  expect(text).not.toContain('no room');
});

test.each(['customers pause c1', 'credits grant --from - --expires-at 2099-12-31T00:00:00Z'])(
  'for a column that a question before %s has no room for nobody is sent to JSON, which is another answer',
  async (line) => {
    const acme = { id: 'c1', name: 'Acme', customerId: 'c1', createdAt: '2026-01-01T00:00:00Z' };
    const env = { TALLY_BASE_URL: 'https://billing.example.com', TALLY_API_KEY: `t_live_${'b'.repeat(48)}` };
    const shell = createShell({ reply: () => ({ body: { data: acme } as unknown as Answer['body'] }), env });
    const input = 'contractId,amountCents\nc1,5\n';
    const { stderr } = await shell.run(line, { isTerminal: true, columns: 12, input, answers: ['no'] });
    expect(stderr).toMatch(/^no room for [A-Z, ]+$/m);
  },
);
