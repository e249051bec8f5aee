import { expect, test } from 'vitest';

import {
  countOfLegalNumber,
  draftNumberOf,
  isDraftNumber,
  legalNumberOf,
  namesDraft,
} from '../../src/operations/invoice-number.ts';

test.each([
  [1n, 'INV-000001'],
  [999_999n, 'INV-999999'],
  [1_000_000n, 'INV-1000000'],
])('the legal number of invoice %d is %s, and tells its count', (count, number) => {
  expect(legalNumberOf(count)).toBe(number);
  expect(countOfLegalNumber(number)).toBe(Number(count));
  expect(isDraftNumber(number)).toBe(false);
});

test('the number of a draft is known by itself and in a description', () => {
  const number = draftNumberOf('0123456789abcdef');
  expect(number).toBe('DRAFT-01234567');
  expect([isDraftNumber(number), namesDraft(`Usage on invoice ${number}`)]).toEqual([true, true]);
  expect(countOfLegalNumber(number)).toBeUndefined();
});

test.each(['INV-00001', 'INV-000001 ', 'DRAFT-0123456', 'DRAFT-0123456g', 'DRAFT-012345678'])(
  '"%s" is the number of no invoice',
  (text) => {
    expect([countOfLegalNumber(text), isDraftNumber(text), namesDraft(text)]).toEqual([undefined, false, false]);
  },
);
