import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimal, decimalText } from '../../src/calculation/money.ts';
import {
  meteredQuantitiesOf,
  phaseEndsOf,
  rateMeteredUsage,
  type UsageReading,
} from '../../src/calculation/usage-atoms.ts';
import type { Combination } from '../../src/operations/wire-values.ts';
import { at, grant, usageItem } from './fixtures.ts';

const january = { start: at('2026-01-01'), end: at('2026-02-01') };
const invoice = { invoiceId: 'invoice', periodIndex: 0 };
const ends = [at('2026-01-10'), at('2026-01-20'), january.end];

function reading(quantity: string, fields: Partial<UsageReading> = {}): UsageReading {
  return { groupValues: {}, eventName: 'call', properties: {}, quantity: decimal(quantity), count: 1, ...fields };
}
const red = { properties: { team: 'red' } };
const blue = { properties: { team: 'blue' } };

/** Phases end on 10 and 20 January and with the month; the last given one ends with the month. */
function rate(combination: Combination, phases: readonly (readonly UsageReading[])[], fields = {}) {
  const usage = {
    item: usageItem(fields),
    combination,
    phases: phases.map((readings, index) => ({ end: ends.slice(-phases.length)[index] ?? january.end, readings })),
  };
  return { usage, ...rateMeteredUsage(usage, invoice) };
}
const rowsOf = (atoms: ReturnType<typeof rate>['atoms']) =>
  atoms.map((atom) => `${atom.phaseEnd.toString().slice(5, 10)} ${atom.properties.team ?? '-'} ${atom.cents}`);

describe('phases', () => {
  test.each([
    ['no grant', [], ['02-01']],
    ['an expiry inside', ['2026-01-10'], ['01-10', '02-01']],
    ['two of the same instant', ['2026-01-10', '2026-01-10'], ['01-10', '02-01']],
    ['expiries at both ends and outside', ['2026-01-01', '2026-02-01', '2026-03-01', undefined], ['02-01']],
    ['expiries out of order', ['2026-01-20', '2026-01-10'], ['01-10', '01-20', '02-01']],
  ])('end at each expiry inside the window: %s', (_, expiries, expected) => {
    const grants = expiries.map((day) => grant({ grantId: 'g', expiresAt: day === undefined ? undefined : at(day) }));
    expect(phaseEndsOf(january, grants).map((end) => end.toString().slice(5, 10))).toEqual(expected);
  });
});

describe('atoms', () => {
  test('of a sum share its cents by quantity, rounded so that they add up', () => {
    const { atoms, lines } = rate('SUM', [[reading('1', blue), reading('1', red), reading('1')]], {
      unitAmount: '0.333',
    });
    expect(lines[0]?.totalCents).toBe(100n);
    expect(rowsOf(atoms)).toEqual(['02-01 blue 33', '02-01 red 34', '02-01 - 33']);
  });

  test('fall on the same groups in whichever order these were read', () => {
    const readings = [reading('1'), reading('1', red), reading('1', blue)];
    expect(rowsOf(rate('SUM', [readings], { unitAmount: '0.333' }).atoms)).toEqual([
      '02-01 blue 33',
      '02-01 red 34',
      '02-01 - 33',
    ]);
    const alike = [reading('5', red), reading('5', blue)];
    expect(rowsOf(rate('MAX', [alike]).atoms)).toEqual(['02-01 blue 5']);
    const named = [reading('5', { eventName: 'read' }), reading('5', { eventName: 'call' })];
    expect(rate('MAX', [named]).atoms.map(({ eventName }) => eventName)).toEqual(['call']);
  });

  test('of the smallest value are those of the group that has it', () => {
    expect(rowsOf(rate('MIN', [[reading('3', red), reading('7', blue)]]).atoms)).toEqual(['02-01 red 3']);
  });

  test('of a flat amount that is owed at quantity 0 are those of the first group', () => {
    const tiers = [{ minQty: '0', maxQty: '', unitAmount: '1', flatAmount: '5' }];
    const { atoms } = rate('SUM', [[reading('0', red), reading('0', blue)]], { tiering: 'GRADUATED', tiers });
    expect(rowsOf(atoms)).toEqual(['02-01 blue 500']);
  });

  test('of each phase are what the line costs up to its end, less what it cost before', () => {
    const { atoms } = rate('SUM', [[reading('0.4')], [reading('0.4')], [reading('0.4')]]);
    expect(rowsOf(atoms)).toEqual(['01-20 - 1']);
  });

  test('of many combinations are found without looking at each for each', () => {
    let looks = 0;
    const readings = Array.from({ length: 1_000 }, (_, i) => ({
      ...reading('1'),
      get groupValues() {
        looks += 1;
        return { user: `u${i}` };
      },
    }));
    expect(rate('SUM', [readings]).atoms).toHaveLength(1_000);
    expect(looks).toBeLessThan(10_000);
  });

  test('of many phases are found without pricing in each what has no usage in it', () => {
    let prices = 0;
    const item = {
      ...usageItem(),
      get unitAmount() {
        prices += 1;
        return '0.01';
      },
    };
    const phases = Array.from({ length: 200 }, (_, index) => ({
      end: january.start.add({ hours: index + 1 }),
      readings: [reading('1', { groupValues: { user: `u${index % 100}` } })],
    }));
    const { atoms, lines } = rateMeteredUsage({ item, combination: 'SUM', phases }, invoice);
    expect([lines.length, atoms.length]).toEqual([100, 200]);
    // Of each line once, and of each phase of a line.
    expect(prices).toBe(300);
  });

  test('of graduated tiers follow the price of their phase', () => {
    const tiers = [
      { minQty: '0', maxQty: '10', unitAmount: '1', flatAmount: '0' },
      { minQty: '10', maxQty: '', unitAmount: '0.1', flatAmount: '0' },
    ];
    const { atoms } = rate('SUM', [[reading('10', red)], [reading('10', blue)]], { tiering: 'GRADUATED', tiers });
    expect(rowsOf(atoms)).toEqual(['01-20 red 1000', '02-01 blue 100']);
  });

  test('of a line that shrinks later never exceed it', () => {
    const { atoms, lines } = rate('SUM', [[reading('10', red)], [reading('-6', blue)]]);
    expect(lines[0]?.totalCents).toBe(4n);
    expect(rowsOf(atoms)).toEqual(['01-20 red 4']);
  });

  test('of a maximum belong to the group that holds it', () => {
    const phases = [[reading('5', red), reading('3', blue)], [reading('9', blue)]];
    expect(rowsOf(rate('MAX', phases).atoms)).toEqual(['01-20 red 5', '02-01 blue 4']);
  });

  test.each([
    ['MIN', '7', ['02-01 - 7']],
    ['MAX', '-7', []],
  ] as const)('of a %s pass over a phase whose events gave no value', (combination, quantity, rows) => {
    const { atoms, usage } = rate(combination, [[reading('0', { count: 0 })], [reading(quantity)]]);
    expect(rowsOf(atoms)).toEqual(rows);
    expect(meteredQuantitiesOf(usage).map((metered) => decimalText(metered.quantity))).toEqual([quantity]);
  });

  test('of an SQL meter come to what it reads at the end, and to nothing where that is no usage', () => {
    const none = { ...reading('0'), count: 0 };
    const quantities = [
      [[reading('5')], [reading('6')], [reading('9')]],
      [[reading('5')], [reading('6')], [none]],
    ].map((phases) => meteredQuantitiesOf(rate('SQL', phases).usage).map(({ quantity }) => decimalText(quantity)));
    expect(quantities).toEqual([['9'], []]);
    expect(rate('SQL', [[reading('5')], [none]]).atoms).toEqual([]);
  });

  test('of an SQL meter are one, of what it reads up to each phase end', () => {
    const { atoms, usage } = rate('SQL', [[reading('5')], [reading('9')]]);
    expect(rowsOf(atoms)).toEqual(['01-20 - 5', '02-01 - 4']);
    expect(meteredQuantitiesOf(usage).map((metered) => decimalText(metered.quantity))).toEqual(['9']);
  });

  test('carry the group values of their line', () => {
    const groupValues = { model: 'a' };
    const { atoms } = rate('SUM', [
      [reading('5', { groupValues, ...red }), reading('7', { groupValues: { model: 'b' } })],
    ]);
    expect(atoms.map((atom) => [atom.properties, atom.cents])).toEqual([
      [{ model: 'a', team: 'red' }, 5n],
      [{ model: 'b' }, 7n],
    ]);
  });

  test('of a flat amount that is owed without usage are one without a dimension', () => {
    const tiers = [{ minQty: '0', maxQty: '', unitAmount: '1', flatAmount: '2' }];
    expect(rowsOf(rate('SUM', [[], []], { tiering: 'GRADUATED', tiers }).atoms)).toEqual(['02-01 - 200']);
  });

  test('of a combination whose events gave no value do not exist, and neither does its line', () => {
    const { lines, atoms } = rate('SUM', [
      [reading('0', { groupValues: { model: 'a' }, count: 0 }), reading('5', { groupValues: { model: 'b' } })],
    ]);
    expect(lines.map((line) => line.groupValues)).toEqual([{ model: 'b' }]);
    expect(atoms).toHaveLength(1);
  });

  test('always add up to their lines, and none is 0 or less', () => {
    const readings = fc.array(
      fc.record({
        quantity: fc.integer({ min: -3000, max: 9000 }).map((value) => decimal(String(value)).div(1000)),
        model: fc.constantFrom('a', 'b'),
        team: fc.constantFrom('red', 'blue', 'green'),
        count: fc.constantFrom(0, 1, 2),
      }),
      { maxLength: 6 },
    );
    const tiers = [
      { minQty: '0', maxQty: '3', unitAmount: '0.337', flatAmount: '0.11' },
      { minQty: '3', maxQty: '', unitAmount: '0.0071', flatAmount: '0.25' },
    ];
    fc.assert(
      fc.property(
        fc.array(readings, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('SUM' as const, 'COUNT' as const, 'MAX' as const, 'MIN' as const, 'SQL' as const),
        fc.constantFrom('NONE' as const, 'GRADUATED' as const, 'VOLUME' as const),
        (phases, combination, tiering) => {
          const given = phases.map((phase) =>
            phase.map(({ quantity, model, team, count }): UsageReading => ({
              groupValues: { model },
              eventName: 'call',
              properties: { team },
              quantity,
              count,
            })),
          );
          const { lines, atoms } = rate(combination, given, { tiering, tiers, unitAmount: '0.337' });
          expect(atoms.every((atom) => atom.cents > 0n)).toBe(true);
          for (const line of lines) {
            const own = atoms.filter((atom) => atom.lineKey === line.lineKey);
            expect(own.reduce((sum, atom) => sum + atom.cents, 0n)).toBe(line.totalCents);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
