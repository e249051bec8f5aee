/** Which events a contract is billed for, and what a meter makes of them (semantics 8). */

import { midnight, dayOf } from './calendar.ts';
import { add, compare, one, parse } from './fraction.ts';
import type { Fraction } from './fraction.ts';
import type { Contract, Event, Meter, State } from './state.ts';

/** A property as text, the way filters, groups and budgets compare it; undefined when the event has none. */
export function propertyText(event: Event, name: string): string | undefined {
  const value = event.properties[name];
  if (value === undefined) return undefined;
  if (typeof value === 'object' && value !== null) return value.number;
  return String(value).normalize('NFC');
}

export function matches(meter: Meter, event: Event): boolean {
  if (meter.include.length > 0 && !meter.include.includes(event.name)) return false;
  if (meter.exclude.includes(event.name)) return false;
  return meter.filters.every((filter) => {
    const text = propertyText(event, filter.name);
    if (filter.exists !== undefined && filter.exists !== (text !== undefined)) return false;
    if (filter.include !== undefined && filter.include.length > 0) {
      if (text === undefined || !filter.include.includes(text)) return false;
    }
    return filter.exclude === undefined || text === undefined || !filter.exclude.includes(text);
  });
}

/** The number that an event adds; undefined when it has none (such events are skipped). */
function valueOf(meter: Meter, event: Event): Fraction | undefined {
  if (meter.aggregation === 'COUNT') return one;
  const value = meter.key === undefined ? undefined : event.properties[meter.key];
  if (typeof value === 'string') return parse(value);
  return typeof value === 'object' && value !== null ? parse(value.number) : undefined;
}

/** First day without service, as days; undefined while the contract goes on. */
export function endOfService(contract: Contract): number | undefined {
  const ends = [contract.end, contract.cancelledFrom].filter((end) => end !== undefined).map(dayOf);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

function covers(contract: Contract, at: number): boolean {
  const end = endOfService(contract);
  return at >= midnight(dayOf(contract.start)) && (end === undefined || at < midnight(end));
}

/** The one contract that is billed for what a meter reads in an event. */
export function billedContract(state: State, event: Event, meter: Meter): Contract | undefined {
  const prices = (contract: Contract) => contract.items.some((item) => item.pricing.meter === meter);
  if (event.contract !== undefined) return event.contract;
  return state.contracts.find(
    (contract) => contract.customer === event.customer && covers(contract, event.at) && prices(contract),
  );
}

/** What a meter reads from events, by group values (as JSON of [key, value] pairs). */
export function quantities(meter: Meter, events: readonly Event[]): Map<string, Fraction> {
  const read = new Map<string, Fraction>();
  for (const event of events) {
    if (!matches(meter, event)) continue;
    const group = JSON.stringify(meter.groupKeys.map((key) => [key, propertyText(event, key) ?? '']));
    const value = valueOf(meter, event);
    if (value === undefined) continue;
    const before = read.get(group);
    read.set(group, before === undefined ? value : combine(meter, before, value));
  }
  return read;
}

/** Readings of a meter told apart by group and by what somebody asks about, in the order of these as text. */
export function readingsBy(meter: Meter, events: readonly Event[], asked: { names: boolean; properties: string[] }) {
  const nameOf = (event: Event) =>
    JSON.stringify([
      asked.names ? event.name : '',
      asked.properties.flatMap((name) =>
        propertyText(event, name) === undefined ? [] : [[name, propertyText(event, name)]],
      ),
    ]);
  return [...new Set(events.map(nameOf))].sort().flatMap((name) => {
    const [eventName, facts] = JSON.parse(name) as [string, [string, string][]];
    const own = events.filter((event) => nameOf(event) === name);
    return [...quantities(meter, own)].map(([group, quantity]) => {
      const groups = Object.fromEntries(JSON.parse(group) as [string, string][]);
      return { groups, eventName, properties: { ...groups, ...Object.fromEntries(facts) }, quantity };
    });
  });
}

function combine(meter: Meter, before: Fraction, value: Fraction): Fraction {
  if (meter.aggregation === 'MAX') return compare(before, value) >= 0 ? before : value;
  if (meter.aggregation === 'MIN') return compare(before, value) <= 0 ? before : value;
  return add(before, value);
}

/** Events that a contract is billed for by a meter, from one instant up to another. */
export function billedEvents(state: State, contract: Contract, meter: Meter, from: number, to: number): Event[] {
  return state.events.filter(
    (event) =>
      !event.isLate &&
      event.at >= from &&
      event.at < to &&
      event.customer === contract.customer &&
      billedContract(state, event, meter) === contract,
  );
}

/** Whether nothing of a contract can be billed any more. */
export function isBilledOut(contract: Contract): boolean {
  return endOfService(contract) !== undefined && contract.invoices.every((invoice) => invoice.status !== 'Drafted');
}
