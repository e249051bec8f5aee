import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { statementPage } from '../../../src/cli/documents/statement-page.ts';
import { statementOf } from '../../../src/cli/documents/statement.ts';
import type { Statement } from '../../../src/cli/documents/statement.ts';
import type { Holding } from '../../../src/cli/wire/amounts.ts';
import { exactNumber } from '../../../src/exact-json.ts';
import { entry, hostileName, textOf } from './sample.ts';

type Entry = Parameters<typeof statementOf>[0][number];

const newestFirst = [
  entry('2026-04-01T00:00:00.000Z', 'expiration', -1000),
  entry('2026-03-31T23:59:59.999Z', 'usage', -1250),
  entry('2026-03-20T00:00:00.000Z', 'reversal', 500),
  entry('2026-03-10T00:00:00.000Z', 'usage', -500),
  entry('2026-03-01T00:00:00.000Z', 'grant', 3000, { expiresAt: '2026-04-01T00:00:00.000Z' }),
  entry('2026-02-28T23:59:59.999Z', 'grant', 1000),
];
const at = (date: string) => Temporal.Instant.from(`${date}T00:00:00Z`);
const march = { from: at('2026-03-01'), to: at('2026-04-01') };
const page = (statement: Statement, more = {}) =>
  statementPage({
    contractId: 'c',
    recipient: undefined,
    sender: [],
    period: march,
    statement,
    invoiceNumbers: new Map(),
    ...more,
  });

describe('a statement', () => {
  test('begins with what there was, and ends before what came afterwards', () => {
    const { opening, movements, closing, totals } = statementOf(newestFirst, march);
    expect(opening.cents).toBe(1000n);
    expect(movements.map(({ entry: { type }, cents, after }) => [type, cents, after.cents])).toEqual([
      ['grant', 3000n, 4000n],
      ['usage', -500n, 3500n],
      ['reversal', 500n, 4000n],
      ['usage', -1250n, 2750n],
    ]);
    expect(closing.cents).toBe(2750n);
    expect(totals.map(({ type, count, cents }) => [type, count, cents])).toEqual([
      ['grant', 1, 3000n],
      ['usage', 2, -1750n],
      ['reversal', 1, 500n],
    ]);
  });

  test('of no period has every movement, from nothing', () => {
    const { opening, movements, closing } = statementOf(newestFirst, { from: undefined, to: undefined });
    expect([opening.cents, movements.length, closing.cents]).toEqual([0n, 6, 1750n]);
  });

  const cents = fc.integer({ min: -(10 ** 15), max: 10 ** 15 });
  const credits = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n });
  const anyEntry = fc
    .record({
      day: fc.integer({ min: 1, max: 9 }),
      type: fc.constantFrom<Entry['type'][]>('grant', 'usage', 'adjustment', 'reversal', 'expiration'),
      cents,
      credits,
    })
    .map(({ day, type, cents, credits }) =>
      entry(`2026-03-0${day}T00:00:00.000Z`, type, cents, { creditAmount: exactNumber(decimal(credits)) }),
    );

  test('ties out: opening and movements are closing, by type too, and months follow on each other', () => {
    const days = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 2 });
    fc.assert(
      fc.property(fc.array(anyEntry), days, (entries, [one = 1, other = 2]) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)].map((day) => at(`2026-03-0${day}`));
        const statement = statementOf(entries, { from, to });
        const { opening, movements, closing, totals } = statement;
        for (const parts of [movements, totals]) expect(sumOf([opening, ...parts])).toEqual(sumOf([closing]));
        expect(movements.at(-1)?.after ?? opening).toEqual(closing);
        const [before, after] = [
          statementOf(entries, { from: undefined, to: from }),
          statementOf(entries, { from: to, to: undefined }),
        ];
        expect([before.closing, after.opening]).toEqual([opening, closing]);
        expect(before.movements.length + movements.length + after.movements.length).toBe(entries.length);
        expect(after.closing).toEqual(sumOf(statementOf(entries, { from: undefined, to: undefined }).movements));
      }),
    );
  });
});

describe('the page of a statement', () => {
  test('shows the balances, the movements by type and each of them', () => {
    expect(textOf(page(statementOf(newestFirst, march)))).toEqual([
      'Credit statement',
      '1 March 2026 to 31 March 2026',
      'Period 1 March 2026 to 31 March 2026',
      'Opening balance 10.00 USD',
      'Closing balance 27.50 USD',
      'Movements 4',
      'Closing balance 27.50 USD',
      'Summary',
      'Movement Entries Amount',
      'Opening balance 10.00 USD',
      'Grants 1 30.00 USD',
      'Draw-downs 2 −17.50 USD',
      'Reversals 1 5.00 USD',
      'Closing balance 27.50 USD',
      'Movements',
      'Movement Date Amount Balance',
      'Opening balance 10.00 USD',
      'Grant grant of 2026-03-01 Expires 1 April 2026 1 March 2026 30.00 USD 40.00 USD',
      'Draw-down usage of 2026-03-10 10 March 2026 −5.00 USD 35.00 USD',
      'Reversal reversal of 2026-03-20 20 March 2026 5.00 USD 40.00 USD',
      'Draw-down usage of 2026-03-31 31 March 2026 −12.50 USD 27.50 USD',
      'Closing balance 27.50 USD',
      'Opening balance and movements add up to the closing balance exactly. Days are in UTC.',
      'Contract c',
    ]);
  });

  test('has columns for credits where there are any', () => {
    const free = entry('2026-03-05T00:00:00.000Z', 'grant', 0, { creditAmount: 1234.5 });
    const text = textOf(page(statementOf([...newestFirst.slice(0, -2), free], march)));
    expect(text).toContain('Movement Date Amount Credits Balance Credit balance');
    expect(text).toContain('Grant grant of 2026-03-05 5 March 2026 1,234.5 0.00 USD 1,234.5');
  });

  test.each([
    [{ from: undefined, to: undefined }, newestFirst, '28 February 2026 to 1 April 2026'],
    [{ from: at('2026-05-01'), to: undefined }, newestFirst, 'From 1 May 2026'],
    [{ from: undefined, to: at('2026-05-01') }, [], 'Until 30 April 2026'],
    [{ from: undefined, to: undefined }, [], 'No movements'],
  ])('says which time it is of: %#', (period, entries, expected) => {
    expect(textOf(page(statementOf(entries, period), { period }))[1]).toBe(expected);
  });

  test('shows nothing where a service answers null in place of a text', () => {
    const nulls = { description: null, expiresAt: undefined, creditAmount: null } as never;
    const texts = textOf(page(statementOf([entry('2026-03-05T00:00:00.000Z', 'grant', 700, nulls)], march)));
    expect(texts.filter((text) => /null|undefined|Expires/.test(text))).toEqual([]);
    expect(texts.join()).toContain('7.00 USD');
  });

  test('is in the currency of its entries, and of one alone', () => {
    const inEuro = entry('2026-03-05T00:00:00.000Z', 'grant', 700, { currency: 'EUR' });
    const text = textOf(page(statementOf([inEuro], march))).join();
    expect([text.includes('7.00 EUR'), text.includes('USD')]).toEqual([true, false]);
    expect(() => statementOf([inEuro, ...newestFirst], march)).toThrow('in EUR and in USD, which do not add up');
  });

  test('without movements says so', () => {
    expect(textOf(page(statementOf([], march)))).toContain('There were no movements.');
  });

  test('shows a type as it came, even one called like what every object has', () => {
    const odd = entry('2026-03-05T00:00:00.000Z', 'constructor' as 'grant', 5, { description: 'odd' });
    const lines = textOf(page(statementOf([odd], march)));
    expect(lines).toContain('constructor 1 0.05 USD');
    expect(lines).toContain('constructor odd 5 March 2026 0.05 USD 0.05 USD');
  });

  test('takes every foreign text as text, and shows a type that it does not know', () => {
    const odd = entry('2026-03-05T00:00:00.000Z', hostileName as 'grant', 5, { description: hostileName });
    const drawn = page(statementOf([odd], march), { contractId: hostileName, sender: [hostileName] });
    expect(drawn).not.toMatch(/<script|<img|\u202e|\u001b/);
    expect(drawn.match(/&lt;script&gt;/g)?.length).toBeGreaterThan(5);
  });
});

function decimal(micros: bigint): string {
  const digits = String(micros < 0n ? -micros : micros).padStart(7, '0');
  return `${micros < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

function sumOf(holdings: readonly Holding[]): Holding {
  return {
    cents: holdings.reduce((sum, { cents }) => sum + cents, 0n),
    creditMicros: holdings.reduce((sum, { creditMicros }) => sum + creditMicros, 0n),
  };
}
