/** What meters read in usage windows whose events may be dropped. A window is identified by contract, item and start. */

import type { UsageDimensions } from '../../calculation/specifiers.ts';
import type { UsageReading } from '../../calculation/usage-atoms.ts';
import type { Combination } from '../../operations/wire-values.ts';
import type { Transaction } from '../database.ts';

/** A reading of calculation, kept as JSON. */
export interface FrozenReading extends Omit<UsageReading, 'quantity'> {
  /** Decimal text. */
  readonly quantity: string;
}

/** The readings of one window, phase by phase, as in a `MeteredUsage` of calculation. */
export interface FrozenUsage {
  readonly itemId: string;
  readonly startEpochMs: number;
  readonly combination: Combination;
  /** What its readings tell apart. */
  readonly dimensions: UsageDimensions;
  /** Ascending; the last phase ends with the window. */
  readonly phases: readonly { readonly endEpochMs: number; readonly readings: readonly FrozenReading[] }[];
}

/** The frozen usage of a contract, ordered by item and time. */
export async function listFrozenUsage(
  tx: Transaction,
  orgId: string,
  contractId: string,
): Promise<readonly FrozenUsage[]> {
  const rows = await tx
    .selectFrom('frozenUsage')
    .select(['itemId', 'startEpochMs', 'content'])
    .where('orgId', '=', orgId)
    .where('contractId', '=', contractId)
    .orderBy('itemId')
    .orderBy('startEpochMs')
    .execute();
  return rows.map(({ itemId, startEpochMs, content }) => ({
    itemId,
    startEpochMs: Number(startEpochMs),
    ...(JSON.parse(content) as Omit<FrozenUsage, 'itemId' | 'startEpochMs'>),
  }));
}

/** Writes the usage of a window, in place of an earlier record of it. */
export async function writeFrozenUsage(
  tx: Transaction,
  orgId: string,
  { contractId, usage }: { readonly contractId: string; readonly usage: FrozenUsage },
): Promise<void> {
  const { itemId, startEpochMs, ...rest } = usage;
  const content = JSON.stringify(rest);
  await tx
    .insertInto('frozenUsage')
    .values({ orgId, contractId, itemId, startEpochMs, content })
    .onConflict((conflict) =>
      conflict.columns(['orgId', 'contractId', 'itemId', 'startEpochMs']).doUpdateSet({ content }),
    )
    .execute();
}
