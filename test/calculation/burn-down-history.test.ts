/** What grants that have lapsed keep paying when usage and budgets change behind them. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maximum, minimum, sumOf } from '../../src/calculation/money.ts';
import type { UsageAtom } from '../../src/calculation/usage-atoms.ts';
import { burn, draw } from './burn-down-fixtures.ts';
import { at, atom, grant } from './fixtures.ts';

const early = at('2026-01-10');
const late = at('2026-01-20');
const red = (cents: bigint, phaseEnd = early) => atom(cents, { properties: { team: 'red' }, phaseEnd });
const blue = (cents: bigint, phaseEnd = early) => atom(cents, { properties: { team: 'blue' }, phaseEnd });
const green = (cents: bigint) => atom(cents, { properties: { team: 'green' }, phaseEnd: early });
const lapsed = (grantId: string, fields = {}) =>
  grant({ grantId, originalCents: 4n, availableCents: 4n, expiresAt: early, isClosed: true, ...fields });
const forBlue = { expiresAt: late, specifiers: { properties: { team: 'blue' } } };
const capOfRed = { eventPropertyKey: 'team', eventPropertyValue: 'red', consumedBeforeCents: 0n };

const onLines = (draws: ReturnType<typeof burn>) =>
  draws.map(({ lineKey, grantId, appliedCents }) => `${lineKey} ${grantId} ${appliedCents}`);
const inLine = (lineKey: string, ...usage: readonly UsageAtom[]) => usage.map((one) => ({ ...one, lineKey }));
const lapsedOn = (paid: Readonly<Record<string, bigint>>) =>
  Object.entries(paid).map(([lineKey, appliedCents]) => draw({ grantId: 'lapsed', lineKey, appliedCents }));

test.each([
  ['usage has come in another order', [blue(4n), red(4n)], 4n, ['any 4', 'blue 4']],
  ['a cap was lowered', [red(4n), blue(4n)], 0n, ['any 4', 'blue 4']],
  ['there is less usage for both', [blue(4n), red(2n)], 4n, ['any 4', 'blue 2']],
  ['room for the one is in two places', [blue(4n), red(1n), green(3n)], 4n, ['any 4', 'blue 4']],
  ['usage of the one is gone', [red(8n)], 4n, ['any 4']],
  ['the order of one phase is split by another', [blue(2n), blue(2n, late), red(3n)], 0n, ['any 4', 'blue 3']],
])('two lapsed grants keep what they have paid of a line where %s', (_, usage, maxCreditsCents, kept) => {
  const draws = burn({
    usage,
    grants: [lapsed('any'), lapsed('blue', forBlue)],
    budgets: [{ ...capOfRed, maxCreditsCents }],
    openDraws: [draw({ grantId: 'any', appliedCents: 4n }), draw({ grantId: 'blue', appliedCents: 4n })],
  });
  expect(draws.map(({ grantId, appliedCents }) => `${grantId} ${appliedCents}`)).toEqual(kept);
});

test('lapsed grants move on one behind the other', () => {
  const teams = (...team: string[]) => ({ specifiers: { properties: { team } } });

  const wallet = [
    lapsed('first', teams('red', 'blue')),
    lapsed('second', teams('blue', 'green')),
    lapsed('third', teams('red')),
  ];
  const openDraws = wallet.map(({ grantId }) => draw({ grantId, appliedCents: 4n }));
  const draws = burn({ usage: [red(4n), blue(4n), green(4n)], grants: wallet, openDraws });
  expect(draws.map(({ appliedCents }) => appliedCents)).toEqual([4n, 4n, 4n]);
});

test.each([
  ['comes to a line that credits paid for other usage', [red(4n), green(4n)], ['a lapsed 4', 'b lapsed 6']],
  ['finds room that is left', [red(4n), green(4n)], ['a lapsed 4', 'b lapsed 4', 'a open 2'], 4n],
  ['comes alone to a line, the paid usage of which is gone', [red(4n)], ['a lapsed 4', 'b lapsed 6']],
])('late usage of a dimension with a cap of 6 cents that %s', (_, usage, paid, onOther = 6n) => {
  const openDraws = [
    draw({ grantId: 'lapsed', lineKey: 'a', appliedCents: 4n }),
    draw({ grantId: 'lapsed', lineKey: 'b', appliedCents: onOther }),
  ];
  const draws = burn({
    usage: [...usage.map((one) => ({ ...one, lineKey: 'a' })), { ...red(6n), lineKey: 'b' }],
    grants: [lapsed('lapsed'), grant({ grantId: 'open' })],
    budgets: [{ ...capOfRed, maxCreditsCents: 6n }],
    openDraws,
  });
  expect(onLines(draws)).toEqual(paid);
});

test.each([
  [
    'than it paid',
    6n,
    [...inLine('a', red(4n), blue(3n), green(3n)), ...inLine('b', red(6n))],
    { a: 4n, b: 6n },
    ['a lapsed 4', 'b lapsed 6', 'a green alone 2'],
  ],
  [
    'than the cap needs',
    10n,
    [...inLine('a', red(3n), green(3n)), ...inLine('b', red(3n), green(3n)), ...inLine('c', red(6n))],
    { a: 3n, b: 3n, c: 6n },
    ['a lapsed 3', 'b lapsed 3', 'c lapsed 6', 'a green alone 1', 'b green alone 3'],
  ],
])('a payment that gives way to a cap takes no more of the other usage %s', (_, maxCreditsCents, usage, paid, kept) => {
  const draws = burn({
    usage,
    grants: [lapsed('lapsed'), grant({ grantId: 'green alone', specifiers: { properties: { team: 'green' } } })],
    budgets: [{ ...capOfRed, maxCreditsCents }],
    openDraws: lapsedOn(paid),
  });
  expect(onLines(draws)).toEqual(kept);
});

test('what lapsed grants paid beyond a cap leaves less of it to all other usage together', () => {
  const draws = burn({
    usage: [...inLine('a', red(3n)), ...inLine('b', red(3n)), ...inLine('c', red(4n))],
    grants: [lapsed('lapsed'), grant({ grantId: 'open' })],
    budgets: [{ ...capOfRed, maxCreditsCents: 6n }],
    openDraws: lapsedOn({ c: 4n }),
  });
  expect(onLines(draws)).toEqual(['c lapsed 4', 'a open 2']);
});

test('what a lapsed grant paid covers usage within a cap first, which leaves room of the cap to another line', () => {
  const draws = burn({
    usage: [
      { ...red(1n), lineKey: 'a' },
      { ...red(2n, late), lineKey: 'b' },
      { ...blue(1n, late), lineKey: 'b' },
    ],
    grants: [lapsed('lapsed', { expiresAt: late }), grant({ grantId: 'open' })],
    budgets: [{ ...capOfRed, maxCreditsCents: 2n }],
    openDraws: [draw({ grantId: 'lapsed', lineKey: 'b', appliedCents: 2n })],
  });
  expect(onLines(draws)).toEqual(['b lapsed 2', 'a open 1']);
});

test('a part of a draw takes no more credits than the whole draw took', () => {
  // A cent is worth half a millionth of a credit. Two were drawn before, one by one, for a millionth each; the last one stays
  // while a cent does.
  const few = lapsed('few', { originalCents: 6n, originalMicros: 3n, availableCents: 4n, availableMicros: 1n });
  const openDraws = [draw({ grantId: 'few', appliedCents: 2n, creditMicros: 0n })];
  const draws = burn({ usage: [red(1n)], grants: [few], openDraws });
  expect(draws).toMatchObject([{ appliedCents: 1n, amountCents: 1n, creditMicros: 0n }]);
});

describe('whatever lapsed grants have paid', () => {
  const lines = ['a', 'b'];
  const day = fc.constantFrom(early, late);
  const cents = fc.bigInt({ min: 1n, max: 6n });
  const usages = fc.array(
    fc
      .record({
        lineKey: fc.constantFrom(...lines),
        team: fc.constantFrom('red', 'blue', 'green'),
        cents,
        phaseEnd: day,
      })
      .map(({ team, ...fields }) => atom(fields.cents, { ...fields, properties: { team } })),
    { maxLength: 6 },
  );
  const payer = fc.record({
    expiresAt: day,
    teams: fc.constantFrom<readonly string[] | undefined>(
      undefined,
      ['red'],
      ['blue'],
      ['red', 'blue'],
      ['blue', 'green'],
    ),
    paid: fc.record({ a: fc.option(cents), b: fc.option(cents) }),
  });
  type Payer = typeof payer extends fc.Arbitrary<infer Value> ? Value : never;
  interface Payment {
    readonly lineKey: string;
    readonly grantId: string;
    readonly appliedCents: bigint;
  }

  const paidIn = (payments: readonly Payment[]) => sumOf(payments.map((one) => one.appliedCents));
  const centsOf = (usage: readonly UsageAtom[]) => sumOf(usage.map((one) => one.cents));

  /** The most that payments can be for: of all ways to divide them, the least of what is paid or there is to pay. */
  function mostOf(
    payments: readonly Payment[],
    usage: readonly UsageAtom[],
    mayPay: (payment: Payment, usage: UsageAtom) => boolean,
  ): bigint {
    const ofSets = Array.from({ length: 2 ** payments.length }, (_, bits) => {
      const set = payments.filter((_payment, place) => ((bits >> place) & 1) === 1);
      const payable = usage.filter((part) => set.some((one) => mayPay(one, part)));
      return paidIn(payments.filter((one) => !set.includes(one))) + centsOf(payable);
    });
    return ofSets.reduce(minimum);
  }

  /** Burns usage behind lapsed grants and one that can pay for all that a cap of red usage allows. */
  function burnBehind(payers: readonly Payer[], usage: readonly UsageAtom[], maxCreditsCents: bigint | null) {
    const grants = payers.map(({ expiresAt, teams }, index) =>
      lapsed(`lapsed ${index}`, { expiresAt, specifiers: teams && { properties: { team: teams } } }),
    );
    const written = payers.flatMap(({ paid }, index) =>
      Object.entries(paid).flatMap(([lineKey, appliedCents]) =>
        appliedCents === null ? [] : [draw({ grantId: `lapsed ${index}`, lineKey, appliedCents })],
      ),
    );
    const draws = burn({
      usage,
      grants: [...grants, grant({ grantId: 'open' })],
      budgets: [{ ...capOfRed, maxCreditsCents }],
      openDraws: written,
    });
    const mayPay = ({ grantId }: Payment, { phaseEnd, properties: { team = '' } }: UsageAtom) => {
      const { expiresAt = late, teams } = payers[Number(grantId.replace('lapsed ', ''))] ?? {};
      return phaseEnd.epochMilliseconds <= expiresAt.epochMilliseconds && (teams?.includes(team) ?? true);
    };
    return { written, kept: draws.filter((one) => one.grantId !== 'open'), draws, mayPay };
  }

  test('of a line stays paid as far as usage for it is left, and no line is paid twice', () => {
    fc.assert(
      fc.property(fc.array(payer, { maxLength: 3 }), usages, fc.option(cents), (payers, usage, cap) => {
        const { written, kept, draws, mayPay } = burnBehind(payers, usage, cap);
        for (const lineKey of lines) {
          const own = usage.filter((one) => one.lineKey === lineKey);
          const isOwn = (one: Payment) => one.lineKey === lineKey;
          expect(paidIn(kept.filter(isOwn))).toBe(mostOf(written.filter(isOwn), own, mayPay));
          expect(paidIn(draws.filter(isOwn)) <= centsOf(own)).toBe(true);
        }
        for (const { grantId, lineKey, appliedCents } of kept) {
          const before = written.find((one) => one.grantId === grantId && one.lineKey === lineKey);
          expect(appliedCents <= (before?.appliedCents ?? 0n)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('exceeds a cap only as far as its lines have no other usage for it', () => {
    fc.assert(
      fc.property(payer, usages, fc.bigInt({ min: 0n, max: 9n }), (one, usage, cap) => {
        const { kept, draws, mayPay } = burnBehind([one], usage, cap);
        const isOfRed = ({ properties }: UsageAtom) => properties.team === 'red';
        const others = usage.filter((each) => !isOfRed(each));
        const ofOthers = lines.map((lineKey) =>
          mostOf(
            kept.filter((each) => each.lineKey === lineKey),
            others.filter((each) => each.lineKey === lineKey),
            mayPay,
          ),
        );
        const forced = paidIn(kept) - sumOf(ofOthers);
        const allowed = minimum(cap, centsOf(usage.filter(isOfRed)));
        expect(paidIn(draws)).toBe(centsOf(others) + maximum(allowed, forced));
      }),
      { numRuns: 500 },
    );
  });
});
