/** Which usage is already on a finalized invoice, so that no event may join or change it any more (semantics 8). */

import { startOfDay } from '../calculation/billing-period.ts';
import { usageWindowsAt } from '../calculation/invoice-periods.ts';
import { createEventMatcher, type MeteredEvent } from '../calculation/metering.ts';
import { reviveExactJson } from '../exact-json.ts';
import type { EpochInterval, StoredEvent } from '../store/event-store.ts';
import {
  type ContractSpan,
  type FinalizedPeriod,
  listContractSpans,
  listFinalizedPeriods,
} from '../store/records/event-owners.ts';
import { findMeters } from '../store/records/meters.ts';
import { billingTermsOf } from './contract-terms.ts';
import type { CallContext } from './handler.ts';
import { coveragesOf, isWithin } from './usage-attribution.ts';

/** The parts of an event that decide where it is billed. */
interface BilledEvent extends MeteredEvent {
  readonly customerId: string;
  readonly contractId: string | null;
  readonly timestampEpochMs: number;
}

/** What a contract has billed by a meter, and what it takes. */
interface Claim {
  /** Usage that finalized invoices billed; `billedWithin` reaches from the first to the last of it. */
  readonly billed: readonly EpochInterval[];
  readonly billedWithin: EpochInterval;
  /** When it takes events that name no contract, unless an earlier contract does. */
  readonly taking: EpochInterval;
}

/** A meter by which finalized invoices billed a customer's usage. */
interface BilledMeter {
  readonly matches: (event: MeteredEvent) => boolean;
  /** By contract id, of all contracts with the meter, oldest first. */
  readonly claims: ReadonlyMap<string, Claim>;
}

export interface EventOwners {
  /** The contracts of a customer, oldest first. */
  readonly contractsOf: (customerId: string) => readonly ContractSpan[];
  /** The contract with this id, if it is the customer's. */
  readonly contractOf: (customerId: string, contractId: string) => ContractSpan | undefined;
  /** Whether a contract with a meter has a finalized invoice; where none has, no event has to be looked at. */
  readonly hasFinalized: (customerId: string) => boolean;
  /** Whether a finalized invoice would bill the event, on any meter. */
  readonly isFinalized: (event: BilledEvent) => boolean;
}

/** Reads all of this for customers that the organization has. */
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
    .flatMap((contract) => contract.items.flatMap((item) => item.meterId ?? []));
  const meters = await findMeters(tx, orgId, [...new Set(meterIds)]);
  const matchers = new Map(meters.map((meter) => [meter.id, createEventMatcher(meter)]));
  const ends = new Map([...contracts].map(([customerId, own]) => [customerId, endOfPeriods(own, periods)]));
  const billed = new Map<string, readonly BilledMeter[]>();
  const billedOf = (customerId: string) =>
    billed.getOrInsertComputed(customerId, () => billedMetersOf(contracts.get(customerId) ?? [], periods, matchers));
  const byId = new Map(spans.map((contract) => [contract.id, contract]));
  return {
    contractsOf: (customerId) => contracts.get(customerId) ?? [],
    contractOf: (customerId, contractId) => {
      const contract = byId.get(contractId);
      return contract?.customerId === customerId ? contract : undefined;
    },
    hasFinalized: (customerId) => (ends.get(customerId) ?? 0) > 0,
    isFinalized(event) {
      // Most events are newer than all finalized periods. What those have billed takes long to find for thousands of them.
      const isNewer = event.timestampEpochMs >= (ends.get(event.customerId) ?? 0);
      return !isNewer && billedOf(event.customerId).some((meter) => isBilled(meter, event));
    },
  };
}

/** `isFinalized` of an event that is stored. */
export function wasFinalized(owners: EventOwners, event: StoredEvent): boolean {
  const properties = reviveExactJson(event.propertiesJson) as BilledEvent['properties'];
  return owners.isFinalized({ ...event, properties });
}

/** The end of the last finalized period of a contract with a meter, behind which no invoice bills usage; 0 if there is none. */
function endOfPeriods(
  contracts: readonly ContractSpan[],
  periods: ReadonlyMap<string, readonly FinalizedPeriod[]>,
): number {
  const metered = contracts.filter(({ items }) => items.some(({ meterId }) => meterId !== undefined));
  const ends = metered.map(({ id }) => periods.get(id)?.at(-1)?.periodEnd ?? '');
  const last = ends.reduce((latest, end) => (end > latest ? end : latest), '');
  return last === '' ? 0 : startOfDay(Temporal.PlainDate.from(last)).epochMilliseconds;
}

function billedMetersOf(
  contracts: readonly ContractSpan[],
  periods: ReadonlyMap<string, readonly FinalizedPeriod[]>,
  matchers: ReadonlyMap<string, BilledMeter['matches']>,
): BilledMeter[] {
  const billed = contracts.flatMap((contract) => {
    const own = periods.get(contract.id);
    if (own === undefined) return [];
    const terms = billingTermsOf(contract);
    const windows = own.flatMap(({ periodIndex }) => usageWindowsAt(terms, periodIndex));
    return windows.map(({ meterId, start, end }) => {
      const interval = { fromEpochMs: start.epochMilliseconds, toEpochMs: end.epochMilliseconds };
      return { contractId: contract.id, meterId, interval };
    });
  });
  const coverages = coveragesOf(contracts);
  return [...Map.groupBy(billed, ({ meterId }) => meterId)].flatMap(([meterId, windows]) => {
    const matches = matchers.get(meterId);
    if (matches === undefined) return [];
    const ofContracts = Map.groupBy(windows, ({ contractId }) => contractId);
    const claims = coverages.flatMap((coverage): [string, Claim][] => {
      if (!coverage.meterIds.has(meterId)) return [];
      const billed = (ofContracts.get(coverage.contractId) ?? []).map(({ interval }) => interval);
      return [[coverage.contractId, { billed, billedWithin: spanOf(billed), taking: coverage }]];
    });
    return { matches, claims: new Map(claims) };
  });
}

/** From the beginning of the first to the end of the last. */
function spanOf(intervals: readonly EpochInterval[]): EpochInterval {
  return intervals.reduce(
    (span, { fromEpochMs, toEpochMs }) => ({
      fromEpochMs: Math.min(span.fromEpochMs, fromEpochMs),
      toEpochMs: Math.max(span.toEpochMs, toEpochMs),
    }),
    { fromEpochMs: Number.MAX_SAFE_INTEGER, toEpochMs: 0 },
  );
}

/** The rules of a meter are checked last, and once: they cost more than looking at one of perhaps thousands of contracts. */
function isBilled({ matches, claims }: BilledMeter, event: BilledEvent): boolean {
  const { contractId, timestampEpochMs } = event;
  const claim = contractId === null ? claimOf(claims.values(), timestampEpochMs) : claims.get(contractId);
  return claim !== undefined && hasBilled(claim, timestampEpochMs) && matches(event);
}

/** The first contract, in their order, that takes usage of this instant: what a contract has billed lies within what it takes. */
function claimOf(claims: Iterable<Claim>, epochMs: number): Claim | undefined {
  for (const claim of claims) if (isWithin(claim.taking, epochMs)) return claim;
  return undefined;
}

function hasBilled({ billed, billedWithin }: Claim, epochMs: number): boolean {
  return isWithin(billedWithin, epochMs) && billed.some((interval) => isWithin(interval, epochMs));
}
