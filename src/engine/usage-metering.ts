/**
 * What the meters of a contract read: one scan of events for each meter over all windows, folded into windows and phases.
 * Events that came late are left out; events without a contract go to the customer's earliest contract that prices the
 * meter (semantics 8).
 */

import type { UsageWindow } from '../calculation/invoice-draft.ts';
import type { UsageDimensions } from '../calculation/specifiers.ts';
import { type MeteredUsage, phaseEndsOf, type UsagePhase } from '../calculation/usage-atoms.ts';
import { createUsageFold } from '../calculation/usage-fold.ts';
import type { EpochInterval } from '../store/event-store.ts';
import type { CallContext } from './handler.ts';

export interface MeteringOptions {
  /** What readings must tell apart, for specifiers and budgets: `usageDimensionsOf(grants, budgets)`. */
  readonly dimensions: UsageDimensions;
  /** Grants, whose expiries inside a window end its phases. `[]` gives one phase a window. */
  readonly grants: readonly { readonly expiresAt: Temporal.Instant | undefined }[];
}

/** The contract whose usage is metered. */
export interface MeteredContract {
  readonly id: string;
  readonly customerId: string;
}

/**
 * The usage of each window, in the order of `windows`, for `rateMeteredUsage` and `meteredQuantitiesOf`. A window is
 * metered from its `start` to its `end`, exclusive, whatever its item's period: cut it to meter a part.
 */
export async function meterContract(
  context: Pick<CallContext, 'tx' | 'events' | 'orgId'>,
  contract: MeteredContract,
  windows: readonly UsageWindow[],
  options: MeteringOptions,
): Promise<MeteredUsage[]> {
  throw new TypeError(`not metered yet: ${contract.id}`);
}
