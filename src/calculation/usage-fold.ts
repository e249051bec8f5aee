/**
 * Events -> what a meter reads, split by group values and by what specifiers and budgets ask about (semantics 8, 9).
 * Time is cut into segments by the caller, so that one pass over the events serves every window and phase.
 */

import type { AggregationType } from '../operations/wire-values.ts';
import { type Aggregate, combineReadings, createAggregate } from './aggregation.ts';
import {
  aggregatedValueOf,
  createEventMatcher,
  type EventRules,
  groupValuesOf,
  type MeteredEvent,
  presentProperties,
  propertyText,
} from './metering.ts';
import { zero } from './money.ts';
import type { GroupValues } from './rating.ts';
import type { UsageDimensions } from './specifiers.ts';
import type { UsageReading } from './usage-atoms.ts';

/** The parts of a meter that decide its quantity. */
export interface MeterRules extends EventRules {
  readonly aggregationType: AggregationType;
  /** May be absent or null for COUNT, which does not look at it. */
  readonly aggregationKey?: string | null | undefined;
  readonly groupKeys: readonly string[];
}

/** What a meter reads as events come in, by segments of time that the caller numbers from 0. */
export interface UsageFold {
  /** Counts an event in a segment if the meter matches it; returns whether it does. */
  readonly add: (event: MeteredEvent, segment: number) => boolean;
  /** What the meter read in the segments `[from, to)`, one reading for each combination of dimensions. */
  readonly readings: (from: number, to: number) => UsageReading[];
}

interface Cell {
  readonly groupValues: GroupValues;
  readonly eventName: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly aggregate: Aggregate;
}

/** Tells nothing apart but group values. */
export const noDimensions: UsageDimensions = { needsEventName: false, propertyKeys: [] };

/** An empty fold of one meter. Quantities do not depend on the order of events or on the batches they came in. */
export function createUsageFold(meter: MeterRules, dimensions: UsageDimensions): UsageFold {
  const matches = createEventMatcher(meter);
  const { aggregationType, aggregationKey, groupKeys } = meter;
  const segments: Map<string, Cell>[] = [];
  const newCell = (event: MeteredEvent): Cell => ({
    groupValues: groupValuesOf(event.properties, groupKeys),
    eventName: dimensions.needsEventName ? event.eventName : '',
    properties: presentProperties(event.properties, dimensions.propertyKeys),
    aggregate: createAggregate(aggregationType),
  });
  return {
    add: (event, segment) => {
      if (!matches(event)) return false;
      const cells = (segments[segment] ??= new Map());
      const key = cellKey(event, groupKeys, dimensions);
      let cell = cells.get(key);
      if (cell === undefined) {
        cell = newCell(event);
        cells.set(key, cell);
      }
      cell.aggregate.add(aggregatedValueOf(event, aggregationKey));
      return true;
    },
    readings: (from, to) => {
      const cells = segments.slice(from, to).flatMap((segment) => (segment === undefined ? [] : [...segment]));
      return Map.groupBy(cells, ([key]) => key)
        .values()
        .map((group) => combined(aggregationType, group.map(readingOf)))
        .toArray();
    },
  };
}

const emptyReading: UsageReading = { groupValues: {}, eventName: '', properties: {}, quantity: zero, count: 0 };

/** One text for each combination of event name, properties and group values. */
export function readingKeyOf({ eventName, properties, groupValues }: UsageReading): string {
  return JSON.stringify([eventName, Object.entries(properties), Object.entries(groupValues)]);
}

/** One reading for each combination of dimensions, of readings that cover different events. */
export function mergeReadings(type: AggregationType, readings: readonly UsageReading[]): UsageReading[] {
  return Map.groupBy(readings, readingKeyOf)
    .values()
    .map((group) => combined(type, group))
    .toArray();
}

/** One reading of those of one combination of dimensions. */
function combined(type: AggregationType, readings: readonly UsageReading[]): UsageReading {
  const [first = emptyReading] = readings;
  const count = readings.reduce((sum, reading) => sum + reading.count, 0);
  return { ...first, quantity: combineReadings(type, readings), count };
}

function readingOf([, { groupValues, eventName, properties, aggregate }]: readonly [
  key: string,
  cell: Cell,
]): UsageReading {
  const { quantity, count } = aggregate.read();
  return { groupValues, eventName, properties, quantity, count };
}

/** A missing group key is the group of the empty value; a missing property is not the same as an empty one. */
function cellKey(event: MeteredEvent, groupKeys: readonly string[], dimensions: UsageDimensions): string {
  let key = dimensions.needsEventName ? event.eventName : '';
  for (const name of groupKeys) key += `\u0000${propertyText(event.properties, name) ?? ''}`;
  for (const name of dimensions.propertyKeys) {
    const text = propertyText(event.properties, name);
    key += text === undefined ? '\u0000' : `\u0000=${text}`;
  }
  return key;
}
