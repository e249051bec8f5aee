/** The events behind what meters read, for explanations: the same events that metering reads, with their keys. */

import type { ServicePeriod } from '../calculation/billing-period.ts';
import { type Big, zero } from '../calculation/money.ts';
import { type GroupTrace, type TracedEvent, createUsageTracer, type UsageTrace } from '../calculation/usage-trace.ts';
import type { EventScan, ScannedEvent } from '../store/event-store.ts';
import type { MeterSqlEvent } from '../store/meter-sql.ts';
import { listContractsBefore } from '../store/records/contracts.ts';
import type { Meter } from '../store/records/meters.ts';
import { takenWithin } from './usage-attribution.ts';
import type { MeteredContract } from './usage-metering-options.ts';
import type { MeteringContext } from './usage-metering.ts';
import { readSqlMeter, type SqlMeter } from './usage-sql.ts';
import { wireTimestamp } from './wire.ts';

/** Whose events are traced: all of a customer, or those that are billed on one contract. */
export interface TraceOwner {
  readonly customerId: string;
  readonly contract: MeteredContract | undefined;
}

/** The events of an owner in a range, which a meter is to read. */
export interface TraceSubject {
  readonly owner: TraceOwner;
  readonly range: ServicePeriod;
}

/** What a meter reads and skips; the quantity of a meter with a query is 0 here. */
export async function traceUsage(context: MeteringContext, meter: Meter, subject: TraceSubject): Promise<UsageTrace> {
  const tracer = createUsageTracer(traceRules(meter));
  await scanSubject(context, meter, subject, tracer.add);
  return tracer.read();
}

/** The quantity of a meter with a query, run over the events that `traceUsage` traces. */
export async function readQuery(
  context: MeteringContext,
  meter: SqlMeter & Meter,
  subject: TraceSubject,
): Promise<Big> {
  const events: MeterSqlEvent[] = [];
  await scanSubject(context, meter, subject, ({ eventName, timestampEpochMs, propertiesJson }) => {
    events.push({ eventName, timestampEpochMs, propertiesJson });
  });
  const [reading] = await readSqlMeter(context, meter, [{ keepsEvents: false, events }]);
  return reading?.quantity ?? zero;
}

/** Leaves out events that came late, as metering does (semantics 8). */
async function scanSubject(
  context: MeteringContext,
  { id }: Meter,
  { owner, range }: TraceSubject,
  onEvent: (event: ScannedEvent) => void,
): Promise<void> {
  const { tx, orgId, events } = context;
  const { customerId, contract } = owner;
  const span = { fromEpochMs: range.start.epochMilliseconds, toEpochMs: range.end.epochMilliseconds };
  const scan: EventScan = { orgId, customerId, ...span, withKeys: true };
  if (contract === undefined) return await events.scan(tx, scan, onEvent);
  const contractId = contract.id;
  const earlier = await listContractsBefore(tx, orgId, { customerId, contractId });
  const unassignedOutside = takenWithin(earlier, { meterId: id, span });
  await events.scan(tx, { ...scan, contract: { contractId, unassignedOutside } }, onEvent);
}

/** A query does not say which events it takes a value from, so all events that it is given are taken to be behind it. */
function traceRules(meter: Meter) {
  if (meter.sql === null) return meter;
  return { ...meter, aggregationType: 'COUNT' as const, aggregationKey: null, groupKeys: [] };
}

/** The facts of a meter that an explanation names. */
export function wireMeterFacts(meter: Meter) {
  const { id, code, aggregationType, aggregationKey, sql } = meter;
  return {
    meterId: id,
    meterCode: code,
    aggregationType: sql === null ? aggregationType : ('SQL' as const),
    ...(sql !== null || aggregationKey === null ? {} : { aggregationKey }),
  };
}

/** The first and the last are left out where no event was counted. */
export function wireEventCounts({ count, skippedCount, withoutKeyCount, first, last }: GroupTrace) {
  return {
    eventCount: count,
    skippedCount,
    withoutKeyCount,
    ...(first === undefined ? {} : { firstAt: timestampOf(first) }),
    ...(last === undefined ? {} : { lastAt: timestampOf(last) }),
  };
}

/** The value is left out where there is none. */
export function wireTracedEvent(event: TracedEvent) {
  const { idempotencyKey, eventName, value } = event;
  return { idempotencyKey, eventName, timestamp: timestampOf(event), ...(value === undefined ? {} : { value }) };
}

function timestampOf({ timestampEpochMs }: { readonly timestampEpochMs: number }): string {
  return wireTimestamp({ epochMilliseconds: timestampEpochMs });
}
