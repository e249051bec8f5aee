import { expect, test } from 'vitest';

import { chooseOutput, render } from '../../../src/cli/output/output.ts';
import { columnWords } from '../../../src/cli/output/table.ts';
import { allOperations, operations } from '../../../src/operations/all.ts';

const pipe = { isTerminal: false, hasColor: false, hasUnicode: false, columns: undefined };

test.each(['external id', 'EXTERNAL ID', 'externalId', 'external-id'])(
  'a header of two words may be %s',
  async (name) => {
    const view = { rows: 'data', columns: [{ header: 'EXTERNAL ID', path: 'metadata.externalCustomerId' }] };
    const body = { data: [{ metadata: { externalCustomerId: 'acme' } }] };
    const choice = chooseOutput({ columns: name }, pipe);
    expect(await render(body, view, { choice, fields: ['metadata'], stdout: pipe })).toBe('acme\n');
  },
);

test('on 80 columns the list of organizations says which are production', async () => {
  const terminal = { ...pipe, isTerminal: true, columns: 80 };
  const organization = {
    id: '01900000-0000-7000-8000-000000000001',
    name: 'default',
    keyPrefix: 'tally',
    salesTaxEnabled: false,
    paymentProcessor: null,
    environment: 'production',
  };
  const { view } = operations['orgs.list'];
  const choice = chooseOutput({}, terminal);
  const text = await render({ data: [organization] }, view, { choice, fields: [], stdout: terminal });
  expect(text).toContain('default  production');
});

test('a field has one word, in the tables of all operations and in records without a column for it', async () => {
  const columns = allOperations.flatMap(({ view }) =>
    [view.columns, ...Object.values(view.parts ?? {}), ...Object.values(view.included ?? {})].flat(),
  );
  const wordOf = (path: string) => columnWords.get(path.split('.').at(-1) ?? '');
  const words = columns.flatMap(({ path, header }) =>
    wordOf(path) === undefined || path.includes('*') ? [] : [{ path, word: header.toLowerCase() }],
  );
  expect(words.length).toBeGreaterThan(30);
  expect(words).toEqual(words.map(({ path }) => ({ path, word: wordOf(path) })));
  const view = { rows: 'data', columns: [{ header: 'ID', path: 'id' }] };
  const body = { data: { id: '1', startDate: '2026-03-01', contractId: '2', previous: { endDate: '2026-03-02' } } };
  const choice = chooseOutput({}, { ...pipe, isTerminal: true });
  expect(await render(body, view, { choice, fields: [], stdout: pipe })).toBe(
    'id            1\nstart         2026-03-01\ncontract      2\nprevious end  2026-03-02\n',
  );
});
