/** What meters read of usage windows whose events may be dropped. A window is known by contract, item and start. */

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

/** The readings of one window, phase by phase, as a `MeteredUsage` of calculation has them. */
export interface FrozenUsage {
  readonly itemId: string;
  readonly startEpochMs: number;
  readonly combination: 'SUM' | 'COUNT' | 'MAX' | 'MIN' | 'SQL';
  /** What its readings tell apart. */
  readonly dimensions: { readonly needsEventName: boolean; readonly propertyKeys: readonly string[] };
  /** Ascending; the last ends with the window. */
  readonly phases: readonly { readonly endEpochMs: number; readonly readings: readonly FrozenReading[] }[];
}

/** Of a contract, in the order of items and time. */
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

/** Puts it in the place of what was kept of the window, if anything was. */
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
