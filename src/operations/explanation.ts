/** The parts of explanations: what an invoice line, its events and its credits say about themselves (our choice). */

import * as z from 'zod';

import { cents, date, exact, timestamp, uuid } from './fields.ts';
import { ledgerEntry } from './ledger-entry.ts';
import { grantStatuses, pricingModels, combinations, tierings } from './wire-values.ts';

const value = z.union([z.string(), z.boolean(), z.null(), exact]).optional();

/** An event by what identifies it, with the value that the meter took from it. */
export const tracedEvent = z.strictObject({ idempotencyKey: z.string(), eventName: z.string(), timestamp, value });

/** An event whose value a meter cannot count. */
export const skippedEvent = tracedEvent.extend({ reason: z.string() });

/** The events behind one quantity: how many gave it a value, how many could not, the first and the last that did. */
export const eventCounts = {
  eventCount: z.int(),
  skippedCount: z.int(),
  withoutKeyCount: z.int(),
  firstAt: timestamp.optional(),
  lastAt: timestamp.optional(),
};

const lineUsage = z.strictObject({
  meterId: uuid,
  meterCode: z.string(),
  aggregationType: z.enum(combinations),
  aggregationKey: z.string().optional(),
  ...eventCounts,
  /** The event that sets a MAX or MIN. */
  decidedBy: tracedEvent.optional(),
  sample: z.array(tracedEvent),
});

const linePrice = z.strictObject({
  pricingId: uuid,
  /**
   * The price itself, what the contract agreed on in its place, a rate of the rate card or of the contract, or the rate
   * card's fallback.
   */
  source: z.enum(['price', 'agreed', 'rate', 'fallback']),
  dimensions: z.record(z.string(), z.string()).optional(),
  model: z.enum(pricingModels),
  tiering: z.enum(tierings),
  unitAmount: z.string().optional(),
  flatAmount: z.string().optional(),
});

const tierShare = z.strictObject({
  /** Exclusive, except 0 in the first tier. */
  from: exact,
  /** Inclusive; null for the last tier. */
  to: exact.nullable(),
  quantity: exact,
  unitAmount: z.string(),
  flatAmount: z.string(),
  amount: z.string(),
});

/** What one grant paid of one line, more than 0 cents, and why that much. */
const lineGrant = z.strictObject({
  grantId: uuid,
  rank: z.int(),
  appliedCents: cents,
  creditAmount: exact,
  why: z.string(),
  /** Ledger entries that took it; none while it is not settled. */
  entryIds: z.array(uuid),
});

/** The grants that paid nothing of one line for the same reason, by their ranks in the invoice's order. */
const unusedGrants = z.strictObject({
  why: z.string(),
  /** Ascending; both ends inclusive. */
  ranks: z.array(z.strictObject({ from: z.int(), to: z.int() })),
});

const explainedLine = z.strictObject({
  id: z.string(),
  kind: z.enum(['fixed', 'metered', 'prepaid', 'credit']),
  name: z.string(),
  description: z.string(),
  servicePeriod: z.strictObject({ start: timestamp, end: timestamp }),
  dimensions: z.record(z.string(), z.string()).optional(),
  usage: lineUsage.optional(),
  /** What the meter read; below 0 it is billed as 0. */
  meteredQuantity: exact.optional(),
  quantity: exact,
  price: linePrice.optional(),
  breakdown: z.array(tierShare),
  proration: z.strictObject({ daysUsed: z.int(), daysWhole: z.int() }).optional(),
  unitPrice: z.string(),
  /** Dollars before rounding, what rounding added, and the resulting cents. */
  exactAmount: z.string(),
  roundingAmount: z.string(),
  totalAmountCents: cents,
  /** For metered lines: what credits paid, and what they left. */
  creditCents: cents.optional(),
  overageCents: cents.optional(),
  /** The grants that paid something of it, in the order of deduction. */
  grants: z.array(lineGrant),
  /** For metered lines: the invoice's grants that paid nothing of it, grouped by reason. */
  unusedGrants: z.array(unusedGrants).optional(),
  /** The grant of a credit line. */
  grantId: uuid.optional(),
});

/** A grant in its place in the order of deduction. */
const rankedGrant = z.strictObject({
  grantId: uuid,
  rank: z.int(),
  reason: z.string(),
  description: z.string(),
  isPromotional: z.boolean(),
  purchaseRateCents: cents,
  expiresAt: timestamp.nullable(),
  paysFor: z.record(z.string(), z.unknown()),
  /** What the grant had when this invoice came to it, and what the invoice took. */
  availableCents: cents,
  availableCredits: exact,
  appliedCents: cents,
  appliedCredits: exact,
});

/** How an invoice came about, line by line, and what each grant paid of it (our choice). */
export const explainedInvoice = z.strictObject({
  invoiceId: uuid,
  invoiceNumber: z.string(),
  status: z.string(),
  customerId: uuid,
  contractId: uuid,
  /** `live`: computed now, as drafts are. `frozen`: as finalized, computed again beside it. `none`: cancelled as a draft. */
  basis: z.enum(['live', 'frozen', 'none']),
  asOf: timestamp,
  period: z.strictObject({ start: date, end: date }),
  totalCents: cents,
  lines: z.array(explainedLine),
  /** Grants that had something or paid something, in the order of deduction. */
  grants: z.array(rankedGrant),
  /** Events of the customer in this period that came too late for it; absent where events of the period are dropped. */
  lateEventCount: z.int().optional(),
  /** Where events behind the invoice are dropped: from when on there are events. Readings are those frozen at that time. */
  eventsDroppedBefore: timestamp.optional(),
  /** Where the frozen figures differ from those that events and prices give today; empty when all agree. */
  disagreements: z.array(z.string()),
});

/** Why a ledger entry is there, and what it did to its grant (our choice). */
export const explainedEntry = z.strictObject({
  contractId: uuid,
  entry: ledgerEntry.extend({
    /** Taken off the invoice; below 0 where that was undone. */
    appliedCents: cents,
    balanceBeforeCents: cents,
    balanceAfterCents: cents,
    creditBalanceBefore: exact,
    creditBalanceAfter: exact,
    reversesEntryId: uuid.nullable(),
    reversedByEntryId: uuid.nullable(),
  }),
  reason: z.string(),
  /** The grant that the entry moves, before and after it; `status` is as of now. */
  grant: z.strictObject({
    grantId: uuid,
    description: z.string(),
    isPromotional: z.boolean(),
    status: z.enum(grantStatuses),
    expiresAt: timestamp.nullable(),
    paysFor: z.record(z.string(), z.unknown()),
    originalCents: cents,
    originalCredits: exact,
    beforeCents: cents,
    beforeCredits: exact,
    afterCents: cents,
    afterCredits: exact,
  }),
  invoice: z.strictObject({ invoiceId: uuid, invoiceNumber: z.string(), status: z.string() }).optional(),
  /** For usage: the line that it pays, with its events; absent where the invoice no longer bills anything. */
  line: explainedLine.optional(),
  /** For usage: the grants of that invoice in their order. */
  order: z.array(rankedGrant),
  /** For a reversal: the entry that it undoes. */
  target: ledgerEntry.optional(),
  /** For a grant: everything that has moved it since, oldest first. */
  movements: z.array(ledgerEntry),
});
