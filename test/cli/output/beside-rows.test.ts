import { expect, test } from 'vitest';

import { render } from '../../../src/cli/output/output.ts';
import type { Column } from '../../../src/operations/operation.ts';

const columns = [{ header: 'ID', path: 'id' }];
const stdout = { isTerminal: true, hasColor: false, hasUnicode: false, columns: 100 };

async function shown(data: object, rows: string, counted: readonly Column[] = []) {
  const view = { rows, columns: [...columns, ...counted], parts: { failures: columns } };
  return await render({ data }, view, { choice: { format: 'table' }, fields: [], stdout });
}

test('what stands beside the rows is shown above them', async () => {
  expect(await shown({ walletMode: 'credits', budgets: [{ id: 'b' }] }, 'data.budgets')).toBe(
    'wallet mode  credits\n\nID\nb\n',
  );
  expect(await shown({ walletMode: 'credits', budgets: [] }, 'data.budgets')).toBe('wallet mode  credits\n');
});

test('a list that has nothing is not named above the rows, nor where its table would stand', async () => {
  const data = { failedCount: 0, failures: [], notes: [], invoices: [{ id: 'i1' }] };
  expect(await shown(data, 'data.invoices')).toBe('failed count  0\n\nID\ni1\n');
  expect(await shown({ ...data, invoices: [] }, 'data')).toBe('failed count  0\nnotes\ninvoices\n');
  const counted = [{ header: 'FAILURES', path: 'failures', format: 'count' }] as const;
  expect(await shown({ ...data, invoices: [] }, 'data', counted)).toBe(
    'failed count  0\nfailures      0\nnotes\ninvoices\n',
  );
});
