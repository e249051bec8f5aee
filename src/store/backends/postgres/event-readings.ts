/**
 * What meters read, computed by the server. Events are grouped by the texts that the meter's rules look at, and values are added
 * as `numeric`, which is exact. Whatever the server cannot read as JavaScript does (escaped characters, odd numbers) comes back
 * unchanged.
 */

import type { UsageReading } from '../../../calculation/usage-atoms.ts';
import type { Transaction } from '../../database.ts';
import { createFoldOfEach, inOrder, placeAmong, scanOf } from '../../event-aggregation.ts';
import type { EventAggregation, EventReadings } from '../../event-store.ts';
import { rowsOfText } from '../../raw-query.ts';
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
import { type Conditions, scanConditions, scanWhere } from './event-scan.ts';

/** What one meter reads, as `EventStore.aggregate` says; for each contract, if the question names contracts. */
export async function aggregateInServer(tx: Transaction, question: GroupQuestion): Promise<readonly EventReadings[]> {
  const { rules } = question.request;
  const keys = groupKeysOf(question.request);
  // Such a name cannot even be sent to the server.
  if (![...keys.keys(), rules.aggregationKey ?? ''].every(isSayable)) {
    const folded = await foldWhere(tx, question, conditionsOf(question));
    return folded.map((readings) => readings.map(inOrder));
  }
  const grouped = await readGroups(tx, question, keys);
  const conditions = conditionsOf(question);
  conditions.add(hasEscape);
  const escaped = await foldWhere(tx, question, conditions);
  return withFolded(rules, grouped, escaped);
}

function conditionsOf({ request, contractIds }: GroupQuestion): Conditions {
  const conditions = scanConditions(scanOf(request));
  // Hashed, whatever is planned: planned for any list, `= ANY` compares each event with thousands of contracts in turn. IS TRUE
  // keeps it from becoming a join, which can do the same.
  if (contractIds !== undefined) conditions.add('("contractId" IN (SELECT unnest(?::text[]))) IS TRUE', contractIds);
  return conditions;
}

async function readGroups(tx: Transaction, question: GroupQuestion, keys: GroupKeys): Promise<UsageReading[][][]> {
  const { request, contractIds } = question;
  const { text, values } = statementOf(keys, question);
  const readingOf = createGroupReading(request);
  const placeOf = placeAmong(contractIds);
  const found = emptyReadings(question);
  for (const row of await rowsOfText(tx, text, values)) {
    const properties = Object.fromEntries(
      [...keys.keys()].flatMap((name, index) => {
        const value = row[`key${index}`];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    );
    const reading = readingOf(row, properties);
    if (reading !== undefined) found[placeOf(row['contractId'])]?.[Number(row['interval']) - 1]?.push(reading);
  }
  return found;
}

/** Folds the events that match, one by one. */
async function foldWhere(
  tx: Transaction,
  { request, contractIds }: GroupQuestion,
  conditions: Conditions,
): Promise<readonly UsageReading[][][]> {
  const fold = createFoldOfEach(request, contractIds);
  const [fromEpochMs = 0] = request.boundsEpochMs;
  await scanWhere(tx, { conditions, fromEpochMs, withKeys: false }, fold.add);
  return fold.readings();
}

/** A short JSON number without an exponent is always plain, and this test is faster than a pattern. */
const plainValue = `CASE WHEN "isNumber" AND length("value") <= 15 AND strpos("value", 'e') = 0 AND strpos("value", 'E') = 0
    OR "value" ~ '${plainNumber}' THEN "value"::numeric END`;

function statementOf(
  keys: GroupKeys,
  question: GroupQuestion,
): { readonly text: string; readonly values: readonly unknown[] } {
  const { rules, dimensions, boundsEpochMs } = question.request;
  const conditions = conditionsOf(question);
  const values = [...conditions.values];
  const bind = (value: unknown, type: string): string => `$${values.push(value)}::${type}`;
  const members: string[] = [];
  const memberOf = (property: string): string => {
    const name = `"member${members.length}"`;
    members.push(`"propertiesJson"::json -> ${bind(property, 'text')} AS ${name}`);
    return name;
  };
  const groups = [
    { name: '"interval"', text: `width_bucket("timestampEpochMs", ${bind(boundsEpochMs, 'bigint[]')})` },
    ...(question.contractIds === undefined ? [] : [{ name: '"contractId"', text: '"contractId"' }]),
    ...(dimensions.needsEventName ? [{ name: '"name"', text: '"eventName"' }] : []),
    ...[...keys].map(([property, texts], index) => {
      return { name: `"key${index}"`, text: classOf(textOf(memberOf(property)), texts, bind) };
    }),
  ];
  const added = addedUp(rules, memberOf);
  const names = groups.map(({ name }) => name);
  const columns = [...groups.map(({ name, text }) => `${text} AS ${name}`), ...added.columns];
  // OFFSET keeps the server from computing a text again wherever it is used.
  return {
    text: `SELECT ${[...names, ...added.results].join(', ')} FROM (
        SELECT ${['*', ...added.numbers].join(', ')} FROM (
          SELECT ${columns.join(', ')} FROM (
            SELECT ${['"timestampEpochMs"', '"eventName"', '"contractId"', ...members].join(', ')} FROM "events"
            WHERE ${conditions} AND ${hasNoEscape} OFFSET 0
          ) AS "row" OFFSET 0
        ) AS "event" OFFSET 0
      ) AS "valued" GROUP BY ${[...names, ...added.groups].join(', ')}`,
    values,
  };
}

/** How events come to a `GroupRow`: the columns taken of each event, the number in them, and the results per group. */
interface AddedUp {
  readonly columns: readonly string[];
  readonly numbers: readonly string[];
  readonly results: readonly string[];
  /** Further columns to group by. */
  readonly groups: readonly string[];
}

function addedUp(
  { aggregationType, aggregationKey }: EventAggregation['rules'],
  memberOf: (property: string) => string,
): AddedUp {
  const events = 'count(*) AS "events"';
  if (aggregationType === 'COUNT') return { columns: [], numbers: [], results: [events], groups: [] };
  const value = memberOf(aggregationKey ?? '');
  return {
    columns: [`${numberTextOf(value)} AS "value"`, `left(${value}::text, 1) <> '"' AS "isNumber"`],
    numbers: [`${plainValue} AS "plain"`],
    results: [
      events,
      `CASE WHEN "plain" IS NULL AND "value" ~ '${anyNumber}' THEN "value" END AS "odd"`,
      'count("plain") AS "counted"',
      `${operators[aggregationType]}("plain") AS "quantity"`,
    ],
    groups: ['"odd"'],
  };
}

/**
 * The server cannot extract NUL or half a surrogate from JSON, and both are always written with a `\u` escape. Hence E'…': in
 * a text without E, the meaning of a backslash depends on a setting of the server.
 */
const hasEscape = String.raw`strpos("propertiesJson", E'\\u') > 0`;
const hasNoEscape = String.raw`strpos("propertiesJson", E'\\u') = 0`;

/** The text by which a property is compared: that of `propertyText`, before normalization. */
function textOf(value: string): string {
  return `CASE WHEN left(${value}::text, 1) = '"' THEN ${value} #>> '{}' ELSE ${value}::text END`;
}

/** The same for what can be a number: a JSON number or a string, but not `true` or `null`. */
function numberTextOf(value: string): string {
  return `CASE WHEN left(${value}::text, 1) ~ '["0-9-]' THEN ${value} #>> '{}' END`;
}

/** The text itself, or one text for all that do not matter. Text beyond ASCII stays as it is: it may have another normal form. */
function classOf(
  text: string,
  texts: readonly string[] | undefined,
  bind: (value: unknown, type: string) => string,
): string {
  if (texts === undefined) return text;
  const listed = `${text} = ANY(${bind(texts.filter(isSayable), 'text[]')})`;
  const isPlain = `${text} ~ E'^[\\x01-\\x7f]*$'`;
  return `CASE WHEN ${text} IS NULL OR ${listed} OR NOT ${isPlain} THEN ${text} ELSE ${bind(otherThan(texts), 'text')} END`;
}

function isSayable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}
