import { describe, expect, test } from 'vitest';

import type { LedgerEntry } from '../../src/calculation/ledger.ts';
import { foldWhole, problemsIn } from '../../src/calculation/ledger-fold.ts';

const base = {
  contractId: 'c',
  creditRateCents: 10n,
  purchaseRateCents: 0n,
  currency: 'USD',
  description: '',
  isPromotional: true,
  createdAt: Temporal.Instant.from('2026-03-01T00:00:00Z'),
} as const;

type Facts = Pick<LedgerEntry, 'id' | 'type' | 'amountCents'> & Partial<LedgerEntry>;

/** A ledger with right balances, unless the facts give others; ten credits a dollar. */
function ledger(...facts: readonly Facts[]): LedgerEntry[] {
  let cents = 0n;
  let micros = 0n;
  return facts.map((fact, index) => {
    const creditMicros = fact.creditMicros ?? fact.amountCents * 100_000n;
    cents += fact.amountCents;
    micros += creditMicros;
    return {
      ...base,
      seq: index + 1,
      creditMicros,
      appliedCents: fact.type === 'usage' ? -fact.amountCents : 0n,
      balanceAfterCents: cents,
      creditBalanceAfterMicros: micros,
      sourceType: 'promotional',
      ...(fact.type === 'grant' ? {} : { grantEntryId: 'g' }),
      ...fact,
    };
  });
}

const grant: Facts = { id: 'g', type: 'grant', amountCents: 1000n };
const usage: Facts = { id: 'u', type: 'usage', amountCents: -400n };
const reversal: Facts = {
  id: 'r',
  type: 'reversal',
  amountCents: 400n,
  appliedCents: -400n,
  reversesEntryId: 'u',
};

const ledgerProblems = (entries: readonly LedgerEntry[]) =>
  problemsIn(foldWhole(entries)).map(({ problem }) => problem);

describe('a ledger', () => {
  test('of right entries has no problems', () => {
    const rest: Facts = { id: 'e', type: 'expiration', amountCents: -1000n };
    expect(ledgerProblems(ledger(grant, usage, reversal, rest))).toEqual([]);
    expect(ledgerProblems([])).toEqual([]);
  });

  test('may grant credits that are worth no cent', () => {
    expect(ledgerProblems(ledger({ ...grant, amountCents: 0n, creditMicros: 1n }))).toEqual([]);
  });

  test('has no problem any more once credits that were left without cents are gone', () => {
    const crumb: Facts = { id: 'a', type: 'adjustment', amountCents: 0n, creditMicros: -1n };
    const emptied = { ...usage, amountCents: -1000n, creditMicros: -99_999_999n };
    expect(ledgerProblems(ledger(grant, emptied, crumb))).toEqual([]);
  });

  test.each<[string, LedgerEntry[]]>([
    ['grant g is negative', ledger({ ...grant, amountCents: -1n })],
    ['grant g is negative', ledger({ ...grant, creditMicros: -1n })],
    ['usage u is positive', ledger(grant, { ...usage, amountCents: 1n, creditMicros: 0n })],
    ['usage u is positive', ledger(grant, { ...usage, creditMicros: 1n })],
    ['expiration e is positive', ledger(grant, { id: 'e', type: 'expiration', amountCents: 1n })],
    ['the balance after entry u is not the sum', ledger(grant, { ...usage, balanceAfterCents: 601n })],
    ['the balance after entry u is not the sum', ledger(grant, { ...usage, creditBalanceAfterMicros: 0n })],
    ['usage u has no grant of its contract and currency before it', ledger(usage, grant)],
    ['usage u has no grant of its contract and currency before it', ledger(grant, { ...usage, grantEntryId: 'x' })],
    ['entry u belongs to no grant', ledger(grant, { ...usage, grantEntryId: 'x' })],
    ['grant g is out of bounds after entry u', ledger(grant, { ...usage, amountCents: -1001n })],
    ['grant g is out of bounds after entry a', ledger(grant, { id: 'a', type: 'adjustment', amountCents: 1n })],
    [
      'grant g has cents left without credits, or credits without cents',
      ledger(grant, { ...usage, amountCents: -1000n, creditMicros: -99_999_999n }),
    ],
    [
      'grant g has cents left without credits, or credits without cents',
      ledger(grant, { ...usage, creditMicros: -100_000_000n }),
    ],
    ['entry u is reversed twice', ledger(grant, usage, reversal, { ...reversal, id: 's' })],
    [
      'grant g has cents left without credits, or credits without cents',
      ledger({ ...grant, creditRateCents: 1n }, { ...usage, creditMicros: -100_000_000n }),
    ],
    ['reversal r is not the opposite of u', ledger(grant, usage, { ...reversal, amountCents: 399n })],
    ['reversal r is not the opposite of u', ledger(grant, usage, { ...reversal, creditMicros: 39_999_999n })],
    ['reversal r is not the opposite of u', ledger(grant, usage, { ...reversal, appliedCents: -399n })],
    [
      'reversal s undoes an entry of type reversal',
      ledger(grant, usage, reversal, { ...reversal, id: 's', reversesEntryId: 'r' }),
    ],
    ['reversal r undoes no entry before it', ledger(grant, usage, { ...reversal, reversesEntryId: 'x' })],
    ['reversal r undoes no entry before it', ledger(grant, usage, { ...reversal, reversesEntryId: 'r' })],
    ['reversal r undoes no entry before it', ledger(grant, reversal, usage)],
  ])('is found out: %s', (words, entries) => {
    expect(ledgerProblems(entries).join('; ')).toContain(words);
  });

  test('that has left the bounds of a grant is found out once, by the entry that left them', () => {
    const entries = ledger(grant, { ...usage, amountCents: -1001n }, { ...usage, id: 'v', amountCents: -1n });
    expect(ledgerProblems(entries).filter((problem) => problem.includes('out of bounds'))).toEqual([
      'grant g is out of bounds after entry u',
    ]);
  });
});
