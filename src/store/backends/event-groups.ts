/**
 * Events that a server has grouped by the texts that a meter's rules look at: what it groups them by, and what a group comes to.
 * What a text means stays JavaScript's business: a group goes through the same tests as a single event.
 */

import { quantityOf } from '../../calculation/aggregation.ts';
import { createEventMatcher, groupValuesOf, type MeteredEvent, presentProperties } from '../../calculation/metering.ts';
import { decimal, decimalOfInteger } from '../../calculation/money.ts';
import type { UsageReading } from '../../calculation/usage-atoms.ts';
import { mergeReadings } from '../../calculation/usage-fold.ts';
import { inNfc } from '../../normal-text.ts';
import { inOrder } from '../event-aggregation.ts';
import type { EventAggregation, EventReadings } from '../event-store.ts';

/** Every property that rules and dimensions look at, with the texts that matter where only some do. */
export type GroupKeys = ReadonlyMap<string, readonly string[] | undefined>;

/** Texts of filters in their normal form, as metering compares them. */
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
 * Where only some texts matter, all others are one group, so that a property of a million values makes few: this is a text
 * for them.
 */
export function otherThan(texts: readonly string[]): string {
  let other = 'other';
  while (texts.includes(other)) other += '.';
  return other;
}

/** For each contract what each meter reads, of what was read of all contracts for one meter after the other. */
export function byContract<Readings>(
  contractIds: readonly string[],
  ofMeters: readonly (readonly Readings[])[],
): readonly (readonly Readings[])[] {
  return contractIds.map((_id, place) => ofMeters.flatMap((readings) => readings.slice(place, place + 1)));
}

/** What is asked of a server: what one meter reads, all in one answer or of each of some contracts, by the events that name it. */
export interface GroupQuestion {
  readonly request: EventAggregation;
  readonly contractIds?: readonly string[] | undefined;
}

/** A list for each contract, if contracts are told apart, and interval. */
export function emptyReadings({ request, contractIds }: GroupQuestion): UsageReading[][][] {
  return (contractIds ?? [undefined]).map(() => request.boundsEpochMs.slice(1).map(() => []));
}

/** What a server has grouped, together with what was folded here. */
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
 * Texts of numbers as a server knows them: whole ones of up to 15 digits with up to 40 decimals are counted as they stand; others
 * are looked at one by one.
 */
export const plainNumber = '^-?[0-9]{1,15}([.][0-9]{1,40})?$';
export const anyNumber = '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,9})?$';

/** How a server adds up what it could read as a number. */
export const operators = { SUM: 'sum', MAX: 'max', MIN: 'min' } as const;

/** A group as a server gives it. */
export interface GroupRow {
  /** Absent where names are not told apart. */
  readonly name?: unknown;
  /** How many events it has. */
  readonly events?: unknown;
  /** A number that all of them have, and that the server leaves to us; null or empty where there is none. */
  readonly odd?: unknown;
  /** How many have a number that the server added, and what these come to. */
  readonly counted?: unknown;
  readonly quantity?: unknown;
}

/** Gives what a meter reads of a group whose events have these properties; undefined where it counts none of them. */
export function createGroupReading({ rules, dimensions }: EventAggregation) {
  // The server has chosen by name.
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

/** Undefined where nothing in it has a value. */
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
