import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type DateRange,
  type Interval,
  nestingGrid,
  periodAt,
  periodIndexContaining,
  periodStart,
  servicePeriodOf,
} from '../../src/calculation/billing-period.ts';
import { decimal, decimalText } from '../../src/calculation/money.ts';
import { prorate, prorationOf } from '../../src/calculation/proration.ts';

const date = (text: string) => Temporal.PlainDate.from(text);
const week = (count = 1): Interval => ({ unit: 'WEEK', count });
const month = (count = 1): Interval => ({ unit: 'MONTH', count });
const year = (count = 1): Interval => ({ unit: 'YEAR', count });

const intervals = fc.record({
  unit: fc.constantFrom('WEEK' as const, 'MONTH' as const, 'YEAR' as const),
  count: fc.constantFrom(1, 2, 3, 12),
});
const dates = fc.integer({ min: 0, max: 36_500 }).map((days) => date('2000-01-01').add({ days }));

describe('period starts', () => {
  test.each([
    ['2026-01-31', month(), '2026-01-31 2026-02-28 2026-03-31 2026-04-30 2026-05-31'],
    ['2024-01-31', month(), '2024-01-31 2024-02-29 2024-03-31 2024-04-30 2024-05-31'],
    ['2024-01-30', month(), '2024-01-30 2024-02-29 2024-03-30 2024-04-30 2024-05-30'],
    ['2025-11-30', month(3), '2025-11-30 2026-02-28 2026-05-30 2026-08-30 2026-11-30'],
    ['2024-02-29', year(), '2024-02-29 2025-02-28 2026-02-28 2027-02-28 2028-02-29'],
    ['2096-02-29', year(4), '2096-02-29 2100-02-28 2104-02-29 2108-02-29 2112-02-29'],
    ['2026-12-28', week(), '2026-12-28 2027-01-04 2027-01-11 2027-01-18 2027-01-25'],
    ['2026-01-01', week(2), '2026-01-01 2026-01-15 2026-01-29 2026-02-12 2026-02-26'],
  ])('from %s are counted from the anchor and clamped to the month (%o)', (anchor, interval, starts) => {
    const seen = [0, 1, 2, 3, 4].map((index) => periodStart(date(anchor), interval, index).toString());
    expect(seen.join(' ')).toBe(starts);
  });
});

const allPeriods = (range: DateRange) =>
  Array.from({ length: 120 }, (_, index) => periodAt(range, month(), index)).filter((period) => period !== undefined);

describe('periods', () => {
  test('a year from March in months is twelve whole periods', () => {
    const range = { startDate: date('2026-03-01'), endDate: date('2027-03-01') };
    const periods = allPeriods(range);
    expect(periods).toHaveLength(12);
    expect(periods.at(-1)?.end.toString()).toBe('2027-03-01');
    expect(periods.every((period) => prorationOf(period) === undefined)).toBe(true);
  });

  test('the last period is cut at the end date, which is exclusive', () => {
    const range = { startDate: date('2026-01-31'), endDate: date('2026-03-15') };
    const ends = allPeriods(range).map((period) => `${period.start} ${period.end} ${period.wholeEnd}`);
    expect(ends).toEqual(['2026-01-31 2026-02-28 2026-02-28', '2026-02-28 2026-03-15 2026-03-31']);
    expect(periodAt(range, month(), 2)).toBeUndefined();
  });

  test('a rolling contract has every period that is asked for', () => {
    const periods = [5, 6].map((index) => periodAt({ startDate: date('2026-01-01') }, month(), index));
    expect(periods.map((period) => period?.start.toString())).toEqual(['2026-06-01', '2026-07-01']);
  });

  test('a service period runs from midnight to midnight in UTC', () => {
    const service = servicePeriodOf({ start: date('2026-03-29'), end: date('2026-03-30') });
    expect(service.start.toString()).toBe('2026-03-29T00:00:00Z');
    expect(service.end.toString()).toBe('2026-03-30T00:00:00Z');
  });

  test('periods tile: every date is in exactly the period that its index says', () => {
    fc.assert(
      fc.property(dates, intervals, dates, (anchor, interval, day) => {
        const index = periodIndexContaining(anchor, interval, day);
        expect(Temporal.PlainDate.compare(periodStart(anchor, interval, index), day)).toBeLessThanOrEqual(0);
        expect(Temporal.PlainDate.compare(day, periodStart(anchor, interval, index + 1))).toBeLessThan(0);
      }),
      { numRuns: 200 },
    );
  });
});

describe('the invoice grid', () => {
  test.each([
    [[month(), year()], month()],
    [[year(), month(3), month(6)], month(3)],
    [[year(2), year()], year()],
    [[month(12), year()], month(12)],
    [[week(2), week(4)], week(2)],
  ])('of %o is the shortest interval', (plan, grid) => {
    expect(nestingGrid(plan)).toEqual(grid);
  });

  test.each([
    [[week(), month()]],
    [[week(52), year()]],
    [[month(2), month(3)]],
    [[month(2), month(3), month(6)]],
    [[month(5), year()]],
    [[]],
  ])('of %o does not exist', (plan) => {
    expect(nestingGrid(plan)).toBeUndefined();
  });

  test('holds every start of the longer intervals', () => {
    fc.assert(
      fc.property(
        dates,
        fc.integer({ min: 0, max: 20 }),
        fc.constantFrom(month(), month(3), month(6)),
        (anchor, index, grid) => {
          const start = periodStart(anchor, year(), index);
          expect(periodStart(anchor, grid, periodIndexContaining(anchor, grid, start)).equals(start)).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('proration', () => {
  const cut = (start: string, end: string) => {
    const period = periodAt({ startDate: date(start), endDate: date(end) }, month(), 0);
    if (period === undefined) throw new Error('the range is empty');
    return prorationOf(period);
  };

  test.each([
    ['2026-02-01', '2026-02-15', '100', '50'],
    ['2024-02-01', '2024-02-15', '100', '48.275862068966'],
    ['2026-01-01', '2026-01-02', '31', '1'],
    ['2026-01-01', '2026-02-01', '31', '31'],
  ])('of [%s, %s) at %s a month is %s, by days', (start, end, amount, expected) => {
    expect(decimalText(prorate(decimal(amount), cut(start, end)))).toBe(expected);
  });
});
