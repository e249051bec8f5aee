/**
 * What meters read, computed by ClickHouse. Events are grouped by the texts that the meter's rules look at, as the JSON holds
 * them, and values are added as Decimal256, which is exact. Staged events, and those with an escaped character, are folded here.
 */

import type { UsageReading } from '../../../calculation/usage-atoms.ts';
import { reviveExactJson } from '../../../exact-json.ts';
import { createFoldOfEach, placeAmong, scanOf } from '../../event-aggregation.ts';
import type { EventReadings, EventScan, EventValue } from '../../event-store.ts';
import { type View, scanConditions, scanView } from './view.ts';
import type { ClickhouseServer, EventRow } from './connection.ts';
import {
  anyNumber,
  createGroupReading,
  emptyReadings,
  type GroupKeys,
  groupKeysOf,
  type GroupQuestion,
  operators,
  otherThan,
  plainNumber,
  withFolded,
} from '../event-groups.ts';

/** As `EventStore.aggregate`, of one meter; if the question names contracts, `view` must hold the events of these alone. */
export async function aggregateInClickhouse(
  server: ClickhouseServer,
  view: View,
  question: GroupQuestion,
): Promise<readonly EventReadings[]> {
  const { request, contractIds } = question;
  const { rules } = request;
  const scan = scanOf(request);
  const keys = groupKeysOf(request);
  const isSayable = [...keys.keys(), rules.aggregationKey ?? 'none'].every((name) => plainName.test(name));
  const rows = isSayable ? await askForGroups(server, view, { ...question, scan, keys }) : [];
  const found = readingsOf(rows, question, keys);
  let folded: readonly UsageReading[][][] = [];
  const hasEscaped = rows.some((row) => row['isEscaped'] === 1);
  if (!isSayable || hasEscaped || view.staged.length > 0) {
    const amongMoved = !isSayable ? '1' : hasEscaped ? isEscaped : '0';
    const fold = createFoldOfEach(request, contractIds);
    await scanView(server, view, { request: scan, amongMoved }, fold.add);
    folded = fold.readings();
  }
  return withFolded(rules, found, folded);
}

/**
 * In a JSON text without backslashes, `"name":` stands only at the beginning of that member, provided that the name contains
 * none of JSON's own characters.
 */
const plainName = /^[\w.$ -]+$/;
const isEscaped = String.raw`position(propertiesJson, '\\') > 0`;

async function askForGroups(
  { ask }: ClickhouseServer,
  view: View,
  { request, contractIds, scan, keys }: GroupQuestion & { readonly scan: EventScan; readonly keys: GroupKeys },
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
  if (contractIds !== undefined) {
    groups.push('contractId');
    columns.push('contractId');
  }
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

/** A server limits the size of a parameter: beyond this, texts are not grouped there and are told apart here. */
const textCharactersAtMost = 32_000;

/** The text itself, or one text for all that do not matter. Text beyond ASCII stays as it is: it may have another normal form. */
function classOf(raw: string, texts: readonly string[] | undefined, parameters: Record<string, unknown>): string {
  if (texts === undefined || texts.join('').length > textCharactersAtMost) return raw;
  const inner = `if(startsWith(${raw}, '"'), ${innerOf(raw)}, ${raw})`;
  parameters[`${raw}Texts`] = texts;
  const isKept = `${raw} = '' OR match(${raw}, '[^ -~]') OR has({${raw}Texts:Array(String)}, ${inner})`;
  return `if(${isKept}, ${raw}, '"${otherThan(texts)}"')`;
}

/** The readings of the groups that the server could read, per interval. */
function readingsOf(rows: readonly EventRow[], question: GroupQuestion, keys: GroupKeys): UsageReading[][][] {
  const { request, contractIds } = question;
  const readingOf = createGroupReading(request);
  const placeOf = placeAmong(contractIds);
  const found = emptyReadings(question);
  const intervals = new Map(request.boundsEpochMs.map((bound, index) => [bound, index]));
  for (const row of rows) {
    if (row['isEscaped'] === 1) continue;
    const members = [...keys.keys()].flatMap((name, index) => {
      const raw = row[`key${index}`];
      return raw === '' ? [] : [`${JSON.stringify(name)}:${String(raw)}`];
    });
    const properties = reviveExactJson(`{${members.join(',')}}`) as Readonly<Record<string, EventValue>>;
    const reading = readingOf(row, properties);
    const interval = intervals.get(Number(row['beganAt'])) ?? -1;
    if (reading !== undefined) found[placeOf(row['contractId'])]?.[interval]?.push(reading);
  }
  return found;
}
