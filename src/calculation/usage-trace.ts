/**
 * Which events are behind a meter's quantities: how many, the first and the last, some of them, and those that the meter
 * skips. For explanations and for trying a meter out; what is billed is folded in usage-fold.ts.
 */

import { limits } from '../limits.ts';
import { compareText } from '../text-order.ts';
import { type Aggregate, createAggregate, skipReasonOf } from './aggregation.ts';
import {
  aggregatedValueOf,
  createEventMatcher,
  groupValuesOf,
  type MeteredEvent,
  type PropertyValue,
} from './metering.ts';
import { type Big, zero } from './money.ts';
import { type GroupValues, groupKeyOf } from './rating.ts';
import type { MeterRules } from './usage-fold.ts';

/** An event with what identifies it; the object may be reused for the next one. */
export interface TraceableEvent extends MeteredEvent {
  readonly idempotencyKey: string;
  readonly timestampEpochMs: number;
}

/** An event by what identifies it. */
export interface TracedEvent {
  readonly idempotencyKey: string;
  readonly eventName: string;
  readonly timestampEpochMs: number;
  /** The value of the aggregation key; undefined for COUNT, and where the event lacks the key. */
  readonly value: PropertyValue | undefined;
}

/** An event with a value that the meter cannot count (semantics 8). */
export interface SkippedEvent extends TracedEvent {
  /** Follows the value: `is not a number`. */
  readonly reason: string;
}

/** The events of one combination of group values. */
export interface GroupTrace {
  readonly groupValues: GroupValues;
  /** Exact; 0 when no event gave it a value. */
  readonly quantity: Big;
  /** Events that gave the quantity a value. */
  readonly count: number;
  readonly skippedCount: number;
  /** Events without the aggregation key. */
  readonly withoutKeyCount: number;
  /** Of the events that were counted, in the order in which they were added. */
  readonly first: TracedEvent | undefined;
  readonly last: TracedEvent | undefined;
  /** The first `limits.sampledEvents` of them. */
  readonly sample: readonly TracedEvent[];
  /** For MAX and MIN: the first event with that value. */
  readonly decidedBy: TracedEvent | undefined;
}

/** What a meter made of the events that it was shown. */
export interface UsageTrace {
  /** Ordered the same way, whatever the order of the events. */
  readonly groups: readonly GroupTrace[];
  /** Events that the meter's filters let through. */
  readonly matchedCount: number;
  readonly unmatchedCount: number;
  /** The first `limits.sampledEvents` events whose value is present but cannot be counted. */
  readonly skipped: readonly SkippedEvent[];
}

/** Takes events one by one; their order decides which are `first` and `last`. */
export interface UsageTracer {
  readonly add: (event: TraceableEvent) => void;
  readonly read: () => UsageTrace;
}

interface Group {
  readonly groupValues: GroupValues;
  readonly aggregate: Aggregate;
  /** What `decidedBy` brought it to. */
  quantity: Big;
  withoutKeyCount: number;
  first: TracedEvent | undefined;
  last: TracedEvent | undefined;
  readonly sample: TracedEvent[];
  decidedBy: TracedEvent | undefined;
}

/** The trace of a group without events. */
export const noEvents: GroupTrace = {
  groupValues: {},
  quantity: zero,
  count: 0,
  skippedCount: 0,
  withoutKeyCount: 0,
  first: undefined,
  last: undefined,
  sample: [],
  decidedBy: undefined,
};

/** An empty trace of one meter; quantities are those that `createUsageFold` reads from the same events. */
export function createUsageTracer(meter: MeterRules): UsageTracer {
  const matches = createEventMatcher(meter);
  const { aggregationType, groupKeys } = meter;
  const isCount = aggregationType === 'COUNT';
  const key = isCount ? undefined : meter.aggregationKey;
  const isExtreme = aggregationType === 'MAX' || aggregationType === 'MIN';
  const groups = new Map<string, Group>();
  const skipped: SkippedEvent[] = [];
  const counts = { matched: 0, unmatched: 0 };
  return {
    add: (event) => {
      if (!matches(event)) {
        counts.unmatched += 1;
        return;
      }
      counts.matched += 1;
      const group = groupOf(groups, groupValuesOf(event.properties, groupKeys), aggregationType);
      const traced = tracedEvent(event, key);
      group.aggregate.add(traced.value);
      if (!isCount && traced.value === undefined) {
        group.withoutKeyCount += 1;
        return;
      }
      const reason = traced.value === undefined ? undefined : skipReasonOf(traced.value);
      if (reason === undefined) count(group, traced, isExtreme);
      else if (skipped.length < limits.sampledEvents) skipped.push({ ...traced, reason });
    },
    read: () => ({
      groups: [...groups.entries()].toSorted(([a], [b]) => compareText(a, b)).map(([, group]) => groupTrace(group)),
      matchedCount: counts.matched,
      unmatchedCount: counts.unmatched,
      skipped,
    }),
  };
}

function groupOf(groups: Map<string, Group>, groupValues: GroupValues, type: MeterRules['aggregationType']): Group {
  const newGroup = (): Group => ({ ...noEvents, groupValues, aggregate: createAggregate(type), sample: [] });
  return groups.getOrInsertComputed(groupKeyOf(groupValues), newGroup);
}

/** A copy, because a scan reuses one object for all of its events. */
function tracedEvent(event: TraceableEvent, key: string | null | undefined): TracedEvent {
  const { idempotencyKey, eventName, timestampEpochMs } = event;
  return { idempotencyKey, eventName, timestampEpochMs, value: aggregatedValueOf(event, key) };
}

/** Notes an event that the aggregate has counted. */
function count(group: Group, event: TracedEvent, isExtreme: boolean): void {
  group.first ??= event;
  group.last = event;
  if (group.sample.length < limits.sampledEvents) group.sample.push(event);
  if (!isExtreme) return;
  const { quantity } = group.aggregate.read();
  if (group.decidedBy !== undefined && quantity.eq(group.quantity)) return;
  group.quantity = quantity;
  group.decidedBy = event;
}

function groupTrace({ aggregate, ...counted }: Group): GroupTrace {
  const { quantity, count, skipped: skippedCount } = aggregate.read();
  return { ...counted, quantity, count, skippedCount };
}
