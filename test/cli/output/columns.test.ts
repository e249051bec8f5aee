import { expect, test } from 'vitest';

import { chooseOutput, render } from '../../../src/cli/output/output.ts';

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
