import { expect, test } from 'vitest';

import { chooseOutput, render } from '../../../src/cli/output/output.ts';
import { operations } from '../../../src/operations/all.ts';

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
