import { describe, expect, test } from 'vitest';
import { adjustmentOf, reversalOf } from '../../src/calculation/corrections.ts';
import {
  balancesAfter,
  drawsOn,
  foldLedger,
  type LedgerEntry,
  newestRateOf,
  valuationRateOf,
} from '../../src/calculation/ledger.ts';
import { at, entry, grant, million } from './fixtures.ts';

const march = at('2026-03-01');
const granted = entry({
  id: 'g1',
  type: 'grant',
  amountCents: 1000n,
  creditMicros: 100n * million,
  creditRateCents: 10n,
  expiresAt: march,
});
const used = (id: string, cents: bigint, invoiceId = 'open') =>
  entry({
    id,
    type: 'usage',
    grantEntryId: 'g1',
    invoiceId,
    lineKey: 'line',
    amountCents: -cents,
    creditMicros: (-cents * million) / 10n,
    appliedCents: cents,
  });
const undone = (id: string, target: LedgerEntry) =>
  entry({
    id,
    type: 'reversal',
    grantEntryId: target.grantEntryId ?? target.id,
    reversesEntryId: target.id,
    invoiceId: target.invoiceId,
    lineKey: target.lineKey,
    amountCents: -target.amountCents,
    creditMicros: -target.creditMicros,
    appliedCents: -target.appliedCents,
  });
const lapsed = (id: string, cents: bigint) =>
  entry({ id, type: 'expiration', grantEntryId: 'g1', amountCents: -cents, creditMicros: (-cents * million) / 10n });

const before = { at: at('2026-02-15'), openInvoiceIds: new Set(['open']) };
const after = { ...before, at: march };
const walletOf = (entries: readonly LedgerEntry[], options = before) => foldLedger(entries, options);
const stateOf = (entries: readonly LedgerEntry[], options = before) => {
  const [state] = walletOf(entries, options).grants;
  if (state === undefined) throw new Error('no grant among the entries');
  return state;
};

describe('the wallet', () => {
  test.each([
    ['an untouched grant', [granted], before, 1000n, 'active', false],
    ['a grant partly used', [granted, used('u2', 300n)], before, 700n, 'active', false],
    ['a grant used up', [granted, used('u2', 1000n)], before, 0n, 'depleted', false],
    ['a reversed usage', [granted, used('u2', 300n), undone('r3', used('u2', 300n))], before, 1000n, 'active', false],
    ['a reversed grant', [granted, undone('r2', granted)], before, 0n, 'depleted', false],
    ['a grant that expires at this instant, not swept', [granted, used('u2', 300n)], after, 0n, 'expired', false],
    ['an expired grant, swept', [granted, used('u2', 300n), lapsed('x3', 700n)], after, 0n, 'expired', true],
    ['a grant whose rest lapsed with its contract', [granted, lapsed('x2', 1000n)], before, 0n, 'expired', false],
    ['a grant used up before its day', [granted, used('u2', 1000n)], after, 0n, 'depleted', true],
  ] as const)('holds for %s the right balance and status', (_, entries, options, balanceCents, status, isClosed) => {
    expect(walletOf(entries, options).balanceCents).toBe(balanceCents);
    expect(stateOf(entries, options)).toMatchObject({ status, isClosed });
  });

  test('what open invoices have drawn is available again for a new drawing; what final ones have is not', () => {
    const entries = [
      granted,
      used('u2', 300n),
      used('u3', 200n, 'final'),
      used('u4', 100n),
      undone('r5', used('u4', 100n)),
    ];
    expect(stateOf(entries)).toMatchObject({
      remainingCents: 500n,
      remainingMicros: 50n * million,
      availableCents: 800n,
      availableMicros: 80n * million,
    });
  });

  test('a reversed grant is known as one; a grant whose usage was reversed is not', () => {
    expect(stateOf([granted, undone('r2', granted)]).isReversed).toBe(true);
    expect(stateOf([granted, used('u2', 300n), undone('r3', used('u2', 300n))]).isReversed).toBe(false);
  });

  test('each entry stores the sums up to itself', () => {
    const first = { ...granted, ...balancesAfter(undefined, granted) };
    expect(balancesAfter(first, used('u2', 300n))).toEqual({
      balanceAfterCents: 700n,
      creditBalanceAfterMicros: 70n * million,
    });
  });

  test('an adjustment that was reversed counts no more', () => {
    const taken = entry({
      id: 'a2',
      type: 'adjustment',
      grantEntryId: 'g1',
      amountCents: -400n,
      creditMicros: -40n * million,
    });
    expect(stateOf([granted, taken])).toMatchObject({ adjustedCents: -400n, adjustedMicros: -40n * million });
    const state = stateOf([granted, taken, undone('r3', taken)]);
    expect(state).toMatchObject({ remainingCents: 1000n, adjustedCents: 0n, adjustedMicros: 0n });
    expect(adjustmentOf(state, { amountCents: 400n })).toHaveProperty('refusal');
  });

  test('what comes back to a grant that has lapsed lapses as well, also where it has no day of its own', () => {
    const endless = { ...granted, expiresAt: undefined };
    const usage = used('u2', 300n, 'final');
    const entries = [endless, usage, lapsed('x3', 700n), undone('r4', usage)];
    expect(stateOf(entries)).toMatchObject({ status: 'expired', remainingCents: 300n });
    expect(walletOf(entries).balanceCents).toBe(0n);
  });

  test('draws add up by invoice, line and grant, without what is reversed', () => {
    const entries = [granted, used('u2', 300n), used('u3', 50n), used('u4', 100n), undone('r5', used('u4', 100n))];
    expect(drawsOn(entries, new Set(['open']))).toMatchObject([
      {
        invoiceId: 'open',
        lineKey: 'line',
        grantId: 'g1',
        appliedCents: 350n,
        amountCents: 350n,
        creditMicros: 35n * million,
      },
    ]);
    expect(drawsOn(entries.toReversed(), new Set(['open']))[0]?.entries.map((one) => one.id)).toEqual(['u2', 'u3']);
    expect(drawsOn(entries, new Set(['final']))).toEqual([]);
  });
});

describe('the valuation of free credits', () => {
  const rated = (id: string, creditRateCents: bigint, day: string) =>
    entry({ id, type: 'grant', creditRateCents, createdAt: at(day) });
  const entries = [rated('g1', 5n, '2026-01-01'), rated('g2', 7n, '2026-01-03'), rated('g3', 0n, '2026-01-04')];

  test.each([
    ['the setting of the contract', entries, 4n, 4n],
    ['the setting of the contract, from a cent on', entries, 1n, 1n],
    ['a rate, from a cent on', [rated('g1', 1n, '2026-01-01')], undefined, 1n],
    ['the newest rate above 0', entries, undefined, 7n],
    ['the newest rate, when the setting is 0', entries, 0n, 7n],
    ['nothing', [rated('g3', 0n, '2026-01-04')], undefined, undefined],
  ])('is by %s', (_, given, setting, rate) => {
    expect(valuationRateOf(given, setting)).toBe(rate);
  });

  test('passes over a reversed grant, and takes the later entry of the same instant', () => {
    const [, second] = entries;
    if (second === undefined) throw new Error('three were given');
    expect(newestRateOf([...entries, undone('r4', second)])).toBe(5n);
    expect(newestRateOf([...entries, rated('g9', 11n, '2026-01-03')])).toBe(11n);
  });

  test('passes over the later usage of an older grant, which has the rate of that', () => {
    const usage = entry({
      id: 'u9',
      type: 'usage',
      grantEntryId: 'g1',
      creditRateCents: 5n,
      createdAt: at('2026-01-09'),
    });
    expect(newestRateOf([...entries, usage])).toBe(7n);
  });
});

describe('a reversal', () => {
  const reverse = (target: LedgerEntry, entries: readonly LedgerEntry[], options = before) =>
    reversalOf(target, entries, walletOf(entries, options));

  test('is the opposite of its target', () => {
    const usage = used('u2', 300n);
    expect(reverse(usage, [granted, usage])).toEqual({
      grantId: 'g1',
      amountCents: 300n,
      creditMicros: 30n * million,
    });
    expect(reverse(granted, [granted])).toMatchObject({ amountCents: -1000n, creditMicros: -100n * million });
  });

  const usage = used('u2', 300n);
  const dollars = { ...granted, creditMicros: 0n, creditRateCents: 0n };
  test.each([
    ['a used grant', granted, [granted, usage], before],
    ['a used grant of dollars', dollars, [dollars, { ...usage, creditMicros: 0n }], before],
    ['a lapsed grant', granted, [granted, lapsed('x2', 1000n)], after],
    ['a reversal', undone('r3', usage), [granted, usage, undone('r3', usage)], before],
    ['an expiration', lapsed('x2', 1000n), [granted, lapsed('x2', 1000n)], after],
    ['the same entry twice', usage, [granted, usage, undone('r3', usage)], before],
    ['an entry without its grant', usage, [usage], before],
  ])('of %s is refused', (_, target, entries, options) => {
    expect(reverse(target, entries, options)).toHaveProperty('refusal');
  });

  test('of an adjustment is refused when the grant no longer holds it', () => {
    const added = entry({
      id: 'a3',
      type: 'adjustment',
      grantEntryId: 'g1',
      amountCents: 300n,
      creditMicros: 30n * million,
    });
    const entries = [granted, used('u2', 300n), added, used('u4', 900n)];
    expect(reverse(added, entries)).toHaveProperty('refusal');
    expect(reverse(added, entries.slice(0, 3))).toMatchObject({ amountCents: -300n });
  });
});

describe('an adjustment', () => {
  const rated = (fields = {}) =>
    grant({ grantId: 'g', originalCents: 1000n, originalMicros: 333_333_333n, creditRateCents: 3n, ...fields });
  const half = { remainingCents: 500n, remainingMicros: 166_666_667n };
  const taken = { adjustedCents: -500n, adjustedMicros: -166_666_666n };

  test.each([
    ['cents take credits with them', rated(), { amountCents: -1n }, -1n, -333_333n],
    ['credits take cents with them', rated(), { creditMicros: -million }, -3n, -million],
    ['the last cent takes the last credit', rated(half), { amountCents: -500n }, -500n, -166_666_667n],
    [
      'what was taken back is given back whole',
      rated({ ...half, ...taken }),
      { amountCents: 500n },
      500n,
      166_666_666n,
    ],
    ['the last credit but a crumb leaves a cent', rated(), { creditMicros: -333_333_332n }, -999n, -333_333_332n],
    ['dollars only', grant({ grantId: 'g' }), { amountCents: -10n }, -10n, 0n],
    ['free credits', grant({ grantId: 'g', originalCents: 0n, originalMicros: 5n }), { creditMicros: -2n }, 0n, -2n],
  ])('%s', (_, state, change, amountCents, creditMicros) => {
    expect(adjustmentOf(state, change)).toMatchObject({ amountCents, creditMicros });
  });

  test.each([
    ['below 0', rated(), { amountCents: -1001n }],
    ['above the original', rated(), { amountCents: 1n }],
    ['above the original if usage gave back what it took', rated(half), { amountCents: 1n }],
    ['of dollars below 0', grant({ grantId: 'g' }), { amountCents: -1001n }],
    ['of dollars above the original', grant({ grantId: 'g' }), { amountCents: 1n }],
    ['by nothing', rated(), { amountCents: 0n }],
    ['of a reversed grant', rated({ ...half, isReversed: true }), { amountCents: 1n }],
    ['of an expired grant', rated({ ...half, status: 'expired' }), { amountCents: -1n }],
    [
      'of a grant used up before it expired',
      grant({ grantId: 'g', remainingCents: 0n, status: 'depleted', isClosed: true }),
      { amountCents: 1n },
    ],
    ['in credits where there are none', grant({ grantId: 'g' }), { creditMicros: -1n }],
    [
      'in cents where credits are free',
      grant({ grantId: 'g', originalCents: 0n, originalMicros: 5n }),
      { amountCents: -1n },
    ],
  ])('%s is refused', (_, state, change) => {
    expect(adjustmentOf(state, change)).toHaveProperty('refusal');
  });
});
