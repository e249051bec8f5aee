/** Which contract an event is billed on (semantics 8): the one named, else the customer's earliest that prices the meter then. */

import { startOfDay } from '../calculation/billing-period.ts';
import type { EpochInterval } from '../store/event-store.ts';
import type { Contract } from '../store/records/contracts.ts';
import { serviceEndOf } from './contract-terms.ts';

/** When a contract takes usage, and of which meters. */
export interface Coverage extends EpochInterval {
  readonly contractId: string;
  readonly meterIds: ReadonlySet<string>;
}

export type CoveringContract = Pick<Contract, 'id' | 'startDate' | 'endDate' | 'effectiveEndDate' | 'items'>;

/** The coverage of a customer's contracts, in their order; a cancelled one covers until its effective end. */
export function coveragesOf(contracts: readonly CoveringContract[]): Coverage[] {
  return contracts.map(coverageOf);
}

/** Coverages of contracts already seen: a bill run needs that of each contract for all that come after it. */
const knownCoverages = new WeakMap<CoveringContract, Coverage>();

function coverageOf(contract: CoveringContract): Coverage {
  return knownCoverages.getOrInsertComputed(contract, () => ({
    contractId: contract.id,
    fromEpochMs: startOfDay(contract.startDate).epochMilliseconds,
    toEpochMs: serviceEndOf(contract)?.epochMilliseconds ?? Number.MAX_SAFE_INTEGER,
    meterIds: new Set(contract.items.flatMap((item) => item.meterId ?? [])),
  }));
}

/** As `takenBy`, as far as it matters to a span: most often a single contract takes all of it. */
export function takenWithin(
  contracts: readonly CoveringContract[],
  { meterId, span }: { readonly meterId: string; readonly span: EpochInterval },
): readonly EpochInterval[] {
  const takesAll = (coverage: Coverage): boolean => coverage.meterIds.has(meterId) && covers(coverage, span);
  return contracts.some((contract) => takesAll(coverageOf(contract)))
    ? [span]
    : takenBy(coveragesOf(contracts), meterId);
}

/** Whether all of a span lies in an interval. */
export function covers(interval: EpochInterval, span: EpochInterval): boolean {
  return interval.fromEpochMs <= span.fromEpochMs && span.toEpochMs <= interval.toEpochMs;
}

/** When any of these contracts takes the meter's events that name no contract: ascending, without overlap. */
export function takenBy(coverages: readonly Coverage[], meterId: string): EpochInterval[] {
  const taking = coverages.filter(
    (coverage) => coverage.meterIds.has(meterId) && coverage.fromEpochMs < coverage.toEpochMs,
  );
  const taken: { fromEpochMs: number; toEpochMs: number }[] = [];
  for (const { fromEpochMs, toEpochMs } of taking.sort((a, b) => a.fromEpochMs - b.fromEpochMs)) {
    const last = taken.at(-1);
    if (last === undefined || fromEpochMs > last.toEpochMs) taken.push({ fromEpochMs, toEpochMs });
    else last.toEpochMs = Math.max(last.toEpochMs, toEpochMs);
  }
  return taken;
}

/** Whether an instant lies in an interval. */
export function isWithin(interval: EpochInterval, epochMs: number): boolean {
  return epochMs >= interval.fromEpochMs && epochMs < interval.toEpochMs;
}
