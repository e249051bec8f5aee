/** Which events a meter counts, and in which group (interface 4.17, semantics 8). */

import type { ExactNumber } from '../exact-json.ts';
import { inNfc } from '../normal-text.ts';

/** A property of an event: a number whose digits JavaScript would print differently arrives as its source text. */
export type PropertyValue = string | boolean | null | ExactNumber;

/** What a meter looks at in an event. */
export interface MeteredEvent {
  readonly eventName: string;
  readonly properties: Readonly<Record<string, PropertyValue>>;
}

/**
 * Every member given must hold, `exclude` before `include`; values are compared as text in NFC. An event without the
 * property passes unless `exists` or `include` asks for it (semantics 1 and 8).
 */
export interface PropertyFilter {
  readonly name: string;
  readonly exists?: boolean | undefined;
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
}

/** An empty `include` lets in every event name; all property filters must hold (semantics 8). */
export interface EventRules {
  readonly eventTypeFilter: { readonly include: readonly string[]; readonly exclude: readonly string[] };
  readonly propertyFilters: readonly PropertyFilter[];
}

/**
 * A test for the events that a meter counts: its event names (none included means all; exclude wins) and every one of its
 * property filters (semantics 8).
 */
export function createEventMatcher(rules: EventRules): (event: MeteredEvent) => boolean {
  const matchesName = createListTest(rules.eventTypeFilter);
  const filters = rules.propertyFilters.map(createPropertyTest);
  return (event) => matchesName(inNfc(event.eventName)) && filters.every((filter) => filter(event.properties));
}

/**
 * The values of a meter's group keys, in their order. A missing key is its own group, shown as an empty value
 * (semantics 8).
 */
export function groupValuesOf(
  properties: MeteredEvent['properties'],
  keys: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(keys.map((key) => [key, propertyText(properties, key) ?? '']));
}

/** The texts of these properties, as far as an event has them. */
export function presentProperties(
  properties: MeteredEvent['properties'],
  keys: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const text = propertyText(properties, key);
      return text === undefined ? [] : [[key, text]];
    }),
  );
}

/** The text by which a property is compared: that of its JSON primitive, strings in NFC; undefined when it is missing. */
export function propertyText(properties: MeteredEvent['properties'], key: string): string | undefined {
  if (!Object.hasOwn(properties, key)) return undefined;
  const value = properties[key];
  if (typeof value === 'string') return inNfc(value);
  if (typeof value === 'object' && value !== null) return value.rawJSON;
  return String(value);
}

/** The value of a meter's aggregation key; undefined where the event lacks it, and where the meter has no key. */
export function aggregatedValueOf(
  { properties }: MeteredEvent,
  key: string | null | undefined,
): PropertyValue | undefined {
  return key !== undefined && key !== null && Object.hasOwn(properties, key) ? properties[key] : undefined;
}

/** A filter by `{key, value}`, as `usage.cost` takes it: the property is present and has that text (interface 4.18). */
export function hasProperty(
  properties: MeteredEvent['properties'],
  { key, value }: { readonly key: string; readonly value: string },
): boolean {
  return propertyText(properties, key) === inNfc(value);
}

function createPropertyTest(filter: PropertyFilter): (properties: MeteredEvent['properties']) => boolean {
  const isListed = createListTest({ include: filter.include ?? [], exclude: filter.exclude ?? [] });
  return (properties) => {
    const text = propertyText(properties, filter.name);
    if (filter.exists !== undefined && filter.exists !== (text !== undefined)) return false;
    return isListed(text);
  };
}

/** An empty list of what is included lets everything through; a missing text is in no list. */
function createListTest(lists: {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}): (text: string | undefined) => boolean {
  const included = new Set<string | undefined>(lists.include.map(inNfc));
  const excluded = new Set<string | undefined>(lists.exclude.map(inNfc));
  return (text) => !excluded.has(text) && (included.size === 0 || included.has(text));
}
