/**
 * Contract snapshot + one period of its invoice grid + metered quantities -> the lines of an invoice, in order.
 * The lines of a draft and those frozen at finalization come from here alike (semantics 7).
 */

import type { BillingPeriod, DateRange, Interval, ServicePeriod } from './billing-period.ts';
import type { Big } from './money.ts';
import type { TierShare } from './pricing/pricing-model.ts';
import type { Proration } from './proration.ts';
import type { ContractItem } from './rate-card.ts';
import type { GroupValues, MeteredQuantity } from './rating.ts';

/** What a contract is billed by. `endDate` is exclusive: the end date, or the earlier date of a cancellation. */
export interface BillingTerms extends DateRange {
  readonly items: readonly ContractItem[];
  /** The paid credits that the first invoice bills; absent or 0 for none. */
  readonly creditGrantCents?: bigint | undefined;
}

/** What to meter for an item of an invoice. */
export interface UsageWindow {
  readonly item: ContractItem;
  readonly meterId: string;
  readonly period: BillingPeriod;
  readonly start: Temporal.Instant;
  /** Exclusive. */
  readonly end: Temporal.Instant;
}

/** `metered` lines are what credits may pay (interface 4.15 rule 4). */
export type LineKind = 'fixed' | 'metered' | 'prepaid' | 'credit';

export interface InvoiceLine {
  /** Unique on its invoice, and the same on every reading. */
  readonly lineKey: string;
  readonly kind: LineKind;
  readonly name: string;
  readonly description: string;
  readonly quantity: Big;
  /** Dollars, exact; effective where tiers or proration made it. */
  readonly unitPrice: Big;
  /** Dollars before the rounding to cents. */
  readonly exactAmount: Big;
  /** Half-up of `exactAmount` (semantics 12). */
  readonly totalCents: bigint;
  /** Half-up of `unitPrice`; for display only. */
  readonly unitPriceCents: bigint;
  readonly servicePeriod: ServicePeriod;
  readonly itemId?: string | undefined;
  readonly pricingId?: string | undefined;
  readonly productId?: string | undefined;
  readonly meterId?: string | undefined;
  readonly groupValues?: GroupValues | undefined;
  readonly grantId?: string | undefined;
  readonly breakdown?: readonly TierShare[] | undefined;
  readonly proration?: Proration | undefined;
}

export interface InvoiceDraft {
  readonly period: BillingPeriod;
  readonly invoiceDate: Temporal.PlainDate;
  readonly lines: readonly InvoiceLine[];
  /** Sum of all lines. */
  readonly totalCents: bigint;
  /** Sum of the metered lines: the most that credits may take off. */
  readonly meteredCents: bigint;
}

export type GridOf = (items: readonly ContractItem[]) => Interval | undefined;
export type MeteredQuantities = ReadonlyMap<string, readonly MeteredQuantity[]>;
