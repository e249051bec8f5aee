/** Which usage is already on a finalized invoice, so that no event may join or change it any more (semantics 8). */

import { usageWindowsAt } from '../calculation/invoice-periods.ts';
import { createEventMatcher, type MeteredEvent } from '../calculation/metering.ts';
import type { EpochInterval } from '../store/event-store.ts';
import {
  type ContractSpan,
  type FinalizedPeriod,
  listContractSpans,
  listFinalizedPeriods,
} from '../store/records/event-owners.ts';
import { findMeters } from '../store/records/meters.ts';
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
  /** Where events that name no contract belong to an earlier one: found when it is first asked for, in all contracts before it. */
  readonly elsewhere: () => readonly EpochInterval[];
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
  const meters = await findMeters(tx, orgId, [...new Set(meterIds)]);
  const matchers = new Map(meters.map((meter) => [meter.id, createEventMatcher(meter)]));
  const finalized = new Map(
    [...contracts].map(([customerId, own]) => {
      const usages = finalizedUsageOf(own, periods, matchers);
      return [customerId, { usages, endEpochMs: usages.reduce((end, { toEpochMs }) => Math.max(end, toEpochMs), 0) }];
    }),
  );
  return {
    contractsOf: (customerId) => contracts.get(customerId) ?? [],
    hasFinalized: (customerId) => (finalized.get(customerId)?.endEpochMs ?? 0) > 0,
    isFinalized(event) {
      const { usages = [], endEpochMs = 0 } = finalized.get(event.customerId) ?? {};
      // Most events are newer than all of them.
      return event.timestampEpochMs < endEpochMs && usages.some((usage) => holds(usage, event));
    },
  };
}

function finalizedUsageOf(
  contracts: readonly ContractSpan[],
  periods: ReadonlyMap<string, readonly FinalizedPeriod[]>,
  matchers: ReadonlyMap<string, FinalizedUsage['matches']>,
): FinalizedUsage[] {
  const takenBeforeOf = (contractId: string, meterId: string): (() => readonly EpochInterval[]) => {
    let known: readonly EpochInterval[] | undefined;
    return () => (known ??= takenBefore(coveragesOf(contracts), { contractId, meterId }));
  };
  return contracts.flatMap((contract) => {
    const own = periods.get(contract.id);
    if (own === undefined) return [];
    const terms = billingTermsOf(contract);
    const windows = own.flatMap(({ periodIndex }) => usageWindowsAt(terms, periodIndex));
    return windows.flatMap(({ meterId, start, end }) => {
      const matches = matchers.get(meterId);
      if (matches === undefined) return [];
      return {
        contractId: contract.id,
        fromEpochMs: start.epochMilliseconds,
        toEpochMs: end.epochMilliseconds,
        matches,
        elsewhere: takenBeforeOf(contract.id, meterId),
      };
    });
  });
}

function holds(usage: FinalizedUsage, event: BilledEvent): boolean {
  const { timestampEpochMs, contractId } = event;
  if (!isWithin(usage, timestampEpochMs) || !usage.matches(event)) return false;
  if (contractId !== null) return contractId === usage.contractId;
  return !usage.elsewhere().some((interval) => isWithin(interval, timestampEpochMs));
}
