import { expect, test } from 'vitest';

import { cellText } from '../../../src/cli/wire/rows.ts';

test.each([
  ['beside it', 'balance.balanceCents', 'EUR'],
  ['of its row', 'totalCents', 'CHF'],
  ['of its row, where none is beside it', 'other.balanceCents', 'CHF'],
])('an amount is in the currency %s', (_, path, currency) => {
  const row = {
    currency: 'CHF',
    totalCents: 100,
    balance: { balanceCents: 100, currency: 'EUR' },
    other: { balanceCents: 100 },
  };
  expect(cellText(row, { header: '', path, format: 'money' })).toBe(`1.00 ${currency}`);
});

test('an amount is in USD where no currency is told', () => {
  expect(cellText({ totalCents: 100, currency: null }, { header: '', path: 'totalCents', format: 'money' })).toBe(
    '1.00 USD',
  );
});
