/** Which contract an event is billed on (semantics 8): its own, else the customer's earliest that prices the meter then. */

import { startOfDay } from '../calculation/billing-period.ts';
import type { EpochInterval } from '../store/event-store.ts';
import type { Contract } from '../store/records/contracts.ts';
import { serviceEndOf } from './contract-terms.ts';

/** When a contract takes the usage of which meters. */
export interface Coverage extends EpochInterval {
  readonly contractId: string;
  readonly meterIds: ReadonlySet<string>;
}

export type CoveringContract = Pick<Contract, 'id' | 'startDate' | 'endDate' | 'effectiveEndDate' | 'items'>;

/** The coverage of a customer's contracts, in their order; a cancelled one covers until its effective end. */
export function coveragesOf(contracts: readonly CoveringContract[]): Coverage[] {
  return contracts.map((contract) => {
    return {
      contractId: contract.id,
      fromEpochMs: startOfDay(contract.startDate).epochMilliseconds,
      toEpochMs: serviceEndOf(contract)?.epochMilliseconds ?? Number.MAX_SAFE_INTEGER,
      meterIds: new Set(contract.items.flatMap((item) => item.meterId ?? [])),
    };
  });
}

/** The intervals in which an earlier contract takes the meter's events that name no contract. */
export function takenBefore(
  coverages: readonly Coverage[],
  { contractId, meterId }: { readonly contractId: string; readonly meterId: string },
): EpochInterval[] {
  const place = coverages.findIndex((coverage) => coverage.contractId === contractId);
  return takenBy(coverages.slice(0, Math.max(place, 0)), meterId);
}

/** The intervals in which any of these contracts takes the meter's events that name no contract. */
export function takenBy(coverages: readonly Coverage[], meterId: string): EpochInterval[] {
  return coverages
    .filter((coverage) => coverage.meterIds.has(meterId) && coverage.fromEpochMs < coverage.toEpochMs)
    .map(({ fromEpochMs, toEpochMs }) => ({ fromEpochMs, toEpochMs }));
}

/** Whether an instant lies in an interval. */
export function isWithin(interval: EpochInterval, epochMs: number): boolean {
  return epochMs >= interval.fromEpochMs && epochMs < interval.toEpochMs;
}
