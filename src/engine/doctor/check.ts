/** What a check is: a rule, how to find what breaks it in facts read beforehand, and what to do then. */

import type { BillingTerms } from '../../calculation/invoice-periods.ts';
import type { EventFault, UpkeepFault } from '../../store/event-store.ts';
import type { Budget } from '../../store/records/budgets.ts';
import type { NumberedInvoice } from '../../store/records/census.ts';
import type { Contract } from '../../store/records/contracts.ts';
import type { NotedDue } from '../../store/records/due-work.ts';
import type { FrozenLine } from '../../store/records/invoices.ts';
import type { SealedInvoice, SealedLedger } from '../../store/records/seals.ts';

export interface Problem {
  /** What breaks the rule: an entry, a grant, an invoice, a contract, an event, an organization or the file. */
  readonly objectId: string;
  readonly problem: string;
}

export interface Check<Facts> {
  /** One sentence that holds of every sound database. */
  readonly rule: string;
  /** A `warning` is worth a look; the books are right all the same. */
  readonly severity: 'error' | 'warning';
  /** What to do next. */
  readonly fix: string;
  readonly find: (facts: Facts) => readonly Problem[];
}

/** Everything that is stored of one contract, and what its finalized invoices come to when they are computed again. */
export interface ContractBooks {
  readonly contract: Contract;
  /**
   * The terms that the contract is billed by, and those from before a cancellation gave it an earlier end: every invoice
   * follows one of them.
   */
  readonly terms: readonly BillingTerms[];
  readonly ledger: SealedLedger;
  /** In the order of periods. */
  readonly invoices: readonly SealedInvoice[];
  /** By id of a finalized invoice: its lines without credits, from its events and the price snapshot, under each of `terms`. */
  readonly recomputed: ReadonlyMap<string, readonly (readonly FrozenLine[])[]>;
  readonly noted: NotedDue;
  readonly budgets: readonly Budget[];
  readonly budgetPositions: readonly number[];
  readonly disputed: readonly DisputedUsage[];
  /** Ids that its prices and grants name and its organization does not have. */
  readonly unknownIds: readonly string[];
  readonly now: Temporal.Instant;
}

/** Events that name no contract, at a time when an earlier contract of the customer prices the same meter. */
export interface DisputedUsage {
  readonly meterId: string;
  readonly eventCount: number;
}

/** What was read of an organization as a whole, beside its contracts. */
export interface OrganizationFacts {
  readonly organizationId: string;
  readonly lastCreatedAt: Temporal.Instant;
  /** What the clock says, real or simulated; it may be behind `lastCreatedAt`. */
  readonly clock: Temporal.Instant;
  readonly numbers: { readonly invoices: readonly NumberedInvoice[]; readonly next: number };
  readonly eventFaults: readonly EventFault[];
  /** What the event store has derived and a recount contradicts; empty where it derives nothing. */
  readonly upkeepFaults: readonly UpkeepFault[];
  readonly lateEvents: LateEvents;
  /** Rows of dropped events that are still stored; no reader sees them. */
  readonly droppedRowsLeft: number;
  /** Since when the longest waiting webhook delivery has been due; unknown where time is simulated. */
  readonly oldestDueDelivery: Temporal.Instant | undefined;
}

/** Events that are marked as having come after their period was finalized. */
export interface LateEvents {
  /** How many, without the unjustified ones that were found. */
  readonly count: number;
  /** Idempotency keys of those that no finalized invoice would bill; only a full examination looks for them. */
  readonly unjustified: readonly string[];
}
