/**
 * What meters read of events that are looked at one by one. Whatever a store answers in a way of its own must equal this.
 * Quantities are exact, whatever the number, order and batches of events (semantics 8).
 */

import type { UsageReading } from '../calculation/usage-atoms.ts';
import { createUsageFold, readingKeyOf } from '../calculation/usage-fold.ts';
import { compareText } from '../text-order.ts';
import type { EventAggregation, EventScan, ScannedEvent } from './event-store.ts';

/** Folds events that arrive ordered by time, each into the interval in which it lies. */
function createIntervalFold({ rules, dimensions, boundsEpochMs }: EventAggregation) {
  const fold = createUsageFold(rules, dimensions);
  let interval = 0;
  return {
    add: (event: ScannedEvent): void => {
      while (event.timestampEpochMs >= (boundsEpochMs[interval + 1] ?? Infinity)) interval += 1;
      fold.add(event, interval);
    },
    /** Per interval, in no particular order. */
    readings: (): UsageReading[][] => boundsEpochMs.slice(1).map((_, index) => fold.readings(index, index + 1)),
  };
}

/** For each of these contracts a fold of the events that name it; without contracts, one fold of all events. */
export function createFoldOfEach(request: EventAggregation, contractIds: readonly string[] | undefined) {
  const folds = (contractIds ?? [undefined]).map(() => createIntervalFold(request));
  const placeOf = placeAmong(contractIds);
  return {
    add: (event: ScannedEvent): void => folds[placeOf(event.contractId)]?.add(event),
    readings: (): UsageReading[][][] => folds.map((fold) => fold.readings()),
  };
}

/** The index among `contractIds` of the contract that an event names, or -1; always 0 if no contracts are given. */
export function placeAmong(contractIds: readonly string[] | undefined): (contractId: unknown) => number {
  if (contractIds === undefined) return () => 0;
  const places = new Map<unknown, number>(contractIds.map((id, place) => [id, place]));
  return (contractId) => places.get(contractId) ?? -1;
}

/** The events that a meter may count, judged by everything but their properties. */
export function scanOf({ orgId, customerId, contract, boundsEpochMs, rules }: EventAggregation): EventScan {
  const [fromEpochMs = 0] = boundsEpochMs;
  const toEpochMs = boundsEpochMs.at(-1) ?? fromEpochMs;
  const { include, exclude } = rules.eventTypeFilter;
  const names = { eventNames: include, excludedEventNames: exclude };
  return { orgId, customerId, contract, fromEpochMs, toEpochMs, ...names };
}

/** Readings that have a value, in the order of `EventReadings`. */
export function inOrder(readings: readonly UsageReading[]): UsageReading[] {
  return readings
    .filter((reading) => reading.count > 0)
    .map((reading) => ({ reading, key: readingKeyOf(reading) }))
    .toSorted((a, b) => compareText(a.key, b.key))
    .map(({ reading }) => reading);
}
