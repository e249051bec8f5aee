import { describe, expect, test } from 'vitest';
import { adjustmentOf, reversalOf } from '../../src/calculation/corrections.ts';
import { type LedgerEntry, walletFrom } from '../../src/calculation/ledger.ts';
import { entry, grant, million } from './fixtures.ts';

type Fields = Partial<Parameters<typeof grant>[0]>;

/** 10.00 at ten cents a credit. */
const rated = (fields: Fields = {}) =>
  grant({ grantId: 'g', originalCents: 1000n, originalMicros: 100n * million, creditRateCents: 10n, ...fields });
/** 10.00 at 3.33 a millionth of a credit, so that half a millionth is 1.67. */
const dear = (fields: Fields = {}) => rated({ originalMicros: 3n, ...fields });
const dollars = (fields: Fields = {}) => grant({ grantId: 'g', originalCents: 1000n, ...fields });
const free = (fields: Fields = {}) =>
  grant({ grantId: 'g', originalCents: 0n, originalMicros: 100n * million, ...fields });

const cents = (amountCents: bigint) => ({ amountCents });
const credits = (creditMicros: bigint) => ({ creditMicros });

/** `cents credits`, credits in millionths, or why it is refused. */
function outcome(correction: ReturnType<typeof adjustmentOf>): string {
  return 'refusal' in correction ? correction.refusal : `${correction.amountCents} ${correction.creditMicros}`;
}

describe('an adjustment', () => {
  test.each([
    ['in cents takes credits by the ratio of the grant', rated(), cents(-300n), '-300 -30000000'],
    ['in credits takes cents by it', rated(), credits(-25_500_000n), '-255 -25500000'],
    ['rounds half a cent away from zero', rated(), credits(-50_000n), '-1 -50000'],
    ['of dollars moves no credits', dollars(), cents(-300n), '-300 0'],
    ['of free credits moves no cents', free(), credits(-300n), '0 -300'],
  ])('%s', (_rule, state, change, expected) => {
    expect(outcome(adjustmentOf(state, change))).toBe(expected);
  });

  test.each([
    ['the last cent', { remainingCents: 700n, remainingMicros: 70_000_001n }, cents(-700n), '-700 -70000001'],
    [
      'the last credit',
      { remainingCents: 701n, remainingMicros: 70_000_000n },
      credits(-70_000_000n),
      '-701 -70000000',
    ],
    ['all cents back', { adjustedCents: -300n, adjustedMicros: -30_000_001n }, cents(300n), '300 30000001'],
    ['all credits back', { adjustedCents: -301n, adjustedMicros: -30_000_000n }, credits(30_000_000n), '301 30000000'],
  ])('that moves %s keeps no dust of the other', (_last, fields, change, expected) => {
    expect(outcome(adjustmentOf(rated(fields), change))).toBe(expected);
  });

  test.each([
    ['takes the last credit while there are cents', {}, cents(-999n), '-999 -2'],
    ['gives back more credits than were taken', { adjustedCents: -999n, adjustedMicros: -1n }, cents(500n), '500 1'],
  ])('never %s, however a share is rounded', (_limit, fields, change, expected) => {
    expect(outcome(adjustmentOf(dear(fields), change))).toBe(expected);
  });

  test.each([
    ['takes', {}, cents(-50n), '-50 0'],
    ['takes', { adjustedCents: -500n, adjustedMicros: -2n }, cents(-50n), '-50 0'],
    ['gives', { adjustedCents: -500n }, cents(50n), '50 0'],
    ['gives', { adjustedCents: -500n, adjustedMicros: -2n }, cents(50n), '50 1'],
  ])('of cents that came back without a credit %s no credit that is not there', (_way, fields, change, expected) => {
    const state = dear({ remainingCents: 100n, remainingMicros: 0n, ...fields });
    expect(outcome(adjustmentOf(state, change))).toBe(expected);
  });

  test.each([
    ['has less than that left', rated(), cents(-1001n)],
    ['has less than that left', free(), credits(-100n * million - 1n)],
    ['would hold more than was granted', rated(), cents(1n)],
    ['would hold more than was granted', rated({ adjustedCents: -300n, adjustedMicros: -30n * million }), cents(301n)],
    ['would hold more than was granted', free(), credits(1n)],
    [
      'would hold more than was granted if the credits that usage took came back: grant new credits instead',
      rated({ remainingCents: 700n, remainingMicros: 70n * million }),
      cents(300n),
    ],
    ['would not change', rated(), cents(0n)],
    ['is in dollars only: adjust it in cents', dollars(), credits(-1n)],
    ['is in free credits only: adjust it in credits', free(), cents(-1n)],
    ['is reversed', rated({ isReversed: true }), cents(-1n)],
    ['has expired', rated({ status: 'expired' }), cents(-1n)],
    ['has expired', rated({ status: 'depleted', isClosed: true }), cents(1n)],
  ])('is refused where the grant %s', (words, state, change) => {
    expect(outcome(adjustmentOf(state, change))).toBe(`grant g ${words}`);
  });
});

describe('a reversal', () => {
  const granted = entry({ id: 'g', type: 'grant', amountCents: 1000n, creditMicros: 100n * million });
  const moved = (id: string, type: LedgerEntry['type'], amountCents: bigint, creditMicros = amountCents * 100_000n) =>
    entry({ id, type, amountCents, creditMicros, grantEntryId: 'g' });
  const usage = moved('u', 'usage', -400n);

  const reversed = (target: LedgerEntry, state = rated(), others: readonly LedgerEntry[] = []) =>
    reversalOf(target, [granted, target, ...others], walletFrom([grant({ grantId: 'earlier' }), state]));

  test('is the opposite of its entry, on the invoice as well', () => {
    expect(reversed(usage)).toEqual({
      grantId: 'g',
      amountCents: 400n,
      creditMicros: 40n * million,
    });
  });

  test.each([
    ['of a grant takes it back', granted, rated(), '-1000 -100000000'],
    ['of usage fits in whatever was adjusted', usage, rated({ remainingCents: 700n }), '400 40000000'],
    [
      'of an adjustment gives back what that took',
      moved('a', 'adjustment', -300n),
      rated({
        remainingCents: 700n,
        remainingMicros: 70n * million,
        adjustedCents: -300n,
        adjustedMicros: -30n * million,
      }),
      '300 30000000',
    ],
    [
      'of an adjustment takes the last cent where the last credit goes with it',
      moved('a', 'adjustment', 300n),
      rated({ remainingCents: 300n, remainingMicros: 30n * million }),
      '-300 -30000000',
    ],
    [
      'of an adjustment of free credits leaves them without cents',
      moved('a', 'adjustment', 0n, -5n),
      free({ remainingMicros: 0n, adjustedMicros: -5n }),
      '0 5',
    ],
  ])('%s', (_rule, target, state, expected) => {
    expect(outcome(reversed(target, state))).toBe(expected);
  });

  test.each([
    ['entry r is of type reversal, which cannot be reversed', moved('r', 'reversal', 400n), rated()],
    ['entry e is of type expiration, which cannot be reversed', moved('e', 'expiration', -1000n), rated()],
    ['entry u has no grant in this contract', { ...usage, grantEntryId: 'x' }, rated()],
    [
      'grant g is partly used, was adjusted or has lapsed; take back the rest with an adjustment',
      granted,
      rated({ remainingCents: 999n }),
    ],
    [
      'grant g is partly used, was adjusted or has lapsed; take back the rest with an adjustment',
      granted,
      rated({ remainingMicros: 1n }),
    ],
    ['grant g has less than that left', moved('a', 'adjustment', 300n), rated({ remainingCents: 299n })],
    [
      'grant g has no cents left for these credits',
      moved('a', 'adjustment', 100n, 1n),
      dear({ remainingCents: 100n, remainingMicros: 2n }),
    ],
    ['grant g would hold more than was granted', moved('a', 'adjustment', -300n), rated({ adjustedCents: -299n })],
    [
      'grant g has no cents left for these credits',
      moved('a', 'adjustment', 0n, -1n),
      dear({ remainingCents: 0n, remainingMicros: 0n, adjustedMicros: -1n }),
    ],
  ])('is refused: %s', (words, target, state) => {
    expect(outcome(reversed(target, state))).toBe(words);
  });

  test('is refused where there is one already', () => {
    const first = { ...moved('r', 'reversal', 400n), reversesEntryId: 'u' };
    expect(outcome(reversed(usage, rated(), [first]))).toBe('entry u is reversed already, by entry r');
  });
});
