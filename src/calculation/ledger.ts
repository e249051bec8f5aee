/**
 * Ledger entries -> balances and the state of every grant. A balance is a sum of entries (semantics 9).
 * Cents and creditMicros of an entry are what it adds to the wallet; `appliedCents` is what it took off an invoice.
 */

import { assert } from '../assert.ts';
import type { LedgerEntryType } from '../operations/ledger-entry.ts';
import type { GrantStatus } from '../operations/wire-values.ts';
import { compareDeduction } from './deduction-order.ts';
import { sumOf } from './money.ts';
import type { Specifiers } from './specifiers.ts';

/** What caused an entry (interface 2.8; the set of values is semantics 9). */
export type LedgerSourceType = 'contract' | 'invoice' | 'promotional' | 'adjustment' | 'expiration' | 'reversal';

/** One movement of a contract's credits, never edited (interface 2.8). Its amounts are what it adds to the wallet. */
export interface LedgerEntry {
  readonly id: string;
  /** Grows with every entry; orders entries of the same instant. */
  readonly seq: number;
  readonly contractId: string;
  readonly type: LedgerEntryType;
  /** Signed as interface 4.16 says. */
  readonly amountCents: bigint;
  /** Millionths of a credit, signed like `amountCents`. */
  readonly creditMicros: bigint;
  /** Cents per credit; 0 for a dollar-only grant and for free credits. */
  readonly creditRateCents: bigint;
  readonly purchaseRateCents: bigint;
  readonly currency: string;
  readonly description: string;
  readonly sourceType: LedgerSourceType;
  readonly invoiceId?: string | undefined;
  readonly lineKey?: string | undefined;
  /** The grant that the entry moves; absent on a grant itself. A reversal carries its target's, or the grant it reverses. */
  readonly grantEntryId?: string | undefined;
  readonly reversesEntryId?: string | undefined;
  readonly expiresAt?: Temporal.Instant | undefined;
  readonly isPromotional: boolean;
  readonly externalId?: string | undefined;
  readonly specifiers?: Specifiers | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Taken off the invoice: positive on usage, negative on its reversal, else 0. For free credits it is their valuation. */
  readonly appliedCents: bigint;
  readonly balanceAfterCents: bigint;
  readonly creditBalanceAfterMicros: bigint;
  readonly createdAt: Temporal.Instant;
}

/** A grant with everything that happened to it up to an instant. */
export interface GrantState {
  readonly grantId: string;
  readonly createdAt: Temporal.Instant;
  readonly expiresAt: Temporal.Instant | undefined;
  readonly isPromotional: boolean;
  readonly creditRateCents: bigint;
  readonly purchaseRateCents: bigint;
  readonly currency: string;
  readonly description: string;
  readonly specifiers: Specifiers | undefined;
  readonly originalCents: bigint;
  readonly originalMicros: bigint;
  /** Sum of the grant's entries, whether or not it has expired. */
  readonly remainingCents: bigint;
  readonly remainingMicros: bigint;
  /** Sum of the adjustments not reversed; never above 0, because all that usage took may come back (semantics 9). */
  readonly adjustedCents: bigint;
  readonly adjustedMicros: bigint;
  /** `remaining` plus what usage on open invoices has drawn: what a new burn-down starts from. */
  readonly availableCents: bigint;
  readonly availableMicros: bigint;
  readonly status: GrantStatus;
  readonly isReversed: boolean;
  /** Expired and swept: what usage has drawn from it is history, and usage that arrives later does not revive it. */
  readonly isClosed: boolean;
}

/** A contract's credits at an instant, in cents and in millionths of a credit. */
export interface WalletState {
  /** Sum over grants that have not expired, swept or not (semantics 9, Expiry). */
  readonly balanceCents: bigint;
  readonly creditMicros: bigint;
  /** In deduction order. */
  readonly grants: readonly GrantState[];
}

/** A grant that expires at `at` itself has expired (semantics 9). */
export interface FoldOptions {
  readonly at: Temporal.Instant;
  /** Invoices that are not finalized: their usage entries are provisional. */
  readonly openInvoiceIds: ReadonlySet<string>;
}

/** What one grant pays on one line of one invoice, in total. All three figures are positive or 0. */
export interface Draw {
  readonly invoiceId: string;
  readonly lineKey: string;
  readonly grantId: string;
  /** Taken off the invoice. */
  readonly appliedCents: bigint;
  /** Taken from the grant: `appliedCents`, or 0 for free credits. */
  readonly amountCents: bigint;
  readonly creditMicros: bigint;
}

/** An open invoice's usage of one grant on one line: the sum of its entries. */
export interface OpenDraw extends Draw {
  /** Unreversed usage entries, oldest first. */
  readonly entries: readonly LedgerEntry[];
}

type DrawPlace = Pick<Draw, 'invoiceId' | 'lineKey' | 'grantId'>;

/** What the entries of one grant come to, whatever the instant. */
export interface GrantTotals {
  readonly grant: LedgerEntry;
  /** When it expires, as a number because settlements compare those of all grants; infinite for never. */
  readonly expiresAtEpochMs: number;
  readonly remainingCents: bigint;
  readonly remainingMicros: bigint;
  /** Sum of the adjustments not reversed. */
  readonly adjustedCents: bigint;
  readonly adjustedMicros: bigint;
  readonly hasLapsed: boolean;
  readonly isReversed: boolean;
  /** A reversal has given something back to it. */
  readonly hasReturns: boolean;
}

/** The wallet at an instant, from all entries of one contract written until then. */
export function foldLedger(entries: readonly LedgerEntry[], { at, openInvoiceIds }: FoldOptions): WalletState {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const byGrant = Map.groupBy(entries, grantIdOf);
  const grants = entries.filter((entry) => entry.type === 'grant');
  return walletFrom(
    grants.map((grant) => {
      const movements = (byGrant.get(grant.id) ?? []).filter((entry) => entry !== grant);
      const totals = movements.reduce(
        (before, entry) => movedTotals(before, entry, byId.get(entry.reversesEntryId ?? '')),
        newTotals(grant),
      );
      // Usage of an invoice that is not finalized, or a reversal of such usage.
      const open = movements.filter((entry) => isOnOneOf(entry, openInvoiceIds));
      return grantStateOf(totals, at, open);
    }),
  );
}

/** A wallet of these grants. */
export function walletFrom(states: readonly GrantState[]): WalletState {
  const grants = states.toSorted(compareDeduction);
  const live = grants.filter((grant) => grant.status !== 'expired');
  return {
    balanceCents: sumOf(live.map((grant) => grant.remainingCents)),
    creditMicros: sumOf(live.map((grant) => grant.remainingMicros)),
    grants,
  };
}

/** A grant that nothing has moved yet. */
export function newTotals(grant: LedgerEntry): GrantTotals {
  return {
    grant,
    expiresAtEpochMs: grant.expiresAt?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
    remainingCents: grant.amountCents,
    remainingMicros: grant.creditMicros,
    adjustedCents: 0n,
    adjustedMicros: 0n,
    hasLapsed: false,
    isReversed: false,
    hasReturns: false,
  };
}

/** A grant's totals after one of its entries, which may reverse `target`. */
export function movedTotals(before: GrantTotals, entry: LedgerEntry, target: LedgerEntry | undefined): GrantTotals {
  const made = entry.type === 'adjustment' ? entry : undefined;
  const undone = target?.type === 'adjustment' ? target : undefined;
  return {
    grant: before.grant,
    expiresAtEpochMs: before.expiresAtEpochMs,
    remainingCents: before.remainingCents + entry.amountCents,
    remainingMicros: before.remainingMicros + entry.creditMicros,
    adjustedCents: before.adjustedCents + (made?.amountCents ?? 0n) - (undone?.amountCents ?? 0n),
    adjustedMicros: before.adjustedMicros + (made?.creditMicros ?? 0n) - (undone?.creditMicros ?? 0n),
    hasLapsed: before.hasLapsed || entry.type === 'expiration',
    isReversed: before.isReversed || entry.reversesEntryId === before.grant.id,
    hasReturns: before.hasReturns || entry.type === 'reversal',
  };
}

/** The sums to store with an entry that follows `previous`, the newest one of the contract so far. */
export function balancesAfter(
  previous: Pick<LedgerEntry, 'balanceAfterCents' | 'creditBalanceAfterMicros'> | undefined,
  entry: Pick<LedgerEntry, 'amountCents' | 'creditMicros'>,
): Pick<LedgerEntry, 'balanceAfterCents' | 'creditBalanceAfterMicros'> {
  return {
    balanceAfterCents: (previous?.balanceAfterCents ?? 0n) + entry.amountCents,
    creditBalanceAfterMicros: (previous?.creditBalanceAfterMicros ?? 0n) + entry.creditMicros,
  };
}

/** The usage entries of the given invoices that no reversal has undone, in the order of `entries`, the whole ledger. */
export function standingUsageOn<E extends LedgerEntry>(entries: readonly E[], invoiceIds: ReadonlySet<string>): E[] {
  return standing(entries, 'usage').filter((entry) => isOnOneOf(entry, invoiceIds));
}

/** What usage has drawn on the given invoices, summed over the entries that no reversal has undone. */
export function drawsOn(entries: readonly LedgerEntry[], invoiceIds: ReadonlySet<string>): OpenDraw[] {
  return Map.groupBy(standingUsageOn(entries, invoiceIds), (entry) => drawKey(placeOf(entry)))
    .values()
    .map((group) => sumOfDraw(group.toSorted((a, b) => a.seq - b.seq)))
    .toArray();
}

/** One text for each invoice, line and grant. */
export function drawKey({ invoiceId, lineKey, grantId }: DrawPlace): string {
  return JSON.stringify([invoiceId, lineKey, grantId]);
}

/**
 * Cents per credit at which free credits are valued: the contract's own setting, else the newest rate above 0 that was
 * granted on it, else none (semantics 9).
 */
export function valuationRateOf(entries: readonly LedgerEntry[], settingCents: bigint | undefined): bigint | undefined {
  if (settingCents !== undefined && settingCents > 0n) return settingCents;
  return newestRateOf(entries);
}

/**
 * The rate of the newest grant that has one above 0 and is not reversed; of a contract's entries, or of all of a
 * customer's (semantics 11).
 */
export function newestRateOf(entries: readonly LedgerEntry[]): bigint | undefined {
  const rated = standingGrants(entries).filter((grant) => grant.creditRateCents > 0n);
  return rated.toSorted(newestFirst)[0]?.creditRateCents;
}

/** The grants that no reversal has undone. */
export function standingGrants<E extends LedgerEntry>(entries: readonly E[]): E[] {
  return standing(entries, 'grant');
}

function standing<E extends LedgerEntry>(entries: readonly E[], type: LedgerEntryType): E[] {
  const reversed = new Set(entries.map((entry) => entry.reversesEntryId));
  return entries.filter((entry) => entry.type === type && !reversed.has(entry.id));
}

function newestFirst(a: LedgerEntry, b: LedgerEntry): number {
  return b.createdAt.epochMilliseconds - a.createdAt.epochMilliseconds || b.seq - a.seq;
}

/** A grant at an instant; `open` is what open invoices have drawn, which a new burn-down puts back. */
export function grantStateOf(totals: GrantTotals, at: Temporal.Instant, open: readonly LedgerEntry[] = []): GrantState {
  const { grant, remainingCents, remainingMicros, hasLapsed } = totals;
  const isExpired = hasExpired(grant, at);
  const hasRest = remainingCents !== 0n || remainingMicros !== 0n;
  return {
    grantId: grant.id,
    createdAt: grant.createdAt,
    expiresAt: grant.expiresAt,
    isPromotional: grant.isPromotional,
    creditRateCents: grant.creditRateCents,
    purchaseRateCents: grant.purchaseRateCents,
    currency: grant.currency,
    description: grant.description,
    specifiers: grant.specifiers,
    originalCents: grant.amountCents,
    originalMicros: grant.creditMicros,
    remainingCents,
    remainingMicros,
    adjustedCents: totals.adjustedCents,
    adjustedMicros: totals.adjustedMicros,
    availableCents: remainingCents - sumOf(open.map((entry) => entry.amountCents)),
    availableMicros: remainingMicros - sumOf(open.map((entry) => entry.creditMicros)),
    status: statusOf({ isExpired, hasLapsed, hasRest }),
    isReversed: totals.isReversed,
    isClosed: isExpired && !hasRest,
  };
}

/** Whether a grant has expired: from its expiry on, a whole millisecond, inclusive (semantics 9). */
export function hasExpired(
  grant: { readonly expiresAt?: Temporal.Instant | undefined },
  at: Temporal.Instant,
): boolean {
  // As numbers: comparing instants takes as long as a short query.
  return grant.expiresAt !== undefined && grant.expiresAt.epochMilliseconds <= at.epochMilliseconds;
}

/** Whether a grant is of free credits, which cost nothing and are worth what the contract says (semantics 9). */
export function isFree(grant: Pick<GrantState, 'originalCents' | 'creditRateCents'>): boolean {
  return grant.originalCents === 0n && grant.creditRateCents === 0n;
}

function statusOf(grant: {
  readonly isExpired: boolean;
  readonly hasLapsed: boolean;
  readonly hasRest: boolean;
}): GrantStatus {
  // The rest of a grant without an expiry lapses too, with the last invoice of its contract.
  if (grant.hasLapsed) return 'expired';
  // A grant that usage emptied stays depleted when its day comes: nothing of it lapsed.
  if (!grant.hasRest) return 'depleted';
  return grant.isExpired ? 'expired' : 'active';
}

function isOnOneOf({ invoiceId }: LedgerEntry, invoiceIds: ReadonlySet<string>): boolean {
  return invoiceId !== undefined && invoiceIds.has(invoiceId);
}

function sumOfDraw(entries: readonly LedgerEntry[]): OpenDraw {
  const [first] = entries;
  assert(first !== undefined, 'a group of entries is never empty');
  return {
    ...placeOf(first),
    entries,
    appliedCents: sumOf(entries.map((entry) => entry.appliedCents)),
    amountCents: -sumOf(entries.map((entry) => entry.amountCents)),
    creditMicros: -sumOf(entries.map((entry) => entry.creditMicros)),
  };
}

function placeOf(entry: LedgerEntry): DrawPlace {
  const { invoiceId, lineKey, grantEntryId } = entry;
  assert(invoiceId !== undefined && lineKey !== undefined && grantEntryId !== undefined, 'usage names what it paid');
  return { invoiceId, lineKey, grantId: grantEntryId };
}

/** The grant that an entry moves; its own id for a grant. */
export function grantIdOf(entry: LedgerEntry): string {
  return entry.grantEntryId ?? entry.id;
}
