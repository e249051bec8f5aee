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

test.each(['\u202e', '\u200b', '\ufeff', '\u2028', '\u009b31m', '\u007f', '\u001b[2J', '\n'])(
  'a record in a cell is JSON of the same value, although it has %j',
  (text) => {
    const properties = { [text]: [text, { [text]: text }] };
    const cell = cellText({ properties }, { header: '', path: 'properties' });
    expect(JSON.parse(cell)).toEqual(properties);
  },
);
