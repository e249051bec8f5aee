/**
 * Looks at events as the meters will, before they are metered: which values SUM, MAX and MIN cannot read as a number
 * (semantics 8), and which events nothing reads.
 */

import { skipReasonOf } from '../calculation/aggregation.ts';
import { aggregatedValueOf, createEventMatcher, type MeteredEvent } from '../calculation/metering.ts';
import { isExactNumber } from '../exact-json.ts';
import { limits } from '../limits.ts';
import type { ResponseBody } from '../operations/index.ts';
import type { SkippedOfMeter, SkippedValues } from '../operations/skipped-values.ts';

type Meter = ResponseBody<'meters.list'>['data'][number];

interface Watch {
  readonly meterCode: string;
  readonly aggregationKey: string;
  readonly takesName: (event: MeteredEvent) => boolean;
  /** Undefined where the meter takes every event that has one of its names. */
  readonly takes: ((event: MeteredEvent) => boolean) | undefined;
  /** Whether the meter names the events that it takes; one that takes all names may rightly find its key in none of them. */
  readonly isOfNames: boolean;
  /** Events without its key, as long as none had it. */
  withoutKeyCount: number;
  valueCount: number;
  skippedCount: number;
  first: SkippedOfMeter['first'] | undefined;
}

/** How many names are remembered: a person reads no more. */
const mostNames = 10;

/** Undefined where there are no meters. Events without a meter's key are in no count of values, as in billing. */
export function createSkippedValues(meters: readonly Meter[]): SkippedValues | undefined {
  if (meters.length === 0) return undefined;
  const watches = meters.flatMap(watchesOf);
  const isTaken = createNameTest(meters);
  const namesInNfc = createNamesInNfc();
  const unreadNames = new Set<string>();
  let unreadCount = 0;
  let isRead = true;
  // Most files have one name on all of their events.
  let eventName: string | undefined;
  let asking: readonly Watch[] = [];
  return {
    add: (sent, line) => {
      // A value that is not a primitive would be refused, and is not a number either.
      const event = sent as MeteredEvent;
      if (event.eventName !== eventName) {
        ({ eventName } = event);
        asking = watches.filter(({ takesName }) => takesName(event));
        isRead = isTaken(event);
        if (!isRead && unreadNames.size < mostNames) unreadNames.add(eventName);
      }
      if (!isRead) unreadCount += 1;
      if (asking.length === 0) return;
      const stored = { eventName, properties: namesInNfc(event.properties) };
      for (const watch of asking) look(watch, stored, line);
    },
    read: () =>
      watches.flatMap(({ meterCode, aggregationKey, valueCount, skippedCount, first }) =>
        first === undefined ? [] : [{ meterCode, aggregationKey, valueCount, skippedCount, first }],
      ),
    unread: () => ({
      eventCount: unreadCount,
      eventNames: [...unreadNames],
      withoutKey: watches.flatMap(({ meterCode, aggregationKey, valueCount, withoutKeyCount: eventCount }) =>
        valueCount > 0 || eventCount === 0 ? [] : [{ meterCode, aggregationKey, eventCount }],
      ),
    }),
  };
}

/** Whether any meter takes events of a name; a query says for itself what it reads, and may read all of them. */
function createNameTest(meters: readonly Meter[]): (event: MeteredEvent) => boolean {
  const tests = meters.map(({ sql, eventTypeFilter }) =>
    sql === undefined ? createEventMatcher({ eventTypeFilter, propertyFilters: [] }) : () => true,
  );
  return (event) => tests.some((takesName) => takesName(event));
}

/** Properties as they are stored, with names in NFC whatever the sender wrote; most names are looked at only once. */
function createNamesInNfc(): (properties: MeteredEvent['properties']) => MeteredEvent['properties'] {
  const known = new Set<string>();
  return (properties) => {
    for (const name in properties) {
      if (known.has(name)) continue;
      if (name !== name.normalize('NFC')) {
        return Object.fromEntries(Object.entries(properties).map(([each, value]) => [each.normalize('NFC'), value]));
      }
      if (known.size < limits.eventPropertyKeys) known.add(name);
    }
    return properties;
  };
}

function watchesOf({ code, aggregationType, aggregationKey, sql, eventTypeFilter, propertyFilters }: Meter): Watch[] {
  if (sql !== undefined || aggregationType === 'COUNT' || aggregationKey === undefined) return [];
  const takesName = createEventMatcher({ eventTypeFilter, propertyFilters: [] });
  const everyName = { include: [], exclude: [] };
  const takes =
    propertyFilters.length === 0 ? undefined : createEventMatcher({ eventTypeFilter: everyName, propertyFilters });
  const isOfNames = eventTypeFilter.include.length > 0;
  const counts = { withoutKeyCount: 0, valueCount: 0, skippedCount: 0, first: undefined };
  return [{ meterCode: code, aggregationKey, takesName, takes, isOfNames, ...counts }];
}

function look(watch: Watch, event: MeteredEvent, line: number | undefined): void {
  const value = aggregatedValueOf(event, watch.aggregationKey);
  if (value === undefined) {
    if (watch.isOfNames && watch.valueCount === 0 && watch.takes?.(event) !== false) watch.withoutKeyCount += 1;
    return;
  }
  if (watch.takes?.(event) === false) return;
  watch.valueCount += 1;
  // No meter skips a JSON number: an event with one out of range is refused (interface 4.18, `isSmallEnough`).
  const reason = isExactNumber(value) ? undefined : skipReasonOf(value);
  if (reason === undefined) return;
  watch.skippedCount += 1;
  watch.first ??= { line, value, reason };
}
