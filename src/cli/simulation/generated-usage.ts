/** Usage generated from a rate and a seed. The rate alone gives the count of each day; instants and values are random. */

import { Big } from 'big.js';

import { sha256Of } from '../../digest.ts';
import { exactNumber } from '../../exact-json.ts';
import { timestampOf } from '../../operations/field-rules.ts';
import { createRandom, pick } from '../seeded-random.ts';
import type { Random } from '../seeded-random.ts';
import { millisecondsOf } from './passing.ts';
import type { Entry } from './scenario-schema.ts';
import type { UsageEvent } from './usage-event.ts';

type Usage = Entry<'usage'>;
type Property = NonNullable<Usage['properties']>[string];

export interface GeneratorOptions {
  readonly seed: number;
  /** Index among the scenario's usage: each entry has its own random choices. */
  readonly index: number;
  /** The scenario's start, if the entry has none. */
  readonly start: string;
  readonly until: string;
}

const dayMilliseconds = 86_400_000;

/** The number of events for a rate in the first `days` whole days: fractions carry over until they make a whole event. */
function countBy(perDay: string, days: number): number {
  return Number(new Big(perDay).times(days).round(0, Big.roundDown).toFixed());
}

/** How many events there will be. */
export function generatedCount({ perDay = '0', ...entry }: Usage, options: GeneratorOptions): number {
  return countBy(perDay, spanOf(entry, options).days);
}

/** The events in order of time. A day is 24 hours from `from`; of a partial last day, only events before its end count. */
export function* generatedUsage(entry: Usage, options: GeneratorOptions): Generator<UsageEvent> {
  const { customer = '', eventName = '', contract, perDay = '0', properties = {} } = entry;
  const { from, to, days } = spanOf(entry, options);
  const random = createRandom(seedOf(options));
  let number = 0;
  for (let day = 0; day < days; day += 1) {
    const count = countBy(perDay, day + 1) - countBy(perDay, day);
    const begin = from + day * dayMilliseconds;
    const instants = Array.from({ length: count }, () => begin + random(dayMilliseconds)).toSorted((a, b) => a - b);
    for (const instant of instants) {
      number += 1;
      const values = Object.entries(properties).map(([name, property]) => [name, valueOf(property, random)] as const);
      if (instant >= to) continue;
      yield {
        index: options.index,
        timestamp: timestampOf(Temporal.Instant.fromEpochMilliseconds(instant)),
        eventName,
        customer,
        contract,
        idempotencyKey: `usage-${options.index}-${number}`,
        properties: Object.fromEntries(values),
      };
    }
  }
}

function spanOf(entry: Pick<Usage, 'from' | 'to'>, { start, until }: GeneratorOptions) {
  const [from, to] = [millisecondsOf(entry.from ?? start), millisecondsOf(entry.to ?? until)];
  return { from, to, days: Math.max(0, Math.ceil((to - from) / dayMilliseconds)) };
}

function seedOf({ seed, index }: GeneratorOptions): number {
  return Number.parseInt(sha256Of(`${seed} ${index}`).slice(0, 8), 16);
}

function valueOf(property: Property, random: Random): unknown {
  if (typeof property !== 'object' || JSON.isRawJSON(property)) return property;
  if ('oneOf' in property) {
    const weights = Array.isArray(property.oneOf)
      ? property.oneOf.map((each) => [each, 1] as const)
      : Object.entries(property.oneOf);
    return pick(
      weights.map(([each]) => each),
      weights.map(([, weight]) => weight),
      random,
    );
  }
  if (!('from' in property)) return property;
  const { from, to, decimals = 0 } = property;
  const steps = Number(new Big(to).minus(from).times(new Big(10).pow(decimals)).round(0, Big.roundDown).toFixed());
  const above = new Big(random(steps + 1)).div(new Big(10).pow(decimals));
  return exactNumber(new Big(from).plus(above).toFixed());
}
