/** What must hold in every ledger, whatever happened to it (reliability 5, invariants 1 to 6 and 10). */

import type { LedgerEntry } from './ledger.ts';

interface Sums {
  cents: bigint;
  micros: bigint;
}

/** Every broken rule of one contract's whole ledger, oldest entry first; empty for a sound one. */
export function ledgerProblems(entries: readonly LedgerEntry[]): string[] {
  return [
    ...entries.flatMap(signProblems),
    ...balanceProblems(entries),
    ...linkProblems(entries),
    ...grantsOf(entries).flatMap((grant) => blockProblems(grant, entries)),
    ...conservationProblems(entries),
  ];
}

function signProblems(entry: LedgerEntry): string[] {
  const { type, amountCents, creditMicros } = entry;
  const isPositive = amountCents >= 0n && creditMicros >= 0n;
  const isNegative = amountCents <= 0n && creditMicros <= 0n;
  if (type === 'grant' && !isPositive) return [`grant ${entry.id} is negative`];
  if ((type === 'usage' || type === 'expiration') && !isNegative) return [`${type} ${entry.id} is positive`];
  return [];
}

function balanceProblems(entries: readonly LedgerEntry[]): string[] {
  let cents = 0n;
  let micros = 0n;
  return entries.flatMap((entry) => {
    cents += entry.amountCents;
    micros += entry.creditMicros;
    const isSum = entry.balanceAfterCents === cents && entry.creditBalanceAfterMicros === micros;
    return isSum ? [] : [`the balance after entry ${entry.id} is not the sum of the entries`];
  });
}

function linkProblems(entries: readonly LedgerEntry[]): string[] {
  const earlier = new Map<string, LedgerEntry>();
  const reversed = new Set<string>();
  return entries.flatMap((entry) => {
    const problems = [...grantLinkProblems(entry, earlier), ...reversalProblems(entry, earlier, reversed)];
    earlier.set(entry.id, entry);
    if (entry.reversesEntryId !== undefined) reversed.add(entry.reversesEntryId);
    return problems;
  });
}

function grantLinkProblems(entry: LedgerEntry, earlier: ReadonlyMap<string, LedgerEntry>): string[] {
  if (entry.type === 'grant') return [];
  const grant = entry.grantEntryId === undefined ? undefined : earlier.get(entry.grantEntryId);
  const isLinked =
    grant?.type === 'grant' && grant.contractId === entry.contractId && grant.currency === entry.currency;
  return isLinked ? [] : [`${entry.type} ${entry.id} has no grant before it`];
}

function reversalProblems(
  entry: LedgerEntry,
  earlier: ReadonlyMap<string, LedgerEntry>,
  reversed: ReadonlySet<string>,
): string[] {
  if (entry.type !== 'reversal') return [];
  const target = entry.reversesEntryId === undefined ? undefined : earlier.get(entry.reversesEntryId);
  if (target === undefined) return [`reversal ${entry.id} undoes nothing`];
  if (target.type === 'reversal' || target.type === 'expiration') {
    return [`reversal ${entry.id} undoes a ${target.type}`];
  }
  if (reversed.has(target.id)) return [`entry ${target.id} is reversed twice`];
  const isOpposite =
    entry.amountCents === -target.amountCents &&
    entry.creditMicros === -target.creditMicros &&
    entry.appliedCents === -target.appliedCents;
  return isOpposite ? [] : [`reversal ${entry.id} is not the opposite of ${target.id}`];
}

/** A grant never falls below nothing nor rises above what was granted; with a rate its last cent goes with its last credit. */
function blockProblems(grant: LedgerEntry, entries: readonly LedgerEntry[]): string[] {
  const left: Sums = { cents: 0n, micros: 0n };
  for (const entry of entries) {
    if ((entry.grantEntryId ?? entry.id) !== grant.id) continue;
    left.cents += entry.amountCents;
    left.micros += entry.creditMicros;
    const isWithin =
      left.cents >= 0n && left.micros >= 0n && left.cents <= grant.amountCents && left.micros <= grant.creditMicros;
    if (!isWithin) return [`grant ${grant.id} is out of bounds after entry ${entry.id}`];
  }
  const isRated = grant.creditRateCents > 0n && grant.amountCents > 0n;
  if (isRated && (left.cents === 0n) !== (left.micros === 0n)) return [`grant ${grant.id} keeps dust`];
  return [];
}

/** Every entry belongs to exactly one grant, so what the grants hold together is the wallet. */
function conservationProblems(entries: readonly LedgerEntry[]): string[] {
  const ids = new Set(grantsOf(entries).map((grant) => grant.id));
  const strays = entries.filter((entry) => !ids.has(entry.grantEntryId ?? entry.id));
  return strays.map((entry) => `entry ${entry.id} belongs to no grant, so cents are not conserved`);
}

function grantsOf(entries: readonly LedgerEntry[]): LedgerEntry[] {
  return entries.filter((entry) => entry.type === 'grant');
}
