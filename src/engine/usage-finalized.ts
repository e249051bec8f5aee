/** Which usage is already on a finalized invoice, so that no event may join or change it any more (semantics 8). */

import { invoicePeriodAt, usageWindowsOf } from '../calculation/invoice-periods.ts';
import { createEventMatcher, type MeteredEvent } from '../calculation/metering.ts';
import type { EpochInterval } from '../store/event-store.ts';
import {
  type ContractSpan,
  type FinalizedPeriod,
  listContractSpans,
  listFinalizedPeriods,
} from '../store/records/event-owners.ts';
import { findMeters, type Meter } from '../store/records/meters.ts';
import { billingTermsOf } from './contract-terms.ts';
import type { CallContext } from './handler.ts';
import { coveragesOf, isWithin, takenBefore } from './usage-attribution.ts';

/** An event as far as it decides where it is billed. */
export interface BilledEvent extends MeteredEvent {
  readonly customerId: string;
  readonly contractId: string | null;
  readonly timestampEpochMs: number;
}

/** Usage of one meter that one finalized invoice billed. */
interface FinalizedUsage extends EpochInterval {
  readonly contractId: string;
  readonly matches: (event: MeteredEvent) => boolean;
  /** Where events that name no contract belong to an earlier one. */
  readonly elsewhere: readonly EpochInterval[];
}

export interface EventOwners {
  /** The contracts of a customer, oldest first. */
  readonly contractsOf: (customerId: string) => readonly ContractSpan[];
  /** Whether any usage of a customer is on a finalized invoice; where none is, no event has to be looked at. */
  readonly hasFinalized: (customerId: string) => boolean;
  /** Whether a finalized invoice would bill the event, on any meter. */
  readonly isFinalized: (event: BilledEvent) => boolean;
}

/** Reads what there is to know of these customers, which the organization has. */
export async function loadEventOwners(
  { tx, orgId }: Pick<CallContext, 'tx' | 'orgId'>,
  customerIds: readonly string[],
): Promise<EventOwners> {
  const spans = await listContractSpans(tx, orgId, customerIds);
  const contracts = Map.groupBy(spans, (contract) => contract.customerId);
  const contractIds = spans.map(({ id }) => id);
  const periods = Map.groupBy(await listFinalizedPeriods(tx, orgId, contractIds), (period) => period.contractId);
  const meterIds = spans
    .filter((contract) => periods.has(contract.id))
    .flatMap((contract) => billingTermsOf(contract).items.flatMap((item) => item.meterId ?? []));
  const meters = new Map((await findMeters(tx, orgId, [...new Set(meterIds)])).map((meter) => [meter.id, meter]));
  const finalized = new Map(
    [...contracts].map(([customerId, own]) => [customerId, finalizedUsageOf(own, periods, meters)]),
  );
  return {
    contractsOf: (customerId) => contracts.get(customerId) ?? [],
    hasFinalized: (customerId) => (finalized.get(customerId) ?? []).length > 0,
    isFinalized: (event) => (finalized.get(event.customerId) ?? []).some((usage) => holds(usage, event)),
  };
}

function finalizedUsageOf(
  contracts: readonly ContractSpan[],
  periods: ReadonlyMap<string, readonly FinalizedPeriod[]>,
  meters: ReadonlyMap<string, Meter>,
): FinalizedUsage[] {
  const coverages = coveragesOf(contracts);
  return contracts.flatMap((contract) => {
    const terms = billingTermsOf(contract);
    const windows = (periods.get(contract.id) ?? []).flatMap(({ periodIndex }) => {
      const period = invoicePeriodAt(terms, periodIndex);
      return period === undefined ? [] : usageWindowsOf(terms, period);
    });
    return windows.flatMap(({ meterId, start, end }) => {
      const meter = meters.get(meterId);
      if (meter === undefined) return [];
      return {
        contractId: contract.id,
        fromEpochMs: start.epochMilliseconds,
        toEpochMs: end.epochMilliseconds,
        matches: createEventMatcher(meter),
        elsewhere: takenBefore(coverages, { contractId: contract.id, meterId }),
      };
    });
  });
}

function holds(usage: FinalizedUsage, event: BilledEvent): boolean {
  const { timestampEpochMs, contractId } = event;
  if (!isWithin(usage, timestampEpochMs)) return false;
  const isOwn =
    contractId === null
      ? !usage.elsewhere.some((interval) => isWithin(interval, timestampEpochMs))
      : contractId === usage.contractId;
  return isOwn && usage.matches(event);
}
