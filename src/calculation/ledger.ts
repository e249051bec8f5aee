/**
 * Ledger entries -> balances and the state of every grant. A balance is a sum of entries (semantics 9).
 * Cents and creditMicros of an entry are what it adds to the wallet; `appliedCents` is what it took off an invoice.
 */

export type LedgerEntryType = 'grant' | 'usage' | 'adjustment' | 'reversal' | 'expiration';
export type LedgerSourceType = 'contract' | 'invoice' | 'promotional' | 'adjustment' | 'expiration' | 'reversal';

/** Which usage a grant pays for: OR inside a list, AND across members; nothing given means all usage (semantics 9). */
export interface Specifiers {
  readonly meterIds?: readonly string[] | undefined;
  readonly productIds?: readonly string[] | undefined;
  readonly pricingIds?: readonly string[] | undefined;
  readonly eventNames?: readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

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
