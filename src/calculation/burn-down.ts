/**
 * Running usage through all grants in order (semantics 9), within the caps of budgets (semantics 10).
 * Pure, and always computed from what the grants had before the open invoices drew on them, so that a second run over the
 * same usage gives the same totals: what is written is the difference (settlement-plan.ts).
 */

import type { BudgetCap } from './budget.ts';
import type { GrantState, LedgerEntry } from './ledger.ts';
import type { UsageAtom } from './usage-atoms.ts';

/** What one grant pays on one line of one invoice, in total. All three are positive or 0. */
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

export interface LineBurn {
  readonly invoiceId: string;
  readonly lineKey: string;
  readonly totalCents: bigint;
  readonly appliedCents: bigint;
  /** What no grant covered. */
  readonly overageCents: bigint;
}

export interface BudgetConsumption {
  readonly budgetId: string;
  /** Rated usage of the dimension over the contract's life: finalized invoices and `usage`. */
  readonly consumedCents: bigint;
}

export interface BurnDownInput {
  /** Metered lines of all open invoices, in line order; ordered here by invoice, then phase. */
  readonly usage: readonly UsageAtom[];
  readonly grants: readonly GrantState[];
  /** Entries of the contract with an open invoice; only those of closed grants matter, which stay as they are. */
  readonly openEntries: readonly LedgerEntry[];
  readonly budgets: readonly BudgetCap[];
  /** Cents per credit for free credits and for budgets in credits; absent where the contract has no rate. */
  readonly valuationRateCents?: bigint | undefined;
}

export interface BurnDown {
  readonly draws: readonly Draw[];
  readonly lines: readonly LineBurn[];
  readonly budgets: readonly BudgetConsumption[];
}
