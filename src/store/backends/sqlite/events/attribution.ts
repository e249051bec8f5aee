/** Which events of a customer are of one contract: those that name it, and in its time those that name none. */

import type { Segment } from './segment.ts';
import type { EpochInterval, EventScan } from '../../../event-store.ts';
import type { SqliteConnection } from '../connection.ts';
import { findContractSeq } from './ids.ts';

/** The contract that is asked for, and when events that name none are another's. */
export interface Attribution {
  readonly contractSeq: number;
  readonly elsewhere: readonly EpochInterval[];
}

/** Undefined where no contract is asked for, and events of all of them are wanted. */
export function attributionOf(
  connection: SqliteConnection,
  orgId: string,
  contract: EventScan['contract'],
): Attribution | undefined {
  if (contract === undefined) return undefined;
  const contractSeq = findContractSeq(connection, orgId, contract.contractId) ?? -1;
  return { contractSeq, elsewhere: contract.unassignedOutside };
}

/** Whether an event is the contract's, by the contract that its row names, 0 for none, and by its own time. */
export function isAttributed(
  { contractSeq, elsewhere }: Attribution,
  rowContractSeq: number,
  timestampEpochMs: number,
): boolean {
  if (rowContractSeq !== 0) return rowContractSeq === contractSeq;
  return !elsewhere.some(
    ({ fromEpochMs, toEpochMs }) => timestampEpochMs >= fromEpochMs && timestampEpochMs < toEpochMs,
  );
}

/** How much of a segment's events that name no contract is the contract's that is asked for. */
export function unassignedShare(attribution: Attribution | undefined, span: EpochInterval): 'all' | 'none' | 'part' {
  const touching = (attribution?.elsewhere ?? []).filter(
    ({ fromEpochMs, toEpochMs }) => fromEpochMs < span.toEpochMs && span.fromEpochMs < toEpochMs,
  );
  if (touching.length === 0) return 'all';
  const covers = touching.some(
    ({ fromEpochMs, toEpochMs }) => fromEpochMs <= span.fromEpochMs && span.toEpochMs <= toEpochMs,
  );
  return covers ? 'none' : 'part';
}

/** Which rows of a segment whose days begin at `start` are the contract's; undefined where every one is. */
export function rowTest(
  attribution: Attribution,
  { fixed, valueOfAll }: Segment,
  start: number,
): ((row: number) => boolean) | undefined {
  const only = valueOfAll?.('contractSeq');
  if (only === attribution.contractSeq || (only === 0 && attribution.elsewhere.length === 0)) return undefined;
  const { contractSeq } = fixed;
  if (attribution.elsewhere.length === 0) {
    return (row) => contractSeq[row] === 0 || contractSeq[row] === attribution.contractSeq;
  }
  const { millisecond } = fixed;
  return (row) => isAttributed(attribution, contractSeq[row] ?? 0, start + (millisecond[row] ?? 0));
}
