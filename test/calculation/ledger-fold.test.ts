import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  emptyLedger,
  foldWhole,
  growLedger,
  grantIn,
  problemsIn,
  walletIn,
} from '../../src/calculation/ledger-fold.ts';
import type { LedgerFold } from '../../src/calculation/ledger-fold.ts';
import { balancesAfter, foldLedger, type LedgerEntry } from '../../src/calculation/ledger.ts';
import { at, entry } from './fixtures.ts';

interface Step {
  readonly type: LedgerEntry['type'];
  readonly grant: number;
  readonly target: number;
  readonly cents: number;
  readonly isWrong: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  type: fc.constantFrom('grant', 'usage', 'adjustment', 'reversal', 'expiration'),
  grant: fc.nat(2),
  target: fc.nat(5),
  cents: fc.integer({ min: 0, max: 20 }),
  isWrong: fc.boolean(),
});

/** A ledger of any entries that name grants and entries before them; right in form, and mostly wrong in what it comes to. */
function ledgerOf(steps: readonly Step[]): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (const { type, grant, target, cents, isWrong } of steps) {
    const grants = entries.filter((each) => each.type === 'grant');
    const own = grants[grant % Math.max(1, grants.length)];
    const undone = entries[target % Math.max(1, entries.length)];
    const amountCents = type === 'grant' ? BigInt(cents) : -BigInt(cents);
    if (type !== 'grant' && own === undefined) continue;
    const made = entry({
      id: `e${entries.length + 1}`,
      type,
      amountCents: type === 'reversal' && undone !== undefined ? -undone.amountCents : amountCents,
      creditMicros: 0n,
      // The third kind never expires.
      ...(type === 'grant'
        ? { expiresAt: grant === 2 ? undefined : at(`2026-03-0${1 + grant}`) }
        : { grantEntryId: own?.id }),
      ...(type === 'reversal' && undone !== undefined
        ? { reversesEntryId: undone.id, grantEntryId: undone.grantEntryId ?? undone.id }
        : {}),
    });
    entries.push({ ...made, ...balancesAfter(isWrong ? undefined : entries.at(-1), made) });
  }
  return entries;
}

const ledger = fc.array(step, { maxLength: 25 }).map(ledgerOf);
const at2 = at('2026-03-02');

/** The same for two ledgers that differ in nothing but how they came about. */
function whatIsIn(fold: LedgerFold) {
  return { ...fold, grants: [...fold.grants.values()], size: fold.grants.size };
}

/** A ledger that was gone on from at some places. */
function inParts(entries: readonly LedgerEntry[], cuts: readonly number[]): LedgerFold {
  const places = [0, ...cuts.toSorted((one, other) => one - other), entries.length];
  return places.reduce((before, from, index) => {
    const { fold, add } = growLedger(before);
    for (const entry of entries.slice(from, places[index + 1] ?? from)) {
      add(
        entry,
        entries.find((each) => each.id === entry.reversesEntryId),
      );
    }
    return fold;
  }, emptyLedger);
}

describe('the fold of a ledger', () => {
  test('is the same however the entries come, all at once or some behind others', () => {
    fc.assert(
      fc.property(ledger, fc.array(fc.nat(25), { maxLength: 4 }), (entries, cuts) => {
        expect(whatIsIn(inParts(entries, cuts))).toEqual(whatIsIn(foldWhole(entries)));
      }),
    );
  });

  test('has the wallet that the entries come to, and each of its grants', () => {
    fc.assert(
      fc.property(ledger, (entries) => {
        const undone = entries.flatMap((each) => each.reversesEntryId ?? []);
        fc.pre(new Set(undone).size === undone.length);
        const wallet = foldLedger(entries, { at: at2, openInvoiceIds: new Set() });
        const fold = foldWhole(entries);
        expect(walletIn(fold, at2)).toEqual(wallet);
        for (const grant of wallet.grants) expect(grantIn(fold, grant.grantId, at2)).toEqual(grant);
      }),
    );
  });

  test('finds what is wrong in any ledger that does not come to the sums of its entries', () => {
    fc.assert(
      fc.property(ledger, (entries) => {
        const sums = entries.map((_, index) =>
          entries.slice(0, index + 1).reduce((cents, each) => cents + each.amountCents, 0n),
        );
        const isRight = entries.every((each, index) => each.balanceAfterCents === sums[index]);
        const rules = problemsIn(foldWhole(entries)).map(({ rule }) => rule);
        expect(rules.includes('balances')).toBe(!isRight);
      }),
    );
  });

  test('leaves the one that it goes on from as it was', () => {
    fc.assert(
      fc.property(ledger, fc.nat(25), (entries, cut) => {
        const before = foldWhole(entries.slice(0, cut));
        const { add } = growLedger(before);
        for (const entry of entries.slice(cut)) {
          add(
            entry,
            entries.find((each) => each.id === entry.reversesEntryId),
          );
        }
        expect(whatIsIn(before)).toEqual(whatIsIn(foldWhole(entries.slice(0, cut))));
      }),
    );
  });
});
