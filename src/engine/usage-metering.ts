/**
 * What the meters of a contract or a customer read: events are looked at once for all meters and windows, and folded into windows
 * and phases; a meter with a query has a scan of its own. Events that came late are left out; events without a contract go to the
 * customer's earliest contract that prices the meter (semantics 8).
 */

import { assert } from '../assert.ts';
import { hasProperty } from '../calculation/metering.ts';
import { type MeteredUsage, phaseEndsOf, type UsagePhase } from '../calculation/usage-atoms.ts';
import { type MeterRules, mergeReadings } from '../calculation/usage-fold.ts';
import type { EpochInterval, EventReadings, EventScan, ScannedEvent } from '../store/event-store.ts';
import type { MeterSqlEvent, MeterSqlReading } from '../store/meter-sql.ts';
import { listContractsBefore } from '../store/records/contracts.ts';
import type { Meter } from '../store/records/meters.ts';
import type { CallContext } from './handler.ts';
import { knownMeters } from './known-catalog.ts';
import { covers, takenWithin } from './usage-attribution.ts';
import { isDropped, orWholePeriods, readFrozenUsage, refuseDropped, type RetentionContext } from './usage-frozen.ts';
import type { EventFilter, MeteredContract, MeteringOptions, MeteringWindow } from './usage-metering-options.ts';
import { narrows } from './usage-metering-options.ts';
import { readSqlMeter, type SqlMeter } from './usage-sql.ts';
import { type MeteredTogether, readNamed } from './usage-together.ts';

export type MeteringContext = Pick<CallContext, 'tx' | 'events' | 'orgId' | 'sqlReadings'> & RetentionContext;

/** The usage of each window that was read, in the order in which they were asked for; none of an SQL meter that is left out. */
export type MeteredWindows = ReadonlyMap<MeteringWindow, MeteredUsage>;

/**
 * The usage of each window, for `rateMeteredUsage` and `meteredQuantitiesOf`. A window is metered from its `start` to its
 * `end`, exclusive, whatever its item's period: cut it to meter a part. A whole window whose events are dropped is read as it
 * was frozen; metering a part of one throws ConflictError.
 */
export async function meterContract(
  context: MeteringContext,
  contract: MeteredContract,
  windows: readonly MeteringWindow[],
  options: MeteringOptions,
): Promise<MeteredWindows> {
  const { dropped = [], kept = [] } = Object.groupBy(windows, ({ start }) =>
    isDropped(context, start) ? 'dropped' : 'kept',
  );
  const frozen =
    dropped.length === 0 ? undefined : await readFrozenUsage(context, contract.id, { windows: dropped, options });
  const metered = kept.length === 0 ? undefined : await meterKept(context, contract, kept, options);
  return inOrderOf(windows, (window) => frozen?.get(window) ?? metered?.get(window));
}

function inOrderOf(
  windows: readonly MeteringWindow[],
  usageOf: (window: MeteringWindow) => MeteredUsage | undefined,
): MeteredWindows {
  const ordered = new Map<MeteringWindow, MeteredUsage>();
  for (const window of windows) {
    const usage = usageOf(window);
    if (usage !== undefined) ordered.set(window, usage);
  }
  return ordered;
}

async function meterKept(
  context: MeteringContext,
  contract: MeteredContract,
  windows: readonly MeteringWindow[],
  options: MeteringOptions,
): Promise<MeteredWindows> {
  const { tx, orgId } = context;
  const { id: contractId, customerId, together } = contract;
  const earlier = contract.earlier ?? (await listContractsBefore(tx, orgId, { customerId, contractId }));
  return await meterWindows(context, windows, options, {
    together,
    ownerOf: (meterId, span) => ({
      customerId,
      contract: { contractId, unassignedOutside: takenWithin(earlier, { meterId, span }) },
    }),
  });
}

/**
 * Like `meterContract`, for all usage of a customer, whichever contract bills it; throws ConflictError where events are
 * dropped.
 */
export async function meterCustomer(
  context: MeteringContext,
  customerId: string,
  windows: readonly MeteringWindow[],
  options: MeteringOptions,
): Promise<MeteredWindows> {
  for (const { start } of windows) {
    refuseDropped(context, start, 'usage of a customer cannot be read', orWholePeriods);
  }
  const metered = await meterWindows(context, windows, options, { ownerOf: () => ({ customerId }) });
  return inOrderOf(windows, (window) => metered.get(window));
}

/** Whose events a meter reads. */
type Owner = Pick<EventScan, 'customerId' | 'contract'>;

interface Owned {
  readonly ownerOf: (meterId: string, span: EpochInterval) => Owner;
  readonly together?: MeteredTogether | undefined;
}

async function meterWindows(
  context: MeteringContext,
  windows: readonly MeteringWindow[],
  options: MeteringOptions,
  { ownerOf, together }: Owned,
): Promise<MeteredWindows> {
  const known = await knownMeters(
    context,
    windows.map((window) => window.meterId),
  );
  const meters = new Map(known.map((meter) => [meter.id, meter]));
  const metered = new Map<MeteringWindow, MeteredUsage>();
  const folded: Metering[] = [];
  for (const [meterId, group] of Map.groupBy(windows, (window) => window.meterId)) {
    const meter = meters.get(meterId);
    assert(meter !== undefined, `the meter ${meterId} of a contract is stored`);
    const segments = segmentsOf(group, options);
    const scan = { meter, owner: ownerOf(meterId, spanOf(segments)), segments, options };
    if (meter.sql === null) folded.push({ scan, windows: group, metered });
    else if (!options.leavesOutSql) {
      await queryWindows(context, { scan, windows: group, metered, meter: { ...meter, sql: meter.sql } });
    }
  }
  // Meters that read the same events read them together.
  for (const alike of Map.groupBy(folded, ({ scan }) => JSON.stringify([scan.owner, scan.segments])).values()) {
    await foldWindows(context, alike, { ...options, together });
  }
  return metered;
}

/** The instants at which a window or a phase begins or ends, ascending: segment `i` lies between bounds `i` and `i + 1`. */
function segmentsOf(windows: readonly MeteringWindow[], options: MeteringOptions): number[] {
  const bounds = windows.flatMap((window) => [
    window.start.epochMilliseconds,
    ...phaseEndsOf(window, options.grants).map((end) => end.epochMilliseconds),
  ]);
  return [...new Set(bounds)].toSorted((a, b) => a - b);
}

function spanOf(segments: readonly number[]): EpochInterval {
  const [fromEpochMs = 0] = segments;
  return { fromEpochMs, toEpochMs: segments.at(-1) ?? fromEpochMs };
}

interface Scan {
  readonly meter: Meter;
  readonly owner: Owner;
  readonly segments: readonly number[];
  readonly options: MeteringOptions;
}

interface Metering {
  readonly scan: Scan;
  readonly windows: readonly MeteringWindow[];
  /** Where the usage of each window goes. */
  readonly metered: Map<MeteringWindow, MeteredUsage>;
}

/** Takes meters that read the same events in the same segments. */
async function foldWindows(
  context: MeteringContext,
  meterings: readonly Metering[],
  { dimensions, filter, isOnce, together }: MeteringOptions & Pick<Owned, 'together'>,
): Promise<void> {
  const [first] = meterings;
  if (first === undefined) return;
  const { tx, events, orgId } = context;
  const { segments, owner } = first.scan;
  const { customerId, contract } = owner;
  const of = { orgId, customerId, boundsEpochMs: segments, dimensions, isStanding: !narrows(filter), isOnce };
  const meters = meterings.map(({ scan }) => rulesOf(scan.meter, filter));
  const isNamedAlone = contract?.unassignedOutside.some((taken) => covers(taken, spanOf(segments))) === true;
  const readings = isNamedAlone
    ? await readNamed(context, of, { contractId: contract.contractId, together, meters })
    : await events.aggregate(tx, { ...of, contract }, meters);
  for (const [place, metering] of meterings.entries()) takeReadings(metering, readings[place] ?? []);
}

function takeReadings({ scan, windows, metered }: Metering, readings: EventReadings): void {
  const { meter } = scan;
  const partsOf = partsIn(scan);
  for (const window of windows) {
    const phases = partsOf(window).map(({ end, from, to }) => ({
      end,
      // In a single segment each combination has one reading already.
      readings:
        to - from === 1
          ? (readings[from] ?? [])
          : mergeReadings(meter.aggregationType, readings.slice(from, to).flat()),
    }));
    metered.set(window, { item: window.item, combination: meter.aggregationType, phases });
  }
}

/** What the meter counts, narrowed by the filter. */
function rulesOf(meter: Meter, filter: EventFilter | undefined): MeterRules {
  const { aggregationType, aggregationKey, groupKeys, propertyFilters } = meter;
  const wanted = (filter?.properties ?? []).map(({ key, value }) => ({ name: key, exists: true, include: [value] }));
  const { include, exclude } = meter.eventTypeFilter;
  return {
    aggregationType,
    aggregationKey,
    groupKeys,
    eventTypeFilter: { include: include.length > 0 ? include : (filter?.eventNames ?? []), exclude },
    propertyFilters: [...propertyFilters, ...wanted],
  };
}

/** The query reads each window on its own, and for each phase all events of the window up to its end. */
async function queryWindows(
  context: MeteringContext,
  { scan, windows, metered, meter }: Metering & { readonly meter: SqlMeter },
): Promise<void> {
  const rows: MeterSqlEvent[][] = scan.segments.map(() => []);
  await scanEvents(context, scan, ({ eventName, timestampEpochMs, propertiesJson }, segment) => {
    rows[segment]?.push({ eventName, timestampEpochMs, propertiesJson });
  });
  const partsOf = partsIn(scan);
  const asked = windows.flatMap((window) =>
    partsOf(window).map((part, index): MeterSqlReading & { readonly end: Temporal.Instant } => ({
      end: part.end,
      keepsEvents: index > 0,
      events: rows.slice(part.from, part.to).flat(),
    })),
  );
  const readings = await readSqlMeter(context, meter, asked);
  const phases = asked.map(({ end }, index): UsagePhase => ({ end, readings: readings.slice(index, index + 1) }));
  let taken = 0;
  for (const window of windows) {
    const count = partsOf(window).length;
    metered.set(window, { item: window.item, combination: 'SQL', phases: phases.slice(taken, taken + count) });
    taken += count;
  }
}

async function scanEvents(
  { tx, events, orgId }: MeteringContext,
  { owner, segments, options: { filter } }: Scan,
  onEvent: (event: ScannedEvent, segment: number) => void,
): Promise<void> {
  const { fromEpochMs, toEpochMs } = spanOf(segments);
  // A query has no filter of names beside it.
  const request: EventScan = { ...owner, orgId, fromEpochMs, toEpochMs, eventNames: filter?.eventNames };
  const properties = filter?.properties ?? [];
  let segment = 0;
  await events.scan(tx, request, (event) => {
    while (event.timestampEpochMs >= (segments[segment + 1] ?? toEpochMs)) segment += 1;
    if (properties.every((wanted) => hasProperty(event.properties, wanted))) onEvent(event, segment);
  });
}

interface Part {
  readonly end: Temporal.Instant;
  /** The segments `[from, to)`. */
  readonly from: number;
  readonly to: number;
}

/** The phases of a window as segments. */
function partsIn({ segments, options }: Scan): (window: MeteringWindow) => Part[] {
  // By instant: a contract may have thousands of windows, too many to search for each bound.
  const places = new Map(segments.map((epochMs, place) => [epochMs, place]));
  const placeOf = (instant: Temporal.Instant): number => places.get(instant.epochMilliseconds) ?? -1;
  return (window) => {
    let from = placeOf(window.start);
    return phaseEndsOf(window, options.grants).map((end) => {
      const part = { end, from, to: placeOf(end) };
      from = part.to;
      return part;
    });
  };
}
