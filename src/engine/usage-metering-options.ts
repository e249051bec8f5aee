/** What is asked of meters: whose usage, of which windows, and how closely it is told apart. */

import type { UsageWindow } from '../calculation/invoice-periods.ts';
import type { LedgerEntry } from '../calculation/ledger.ts';
import { type UsageDimensions, usageDimensionsOf } from '../calculation/specifiers.ts';
import { noDimensions } from '../calculation/usage-fold.ts';
import { limits } from '../limits.ts';
import type { Budget } from '../store/records/budgets.ts';
import type { Contract } from '../store/records/contracts.ts';
import type { MeteredTogether } from './usage-together.ts';

/** Narrows what is metered; usage that it leaves out is not seen at all. */
export interface EventFilter {
  /** For meters that count every name; a meter that includes names keeps to its own. */
  readonly eventNames?: readonly string[] | undefined;
  /** All of them must hold. */
  readonly properties?: readonly { readonly key: string; readonly value: string }[] | undefined;
}

/** Whether a filter can leave anything out: a list of names does, even an empty one. */
export function narrows({ eventNames, properties = [] }: EventFilter = {}): boolean {
  return eventNames !== undefined || properties.length > 0;
}

export interface MeteringOptions {
  /** What readings must tell apart, for specifiers and budgets. */
  readonly dimensions: UsageDimensions;
  /** Grants, whose expiries inside a window end its phases. `[]` gives one phase for each window. */
  readonly grants: readonly { readonly expiresAt?: Temporal.Instant | undefined }[];
  readonly filter?: EventFilter | undefined;
  /** Leaves out the windows of SQL meters, where only usage with properties matters: theirs has none. */
  readonly leavesOutSql?: boolean | undefined;
  /** What is read is written down, so the same is not read again. */
  readonly isOnce?: boolean | undefined;
}

/** An instant after every event that can have been recorded by `now` (semantics 1). */
export function endOfEvents(now: Temporal.Instant): Temporal.Instant {
  return now.add({ seconds: limits.eventFutureSeconds, milliseconds: 1 });
}

/** One phase for each window, told apart by group values alone. */
export function plainMetering(): MeteringOptions {
  return { dimensions: noDimensions, grants: [] };
}

type AskingGrant = Pick<LedgerEntry, 'expiresAt' | 'specifiers'> & { readonly isReversed?: boolean };

/**
 * In the phases of these grants, told apart by all that they and these budgets ask about. A reversed grant asks nothing.
 * Ledger entries do not say whether they are reversed: pass `standingGrants` of them.
 */
export function meteringFor(
  grants: readonly AskingGrant[],
  budgets: readonly Pick<Budget, 'eventPropertyKey'>[],
): MeteringOptions {
  const standing = grants.filter(({ isReversed }) => isReversed !== true);
  return { dimensions: usageDimensionsOf(standing, budgets), grants: standing };
}

/** The contract whose usage is metered. */
export interface MeteredContract {
  readonly id: string;
  readonly customerId: string;
  /** The customer's contracts made before it, where they have been read. */
  readonly earlier?: readonly Contract[] | undefined;
  /** Others of the customer that are billed with it. */
  readonly together?: MeteredTogether | undefined;
}

/** What to meter for an item; a usage window of calculation is one. */
export type MeteringWindow = Pick<UsageWindow, 'item' | 'meterId' | 'start' | 'end'>;
