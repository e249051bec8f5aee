/** What the model remembers: plain records in arrays. Ids are the names that commands give (`contract7`). */

import type { Fraction } from './fraction.ts';

export interface Interval {
  readonly unit: 'WEEK' | 'MONTH' | 'YEAR';
  readonly count: number;
}

export interface Customer {
  readonly id: string;
  name: string;
  legalName: string | null;
  tags: string[];
  externalCustomerId: string | null;
  paused: { at: number; until: string | null } | undefined;
  readonly contacts: readonly { readonly name: string; readonly email: string; readonly roles: readonly string[] }[];
  readonly createdAt: number;
  updatedAt: number;
}

export interface Rate {
  readonly dimensions: Readonly<Record<string, string>>;
  readonly unit: Fraction;
}

export interface Meter {
  readonly id: string;
  readonly code: string;
  readonly aggregation: 'SUM' | 'COUNT' | 'MAX' | 'MIN';
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly filters: readonly {
    readonly name: string;
    readonly exists?: boolean;
    readonly include?: readonly string[];
    readonly exclude?: readonly string[];
  }[];
  readonly key: string | undefined;
  readonly groupKeys: readonly string[];
  rates: readonly Rate[];
  fallback: Fraction | undefined;
  isArchived: boolean;
}

/** A tier holds quantities above `from` up to `to`, which is included. */
export interface Tier {
  readonly from: Fraction;
  readonly to: Fraction | undefined;
  readonly unit: Fraction;
  readonly flat: Fraction;
}

export interface Pricing {
  readonly id: string;
  readonly productId: string;
  readonly name: string;
  readonly model: 'FLAT' | 'TIER' | 'USAGE';
  readonly tiering: 'NONE' | 'VOLUME' | 'GRADUATED';
  readonly unit: Fraction | undefined;
  readonly flat: Fraction | undefined;
  readonly tiers: readonly Tier[] | undefined;
  /** Undefined for a price that is owed once. */
  readonly interval: Interval | undefined;
  readonly meter: Meter | undefined;
  isArchived: boolean;
}

export interface Plan {
  readonly id: string;
  readonly name: string;
  readonly netTerms: number;
  readonly grantCents: bigint | undefined;
  readonly items: readonly { readonly pricing: Pricing; readonly quantity: Fraction }[];
}

/** A plan item as a contract froze it. */
export interface Item {
  readonly pricing: Pricing;
  readonly quantity: Fraction;
  readonly unit: Fraction | undefined;
  readonly flat: Fraction | undefined;
  readonly tiers: readonly Tier[] | undefined;
  readonly rates: readonly Rate[];
  readonly fallback: Fraction | undefined;
}

export interface Budget {
  label: string;
  readonly key: string;
  readonly value: string;
  meterId: string | null;
  /** Millionths of a credit. */
  maxMicros: bigint | null;
  maxCents: bigint | null;
  isExhausted: boolean;
}

export interface Specifiers {
  readonly meterIds?: readonly string[];
  readonly productIds?: readonly string[];
  readonly pricingIds?: readonly string[];
  readonly eventNames?: readonly string[];
  readonly properties?: Readonly<Record<string, string | readonly string[]>>;
}

export interface Entry {
  readonly id: string;
  /** Its place among all entries, as they were written. */
  readonly seq: number;
  readonly type: 'grant' | 'usage' | 'adjustment' | 'reversal' | 'expiration';
  readonly cents: bigint;
  readonly micros: bigint;
  /** What came off the invoice: differs from -cents only where credits were free. */
  readonly applied: bigint;
  readonly rateCents: bigint;
  readonly sourceType: string;
  readonly invoice: Invoice | null;
  readonly lineKey: string | undefined;
  readonly grant: Entry | null;
  readonly target: Entry | undefined;
  readonly expiresAt: number | null;
  readonly isPromotional: boolean;
  readonly createdAt: number;
  readonly externalId: string | undefined;
  readonly purchaseRateCents: bigint;
  readonly specifiers: Specifiers | undefined;
  readonly request: Readonly<Record<string, unknown>> | undefined;
}

export type InvoiceStatus = 'Drafted' | 'In Progress' | 'In Transit' | 'Paid' | 'Cancelled' | 'Refunded';

export interface Invoice {
  readonly id: string;
  /** Its place among all invoices, as they were made. */
  readonly seq: number;
  readonly contract: Contract;
  readonly index: number;
  /** Days; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** Of the invoice date. */
  day: number;
  readonly createdAt: number;
  updatedAt: number;
  status: InvoiceStatus;
  number: string | undefined;
  frozen: readonly Line[] | undefined;
  latestPaymentDate: string | undefined;
}

export interface Line {
  readonly kind: 'fixed' | 'metered' | 'prepaid' | 'credit';
  /** Item and group: what a usage entry is written for. */
  readonly key: string;
  readonly item: Item | undefined;
  readonly groups: Readonly<Record<string, string>>;
  readonly quantity: Fraction;
  readonly unit: Fraction;
  readonly amount: Fraction;
  /** Whether any event was read for a metered line. */
  readonly isUsed?: boolean;
  readonly cents: bigint;
  readonly from: number;
  readonly to: number;
}

export interface Contract {
  readonly id: string;
  readonly name: string;
  readonly customer: Customer;
  readonly plan: Plan;
  readonly start: string;
  readonly end: string | undefined;
  cancelledFrom: string | undefined;
  /** The invoice that bills the usage cut by a cancellation, where that of the last period bills no usage. */
  closing: number | undefined;
  readonly createdAt: number;
  readonly netTerms: number;
  readonly grid: Interval | undefined;
  readonly items: readonly Item[];
  readonly creditRateCents: bigint | undefined;
  metadata: Readonly<Record<string, unknown>>;
  readonly budgets: Budget[];
  readonly invoices: Invoice[];
  readonly entries: Entry[];
  /** Grants whose expiry is settled. */
  readonly swept: Set<Entry>;
  prepaid: Entry | undefined;
}

/** One version of an event; only the last version of a key counts. */
export interface Event {
  readonly key: string;
  readonly name: string;
  readonly customer: Customer;
  readonly contract: Contract | undefined;
  readonly at: number;
  readonly properties: Readonly<Record<string, string | boolean | null | { readonly number: string }>>;
  readonly version: number;
  readonly isLate: boolean;
  readonly receivedAt: number;
}

export interface State {
  readonly customers: Customer[];
  readonly meters: Meter[];
  readonly products: { readonly id: string; readonly name: string }[];
  readonly pricings: Pricing[];
  readonly plans: Plan[];
  readonly contracts: Contract[];
  /** Effective versions, in the order in which their keys first came. */
  readonly events: Event[];
  readonly finalized: Invoice[];
  now: number;
  /** What the clock says, which may be behind `now` where it was set back: bill runs go by it. */
  clock: number;
  /** When something was last written: time never goes back behind it. */
  latest: number;
}
