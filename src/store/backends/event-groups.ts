/**
 * Events that a server has grouped by the texts that a meter's rules look at: the keys to group by, and the reading of a group.
 * What a text means stays JavaScript's business: a group goes through the same tests as a single event.
 */

import { quantityOf } from '../../calculation/aggregation.ts';
import { createEventMatcher, groupValuesOf, type MeteredEvent, presentProperties } from '../../calculation/metering.ts';
import { decimal, decimalOfInteger } from '../../calculation/money.ts';
import type { UsageReading } from '../../calculation/usage-atoms.ts';
import { type MeterRules, mergeReadings } from '../../calculation/usage-fold.ts';
import { inNfc } from '../../normal-text.ts';
import { inOrder } from '../event-aggregation.ts';
import type { AggregatedEvents, EventAggregation, EventReadings } from '../event-store.ts';

/** Every property that rules and dimensions look at; with the texts that matter, if only some do. */
export type GroupKeys = ReadonlyMap<string, readonly string[] | undefined>;

/** Texts of filters come in their normal form, as metering compares them. */
export function groupKeysOf({ rules, dimensions }: EventAggregation): GroupKeys {
  const keys = new Map<string, readonly string[] | undefined>();
  for (const { name, include = [], exclude = [] } of rules.propertyFilters) {
    const texts = [...include, ...exclude].map(inNfc);
    keys.set(name, [...(keys.get(name) ?? []), ...texts]);
  }
  for (const key of [...rules.groupKeys, ...dimensions.propertyKeys]) keys.set(key, undefined);
  return keys;
}

/**
 * Where only some texts matter, this text stands for all others, so that even a property of a million values makes few groups.
 */
export function otherThan(texts: readonly string[]): string {
  let other = 'other';
  while (texts.includes(other)) other += '.';
  return other;
}

/** A question to a server: what one meter reads, in one answer or for each of some contracts by the events that name it. */
export interface GroupQuestion {
  readonly request: EventAggregation;
  readonly contractIds?: readonly string[] | undefined;
}

/** Asks a server meter by meter. Gives the readings of each meter: per contract, or once if contracts are not told apart. */
export async function askByMeter(
  of: AggregatedEvents,
  { meters, contractIds }: { readonly meters: readonly MeterRules[]; readonly contractIds?: readonly string[] },
  ask: (question: GroupQuestion) => Promise<readonly EventReadings[]>,
): Promise<readonly (readonly EventReadings[])[]> {
  const ofMeters: (readonly EventReadings[])[] = [];
  for (const rules of meters) ofMeters.push(await ask({ request: { ...of, rules }, contractIds }));
  return (contractIds ?? [undefined]).map((_id, place) => ofMeters.flatMap((each) => each.slice(place, place + 1)));
}

/** An empty list per contract, if contracts are told apart, and per interval. */
export function emptyReadings({ request, contractIds }: GroupQuestion): UsageReading[][][] {
  return (contractIds ?? [undefined]).map(() => request.boundsEpochMs.slice(1).map(() => []));
}

/** Merges what a server has grouped with what was folded here. */
export function withFolded(
  { aggregationType }: EventAggregation['rules'],
  grouped: readonly UsageReading[][][],
  folded: readonly UsageReading[][][],
): readonly EventReadings[] {
  return grouped.map((intervals, place) =>
    intervals.map((readings, interval) =>
      inOrder(mergeReadings(aggregationType, [...readings, ...(folded[place]?.[interval] ?? [])])),
    ),
  );
}

/**
 * Texts of numbers as a server tells them apart. Numbers with up to 15 digits before the point and up to 40 after it are counted
 * there; any other number is looked at here.
 */
export const plainNumber = '^-?[0-9]{1,15}([.][0-9]{1,40})?$';
export const anyNumber = '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,9})?$';

/** How a server aggregates the numbers that it could read. */
export const operators = { SUM: 'sum', MAX: 'max', MIN: 'min' } as const;

/** A group as a server gives it. */
export interface GroupRow {
  /** Absent if names are not told apart. */
  readonly name?: unknown;
  /** How many events it has. */
  readonly events?: unknown;
  /** A number that all of them share and that the server leaves to us; null or empty if there is none. */
  readonly odd?: unknown;
  /** How many of them have a number that the server aggregated; `quantity` is the result. */
  readonly counted?: unknown;
  readonly quantity?: unknown;
}

/** Gives the reading of a group whose events have these properties; undefined if the meter counts none of them. */
export function createGroupReading({ rules, dimensions }: EventAggregation) {
  // The server has filtered by name.
  const matches = createEventMatcher({ ...rules, eventTypeFilter: { include: [], exclude: [] } });
  return (row: GroupRow, properties: MeteredEvent['properties']): UsageReading | undefined => {
    const eventName = typeof row.name === 'string' ? row.name : '';
    const total = matches({ eventName, properties }) ? totalOf(row, rules) : undefined;
    if (total === undefined) return undefined;
    return {
      ...total,
      groupValues: groupValuesOf(properties, rules.groupKeys),
      eventName,
      properties: presentProperties(properties, dimensions.propertyKeys),
    };
  };
}

/** Undefined if nothing in the group has a value. */
function totalOf(
  row: GroupRow,
  { aggregationType }: EventAggregation['rules'],
): Pick<UsageReading, 'quantity' | 'count'> | undefined {
  const events = Number(row.events);
  const times = decimalOfInteger(BigInt(events));
  if (aggregationType === 'COUNT') return { quantity: times, count: events };
  if (typeof row.odd === 'string' && row.odd !== '') {
    const quantity = quantityOf(row.odd);
    if (quantity === undefined) return undefined;
    return { quantity: aggregationType === 'SUM' ? quantity.times(times) : quantity, count: events };
  }
  const count = Number(row.counted);
  return count === 0 ? undefined : { quantity: decimal(String(row.quantity)), count };
}
