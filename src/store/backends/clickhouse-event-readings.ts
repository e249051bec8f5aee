/**
 * What meters read, computed by ClickHouse: events are grouped by the texts that the meter's rules look at, as they stand in the
 * JSON, and values added as Decimal256, which is exact. What a text means stays JavaScript's business; staged events, and those
 * with an escaped character, are folded here.
 */

import { quantityOf } from '../../calculation/aggregation.ts';
import { createEventMatcher, groupValuesOf, presentProperties } from '../../calculation/metering.ts';
import { decimal, decimalOfInteger } from '../../calculation/money.ts';
import type { UsageReading } from '../../calculation/usage-atoms.ts';
import { createUsageFold, mergeReadings } from '../../calculation/usage-fold.ts';
import { reviveExactJson } from '../../exact-json.ts';
import { inOrder, scanOf } from '../event-aggregation.ts';
import type { EventAggregation, EventReadings, EventScan, EventValue } from '../event-store.ts';
import { type View, scanConditions, scanView } from './clickhouse-view.ts';
import type { ClickhouseServer, EventRow } from './clickhouse-server.ts';

/** Exactly what `aggregateByScan` gives. */
export async function aggregateInClickhouse(
  server: ClickhouseServer,
  view: View,
  request: EventAggregation,
): Promise<EventReadings> {
  const { rules } = request;
  const scan = scanOf(request);
  const found: UsageReading[][] = request.boundsEpochMs.slice(1).map(() => []);
  const keys = keysOf(request);
  const isSayable = [...keys.keys(), rules.aggregationKey ?? 'none'].every((name) => plainName.test(name));
  const rows = isSayable ? await askForGroups(server, view, { request, scan, keys }) : [];
  addGroups(rows, { request, names: [...keys.keys()], found });
  const needsScan = !isSayable || rows.some((row) => row['isEscaped'] === 1);
  if (needsScan || view.staged.length > 0) {
    const moved = !isSayable ? '1' : needsScan ? isEscaped : '0';
    const only = { text: moved, holds: () => true };
    const fold = createUsageFold(rules, request.dimensions);
    let interval = 0;
    await scanView(server, view, { request: scan, only }, (event) => {
      while (event.timestampEpochMs >= (request.boundsEpochMs[interval + 1] ?? Number.POSITIVE_INFINITY)) interval += 1;
      fold.add(event, interval);
    });
    for (const [index, readings] of found.entries()) readings.push(...fold.readings(index, index + 1));
  }
  return found.map((readings) => inOrder(mergeReadings(rules.aggregationType, readings)));
}

/** Every property that rules and dimensions look at, with the texts that matter where only some do. */
type Keys = ReadonlyMap<string, readonly string[] | undefined>;

function keysOf({ rules, dimensions }: EventAggregation): Keys {
  const keys = new Map<string, readonly string[] | undefined>();
  for (const { name, include = [], exclude = [] } of rules.propertyFilters) {
    keys.set(name, [...(keys.get(name) ?? []), ...include, ...exclude]);
  }
  for (const key of [...rules.groupKeys, ...dimensions.propertyKeys]) keys.set(key, undefined);
  return keys;
}

/**
 * `"name":` stands in a JSON text without backslashes only where the member begins, as long as the name has nothing that JSON
 * itself is made of.
 */
const plainName = /^[\w.$ -]+$/;
const isEscaped = String.raw`position(propertiesJson, '\\') > 0`;

/** Whole numbers of up to 15 digits with up to 40 decimals are counted as they stand; others are looked at one by one. */
const plainNumber = '^-?[0-9]{1,15}([.][0-9]{1,40})?$';
const anyNumber = '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,9})?$';

const operators = { SUM: 'sum', MAX: 'max', MIN: 'min', COUNT: 'count' } as const;

async function askForGroups(
  { ask }: ClickhouseServer,
  view: View,
  { request, scan, keys }: { readonly request: EventAggregation; readonly scan: EventScan; readonly keys: Keys },
): Promise<readonly EventRow[]> {
  const { rules, dimensions, boundsEpochMs } = request;
  const conditions = scanConditions(scan);
  const parameters: Record<string, unknown> = { ...view.parameters, ...conditions.parameters };
  const member = (name: string) => `if(isEscaped, '', simpleJSONExtractRaw(propertiesJson, '${name}'))`;
  const groups = ['beganAt', 'isEscaped'];
  const columns = [
    `roundDown(timestampEpochMs, [${boundsEpochMs.join(', ')}]) AS beganAt`,
    `${isEscaped} AS isEscaped`,
  ];
  if (dimensions.needsEventName) {
    groups.push('name');
    columns.push('eventName AS name');
  }
  for (const [index, [name, texts]] of [...keys].entries()) {
    groups.push(`key${index}`);
    columns.push(`${member(name)} AS raw${index}`, `${classOf(`raw${index}`, texts, parameters)} AS key${index}`);
  }
  const results = ['count() AS events'];
  if (rules.aggregationType !== 'COUNT') {
    columns.push(
      `${member(rules.aggregationKey ?? 'none')} AS valueRaw`,
      `multiIf(startsWith(valueRaw, '"'), ${innerOf('valueRaw')}, match(valueRaw, '^[0-9-]'), valueRaw, '') AS value`,
      `if(match(value, '${plainNumber}'), toDecimal256OrNull(value, 40), NULL) AS plain`,
      `if(plain IS NULL AND match(value, '${anyNumber}'), value, '') AS odd`,
    );
    groups.push('odd');
    results.push('count(plain) AS counted', `toString(${operators[rules.aggregationType]}(plain)) AS quantity`);
  }
  return await ask(
    `SELECT ${[...groups, ...results].join(', ')} FROM (SELECT ${columns.join(', ')} FROM tallybookEvents FINAL
       WHERE ${view.condition} AND ${conditions.text}) GROUP BY ${groups.join(', ')}`,
    parameters,
  );
}

const innerOf = (raw: string): string => `substring(${raw}, 2, length(${raw}) - 2)`;

/**
 * Where only some texts matter, all others are one group, so that a property of a million values makes few. Beyond ASCII a
 * text may have another normal form, so it stays as it is.
 */
function classOf(raw: string, texts: readonly string[] | undefined, parameters: Record<string, unknown>): string {
  if (texts === undefined) return raw;
  let other = 'other';
  while (texts.includes(other)) other += '.';
  const inner = `if(startsWith(${raw}, '"'), ${innerOf(raw)}, ${raw})`;
  parameters[`${raw}Texts`] = texts;
  const isKept = `${raw} = '' OR match(${raw}, '[^ -~]') OR has({${raw}Texts:Array(String)}, ${inner})`;
  return `if(${isKept}, ${raw}, '"${other}"')`;
}

function addGroups(
  rows: readonly EventRow[],
  {
    request,
    names,
    found,
  }: {
    readonly request: EventAggregation;
    readonly names: readonly string[];
    readonly found: readonly UsageReading[][];
  },
): void {
  const { rules, dimensions, boundsEpochMs } = request;
  const matches = createEventMatcher({ ...rules, eventTypeFilter: { include: [], exclude: [] } });
  const intervals = new Map(boundsEpochMs.map((bound, index) => [bound, index]));
  for (const row of rows) {
    if (row['isEscaped'] === 1) continue;
    const members = names.flatMap((name, index) => {
      const raw = row[`key${index}`];
      return raw === '' ? [] : [`${JSON.stringify(name)}:${String(raw)}`];
    });
    const properties = reviveExactJson(`{${members.join(',')}}`) as Readonly<Record<string, EventValue>>;
    const eventName = typeof row['name'] === 'string' ? row['name'] : '';
    if (!matches({ eventName, properties })) continue;
    const reading = readingOf(row, request);
    if (reading === undefined) continue;
    found[intervals.get(Number(row['beganAt'])) ?? -1]?.push({
      ...reading,
      groupValues: groupValuesOf(properties, rules.groupKeys),
      eventName,
      properties: presentProperties(properties, dimensions.propertyKeys),
    });
  }
}

/** What a group adds up to; undefined where nothing in it has a value. */
function readingOf(row: EventRow, { rules }: EventAggregation): Pick<UsageReading, 'quantity' | 'count'> | undefined {
  const events = Number(row['events']);
  const times = decimalOfInteger(BigInt(events));
  if (rules.aggregationType === 'COUNT') return { quantity: times, count: events };
  const odd = row['odd'];
  if (typeof odd === 'string' && odd !== '') {
    const quantity = quantityOf(odd);
    if (quantity === undefined) return undefined;
    return { quantity: rules.aggregationType === 'SUM' ? quantity.times(times) : quantity, count: events };
  }
  const count = Number(row['counted']);
  return count === 0 ? undefined : { quantity: decimal(row['quantity'] as string), count };
}
