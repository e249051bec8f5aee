/**
 * Ledger entries -> balances and the state of every grant. A balance is a sum of entries (semantics 9).
 * Cents and creditMicros of an entry are what it adds to the wallet; `appliedCents` is what it took off an invoice.
 */

import { assert } from '../assert.ts';
import { compareDeduction } from './deduction-order.ts';
import type { Specifiers } from './specifiers.ts';

export type LedgerEntryType = 'grant' | 'usage' | 'adjustment' | 'reversal' | 'expiration';
export type LedgerSourceType = 'contract' | 'invoice' | 'promotional' | 'adjustment' | 'expiration' | 'reversal';

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
  /** The grant that the entry moves; absent on a grant itself. A reversal carries that of its target, or the grant reversed. */
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

export type GrantStatus = 'active' | 'depleted' | 'expired';

/** A grant with everything that happened to it up to an instant. */
export interface GrantState {
  readonly grantId: string;
  readonly seq: number;
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
  /** Sum of adjustments that stand: never above 0, since all that usage took may come back (semantics 9). */
  readonly adjustedCents: bigint;
  readonly adjustedMicros: bigint;
  /** `remaining`, with what usage on open invoices has drawn put back: what a new drawing starts from. */
  readonly availableCents: bigint;
  readonly availableMicros: bigint;
  readonly status: GrantStatus;
  readonly isReversed: boolean;
  /** Expired and swept: what usage has drawn from it is history, and usage that arrives later does not revive it. */
  readonly isClosed: boolean;
}

export interface WalletState {
  /** Sum over grants that have not expired, swept or not (semantics 9, Expiry). */
  readonly balanceCents: bigint;
  readonly creditMicros: bigint;
  /** In deduction order. */
  readonly grants: readonly GrantState[];
}

export interface FoldOptions {
  readonly at: Temporal.Instant;
  /** Invoices that are not finalized: their usage entries are provisional. */
  readonly openInvoiceIds: ReadonlySet<string>;
}

/** An open invoice's usage of one grant on one line: the sum of its entries. */
export interface OpenDraw {
  readonly invoiceId: string;
  readonly lineKey: string;
  readonly grantId: string;
  /** Unreversed usage entries, oldest first. */
  readonly entries: readonly LedgerEntry[];
  readonly appliedCents: bigint;
  readonly amountCents: bigint;
  readonly creditMicros: bigint;
}

/** What an expiration takes from a grant; positive. */
export interface Expiration {
  readonly grant: GrantState;
  readonly amountCents: bigint;
  readonly creditMicros: bigint;
}

/** The wallet at an instant, from all entries of one contract written until then. */
export function foldLedger(entries: readonly LedgerEntry[], options: FoldOptions): WalletState {
  const byGrant = Map.groupBy(entries, grantIdOf);
  const grants = entries
    .filter((entry) => entry.type === 'grant')
    .map((grant) => grantStateOf(grant, byGrant.get(grant.id) ?? [], options))
    .toSorted(compareDeduction);
  const live = grants.filter((grant) => grant.status !== 'expired');
  return {
    balanceCents: sum(live.map((grant) => grant.remainingCents)),
    creditMicros: sum(live.map((grant) => grant.remainingMicros)),
    grants,
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

/** What must lapse: the rest of every grant that has expired at the fold's instant (semantics 9). Empty once it is written. */
export function expirationsDue(wallet: WalletState): Expiration[] {
  return wallet.grants
    .filter((grant) => grant.status === 'expired' && hasRemainder(grant))
    .map((grant) => ({ grant, amountCents: grant.remainingCents, creditMicros: grant.remainingMicros }));
}

/** What usage has drawn on the given invoices, summed over the entries that no reversal has undone. */
export function drawsOn(entries: readonly LedgerEntry[], invoiceIds: ReadonlySet<string>): OpenDraw[] {
  const reversed = new Set(entries.map((entry) => entry.reversesEntryId));
  const usage = entries.filter(
    (entry) =>
      entry.type === 'usage' &&
      entry.invoiceId !== undefined &&
      invoiceIds.has(entry.invoiceId) &&
      !reversed.has(entry.id),
  );
  const groups = Map.groupBy(usage, (entry) => drawKey(keyOfEntry(entry)));
  return groups
    .values()
    .map((group) => sumOfDraw(group.toSorted((a, b) => a.seq - b.seq)))
    .toArray();
}

/** One text for each invoice, line and grant. */
export function drawKey(draw: {
  readonly invoiceId: string;
  readonly lineKey: string;
  readonly grantId: string;
}): string {
  return JSON.stringify([draw.invoiceId, draw.lineKey, draw.grantId]);
}

/**
 * Cents per credit by which free credits are valued: the contract's own setting, else the newest rate above 0 that was
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
  const reversed = new Set(entries.map((entry) => entry.reversesEntryId));
  const rated = entries.filter(
    (entry) => entry.type === 'grant' && entry.creditRateCents > 0n && !reversed.has(entry.id),
  );
  return rated.toSorted(newestFirst)[0]?.creditRateCents;
}

function newestFirst(a: LedgerEntry, b: LedgerEntry): number {
  return b.createdAt.epochMilliseconds - a.createdAt.epochMilliseconds || b.seq - a.seq;
}

function grantStateOf(grant: LedgerEntry, movements: readonly LedgerEntry[], options: FoldOptions): GrantState {
  const remainingCents = sum(movements.map((entry) => entry.amountCents));
  const remainingMicros = sum(movements.map((entry) => entry.creditMicros));
  const open = movements.filter((entry) => isOpenUsage(entry, options.openInvoiceIds));
  const adjustments = standing(movements).filter((entry) => entry.type === 'adjustment');
  const hasLapsed = movements.some((entry) => entry.type === 'expiration');
  const isExpired = grant.expiresAt !== undefined && Temporal.Instant.compare(grant.expiresAt, options.at) <= 0;
  const hasRest = remainingCents !== 0n || remainingMicros !== 0n;
  return {
    grantId: grant.id,
    seq: grant.seq,
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
    adjustedCents: sum(adjustments.map((entry) => entry.amountCents)),
    adjustedMicros: sum(adjustments.map((entry) => entry.creditMicros)),
    availableCents: remainingCents - sum(open.map((entry) => entry.amountCents)),
    availableMicros: remainingMicros - sum(open.map((entry) => entry.creditMicros)),
    status: statusOf({ isExpired, hasLapsed, hasRest }),
    isReversed: movements.some((entry) => entry.reversesEntryId === grant.id),
    isClosed: isExpired && !hasRest,
  };
}

/** Entries that no reversal has undone. */
function standing(entries: readonly LedgerEntry[]): LedgerEntry[] {
  const reversed = new Set(entries.map((entry) => entry.reversesEntryId));
  return entries.filter((entry) => !reversed.has(entry.id));
}

function statusOf(grant: {
  readonly isExpired: boolean;
  readonly hasLapsed: boolean;
  readonly hasRest: boolean;
}): GrantStatus {
  // What is left of a grant without an expiry lapses too, with the last invoice of its contract.
  if (grant.hasLapsed) return 'expired';
  // A grant that usage emptied stays depleted when its day comes: nothing of it lapsed.
  if (!grant.hasRest) return 'depleted';
  return grant.isExpired ? 'expired' : 'active';
}

/** Usage of an invoice that is not finalized, or the undoing of such usage. */
function isOpenUsage(entry: LedgerEntry, openInvoiceIds: ReadonlySet<string>): boolean {
  return entry.appliedCents !== 0n && entry.invoiceId !== undefined && openInvoiceIds.has(entry.invoiceId);
}

function sumOfDraw(entries: readonly LedgerEntry[]): OpenDraw {
  const [first] = entries;
  assert(first !== undefined, 'a group of entries is never empty');
  return {
    ...keyOfEntry(first),
    entries,
    appliedCents: sum(entries.map((entry) => entry.appliedCents)),
    amountCents: -sum(entries.map((entry) => entry.amountCents)),
    creditMicros: -sum(entries.map((entry) => entry.creditMicros)),
  };
}

function keyOfEntry(entry: LedgerEntry): { invoiceId: string; lineKey: string; grantId: string } {
  const { invoiceId, lineKey, grantEntryId } = entry;
  assert(invoiceId !== undefined && lineKey !== undefined && grantEntryId !== undefined, 'usage names what it paid');
  return { invoiceId, lineKey, grantId: grantEntryId };
}

function grantIdOf(entry: LedgerEntry): string {
  return entry.grantEntryId ?? entry.reversesEntryId ?? entry.id;
}

function hasRemainder(grant: GrantState): boolean {
  return grant.remainingCents !== 0n || grant.remainingMicros !== 0n;
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
