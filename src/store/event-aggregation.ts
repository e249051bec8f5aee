/**
 * What a meter reads of stored events, and how any event store that can scan answers it: the one meaning that every native
 * answer must equal. Quantities are exact, whatever the number, order and batches of events (semantics 8).
 */

import type { UsageDimensions } from '../calculation/specifiers.ts';
import type { UsageReading } from '../calculation/usage-atoms.ts';
import { createUsageFold, type MeterRules, readingKeyOf } from '../calculation/usage-fold.ts';
import type { Transaction } from './database.ts';
import type { EventScan, EventStore } from './event-store.ts';

/** Whose events, in which intervals, and what is to be told apart. Late events are in no reading. */
export interface AggregatedEvents extends Pick<EventScan, 'orgId' | 'customerId' | 'contract'> {
  /** Ascending, all different, milliseconds since 1970: reading `i` is of the events in [bound `i`, bound `i + 1`). */
  readonly boundsEpochMs: readonly number[];
  /** What else readings tell apart. A missing property is not the same as an empty one. */
  readonly dimensions: UsageDimensions;
  /** The same rules will be asked for again: what it takes to answer them faster then is worth keeping. */
  readonly isStanding: boolean;
  /** What is read is written down, as when it is billed: nobody is likely to ask for it again. */
  readonly isOnce?: boolean | undefined;
}

/** What one meter reads of them. */
export interface EventAggregation extends AggregatedEvents {
  /** Event names, filters of properties, aggregation, group keys. A missing group key is the group of the empty value. */
  readonly rules: MeterRules;
}

/**
 * For each interval a reading of every combination of group values, event name and properties that has a value, by event
 * name, then properties, then group values (code units).
 */
export type EventReadings = readonly (readonly UsageReading[])[];

/** Folds every event that a scan finds. */
export async function aggregateByScan(
  events: Pick<EventStore, 'scan'>,
  tx: Transaction,
  request: EventAggregation,
): Promise<EventReadings> {
  const { boundsEpochMs, rules, dimensions } = request;
  const fold = createUsageFold(rules, dimensions);
  const scan = scanOf(request);
  let interval = 0;
  await events.scan(tx, scan, (event) => {
    while (event.timestampEpochMs >= (boundsEpochMs[interval + 1] ?? scan.toEpochMs)) interval += 1;
    fold.add(event, interval);
  });
  return boundsEpochMs.slice(1).map((_, index) => inOrder(fold.readings(index, index + 1)));
}

/** The events that a meter may count, by all that is no property. */
export function scanOf({ orgId, customerId, contract, boundsEpochMs, rules }: EventAggregation): EventScan {
  const [fromEpochMs = 0] = boundsEpochMs;
  const toEpochMs = boundsEpochMs.at(-1) ?? fromEpochMs;
  const { include, exclude } = rules.eventTypeFilter;
  const names = { eventNames: include, excludedEventNames: exclude };
  return { orgId, customerId, contract, fromEpochMs, toEpochMs, ...names, excludeLate: true };
}

/** Readings that have a value, in the order of `EventReadings`. */
export function inOrder(readings: readonly UsageReading[]): UsageReading[] {
  return readings
    .filter((reading) => reading.count > 0)
    .map((reading) => ({ reading, key: readingKeyOf(reading) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ reading }) => reading);
}
