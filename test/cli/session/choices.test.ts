import { expect, test } from 'vitest';

import { choicesOf } from '../../../src/cli/session/choices.ts';
import type { Billing } from '../../../src/operations/index.ts';

test('are all there where a service says that more follow behind the last one', async () => {
  const call = async (_name: string, { query }: { readonly query: Readonly<Record<string, string>> }) => ({
    body: { data: [{ id: 'p1', name: 'Standard' }].slice(Number(query['offset'])), hasMore: true, total: 1 },
  });
  expect(await choicesOf('plans', { call } as unknown as Billing)).toEqual([
    expect.objectContaining({ value: 'p1', label: expect.stringContaining('Standard') as string }),
  ]);
});
