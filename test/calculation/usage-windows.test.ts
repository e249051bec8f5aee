import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import {
  type BillingTerms,
  invoicePeriodAt,
  type UsageWindow,
  usageWindowsOf,
} from '../../src/calculation/invoice-periods.ts';
import { cutWindow, usageWindowsOver } from '../../src/calculation/usage-windows.ts';
import { at, date, flatItem, usageItem } from './fixtures.ts';

const yearly = usageItem({ id: 'yearly', interval: { unit: 'YEAR', count: 1 } });
const monthly = usageItem({ id: 'monthly' });
const terms: BillingTerms = {
  startDate: date('2026-01-31'),
  endDate: date('2028-01-31'),
  items: [flatItem(), monthly, yearly],
};

function rowsOf(windows: readonly UsageWindow[]): string[] {
  return windows.map(({ item, start, end }) =>
    [item.id, ...[start, end].map((each) => each.toString().slice(0, 10))].join(' '),
  );
}

describe('usage windows by time', () => {
  test('are whole, item by item, whichever invoice they end on', () => {
    expect(rowsOf(usageWindowsOver(terms, { start: at('2026-02-10'), end: at('2026-03-10') }))).toEqual([
      'monthly 2026-01-31 2026-02-28',
      'monthly 2026-02-28 2026-03-31',
      'yearly 2026-01-31 2027-01-31',
    ]);
  });

  test.each([
    ['that ends where a period starts', '2026-02-01', '2026-02-28', ['monthly 2026-01-31 2026-02-28']],
    ['that starts where a period ends', '2026-02-28', '2026-03-01', ['monthly 2026-02-28 2026-03-31']],
    ['before the contract', '2025-01-01', '2026-01-31', []],
    ['after the contract', '2028-01-31', '2029-01-01', []],
    ['without length', '2026-02-10', '2026-02-10', []],
  ])('of a range %s', (_, start, end, expected) => {
    const monthlyTerms = { ...terms, items: [monthly] };
    expect(rowsOf(usageWindowsOver(monthlyTerms, { start: at(start), end: at(end) }))).toEqual(expected);
  });

  test('of a contract that was cancelled before it began are none', () => {
    const never = { ...terms, endDate: terms.startDate };
    expect(usageWindowsOver(never, { start: at('2020-01-01'), end: at('2030-01-01') })).toEqual([]);
  });

  test('over the whole term are those of all invoices', () => {
    const intervals = fc.constantFrom<['MONTH' | 'YEAR', number][]>(['MONTH', 1], ['MONTH', 3], ['YEAR', 1]);
    const days = fc.integer({ min: 1, max: 900 });
    fc.assert(
      fc.property(fc.array(intervals, { minLength: 1, maxLength: 3 }), days, (chosen, length) => {
        const items = chosen.map(([unit, count], index) =>
          usageItem({ id: `item-${index}`, interval: { unit, count } }),
        );
        const startDate = date('2026-01-31');
        const own = { startDate, endDate: startDate.add({ days: length }), items };
        const byInvoice: UsageWindow[] = [];
        for (
          let index = 0, period = invoicePeriodAt(own, 0);
          period !== undefined;
          period = invoicePeriodAt(own, index)
        ) {
          byInvoice.push(...usageWindowsOf(own, period));
          index += 1;
        }
        const byTime = usageWindowsOver(own, { start: at('2026-01-01'), end: at('2030-01-01') });
        expect(rowsOf(byTime).toSorted()).toEqual(rowsOf(byInvoice).toSorted());
      }),
      { numRuns: 50 },
    );
  });
});

test('the periods of an interval are found once, for however many items', () => {
  const range = { start: at('2026-01-31'), end: at('2100-01-01') };
  const instantsFor = (count: number): number => {
    const instants = vi.spyOn(Temporal.PlainDate.prototype, 'toZonedDateTime');
    const items = Array.from({ length: count }, (_, index) => usageItem({ id: `item-${index}` }));
    expect(usageWindowsOver({ startDate: terms.startDate, items }, range)).toHaveLength(888 * count);
    const { length } = instants.mock.calls;
    instants.mockRestore();
    return length;
  };
  expect(instantsFor(100)).toBe(instantsFor(1));
});

test('a cut window is the part inside the range', () => {
  const range = { start: at('2026-02-10'), end: at('2026-03-10') };
  expect(rowsOf(usageWindowsOver(terms, range).map((window) => cutWindow(window, range)))).toEqual([
    'monthly 2026-02-10 2026-02-28',
    'monthly 2026-02-28 2026-03-10',
    'yearly 2026-02-10 2026-03-10',
  ]);
});
