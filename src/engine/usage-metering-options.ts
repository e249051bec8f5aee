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

export interface MeteringOptions {
  /** What readings must tell apart, for specifiers and budgets. */
  readonly dimensions: UsageDimensions;
  /** Grants, whose expiries inside a window end its phases. `[]` gives one phase a window. */
  readonly grants: readonly { readonly expiresAt?: Temporal.Instant | undefined }[];
  readonly filter?: EventFilter | undefined;
  /** Nothing is asked of usage without properties, which is all that SQL meters have: their windows are left out. */
  readonly leavesOutSql?: boolean | undefined;
  /** What is read is written down, and not asked for again. */
  readonly isOnce?: boolean | undefined;
}

/** Behind every event that can have been recorded by `now` (semantics 1). */
export function endOfEvents(now: Temporal.Instant): Temporal.Instant {
  return now.add({ seconds: limits.eventFutureSeconds, milliseconds: 1 });
}

/** One phase a window, told apart by group values alone. */
export function plainMetering(): MeteringOptions {
  return { dimensions: noDimensions, grants: [] };
}

type AskingGrant = Pick<LedgerEntry, 'expiresAt' | 'specifiers'> & { readonly isReversed?: boolean };

/**
 * Phase by phase of these grants, told apart by all that they and these budgets ask about. One that is reversed asks nothing;
 * entries of a ledger do not say so, and are to be `standingGrants`.
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
  /** The customer's contracts of before it, where they have been read. */
  readonly earlier?: readonly Contract[] | undefined;
  /** Others of the customer that are billed with it. */
  readonly together?: MeteredTogether | undefined;
}

/** What to meter for an item; a usage window of calculation is one. */
export type MeteringWindow = Pick<UsageWindow, 'item' | 'meterId' | 'start' | 'end'>;
