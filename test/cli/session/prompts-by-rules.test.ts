import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import type { Answer } from '../../../src/operations/index.ts';
import { createShell } from '../shell.ts';
import { newDirectory } from '../../support/temporary-files.ts';

const reply = ({ name }: { readonly name: string }) => {
  const data =
    name === 'products.list' ? [{ id: 'p1', name: 'Inference' }] : name.endsWith('.list') ? [] : { id: 'k1' };
  return { body: { data, hasMore: false, total: 1 } as unknown as Answer['body'] };
};
const until = '--expires-at 2099-12-31T00:00:00Z';

/** Which flags were asked for, and the body that was sent. */
async function asked(line: string, answers: readonly string[], isTerminal = true) {
  const shell = createShell({ reply });
  const { asked: questions, ...outcome } = await shell.run(line, { isTerminal, answers });
  const sent = shell.calls.find(({ name }) => !name.endsWith('.list') && name !== 'credits.balance');
  return { ...outcome, flags: questions.map((message) => message.split(' ')[0]), body: sent?.input.body };
}

test.each<[string, readonly string[], readonly string[], object]>([
  [`credits grant k1 ${until}`, ['2500'], ['amount-cents'], { amountCents: 2500 }],
  [`credits grant k1 ${until} --credit-amount 5`, ['10'], ['credit-rate-cents'], { creditRateCents: 10 }],
  [
    'pricing create --name Fee --model FLAT',
    ['p1', '1.50', 'MONTH'],
    ['product-id', 'unit-amount', 'price-interval'],
    { productId: 'p1', unitAmount: '1.50', priceInterval: 'MONTH' },
  ],
  [
    'usage cost',
    ['c1', '2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z'],
    ['customer-id', 'start-date', 'end-date'],
    { customerId: 'c1' },
  ],
  [
    'usage cost --by model',
    ['c1', '2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z'],
    ['customer-id', 'start-date', 'end-date'],
    { customerId: 'c1', startDate: '2026-03-01T00:00:00Z' },
  ],
])('what a rule across fields misses is asked for: %s', async (line, answers, flags, body) => {
  expect(await asked(line, answers)).toMatchObject({ flags, body });
});

test('nothing is asked for that a file has', async () => {
  const file = join(newDirectory(), 'grant.json');
  writeFileSync(file, JSON.stringify({ amountCents: 2500, expiresAt: '2099-12-31T00:00:00Z' }));
  expect(await asked(`credits grant k1 --input ${file}`, [])).toMatchObject({
    code: 0,
    flags: [],
    body: { amountCents: 2500 },
  });
});

test('a question names other fields by their flags, as help does', async () => {
  const shell = createShell({ reply });
  const { asked: questions } = await shell.run(`credits grant k1 ${until} --credit-amount 5`, {
    isTerminal: true,
    answers: ['10'],
  });
  expect(questions).toEqual([
    'credit-rate-cents (Cents per credit, 0 for free credits; goes with --credit-amount; cents)',
  ]);
});

test('an answer that the field cannot have is asked for again', async () => {
  const { flags, body, stderr } = await asked(`credits grant k1 ${until}`, ['12.50', '1250']);
  expect([flags, body]).toEqual([['amount-cents'], expect.objectContaining({ amountCents: 1250 })]);
  expect(stderr).toContain('> must be a whole number of cents');
});

test.each([
  ['where another field is wrong', 'credits grant k1 --expires-at 2099-12-31', true],
  ['where a field says something else than another', `credits grant k1 ${until} --credit-amount=-1`, true],
  ['where there is nobody to ask', `credits grant k1 ${until}`, false],
  ['where all is there', `credits grant k1 ${until} --amount-cents 1`, true],
  ['where no field has to be there', 'customers update c1', true],
])('nothing is asked for %s', async (_when, line, isTerminal) => {
  expect((await asked(line, ['1'], isTerminal)).flags).toEqual([]);
});

test('nothing is asked for what the service does not offer', async () => {
  const env = { TALLY_BASE_URL: 'https://billing.example.com', TALLY_API_KEY: `tally_live_${'b'.repeat(48)}` };
  const line = 'credits adjust k1 --grant-entry-id g1 --reason Slip';
  expect(await createShell({ reply, env }).run(line, { isTerminal: true })).toMatchObject({ code: 12, asked: [] });
});

test('the end of input is no answer', async () => {
  expect(await asked(`credits grant k1 ${until}`, [])).toMatchObject({ code: 11, body: undefined });
});
