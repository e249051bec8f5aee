/**
 * What the meters of a contract or a customer read: one scan of events for each meter over all windows, folded into windows
 * and phases. Events that came late are left out; events without a contract go to the customer's earliest contract that
 * prices the meter (semantics 8).
 */

import type { UsageWindow } from '../calculation/invoice-draft.ts';
import { hasProperty } from '../calculation/metering.ts';
import type { UsageDimensions } from '../calculation/specifiers.ts';
import { type MeteredUsage, phaseEndsOf, type UsagePhase } from '../calculation/usage-atoms.ts';
import { createUsageFold, noDimensions, type UsageFold } from '../calculation/usage-fold.ts';
import type { EventScan } from '../store/event-store.ts';
import { listContractsOfCustomer } from '../store/records/contracts.ts';
import { findMeters, type Meter } from '../store/records/meters.ts';
import type { CallContext } from './handler.ts';
import { coveragesOf, takenBefore } from './usage-attribution.ts';

/** Narrows what is metered; usage that it leaves out is not seen at all. */
export interface EventFilter {
  /** For meters that count every name; a meter that includes names keeps to its own. */
  readonly eventNames?: readonly string[] | undefined;
  /** All of them must hold. */
  readonly properties?: readonly { readonly key: string; readonly value: string }[] | undefined;
}

export interface MeteringOptions {
  /** What readings must tell apart, for specifiers and budgets: `usageDimensionsOf(grants, budgets)`. */
  readonly dimensions: UsageDimensions;
  /** Grants, whose expiries inside a window end its phases. `[]` gives one phase a window. */
  readonly grants: readonly { readonly expiresAt: Temporal.Instant | undefined }[];
  readonly filter?: EventFilter | undefined;
}

/** One phase a window, told apart by group values alone. */
export const plainMetering: MeteringOptions = { dimensions: noDimensions, grants: [] };

/** The contract whose usage is metered. */
export interface MeteredContract {
  readonly id: string;
  readonly customerId: string;
}

/** What to meter for an item; a usage window of calculation is one. */
export type MeteringWindow = Pick<UsageWindow, 'item' | 'meterId' | 'start' | 'end'>;

export type MeteringContext = Pick<CallContext, 'tx' | 'events' | 'orgId'>;

/**
 * The usage of each window, in the order of `windows`, for `rateMeteredUsage` and `meteredQuantitiesOf`. A window is
 * metered from its `start` to its `end`, exclusive, whatever its item's period: cut it to meter a part.
 */
export async function meterContract(
  context: MeteringContext,
  contract: MeteredContract,
  windows: readonly MeteringWindow[],
  options: MeteringOptions,
): Promise<MeteredUsage[]> {
  if (windows.length === 0) return [];
  const { tx, orgId } = context;
  const coverages = coveragesOf(await listContractsOfCustomer(tx, orgId, contract.customerId));
  return await meterWindows(context, windows, options, (meterId) => ({
    customerId: contract.customerId,
    contract: {
      contractId: contract.id,
      unassignedOutside: takenBefore(coverages, { contractId: contract.id, meterId }),
    },
  }));
}

/** As `meterContract`, of all usage of a customer, on whatever contract it is billed. */
export async function meterCustomer(
  context: MeteringContext,
  customerId: string,
  windows: readonly MeteringWindow[],
  options: MeteringOptions,
): Promise<MeteredUsage[]> {
  return await meterWindows(context, windows, options, () => ({ customerId }));
}

/** Whose events a meter reads. */
type Owner = Pick<EventScan, 'customerId' | 'contract'>;

async function meterWindows(
  context: MeteringContext,
  windows: readonly MeteringWindow[],
  options: MeteringOptions,
  ownerOf: (meterId: string) => Owner,
): Promise<MeteredUsage[]> {
  const meters = await findMeters(context.tx, context.orgId, [...new Set(windows.map((window) => window.meterId))]);
  const metered = new Map<MeteringWindow, MeteredUsage>();
  for (const [meterId, group] of Map.groupBy(windows, (window) => window.meterId)) {
    const meter = meters.find((each) => each.id === meterId);
    if (meter === undefined) throw new TypeError(`the meter ${meterId} of a contract is gone`);
    const segments = segmentsOf(group, options);
    const fold = createUsageFold(meter, options.dimensions);
    await foldEvents(context, { meter, owner: ownerOf(meterId), segments, filter: options.filter, fold });
    for (const window of group) metered.set(window, usageOf(window, { meter, segments, fold, options }));
  }
  return windows.flatMap((window) => metered.get(window) ?? []);
}

/** The instants at which a window or a phase begins or ends, ascending: segment `i` lies between bounds `i` and `i + 1`. */
function segmentsOf(windows: readonly MeteringWindow[], options: MeteringOptions): number[] {
  const bounds = windows.flatMap((window) => [
    window.start.epochMilliseconds,
    ...phaseEndsOf(window, options.grants).map((end) => end.epochMilliseconds),
  ]);
  return [...new Set(bounds)].toSorted((a, b) => a - b);
}

interface Scan {
  readonly meter: Meter;
  readonly owner: Owner;
  readonly segments: readonly number[];
  readonly filter: EventFilter | undefined;
  readonly fold: UsageFold;
}

async function foldEvents(
  { tx, events, orgId }: MeteringContext,
  { meter, owner, segments, filter, fold }: Scan,
): Promise<void> {
  const [fromEpochMs = 0] = segments;
  const toEpochMs = segments.at(-1) ?? fromEpochMs;
  const { include, exclude } = meter.eventTypeFilter;
  const request: EventScan = {
    ...owner,
    orgId,
    fromEpochMs,
    toEpochMs,
    eventNames: include.length > 0 ? include : filter?.eventNames,
    excludedEventNames: exclude,
    excludeLate: true,
  };
  const properties = filter?.properties ?? [];
  let segment = 0;
  await events.scan(tx, request, (event) => {
    while (event.timestampEpochMs >= (segments[segment + 1] ?? toEpochMs)) segment += 1;
    if (properties.every((wanted) => hasProperty(event.properties, wanted))) fold.add(event, segment);
  });
}

function usageOf(
  window: MeteringWindow,
  { meter, segments, fold, options }: Pick<Scan, 'meter' | 'segments' | 'fold'> & { readonly options: MeteringOptions },
): MeteredUsage {
  const phases: UsagePhase[] = [];
  let from = segments.indexOf(window.start.epochMilliseconds);
  for (const end of phaseEndsOf(window, options.grants)) {
    const to = segments.indexOf(end.epochMilliseconds);
    phases.push({ end, readings: fold.readings(from, to) });
    from = to;
  }
  return { item: window.item, combination: meter.aggregationType, phases };
}
