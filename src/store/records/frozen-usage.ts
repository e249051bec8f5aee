/** What meters read in usage windows whose events may be dropped. A window is identified by contract, item and start. */

import type { Transaction } from '../database.ts';

/** A `UsageReading` of calculation, kept as JSON. */
export interface FrozenReading {
  readonly groupValues: Readonly<Record<string, string>>;
  readonly eventName: string;
  readonly properties: Readonly<Record<string, string>>;
  /** Decimal text. */
  readonly quantity: string;
  readonly count: number;
}

/** The readings of one window, phase by phase, as in a `MeteredUsage` of calculation. */
export interface FrozenUsage {
  readonly itemId: string;
  readonly startEpochMs: number;
  readonly combination: 'SUM' | 'COUNT' | 'MAX' | 'MIN' | 'SQL';
  /** What its readings tell apart. */
  readonly dimensions: { readonly needsEventName: boolean; readonly propertyKeys: readonly string[] };
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
