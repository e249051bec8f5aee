import { expect, test } from 'vitest';

import { choicesOf } from '../../../src/cli/session/choices.ts';
import type { Answer, Billing } from '../../../src/operations/index.ts';
import type { Question } from '../../../src/cli/terminal/questions.ts';
import { ledgerEntryTypes } from '../../../src/operations/ledger-entry.ts';
import type { CallInput } from '../../../src/operations/operation.ts';
import { createShell } from '../shell.ts';

test('are all there where a service says that more follow behind the last one', async () => {
  const call = async (_name: string, { query }: { readonly query: Readonly<Record<string, string>> }) => ({
    body: { data: [{ id: 'p1', name: 'Standard' }].slice(Number(query['offset'])), hasMore: true, total: 1 },
  });
  expect(await choicesOf('plans', { call } as unknown as Billing)).toEqual([
    expect.objectContaining({ value: 'p1', label: expect.stringContaining('Standard') as string }),
  ]);
});

test('of a grant are grants alone, however much usage stands above them in the ledger', async () => {
  const entry = { description: 'Usage', amountCents: 1, createdAt: '2026-03-01T00:00:00.000Z' };
  const usage = Array.from({ length: 1_500 }, (_, index) => ({ ...entry, id: `u${index}`, type: 'usage' }));
  const ledger = [...usage, { ...entry, id: 'g1', type: 'grant', description: 'Welcome', amountCents: 2_500 }];
  const reply = ({ input: { query = {} } }: { readonly input: CallInput }) => {
    const entries = ledger.filter(({ type }) => query['type'] === undefined || type === query['type']);
    return { body: { data: { totalCount: entries.length, entries } } as unknown as Answer['body'] };
  };
  const questions: Question[] = [];
  const asking = { isTerminal: true, answers: [], onAsk: (question: Question) => questions.push(question) };
  await createShell({ reply }).run('credits adjust k1 --amount-cents -5 --description Why', asking);
  expect(questions[0]?.choices).toEqual([{ value: 'g1', label: '25.00 USD, Welcome, 2026-03-01T00:00:00.000Z' }]);
});

test('of an entry to undo are of the types that can be undone', async () => {
  const entries = ledgerEntryTypes.map((type) => ({ id: type, type, amountCents: 1, description: '', createdAt: '' }));
  const reply = () => ({ body: { data: { totalCount: entries.length, entries } } as unknown as Answer['body'] });
  const questions: Question[] = [];
  const asking = { isTerminal: true, answers: [], onAsk: (question: Question) => questions.push(question) };
  await createShell({ reply }).run('credits reverse k1', asking);
  expect(questions[0]?.choices?.map(({ value }) => value)).toEqual(['grant', 'usage', 'adjustment']);
});
