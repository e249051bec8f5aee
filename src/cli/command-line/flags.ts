/** Turns the texts of flags into the input of a call. A text of the wrong form stays as it is, for the schema to refuse. */

import { BadRequestError, BillingError, InvalidInputError } from '../../errors.ts';
import {
  bulkBounds,
  exactNumber,
  forbiddenNameMessage,
  isForbiddenName,
  isJsonObject,
  isNumberText,
  parseExactJson,
  requestBounds,
  type ParseLimits,
} from '../../exact-json.ts';
import type { CallInput } from '../../operations/operation.ts';
import { clearableFlags, isClearable } from './manifest.ts';
import type { CommandSpec, FlagSpec, Shape } from './manifest.ts';
import { folded } from '../wire/rows.ts';

/** What stood on the command line. */
export interface Given {
  readonly positionals: readonly string[];
  /** Texts of each flag in the order given, by its name without dashes. */
  readonly flags: Readonly<Record<string, readonly string[]>>;
  /** Names of `--clear`, in any spelling. */
  readonly cleared: readonly string[];
  readonly ifMatch?: string | undefined;
}

/** Reads a file named on the command line, or standard input for `-`; throws a usage error if it cannot be read. */
export type ReadText = (path: string) => Promise<string>;

/** The input that a command line stands for. `whole` is the body of `--input`; flags override its members. */
export async function inputOf(
  command: CommandSpec,
  given: Given,
  options: { readonly whole?: unknown; readonly readText: ReadText },
): Promise<CallInput> {
  const params = Object.fromEntries(
    command.positionals.map(({ name }, index) => [name, given.positionals[index] ?? '']),
  );
  const bounds = boundsOf(command.isBulk);
  const query: Record<string, string> = {};
  const body: Record<string, unknown> = { ...(options.whole as Record<string, unknown> | undefined) };
  for (const spec of command.flags) {
    const texts = given.flags[spec.flag];
    if (texts === undefined) continue;
    if (spec.in === 'query') query[spec.name] = queryText(spec, texts);
    else
      body[spec.name] = await flagValue(spec, texts, { readText: options.readText, bounds, isWrite: command.isWrite });
  }
  for (const name of given.cleared) {
    const member = clearedMember(command, name);
    const spec = command.flags.find((each) => each.name === member && given.flags[each.flag] !== undefined);
    if (spec !== undefined) throw new BillingError('usage', `--${spec.flag} and --clear ${name} contradict each other`);
    body[member] = null;
  }
  return {
    ...(command.positionals.length > 0 ? { params } : {}),
    ...(Object.keys(query).length > 0 ? { query } : {}),
    ...(command.hasBody ? { body } : {}),
    ...(given.ifMatch === undefined ? {} : { ifMatch: given.ifMatch }),
  };
}

/** Required flags that were not given and, with `--input`, are not part of the body: the schema names what that lacks. */
export function missingFlags(command: CommandSpec, given: Given, hasWhole: boolean): readonly FlagSpec[] {
  return command.flags.filter(
    (spec) =>
      spec.isRequired === true &&
      given.flags[spec.flag] === undefined &&
      !(spec.in === 'body' && (hasWhole || clears(given, spec))),
  );
}

/** The JSON object of `--input`. */
export function wholeBody(text: string, isBulk: boolean): Record<string, unknown> {
  if (text.trim() === '') throw new BadRequestError('--input is empty: it must hold a JSON object');
  const value = jsonOf('input', text, boundsOf(isBulk));
  if (!isJsonObject(value)) throw new InvalidInputError([{ path: '', message: '--input must hold a JSON object' }]);
  return value;
}

function clears(given: Given, spec: FlagSpec): boolean {
  return given.cleared.some((name) => isCalled(name, spec));
}

/** Whether the name of a field or of its flag, in any spelling, is meant. */
function isCalled(name: string, spec: FlagSpec): boolean {
  return [spec.name, spec.flag].some((known) => folded(known) === folded(name));
}

function clearedMember(command: CommandSpec, name: string): string {
  const spec = command.flags.find((each) => isCalled(name, each));
  if (spec !== undefined && isClearable(spec)) return spec.name;
  throw new BillingError('usage', `--clear ${name}: no field of this name can be cleared`, {
    hint: `it takes ${clearableFlags(command).join(', ')}`,
  });
}

function queryText(spec: FlagSpec, texts: readonly string[]): string {
  return texts.flatMap((text) => text.split(',').map((part) => choiceOf(spec, part))).join(',');
}

async function flagValue(
  spec: FlagSpec,
  texts: readonly string[],
  {
    readText,
    bounds,
    isWrite,
  }: { readonly readText: ReadText; readonly bounds: ParseLimits; readonly isWrite: boolean },
): Promise<unknown> {
  // A text that is empty empties the list of a record. A filter by no name would cost nothing, whatever was used.
  if (spec.kind === 'list')
    return texts.flatMap((text) => (text === '' && !isWrite ? [text] : listValues(spec, text, ',')));
  if (spec.kind !== 'object' && spec.kind !== 'objects' && spec.kind !== 'members') {
    const text = texts.at(-1) ?? '';
    return scalar(spec, takesDateHere(spec) && /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  }
  const values: unknown[] = [];
  for (const text of texts)
    values.push(...structured(spec, text.startsWith('@') ? await readText(text.slice(1)) : text, bounds));
  if (spec.kind === 'objects') return values;
  return values.every(isJsonObject) ? joined(spec, values.flatMap(Object.entries)) : values.at(-1);
}

/** Whether a date stands for its 00:00 UTC in a field that the service takes as an instant alone. */
function takesDateHere({ name, placeholder }: FlagSpec): boolean {
  return isCalledDate(name) && placeholder === dateOrInstant;
}

/** The placeholder of what may be given as a date or as an instant, whether the service takes both or this command line does. */
export const dateOrInstant = 'date|date-time';

/** Whether a field of instants may be given as a date by its name. */
export function isCalledDate(name: string): boolean {
  return name.endsWith('Date');
}

/** The values of a flag's text: JSON as it is, else the object of its `name=value` pairs, by the fields of the flag. */
export function structured(spec: FlagSpec, text: string, bounds: ParseLimits = requestBounds): unknown[] {
  if (/^\s*[[{]/.test(text)) {
    const value = jsonOf(spec.flag, text, bounds);
    return Array.isArray(value) && spec.kind === 'objects' ? value : [value];
  }
  const pairs = spec.kind === 'members' ? [text] : splitPairs(spec, text);
  const members: [string, unknown][] = [];
  const inside = new Map<string, [string, unknown][]>();
  for (const pair of pairs) {
    const [, head = '', rest = ''] = /^\s*([\w-]+)\.([^=]+=[\s\S]*)$/.exec(pair) ?? [];
    const [outer, shape] = fieldOf(spec.fields ?? {}, head);
    if (spec.kind === 'members' || !isStructure(shape)) members.push(member(spec, pair));
    else inside.set(outer, [...(inside.get(outer) ?? []), structuredMember(spec, outer, shape, rest)]);
  }
  for (const [outer, entries] of inside) members.push([outer, joined(spec, entries)]);
  return [joined(spec, members)];
}

/** `csm.name=Grace`, `dimensions.model=large`: a member of an object inside the object. */
function structuredMember(spec: FlagSpec, outer: string, shape: Shape, pair: string): [string, unknown] {
  return member({ ...spec, ...shape, name: `${spec.name}.${outer}` }, pair);
}

/** Throws a usage error for a name given twice: one of the values would be lost. */
function joined(spec: FlagSpec, members: readonly [string, unknown][]): Record<string, unknown> {
  const names = members.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return Object.fromEntries(members);
  throw new BillingError('usage', `--${spec.flag}: ${JSON.stringify(twice)} is given twice`);
}

function isStructure(shape: Shape | undefined): shape is Shape {
  return shape?.kind === 'object' || shape?.kind === 'members';
}

function boundsOf(isBulk: boolean): ParseLimits {
  return isBulk ? bulkBounds : requestBounds;
}

function jsonOf(flag: string, text: string, bounds: ParseLimits): unknown {
  try {
    return parseExactJson(text, bounds);
  } catch (error) {
    if (error instanceof BadRequestError) throw new BadRequestError(`--${flag}: ${error.message}`, { cause: error });
    throw error;
  }
}

const pairForm = /^([^=]+)=([\s\S]*)$/;

/** Splits at commas followed by another `name=`, or by `name.member=` of an object, so that a value may contain commas. */
function splitPairs(spec: FlagSpec, text: string): string[] {
  const nested = Object.keys(spec.fields ?? {}).filter((name) => isStructure(spec.fields?.[name]));
  const heads = nested.map((name) => `${name}\\.[^=,]+`).join('|');
  return text.split(new RegExp(`,(?=\\s*(?:[A-Za-z][\\w-]*${heads === '' ? '' : `|${heads}`})=)`));
}

/** The member that `name=value` stands for, by the fields of the flag. Throws a usage error for a text without a name. */
export function member(spec: FlagSpec, pair: string): [string, unknown] {
  const [, name = '', text = ''] = pairForm.exec(pair) ?? [];
  if (name === '') {
    throw new BillingError('usage', `--${spec.flag} takes name=value, not ${JSON.stringify(pair)}`, {
      hint: `give ${spec.placeholder}, or JSON`,
    });
  }
  if (spec.kind === 'members') {
    if (spec.element?.kind === 'texts' && !isTextsAsJson(text) && /[,+|]/.test(text)) {
      refuseUnclear(spec, name, text, `give JSON, as ["a","b"] for several or ${JSON.stringify(text)} for this one`);
    }
    return [checkedName(spec, name), scalarOrJson(spec.element, text)];
  }
  const [known, shape] = fieldOf(spec.fields ?? {}, name.trim());
  const isListOfWords = shape?.kind === 'list' && shape.element?.choices === undefined;
  if (isListOfWords && !text.startsWith('[') && text.includes(',')) {
    refuseUnclear(spec, known, text, `put + between several, or give JSON, as ${JSON.stringify([text])}, for this one`);
  }
  return [checkedName(spec, known), shape === undefined ? text : fieldValue(shape, text)];
}

/**
 * Refuses what may be one value or several. Taken as one, `include=a,b` would name an event that never comes, and `Model=a+b` a
 * model that nobody uses. JSON is clear.
 */
function refuseUnclear(spec: FlagSpec, name: string, text: string, hint: string): never {
  throw new BillingError(
    'usage',
    `--${spec.flag}: ${name}: ${JSON.stringify(text)} may be one value or several: ${hint}`,
  );
}

/** A text in quotes, or a list. */
function isTextsAsJson(text: string): boolean {
  return text.startsWith('"') || text.startsWith('[');
}

/** Refuses names that would touch prototypes, before an object has them (security 5, SEC-37). */
function checkedName(spec: FlagSpec, name: string): string {
  if (!isForbiddenName(name)) return name;
  throw new InvalidInputError([{ path: `${spec.name}.${name}`, message: forbiddenNameMessage }]);
}

/** Finds a field by its name in either spelling: `postalCode`, `postal-code`. */
function fieldOf(fields: Readonly<Record<string, Shape>>, name: string): [string, Shape | undefined] {
  const known = Object.keys(fields).find((each) => folded(each) === folded(name));
  return known === undefined ? [name, undefined] : [known, fields[known]];
}

function fieldValue(shape: Shape, text: string): unknown {
  // Where the words are a fixed choice, a comma separates them too: it cannot be mistaken for the next member.
  if (shape.kind === 'list') return listValues(shape, text, shape.element?.choices === undefined ? /[|+]/ : /[|+,]/);
  if (shape.kind === 'object' || shape.kind === 'objects' || shape.kind === 'members') return jsonOr(text);
  return scalar(shape, text);
}

function listValues(shape: Shape, text: string, separator: string | RegExp): unknown[] {
  const whole = text.startsWith('[') ? jsonOr(text) : undefined;
  if (Array.isArray(whole)) return whole;
  return text === '' ? [] : text.split(separator).map((part) => scalarOrJson(shape.element, part.trim()));
}

function scalarOrJson(shape: Shape | undefined, text: string): unknown {
  return shape === undefined || shape.kind === 'list' || shape.kind === 'object' ? jsonOr(text) : scalar(shape, text);
}

function scalar(shape: Shape, text: string): unknown {
  if (shape.kind === 'boolean') return text === 'true' || (text === 'false' ? false : text);
  if (shape.kind === 'integer' || shape.kind === 'number') return isNumberText(text) ? exactNumber(text) : text;
  if (shape.kind === 'any' || (shape.kind === 'texts' && isTextsAsJson(text))) return jsonOr(text);
  return choiceOf(shape, text);
}

/** The text as JSON; the text itself if it is not JSON. */
function jsonOr(text: string): unknown {
  if (!/^\s*(?:["[{]|-?\d|true$|false$|null$)/.test(text)) return text;
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    return text;
  }
}

/** The choice that a text means, whatever its case, spaces and dashes: `in-progress` is `In Progress`. */
function choiceOf(shape: Shape, text: string): string {
  return shape.choices?.find((choice) => folded(choice) === folded(text)) ?? text;
}
