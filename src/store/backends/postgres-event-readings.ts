/**
 * What meters read, computed by the server: events are grouped by the texts that the meter's rules look at, and values added as
 * `numeric`, which is exact. What a text means stays JavaScript's business: groups go through the same tests as single events,
 * and what the server could not read as JavaScript does (escaped characters, odd numbers) comes back as it is.
 */

import { createEventMatcher, groupValuesOf, presentProperties } from '../../calculation/metering.ts';
import type { Transaction } from '../database.ts';
import { quantityOf } from '../../calculation/aggregation.ts';
import { decimal, decimalOfInteger } from '../../calculation/money.ts';
import type { UsageReading } from '../../calculation/usage-atoms.ts';
import { createUsageFold, mergeReadings } from '../../calculation/usage-fold.ts';
import { aggregateByScan, inOrder } from '../event-aggregation.ts';
import type { EventAggregation, EventReadings, EventStore, ScannedEvent } from '../event-store.ts';

export interface ReadingParts {
  readonly store: Pick<EventStore, 'scan'>;
  readonly ask: (
    tx: Transaction,
    text: string,
    values: readonly unknown[],
  ) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** WHERE whose events these are, with their values. */
  readonly conditionsOf: (request: EventAggregation) => { readonly text: string; readonly values: readonly unknown[] };
  /** As `scan`, of the events alone whose text has an escaped character. */
  readonly scanEscaped: (
    tx: Transaction,
    request: EventAggregation,
    onEvent: (event: ScannedEvent) => void,
  ) => Promise<void>;
}

/** Exactly what `aggregateByScan` gives. */
export async function aggregateInServer(
  parts: ReadingParts,
  tx: Transaction,
  request: EventAggregation,
): Promise<EventReadings> {
  const { rules, dimensions, boundsEpochMs } = request;
  const plan = planOf(request);
  // The server could not even be asked about such a name.
  if (![...plan.names, rules.aggregationKey ?? ''].every(isSayable))
    return await aggregateByScan(parts.store, tx, request);
  const { text, values } = statementOf(plan, request, parts.conditionsOf(request));
  const matches = createEventMatcher({ ...rules, eventTypeFilter: { include: [], exclude: [] } });
  const found: UsageReading[][] = boundsEpochMs.slice(1).map(() => []);
  for (const row of await parts.ask(tx, text, values)) {
    const properties = Object.fromEntries(
      plan.names.flatMap((name, index) => {
        const value = row[`key${index}`];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    );
    const eventName = (row['name'] as string | null) ?? '';
    if (!matches({ eventName, properties })) continue;
    const reading = readingOf(row, request);
    if (reading === undefined) continue;
    found[Number(row['interval']) - 1]?.push({
      ...reading,
      groupValues: groupValuesOf(properties, rules.groupKeys),
      eventName: dimensions.needsEventName ? eventName : '',
      properties: presentProperties(properties, dimensions.propertyKeys),
    });
  }
  await addEscaped(parts, tx, request, found);
  return found.map((readings) => inOrder(mergeReadings(rules.aggregationType, readings)));
}

/** What a row of the server adds up to; undefined where nothing in it has a value. */
function readingOf(
  row: Readonly<Record<string, unknown>>,
  { rules }: EventAggregation,
): Pick<UsageReading, 'quantity' | 'count'> | undefined {
  const events = Number(row['events']);
  if (rules.aggregationType === 'COUNT') return { quantity: decimalOfInteger(BigInt(events)), count: events };
  const odd = row['odd'];
  if (typeof odd === 'string') {
    const quantity = quantityOf(odd);
    if (quantity === undefined) return undefined;
    const isSum = rules.aggregationType === 'SUM';
    return { quantity: isSum ? quantity.times(decimalOfInteger(BigInt(events))) : quantity, count: events };
  }
  const count = Number(row['counted']);
  return count === 0 ? undefined : { quantity: decimal(row['quantity'] as string), count };
}

async function addEscaped(
  parts: ReadingParts,
  tx: Transaction,
  request: EventAggregation,
  found: readonly UsageReading[][],
): Promise<void> {
  const fold = createUsageFold(request.rules, request.dimensions);
  const { boundsEpochMs } = request;
  let interval = 0;
  await parts.scanEscaped(tx, request, (event) => {
    while (event.timestampEpochMs >= (boundsEpochMs[interval + 1] ?? Number.POSITIVE_INFINITY)) interval += 1;
    fold.add(event, interval);
  });
  for (const [index, readings] of found.entries()) readings.push(...fold.readings(index, index + 1));
}

interface Plan {
  /** Every property that rules and dimensions look at, with the texts that matter where only some do. */
  readonly keys: ReadonlyMap<string, readonly string[] | undefined>;
  readonly names: readonly string[];
  readonly needsEventName: boolean;
}

function planOf({ rules, dimensions }: EventAggregation): Plan {
  const keys = new Map<string, readonly string[] | undefined>();
  for (const { name, include = [], exclude = [] } of rules.propertyFilters) {
    keys.set(name, [...(keys.get(name) ?? []), ...normalized([...include, ...exclude])]);
  }
  for (const key of [...rules.groupKeys, ...dimensions.propertyKeys]) keys.set(key, undefined);
  return { keys, names: [...keys.keys()], needsEventName: dimensions.needsEventName };
}

const normalized = (texts: readonly string[]): string[] => texts.map((text) => text.normalize('NFC'));

/** Whole numbers of up to 15 digits with up to 40 decimals are counted as they stand; others are looked at one by one. */
const plainNumber = String.raw`^-?[0-9]{1,15}(\.[0-9]{1,40})?$`;
const anyNumber = String.raw`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,9})?$`;

/** A short JSON number without an exponent is a plain one, which is seen sooner than by a pattern. */
const plainValue = `CASE WHEN "isNumber" AND length("value") <= 15 AND strpos("value", 'e') = 0 AND strpos("value", 'E') = 0
    OR "value" ~ '${plainNumber}' THEN "value"::numeric END`;

const operators = { SUM: 'sum', MAX: 'max', MIN: 'min', COUNT: 'count' } as const;

function statementOf(
  plan: Plan,
  { rules, boundsEpochMs }: EventAggregation,
  conditions: ReturnType<ReadingParts['conditionsOf']>,
): { readonly text: string; readonly values: readonly unknown[] } {
  const values = [...conditions.values];
  const bind = (value: unknown, type: string): string => `$${values.push(value)}::${type}`;
  const { aggregationType, aggregationKey } = rules;
  const isCount = aggregationType === 'COUNT';
  const names = isCount ? plan.names : [...plan.names, aggregationKey ?? ''];
  const members = names.map((name, index) => `"propertiesJson"::json -> ${bind(name, 'text')} AS "member${index}"`);
  const columns = [`width_bucket("timestampEpochMs", ${bind(boundsEpochMs, 'bigint[]')}) AS "interval"`];
  if (plan.needsEventName) columns.push('"eventName" AS "name"');
  for (const [index, texts] of [...plan.keys.values()].entries()) {
    columns.push(`${classOf(textOf(`"member${index}"`), texts, bind)} AS "key${index}"`);
  }
  const groups = columns.map((_, index) => String(index + 1));
  const groupNames = [
    '"interval"',
    ...(plan.needsEventName ? ['"name"'] : []),
    ...plan.names.map((_, key) => `"key${key}"`),
  ];
  if (!isCount) {
    const value = `"member${plan.names.length}"`;
    columns.push(`${numberTextOf(value)} AS "value"`, `left(${value}::text, 1) <> '"' AS "isNumber"`);
  }
  const results = isCount
    ? ['count(*) AS "events"']
    : [
        `CASE WHEN "plain" IS NULL AND "value" ~ '${anyNumber}' THEN "value" END AS "odd"`,
        'count(*) AS "events"',
        'count("plain") AS "counted"',
        `${operators[aggregationType]}("plain") AS "quantity"`,
      ];
  const odd = isCount ? [] : [String(groups.length + 1)];
  const plain = isCount ? '' : `, ${plainValue} AS "plain"`;
  // OFFSET keeps the server from computing a text again wherever it is looked at.
  return {
    text: `SELECT ${[...groupNames, ...results].join(', ')} FROM (
        SELECT *${plain} FROM (
          SELECT ${columns.join(', ')} FROM (
            SELECT ${['"timestampEpochMs"', '"eventName"', ...members].join(', ')} FROM "events"
            WHERE ${conditions.text} AND ${hasNoEscape} OFFSET 0
          ) AS "row" OFFSET 0
        ) AS "event" OFFSET 0
      ) AS "valued" GROUP BY ${[...groups, ...odd].join(', ')}`,
    values,
  };
}

/** The server takes neither NUL nor half a surrogate out of JSON, and only these are written with an escape. */
export const hasEscape = String.raw`strpos("propertiesJson", '\u') > 0`;
const hasNoEscape = String.raw`strpos("propertiesJson", '\u') = 0`;

/** The text by which a property is compared, as `propertyText` has it but for its normal form. */
function textOf(value: string): string {
  return `CASE WHEN left(${value}::text, 1) = '"' THEN ${value} #>> '{}' ELSE ${value}::text END`;
}

/** The same of what can be a number: neither `true` nor `null` is, but as a text between quotation marks. */
function numberTextOf(value: string): string {
  return `CASE WHEN left(${value}::text, 1) ~ '["0-9-]' THEN ${value} #>> '{}' END`;
}

/**
 * Where only some texts matter, all others are one group, so that a property of a million values makes few. Beyond ASCII a
 * text may have another normal form, so it stays as it is.
 */
function classOf(
  text: string,
  texts: readonly string[] | undefined,
  bind: (value: unknown, type: string) => string,
): string {
  if (texts === undefined) return text;
  let other = 'other';
  while (texts.includes(other)) other += '.';
  const listed = `${text} = ANY(${bind(texts.filter(isSayable), 'text[]')})`;
  const isPlain = `${text} ~ '^[\\x01-\\x7f]*$'`;
  return `CASE WHEN ${text} IS NULL OR ${listed} OR NOT ${isPlain} THEN ${text} ELSE ${bind(other, 'text')} END`;
}

function isSayable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}
