import { describe, expect, test } from 'vitest';
import type { BurnDownInput } from '../../src/calculation/burn-down.ts';
import type { BudgetCap } from '../../src/calculation/budget.ts';
import { creditsText } from '../../src/whole-amounts.ts';
import { planSettlement } from '../../src/calculation/settlement-plan.ts';
import { burn, draw, free, rated } from './burn-down-fixtures.ts';
import { at, atom, entry, grant, million } from './fixtures.ts';

const rowsOf = (input: Partial<BurnDownInput>) =>
  burn(input).map(
    (draw) =>
      `${draw.lineKey} ${draw.grantId}: ${draw.appliedCents} ${draw.amountCents} ${creditsText(draw.creditMicros)}`,
  );
const february = { phaseEnd: at('2026-02-01') };
const march = at('2026-03-01');

describe('grants', () => {
  test('are asked once what usage they are for, however much of it there is', () => {
    let timesAsked = 0;
    const specifiers = {
      get properties() {
        timesAsked += 1;
        return { team: ['red', 'blue'] };
      },
    };
    const usage = Array.from({ length: 50 }, (_, index) =>
      atom(1n, { lineKey: `line ${index}`, properties: { team: ['red', 'green', 'blue'][index % 3] ?? '' } }),
    );
    expect(burn({ grants: [grant({ grantId: 'g', originalCents: 900n, specifiers })], usage })).toHaveLength(33);
    expect(timesAsked).toBe(1);
  });

  test('that have nothing left by a phase are not asked for its lines', () => {
    let timesAsked = 0;
    const emptied = Array.from({ length: 200 }, (_, index) => ({
      ...grant({ grantId: `g ${index}`, originalCents: 1n }),
      get specifiers() {
        timesAsked += 1;
        return undefined;
      },
    }));
    const before = atom(201n, { lineKey: 'before', phaseEnd: at('2026-01-15') });
    const usage = Array.from({ length: 200 }, (_, index) => atom(1n, { lineKey: `line ${index}`, ...february }));
    expect(burn({ grants: emptied, usage: [before, ...usage] })).toHaveLength(200);
    expect(timesAsked).toBe(200);
  });

  test('that are used up are passed over no more, however many lines and grants there are', () => {
    let timesAsked = 0;
    const grants = Array.from({ length: 200 }, (_, index) => ({
      ...grant({ grantId: `g${index}`, originalCents: 1n }),
      get specifiers() {
        timesAsked += 1;
        return undefined;
      },
    }));
    const usage = Array.from({ length: 400 }, (_, index) => atom(1n, { lineKey: `line ${index}`, ...february }));
    expect(burn({ grants, usage })).toHaveLength(200);
    // When it pays, when it is found to be empty, and with the one after it.
    expect(timesAsked).toBeLessThanOrEqual(3 * grants.length);
  });

  test('pay in deduction order until the usage is paid', () => {
    const grants = [
      grant({ grantId: 'paid', isPromotional: false, expiresAt: march, originalCents: 500n }),
      grant({ grantId: 'promotional', expiresAt: march, originalCents: 300n }),
      grant({ grantId: 'endless', originalCents: 900n }),
    ];
    expect(rowsOf({ grants, usage: [atom(1000n)] })).toEqual([
      'line promotional: 300 300 0',
      'line paid: 500 500 0',
      'line endless: 200 200 0',
    ]);
  });

  test('leave the rest as overage', () => {
    const input = { grants: [grant({ grantId: 'g', originalCents: 300n })], usage: [atom(1000n)] };
    expect(rowsOf(input)).toEqual(['line g: 300 300 0']);
  });

  test('pay the earlier invoice first, then the earlier phase, then the earlier line', () => {
    const usage = [
      atom(10n, { lineKey: 'later invoice', invoiceId: 'next', periodIndex: 1 }),
      atom(10n, { lineKey: 'later phase', phaseEnd: at('2026-02-01') }),
      atom(10n, { lineKey: 'first', phaseEnd: at('2026-01-15') }),
      atom(10n, { lineKey: 'second', phaseEnd: at('2026-01-15') }),
    ];
    expect(rowsOf({ grants: [grant({ grantId: 'g', originalCents: 25n })], usage })).toEqual([
      'first g: 10 10 0',
      'second g: 10 10 0',
      'later phase g: 5 5 0',
    ]);
  });

  test.each([
    ['later than the phase', '2026-02-02', true],
    ['with the phase', '2026-02-01', true],
    ['before the phase ends', '2026-01-31', false],
  ])('that expire %s: paid is %s', (_, expiry, isPaid) => {
    const grants = [grant({ grantId: 'g', expiresAt: at(expiry) })];
    expect(rowsOf({ grants, usage: [atom(10n, february)] })).toHaveLength(isPaid ? 1 : 0);
  });

  test('limited to some usage leave the other to the next grant', () => {
    const grants = [
      grant({ grantId: 'red only', expiresAt: march, specifiers: { properties: { team: 'red' } } }),
      grant({ grantId: 'any' }),
    ];
    const usage = [atom(10n, { properties: { team: 'blue' } }), atom(20n, { properties: { team: 'red' } })];
    expect(rowsOf({ grants, usage })).toEqual(['line red only: 20 20 0', 'line any: 10 10 0']);
  });
});

describe('credits', () => {
  test.each([
    [1n, '0.333333'],
    [2n, '0.666667'],
    [999n, '333'],
    [1000n, '333.333333'],
    [5000n, '333.333333'],
  ])(
    '%s cents of a grant of 1000 cents at 3 cents a credit are %s credits; the last cent takes all',
    (cents, credits) => {
      const grants = [rated('g', 1000n, 3n)];
      const applied = cents > 1000n ? 1000n : cents;
      expect(rowsOf({ grants, usage: [atom(cents)] })).toEqual([`line g: ${applied} ${applied} ${credits}`]);
    },
  );

  test('of one line are computed from its whole, not phase by phase', () => {
    const usage = [1, 2, 3].map((day) => atom(1n, { phaseEnd: at(`2026-01-0${day}`) }));
    expect(rowsOf({ grants: [rated('g', 1000n, 3n)], usage })).toEqual(['line g: 3 3 1']);
  });

  test('of a grant that is used up go line by line, and the last line takes what is left', () => {
    const usage = [atom(500n, { lineKey: 'first' }), atom(800n, { lineKey: 'last' })];
    expect(rowsOf({ grants: [rated('g', 1000n, 3n)], usage })).toEqual([
      'first g: 500 500 166.666667',
      'last g: 500 500 166.666666',
    ]);
  });

  test('never run out before the cents do', () => {
    const tiny = grant({ grantId: 'g', originalCents: 4n, originalMicros: 2n, creditRateCents: 2_000_000n });
    const usage = ['a', 'b', 'c'].map((lineKey) => atom(1n, { lineKey }));
    const taken = burn({ grants: [tiny], usage }).reduce((sum, one) => sum + one.creditMicros, 0n);
    expect(taken).toBe(1n);
  });

  test('that are free are valued at the rate, and unused without one', () => {
    const input = { grants: [free('g', 100n)], usage: [atom(35n)] };
    expect(rowsOf({ ...input, valuationRateCents: 7n })).toEqual(['line g: 35 0 5']);
    expect(rowsOf(input)).toEqual([]);
  });

  test('that are free give a millionth at least, whatever a credit is worth', () => {
    const input = { grants: [free('g', 5n)], usage: [atom(10n)], valuationRateCents: 1_000_000_000n };
    expect(burn(input)).toMatchObject([{ appliedCents: 10n, amountCents: 0n, creditMicros: 1n }]);
  });

  test('that are free and used up go line by line, and the last line takes what is left', () => {
    const usage = [atom(10n, { lineKey: 'first' }), atom(10n, { lineKey: 'last' })];
    expect(rowsOf({ grants: [free('g', 5n)], usage, valuationRateCents: 3n })).toEqual([
      'first g: 10 0 3.333333',
      'last g: 5 0 1.666667',
    ]);
  });

  test('that are free are never more than there are, also where their worth was rounded up', () => {
    const grants = [grant({ grantId: 'g', originalCents: 0n, originalMicros: 1_500_000n })];
    expect(rowsOf({ grants, usage: [atom(2n)], valuationRateCents: 1n })).toEqual(['line g: 2 0 1.5']);
  });

  test('that are free pay up to their worth, and the usage that is left over takes the last of them', () => {
    const half = grant({ grantId: 'g', originalCents: 0n, originalMicros: 800_000n });
    expect(rowsOf({ grants: [half], usage: [atom(10n)], valuationRateCents: 3n })).toEqual(['line g: 2 0 0.8']);
    expect(rowsOf({ grants: [half], usage: [atom(2n)], valuationRateCents: 3n })).toEqual(['line g: 2 0 0.666667']);
    const later = [atom(2n), atom(1n, { lineKey: 'later', ...february })];
    expect(rowsOf({ grants: [half], usage: later, valuationRateCents: 3n })).toEqual(['line g: 2 0 0.8']);
  });
});

describe('closed grants', () => {
  const closed = grant({
    grantId: 'old',
    expiresAt: at('2026-01-15'),
    availableCents: 300n,
    status: 'expired',
    isClosed: true,
  });
  const inTime = { phaseEnd: at('2026-01-15') };

  test('keep what they paid, and usage that arrives later does not revive them', () => {
    const input = {
      grants: [closed],
      usage: [atom(900n, inTime)],
      openDraws: [draw({ grantId: 'old', appliedCents: 300n })],
    };
    expect(rowsOf(input)).toEqual(['line old: 300 300 0']);
  });

  test('give back what has lost its usage', () => {
    const openDraws = [draw({ grantId: 'old', appliedCents: 300n })];
    expect(rowsOf({ grants: [closed], usage: [atom(100n, inTime)], openDraws })).toEqual(['line old: 100 100 0']);
    expect(rowsOf({ grants: [closed], usage: [atom(1n, inTime)], openDraws })).toEqual(['line old: 1 1 0']);
    expect(rowsOf({ grants: [closed], usage: [atom(100n)], openDraws })).toEqual([]);
    expect(rowsOf({ grants: [closed], openDraws })).toEqual([]);
  });

  test('keep the credits that went with the last cent, which are more than its share', () => {
    const state = { ...rated('old', 3n, 3n), expiresAt: at('2026-01-15'), isClosed: true };
    const taken = [333_333n, 333_333n, 333_334n].map((creditMicros, index) => ({ lineKey: `${index}`, creditMicros }));
    const openDraws = taken.map((fields) => draw({ grantId: 'old', appliedCents: 1n, ...fields }));
    const usage = taken.map(({ lineKey }) => atom(1n, { lineKey, ...inTime }));
    expect(rowsOf({ grants: [state], usage, openDraws })).toEqual([
      '0 old: 1 1 0.333333',
      '1 old: 1 1 0.333333',
      '2 old: 1 1 0.333334',
    ]);
  });

  // 7.00 for 100 credits: a cent is 0.1428571428... of one.
  test.each([
    ['all of it keeps the credits that it took', 200n, 200n, '28.571429'],
    ['less of it takes the credits of its cents, rounded once', 200n, 100n, '14.285714'],
    ['the last credits went with the last cents, and do not stay with fewer', 700n, 699n, '99.857143'],
  ])('pay what they paid: %s', (_rule, paid, left, credits) => {
    const state = { ...rated('old', 700n, 7n), expiresAt: at('2026-01-15'), isClosed: true };
    const creditMicros = (paid * 100n * million + 350n) / 700n;
    const input = {
      usage: [atom(left, inTime)],
      openDraws: [draw({ grantId: 'old', appliedCents: paid, creditMicros })],
    };
    expect(rowsOf({ ...input, grants: [state] })).toEqual([`line old: ${left} ${left} ${credits}`]);
  });

  test('pay a share of the free credits that they paid', () => {
    const state = { ...free('old', 100n), expiresAt: at('2026-01-15'), isClosed: true };
    const openDraws = [draw({ grantId: 'old', appliedCents: 300n, amountCents: 0n, creditMicros: 100n * million })];
    expect(rowsOf({ grants: [state], usage: [atom(100n, inTime)], openDraws })).toEqual(['line old: 100 0 33.333333']);
  });

  test('leave the rest of their line to the others', () => {
    const input = {
      grants: [closed, grant({ grantId: 'new' })],
      usage: [atom(900n, inTime), atom(50n)],
      openDraws: [draw({ grantId: 'old', appliedCents: 300n })],
    };
    expect(rowsOf(input)).toEqual(['line old: 300 300 0', 'line new: 650 650 0']);
  });
});

describe('budgets', () => {
  const budget = (fields: Partial<BudgetCap> = {}): BudgetCap => ({
    eventPropertyKey: 'team',
    eventPropertyValue: 'red',
    maxCreditsCents: 100n,
    consumedBeforeCents: 0n,
    ...fields,
  });
  const red = (cents: bigint, fields = {}) => atom(cents, { properties: { team: 'red' }, ...fields });
  const grants = [grant({ grantId: 'g', originalCents: 5000n })];

  test.each([
    ['caps what credits pay for its dimension', [red(150n), atom(70n)], [budget()], 170n],
    ['counts usage in order', [red(60n), red(60n)], [budget()], 100n],
    ['counts what final invoices hold', [red(150n)], [budget({ consumedBeforeCents: 80n })], 20n],
    ['that was reached before pays nothing', [red(150n)], [budget({ consumedBeforeCents: 180n })], 0n],
    ['of another meter does not matter', [red(150n)], [budget({ meterId: 'other' })], 150n],
    ['in credits is valued', [red(150n)], [budget({ maxCreditsCents: null, maxCredits: '5' })], 50n],
    ['without a cap caps nothing', [red(150n)], [budget({ maxCreditsCents: null })], 150n],
    ['of 0 lets no credits pay', [red(150n)], [budget({ maxCreditsCents: 0n })], 0n],
    ['the tightest of two counts', [red(150n)], [budget(), budget({ maxCreditsCents: 40n })], 40n],
  ])('%s', (_, usage, budgets, applied) => {
    const draws = burn({ usage, budgets, grants, valuationRateCents: 10n });
    expect(draws.reduce((sum, one) => sum + one.appliedCents, 0n)).toBe(applied);
  });

  test('are not paid twice where a closed grant paid before', () => {
    const closed = grant({ grantId: 'old', expiresAt: march, isClosed: true, availableCents: 0n });
    const input = {
      usage: [red(50n), atom(50n)],
      budgets: [budget({ maxCreditsCents: 10n })],
      grants: [closed, ...grants],
      openDraws: [draw({ grantId: 'old', appliedCents: 60n })],
    };
    expect(rowsOf(input)).toEqual(['line old: 60 60 0']);
  });

  test('that were lowered take back nothing that a closed grant has paid', () => {
    const closed = grant({ grantId: 'old', expiresAt: march, isClosed: true, availableCents: 0n });
    const input = {
      usage: [red(300n), red(50n, { lineKey: 'more' })],
      budgets: [budget({ maxCreditsCents: 100n })],
      grants: [closed, ...grants],
      openDraws: [draw({ grantId: 'old', appliedCents: 300n })],
    };
    expect(rowsOf(input)).toEqual(['line old: 300 300 0']);
  });

  test.each([
    ['nothing, where a closed grant has paid up to the cap', 100n, []],
    ['what a closed grant has left of the cap', 30n, ['late g: 70 70 0']],
  ])('leave late usage of an earlier line %s', (_, paid, late) => {
    const closed = grant({ grantId: 'old', expiresAt: march, isClosed: true, availableCents: 0n });
    const input = {
      usage: [red(200n, { lineKey: 'late' }), red(100n)],
      budgets: [budget()],
      grants: [closed, ...grants],
      openDraws: [draw({ grantId: 'old', appliedCents: paid })],
    };
    expect(rowsOf(input)).toEqual([`line old: ${String(paid)} ${String(paid)} 0`, ...late]);
  });
});

describe('settlement', () => {
  const written = (id: string, cents: bigint, fields = {}) =>
    entry({
      id,
      type: 'usage',
      amountCents: -cents,
      appliedCents: cents,
      grantEntryId: 'g',
      invoiceId: 'invoice',
      lineKey: 'line',
      ...fields,
    });
  const wanted = (cents: bigint, creditMicros = 0n) => ({
    ...draw({ grantId: 'g', appliedCents: cents }),
    creditMicros,
  });
  const open = (...entries: readonly ReturnType<typeof written>[]) =>
    entries.length === 0
      ? []
      : [draw({ grantId: 'g', appliedCents: entries.reduce((sum, one) => sum + one.appliedCents, 0n), entries })];

  test.each([
    ['nothing written', open(), [wanted(500n)], [], [500n]],
    ['more usage', open(written('u1', 300n)), [wanted(500n)], [], [200n]],
    ['the same', open(written('u1', 300n), written('u2', 200n)), [wanted(500n)], [], []],
    ['less usage', open(written('u1', 300n), written('u2', 200n)), [wanted(450n)], ['u2'], [150n]],
    ['much less', open(written('u1', 300n), written('u2', 200n)), [wanted(100n)], ['u2', 'u1'], [100n]],
    ['as much as before the last', open(written('u1', 300n), written('u2', 200n)), [wanted(300n)], ['u2'], []],
    ['none any more', open(written('u1', 300n), written('u2', 200n)), [], ['u2', 'u1'], []],
  ])('of %s reverses whole entries and writes the difference', (_, openDraws, draws, reversals, usage) => {
    const plan = planSettlement(draws, openDraws);
    expect(plan.reversals.map((one) => one.id)).toEqual(reversals);
    expect(plan.usage.map((one) => one.appliedCents)).toEqual(usage);
  });

  test('that takes back credits alone rewrites the entry that took them', () => {
    const first = written('u1', 10n, { creditMicros: -5n });
    const second = written('u2', 10n, { creditMicros: -6n });
    const openDraws = [draw({ grantId: 'g', appliedCents: 20n, creditMicros: 11n, entries: [first, second] })];
    const plan = planSettlement([wanted(20n, 10n)], openDraws);
    expect(plan.reversals).toEqual([second]);
    expect(plan.usage).toMatchObject([{ appliedCents: 10n, amountCents: 10n, creditMicros: 5n }]);
  });

  test('of more usage that free credits pay writes the difference', () => {
    const first = written('u1', 10n, { amountCents: 0n, creditMicros: -5n });
    const openDraws = [draw({ grantId: 'g', appliedCents: 10n, amountCents: 0n, creditMicros: 5n, entries: [first] })];
    const plan = planSettlement([{ ...wanted(30n, 15n), amountCents: 0n }], openDraws);
    expect(plan).toMatchObject({ reversals: [], usage: [{ appliedCents: 20n, amountCents: 0n, creditMicros: 10n }] });
  });

  test('in two steps takes the same credits as in one', () => {
    const first = burn({ grants: [rated('g', 1000n, 3n)], usage: [atom(1n)] });
    const openDraws = first.map((one) =>
      draw({
        ...one,
        entries: [written('u1', one.appliedCents, { creditMicros: -one.creditMicros })],
      }),
    );
    const second = burn({ grants: [rated('g', 1000n, 3n)], usage: [atom(3n)], openDraws });
    expect(planSettlement(second, openDraws).usage).toMatchObject([{ appliedCents: 2n, creditMicros: 666_667n }]);
  });
});
