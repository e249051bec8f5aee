import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BillingPeriod } from '../../src/calculation/billing-period.ts';
import { draftInvoice, type RatedUsage, unitPriceCentsOf, withCredits } from '../../src/calculation/invoice-draft.ts';
import {
  type BillingTerms,
  invoiceDateOf,
  invoicePeriodAt,
  invoicePeriodIndexContaining,
  usageWindowsOf,
} from '../../src/calculation/invoice-periods.ts';
import { decimal, decimalText, dollarsOfCents } from '../../src/calculation/money.ts';
import { rateUsage } from '../../src/calculation/rating.ts';
import { limits } from '../../src/limits.ts';
import { date, flatItem, grant, usageItem } from './fixtures.ts';

const month = { unit: 'MONTH', count: 1 } as const;
const year = { unit: 'YEAR', count: 1 } as const;

function termsOf(fields: Partial<BillingTerms> = {}): BillingTerms {
  return { startDate: date('2026-01-31'), endDate: date('2027-01-31'), items: [flatItem(), usageItem()], ...fields };
}

function periodOf(terms: BillingTerms, index: number): BillingPeriod {
  const period = invoicePeriodAt(terms, index);
  if (period === undefined) throw new Error(`there is no period ${index}`);
  return period;
}

const metered = (id: string, quantity: string): RatedUsage =>
  new Map([[id, rateUsage(usageItem({ id }), [{ groupValues: {}, quantity: decimal(quantity) }])]]);

/** Every line of an invoice as `name: total, service period`. */
function linesOf(terms: BillingTerms, index: number, rated?: RatedUsage): string[] {
  return draftInvoice(terms, periodOf(terms, index), rated).lines.map((line) => {
    const { start, end } = line.servicePeriod;
    return `${line.name}: ${dollarsOfCents(line.totalCents).toFixed(2)}, ${start.toString().slice(0, 10)} ${end.toString().slice(0, 10)}`;
  });
}

describe('a monthly contract from 31 January', () => {
  test('bills seats in advance and usage in arrears on one invoice, dated at its end', () => {
    expect(linesOf(termsOf(), 1, metered('item', '250.5'))).toEqual([
      'Seats: 10.00, 2026-02-28 2026-03-31',
      'Tokens: 2.51, 2026-02-28 2026-03-31',
    ]);
    expect(invoiceDateOf(termsOf(), periodOf(termsOf(), 1)).toString()).toBe('2026-03-31');
  });

  test('has twelve invoices, and none after', () => {
    expect(invoicePeriodAt(termsOf(), 11)?.end.toString()).toBe('2027-01-31');
    expect(invoicePeriodAt(termsOf(), 12)).toBeUndefined();
    expect(invoicePeriodIndexContaining(termsOf(), date('2026-03-30'))).toBe(1);
  });

  test('of fixed prices alone is dated at the start', () => {
    const terms = termsOf({ items: [flatItem()] });
    expect(invoiceDateOf(terms, periodOf(terms, 1)).toString()).toBe('2026-02-28');
  });

  test('still bills a line of quantity 0 for a meter without usage', () => {
    expect(linesOf(termsOf(), 0)).toEqual([
      'Seats: 10.00, 2026-01-31 2026-02-28',
      'Tokens: 0.00, 2026-01-31 2026-02-28',
    ]);
  });
});

describe('a contract of mixed intervals', () => {
  const yearly = termsOf({
    startDate: date('2026-03-01'),
    endDate: date('2027-09-16'),
    items: [
      flatItem({ interval: month }),
      flatItem({ id: 'licence', pricingName: 'Licence', unitAmount: '365', interval: year }),
      usageItem({ interval: year }),
    ],
  });

  test.each([
    [0, ['Seats: 10.00, 2026-03-01 2026-04-01', 'Licence: 365.00, 2026-03-01 2027-03-01'], '2026-03-01'],
    [1, ['Seats: 10.00, 2026-04-01 2026-05-01'], '2026-04-01'],
    [11, ['Seats: 10.00, 2027-02-01 2027-03-01', 'Tokens: 5.00, 2026-03-01 2027-03-01'], '2027-03-01'],
    [12, ['Seats: 10.00, 2027-03-01 2027-04-01', 'Licence: 198.46, 2027-03-01 2027-09-16'], '2027-03-01'],
    [18, ['Seats: 5.00, 2027-09-01 2027-09-16', 'Tokens: 5.00, 2027-03-01 2027-09-16'], '2027-09-16'],
  ])('bills a year where it starts, its usage where it ends (invoice %i)', (index, lines, invoiceDate) => {
    expect(linesOf(yearly, index, metered('item', '500'))).toEqual(lines);
    expect(invoiceDateOf(yearly, periodOf(yearly, index)).toString()).toBe(invoiceDate);
  });

  test('meters a year on its last invoice', () => {
    const windows = [10, 11, 18].map((index) => usageWindowsOf(yearly, periodOf(yearly, index)));
    const seen = windows.map((list) => list.map((window) => `${window.start} ${window.end}`));
    expect(seen).toEqual([
      [],
      ['2026-03-01T00:00:00Z 2027-03-01T00:00:00Z'],
      ['2027-03-01T00:00:00Z 2027-09-16T00:00:00Z'],
    ]);
  });

  test('gives credits the period of the invoice, whichever usage they pay', () => {
    const { start, end } = draftInvoice(yearly, periodOf(yearly, 11), metered('item', '500')).service;
    expect([start.toString(), end.toString()]).toEqual(['2027-02-01T00:00:00Z', '2027-03-01T00:00:00Z']);
  });

  test('meters every instant of the term exactly once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 900 }), fc.integer({ min: 0, max: 365 }), (length, offset) => {
        const startDate = date('2024-01-01').add({ days: offset });
        const terms = { ...yearly, startDate, endDate: startDate.add({ days: length }) };
        const ends = [`${startDate}T00:00:00Z`];
        for (let index = 0; ; index += 1) {
          const period = invoicePeriodAt(terms, index);
          if (period === undefined) break;
          for (const window of usageWindowsOf(terms, period)) {
            expect(window.start.toString()).toBe(ends.at(-1));
            ends.push(window.end.toString());
          }
        }
        expect(ends.at(-1)).toBe(`${terms.endDate}T00:00:00Z`);
      }),
      { numRuns: 40 },
    );
  });
});

describe('a cut period', () => {
  const terms = termsOf({
    startDate: date('2026-01-01'),
    endDate: date('2026-02-11'),
    items: [flatItem({ quantity: '3', flatAmount: '4' }), usageItem({ flatAmount: '28' })],
  });

  test('prorates fixed amounts by days and leaves usage whole', () => {
    expect(linesOf(terms, 1, metered('item', '100'))).toEqual([
      'Seats: 12.14, 2026-02-01 2026-02-11',
      'Tokens: 1.00, 2026-02-01 2026-02-11',
      'Tokens: 10.00, 2026-02-01 2026-02-11',
    ]);
  });

  test('shows the part of the price that was charged', () => {
    const [seats] = draftInvoice(terms, periodOf(terms, 1)).lines;
    expect(seats?.proration).toEqual({ daysUsed: 10, daysWhole: 28 });
    expect(decimalText(seats?.exactAmount ?? decimal('0'))).toBe('12.142857142857');
    expect(decimalText(seats?.unitPrice ?? decimal('0'))).toBe('4.047619047619');
    expect(seats?.unitPriceCents).toBe(405n);
  });

  test('follows whole ones, which show the price a unit beside their flat amount', () => {
    const [seats] = draftInvoice(terms, periodOf(terms, 0)).lines;
    expect(seats).toMatchObject({ totalCents: 3400n, unitPriceCents: 1000n, proration: undefined });
  });

  test('of none of an item is its part of the flat amount, at no price a unit', () => {
    const none = { ...terms, items: [flatItem({ quantity: '0', flatAmount: '28' })] };
    const [seats] = draftInvoice(none, periodOf(none, 1)).lines;
    expect(seats).toMatchObject({ totalCents: 1000n, unitPriceCents: 0n });
  });
});

describe('lines', () => {
  test('show a price beyond the largest amount as that amount', () => {
    expect(unitPriceCentsOf(decimal('999999999999999'))).toBe(limits.centsMaximum);
  });

  test('the flat amount of a USAGE price is a fixed line, which credits cannot pay', () => {
    const terms = termsOf({ items: [usageItem({ flatAmount: '7' })] });
    const draft = draftInvoice(terms, periodOf(terms, 0), metered('item', '100'));
    expect(draft.lines.map((line) => [line.kind, line.totalCents])).toEqual([
      ['metered', 100n],
      ['fixed', 700n],
    ]);
    expect(draft).toMatchObject({ meteredCents: 100n, totalCents: 800n });
  });

  test('what is billed once, and prepaid credits, stand on the first invoice only', () => {
    const once = flatItem({ id: 'setup', pricingName: 'Setup', billingMode: 'ONE_TIME', interval: undefined });
    const terms = termsOf({ items: [flatItem(), once], creditGrantCents: 5000n });
    expect(linesOf(terms, 0)).toEqual([
      'Seats: 10.00, 2026-01-31 2026-02-28',
      'Setup: 10.00, 2026-01-31 2026-02-28',
      'Prepaid credits: 50.00, 2026-01-31 2026-02-28',
    ]);
    expect(linesOf(terms, 1)).toEqual(['Seats: 10.00, 2026-02-28 2026-03-31']);
  });

  test('of an amount alone have the quantity 1', () => {
    const terms = termsOf({ items: [usageItem({ flatAmount: '7' })], creditGrantCents: 5000n });
    const draft = draftInvoice(terms, periodOf(terms, 0), metered('item', '300'));
    const draw = {
      invoiceId: 'i',
      lineKey: 'item',
      grantId: 'g',
      appliedCents: 100n,
      amountCents: 100n,
      creditMicros: 0n,
    };
    const invoice = withCredits(draft, 'i', [draw], [grant({ grantId: 'g' })]);
    expect(invoice.lines.map((line) => [line.kind, decimalText(line.quantity)])).toEqual([
      ['metered', '300'],
      ['fixed', '1'],
      ['prepaid', '1'],
      ['credit', '1'],
    ]);
  });

  test.each([
    ['for the whole of a fixed term', date('2026-06-01'), '2026-06-01'],
    ['for a month when it rolls', undefined, '2026-02-28'],
  ])('a contract that is billed once has one invoice, %s', (_, endDate, end) => {
    const terms = termsOf({ endDate, items: [flatItem({ billingMode: 'ONE_TIME', interval: undefined })] });
    expect(periodOf(terms, 0).end.toString()).toBe(end);
    expect(invoicePeriodAt(terms, 1)).toBeUndefined();
    expect(linesOf(terms, 0)).toEqual([`Seats: 10.00, 2026-01-31 ${end}`]);
  });

  test('a TIER price is applied to the quantity of the plan', () => {
    const tiers = [
      { minQty: '0', maxQty: '5', unitAmount: '10', flatAmount: '0' },
      { minQty: '5', maxQty: '', unitAmount: '8', flatAmount: '0' },
    ];
    const terms = termsOf({ items: [flatItem({ model: 'TIER', tiering: 'GRADUATED', tiers, quantity: '7' })] });
    const [line] = draftInvoice(terms, periodOf(terms, 0)).lines;
    expect(line).toMatchObject({ totalCents: 6600n, unitPriceCents: 943n });
    expect(line?.breakdown).toHaveLength(2);
  });

  test('have keys that are unique, and the same on every reading', () => {
    const quantities = ['a', 'b'].map((model) => ({ groupValues: { model }, quantity: decimal('1') }));
    const item = usageItem({ flatAmount: '1' });
    const terms = termsOf({
      items: [flatItem(), item, usageItem({ id: 'item2', flatAmount: '1' })],
      creditGrantCents: 1n,
    });
    const rated = () => new Map([['item', rateUsage(item, quantities)]]);
    const keys = () => draftInvoice(terms, periodOf(terms, 0), rated()).lines.map((line) => line.lineKey);
    expect(new Set(keys()).size).toBe(7);
    expect(keys()).toEqual(keys());
  });
});

describe('credits on an invoice', () => {
  const terms = termsOf();
  const draft = draftInvoice(terms, periodOf(terms, 0), metered('item', '5000'));
  const drawn = (grantId: string, appliedCents: bigint, invoiceId = 'i') => ({
    invoiceId,
    lineKey: 'item',
    grantId,
    appliedCents,
    amountCents: appliedCents,
    creditMicros: 0n,
  });
  const grants = [grant({ grantId: 'g1' }), grant({ grantId: 'g2' }), grant({ grantId: 'g3' })];

  test('are one negative line for each grant that paid, in deduction order', () => {
    const draws = [drawn('g2', 1000n), drawn('g1', 300n), drawn('g1', 200n), drawn('g1', 9n, 'another')];
    const invoice = withCredits(draft, 'i', draws, grants);
    const credits = invoice.lines.filter((line) => line.kind === 'credit');
    expect(credits.map((line) => [line.grantId, line.totalCents, line.name])).toEqual([
      ['g1', -500n, 'Credits applied'],
      ['g2', -1000n, 'Credits applied'],
    ]);
    expect(invoice).toMatchObject({ totalCents: 4500n, meteredCents: 5000n });
  });

  test('may pay for all usage, and for nothing else', () => {
    expect(withCredits(draft, 'i', [drawn('g1', 5000n)], grants).totalCents).toBe(1000n);
    expect(() => withCredits(draft, 'i', [drawn('g1', 5001n)], grants)).toThrow('metered lines alone');
  });
});
