/**
 * What appending to a ledger has to know of it: what each grant has left, and every rule that was broken on the way.
 * A fold continues after its last entry, so whoever keeps one need not read the entries again.
 */

import { type Grants, noGrants } from './grants-map.ts';
import { entryProblems, grantProblem } from './ledger-check.ts';
import type { LedgerProblem } from './ledger-check.ts';
import { grantIdOf, grantStateOf, movedTotals, newTotals, walletFrom } from './ledger.ts';
import type { GrantState, GrantTotals, LedgerEntry, WalletState } from './ledger.ts';

/** One contract's ledger up to its newest entry. It can be kept and continued. */
export interface LedgerFold {
  /** The newest entry. */
  readonly last: LedgerEntry | undefined;
  /** Sums of all entries. */
  readonly cents: bigint;
  readonly micros: bigint;
  readonly grants: Grants;
  readonly reversedIds: ReadonlySet<string>;
  /** What the entries broke, oldest first. */
  readonly broken: readonly LedgerProblem[];
  /** Rules that the state of a grant breaks, by its id: the next entry may set it right. */
  readonly unsound: ReadonlyMap<string, LedgerProblem>;
}

/** What every fold starts from: no entries, no grants, sums of 0. */
export const emptyLedger: LedgerFold = {
  last: undefined,
  cents: 0n,
  micros: 0n,
  grants: noGrants,
  reversedIds: new Set(),
  broken: [],
  unsound: new Map(),
};

/** A ledger that grows entry by entry. */
export interface GrowingLedger {
  /** Up to the newest entry; once it is kept, nothing may be added. */
  readonly fold: LedgerFold;
  /** Takes in the next entry; `target` is the one that it reverses, undefined where there is none. */
  readonly add: (entry: LedgerEntry, target: LedgerEntry | undefined) => void;
}

/** Continues after `before`, which stays as it is. */
export function growLedger(before: LedgerFold): GrowingLedger {
  const grants = before.grants.copy();
  // Copied only when needed: most entries reverse nothing and break nothing.
  let reversedIds: Set<string> | undefined;
  let broken: LedgerProblem[] | undefined;
  let unsound: Map<string, LedgerProblem> | undefined;
  const fold = { ...before, grants };

  function add(entry: LedgerEntry, target: LedgerEntry | undefined): void {
    const { reversesEntryId } = entry;
    const grant = grants.get(grantIdOf(entry));
    const isAgain = reversesEntryId !== undefined && fold.reversedIds.has(reversesEntryId);
    const moved =
      entry.type === 'grant' ? newTotals(entry) : grant && movedTotals(grant, entry, isAgain ? undefined : target);
    fold.last = entry;
    fold.cents += entry.amountCents;
    fold.micros += entry.creditMicros;
    const { cents, micros } = fold;
    const problems = entryProblems(entry, { target, isAgain, grant, moved, cents, micros });
    if (problems.length > 0) {
      fold.broken = broken ??= [...before.broken];
      broken.push(...problems);
    }
    if (moved !== undefined) {
      const { id } = moved.grant;
      const problem = grantProblem(moved);
      grants.set(id, moved);
      if (problem !== undefined || fold.unsound.has(id)) {
        fold.unsound = unsound ??= new Map(before.unsound);
        if (problem === undefined) unsound.delete(id);
        else unsound.set(id, problem);
      }
    }
    if (reversesEntryId === undefined) return;
    fold.reversedIds = reversedIds ??= new Set(before.reversedIds);
    reversedIds.add(reversesEntryId);
  }

  return { fold, add };
}

/** The fold of a whole ledger, oldest entry first. */
export function foldWhole(entries: readonly LedgerEntry[]): LedgerFold {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const { fold, add } = growLedger(emptyLedger);
  for (const entry of entries) add(entry, byId.get(entry.reversesEntryId ?? ''));
  return fold;
}

/** Every rule that the ledger breaks: first those that its entries broke, then those that the state of its grants breaks. */
export function problemsIn({ broken, unsound }: LedgerFold): LedgerProblem[] {
  return [...broken, ...unsound.values()];
}

/** One grant at an instant; what open invoices have drawn is not put back. */
export function grantIn({ grants }: LedgerFold, grantId: string, at: Temporal.Instant): GrantState | undefined {
  const totals = grants.get(grantId);
  return totals === undefined ? undefined : grantStateOf(totals, at);
}

/** The wallet at an instant; what open invoices have drawn is not put back. */
export function walletIn({ grants }: LedgerFold, at: Temporal.Instant): WalletState {
  return walletFrom([...grants.values()].map((totals) => grantStateOf(totals, at)));
}

/** The earliest expiry after an instant, of all grants that were not undone; undefined if there is none. */
export function nextExpiryIn({ grants }: LedgerFold, after: Temporal.Instant): Temporal.Instant | undefined {
  let next: GrantTotals | undefined;
  for (const totals of grants.values()) {
    const { expiresAtEpochMs, isReversed } = totals;
    if (isReversed || expiresAtEpochMs <= after.epochMilliseconds) continue;
    if (next === undefined || expiresAtEpochMs < next.expiresAtEpochMs) next = totals;
  }
  return next?.grant.expiresAt;
}

/** How many grants that were not undone expire from `from` to `until`, both inclusive. */
export function countExpiring(
  { grants }: LedgerFold,
  { from, until }: Readonly<Record<'from' | 'until', Temporal.Instant>>,
): number {
  let count = 0;
  for (const { expiresAtEpochMs: at, isReversed } of grants.values()) {
    if (!isReversed && at >= from.epochMilliseconds && at <= until.epochMilliseconds) count += 1;
  }
  return count;
}
