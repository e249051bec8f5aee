/** Maps a row of a table to an event: which column is what, and which row cannot be an event. */

import { BillingError } from '../../errors.ts';
import { exactNumber, isForbiddenName, isNumberText } from '../../exact-json.ts';
import type { ExactNumber } from '../../exact-json.ts';
import { isSmallEnough } from '../../operations/field-rules.ts';
import { delimiterHint, otherWidth } from '../files/csv-file.ts';
import { createRowIdentity } from '../wire/row-identity.ts';

export interface MappingOptions {
  /** Name of every event, or the column with the name. */
  readonly eventName?: string | undefined;
  readonly eventNameColumn?: string | undefined;
  /** The customer of every event by id or by the caller's own id, or the column with the latter. */
  readonly customerId?: string | undefined;
  readonly customer?: string | undefined;
  readonly customerColumn?: string | undefined;
  readonly contractId?: string | undefined;
  /** Default: the column called timestamp, in any case. */
  readonly timestampColumn?: string | undefined;
  /** Time zone of timestamps without an offset. */
  readonly timeZone: string;
  /** `property=column`, or a column whose name becomes the property's. Default: every column that has no other use. */
  readonly properties: readonly string[];
  /** `property=value`, the same on every event. */
  readonly constants?: readonly string[] | undefined;
  /** Column that identifies a row. Default: the content of the row. */
  readonly keyColumn?: string | undefined;
  /** Distinguishes files whose rows are equal but not the same events. */
  readonly source?: string | undefined;
}

export interface ImportedEvent {
  readonly eventName: string;
  readonly customerId?: string;
  readonly externalCustomerId?: string;
  readonly contractId?: unknown;
  /** A record's own key is left for the service to judge. */
  readonly idempotencyKey: unknown;
  readonly timestamp: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

export type MappedRow = { readonly event: ImportedEvent } | { readonly reason: string };

export interface Mapping {
  /** Property name to column name, for the note shown before the import. */
  readonly properties: Readonly<Record<string, string>>;
  readonly timestampColumn: string;
  readonly toEvent: (row: readonly string[]) => MappedRow;
}

/** Throws a usage error if a column does not exist or something needed is not given. */
export function createMapping(header: readonly string[], options: MappingOptions): Mapping {
  refuseTwice(header);
  refuseTwoValues(options);
  const timestamp = columnAt(header, options.timestampColumn ?? usualTimestamp(header), '--timestamp');
  const eventName = valueOrColumn(header, options.eventName, options.eventNameColumn, '--event-name');
  const customer = customerOf(header, options);
  const key = options.keyColumn === undefined ? undefined : columnAt(header, options.keyColumn, '--key-column');
  const used = new Set([timestamp, eventName.column, customer.column, key]);
  const properties = propertiesOf(header, options.properties, used);
  const constants = constantsOf(
    options.constants ?? [],
    properties.map(({ name }) => name),
  );
  const toTimestamp = createTimestampReader(options.timeZone);
  const identify = createRowIdentity();
  const { source = '' } = options;
  const unnamed = properties.find(({ name }) => name === '')?.column;

  const toEvent = (row: readonly string[]): MappedRow => {
    if (row.length !== header.length) return { reason: otherWidth(row, header) };
    const at = toTimestamp(row[timestamp] ?? '');
    if (at === undefined)
      return { reason: `${header[timestamp]}: ${whyNoInstant(row[timestamp] ?? '', options.timeZone)}` };
    const name = eventName.read(row);
    if (name === '') return { reason: 'has no event name' };
    const owner = customer.read(row);
    if (owner === '') return { reason: 'has no customer' };
    const identity = key === undefined ? undefined : row[key];
    if (identity === '') return { reason: `${options.keyColumn}: is empty` };
    if (unnamed !== undefined && row[unnamed] !== '') return { reason: whyUnnamed(unnamed) };
    return {
      event: {
        eventName: name,
        [customer.field]: owner,
        ...(options.contractId === undefined ? {} : { contractId: options.contractId }),
        idempotencyKey: identity ?? identify(JSON.stringify([source, name, owner, ...row])),
        timestamp: at,
        properties: { ...constants, ...readProperties(row, properties) },
      },
    };
  };
  return {
    properties: Object.fromEntries(properties.map(({ name, column }) => [name, header[column] ?? ''])),
    timestampColumn: header[timestamp] ?? '',
    toEvent,
  };
}

/** The column with the time of the event where none is named. */
export function usualTimestamp(names: readonly string[]): string | undefined {
  return names.find((name) => name.toLowerCase() === 'timestamp');
}

function whyUnnamed(column: number): string {
  return `column ${column + 1} has no name: name it in the header, or choose columns with --property`;
}

/** Throws a usage error where two flags say the same of every event: neither takes precedence. */
export function refuseTwoValues(options: MappingOptions): void {
  const hint = 'give one of them';
  if (options.eventName !== undefined && options.eventNameColumn !== undefined)
    throw usage('--event-name and --event-name-column cannot be given together', hint);
  if (customersOf(options).length > 1)
    throw usage('--customer, --customer-id and --customer-column cannot be given together', hint);
}

function customersOf({ customerId, customer, customerColumn }: MappingOptions): string[] {
  return [customerId, customer, customerColumn].filter((each) => each !== undefined);
}

function refuseTwice(header: readonly string[]): void {
  const names = new Set(header);
  const twice = names.size < header.length ? header.find((name) => !names.delete(name)) : undefined;
  if (twice === undefined) return;
  const which = twice === '' ? 'without a name' : `called "${twice}"`;
  throw usage(`the file has two columns ${which}`, 'give each column a name of its own');
}

/** The index of a column. Throws a usage error if no column has the name, or no name is given. */
function columnAt(header: readonly string[], name: string | undefined, flag: string): number {
  const other = delimiterHint(header);
  const known = `the columns are ${header.join(', ')}`;
  if (name === undefined) throw usage(`no column has the time of the event`, other ?? `name it with ${flag}; ${known}`);
  const index = header.indexOf(name);
  if (index === -1) throw usage(`${flag}: there is no column "${name}"`, other ?? known);
  return index;
}

interface Read {
  readonly column: number | undefined;
  readonly read: (row: readonly string[]) => string;
}

function valueOrColumn(
  header: readonly string[],
  value: string | undefined,
  column: string | undefined,
  flag: string,
): Read {
  if (value !== undefined) return { column: undefined, read: () => value };
  if (column === undefined) throw usage(`${flag} or ${flag}-column is required`);
  const index = columnAt(header, column, `${flag}-column`);
  return { column: index, read: (row) => row[index] ?? '' };
}

function customerOf(
  header: readonly string[],
  options: MappingOptions,
): Read & { readonly field: 'customerId' | 'externalCustomerId' } {
  if (customersOf(options).length === 0)
    throw usage('exactly one of --customer, --customer-id and --customer-column is required');
  const { customerId } = options;
  if (customerId !== undefined) return { column: undefined, read: () => customerId, field: 'customerId' };
  return {
    ...valueOrColumn(header, options.customer, options.customerColumn, '--customer'),
    field: 'externalCustomerId',
  };
}

interface PropertyColumn {
  readonly name: string;
  readonly column: number;
}

function propertiesOf(
  header: readonly string[],
  given: readonly string[],
  used: ReadonlySet<number | undefined>,
): PropertyColumn[] {
  if (given.length === 0) {
    const others = header.map((name, column) => ({ name, column })).filter(({ column }) => !used.has(column));
    for (const { name } of others) refuseForbidden(name);
    return others;
  }
  return splitProperties(given).map(([name, column]) => ({ name, column: columnAt(header, column, '--property') }));
}

/** Names of properties, and of their columns. Throws a usage error for a name that no property may have, or two have. */
export function splitProperties(given: readonly string[]): (readonly [string, string])[] {
  const names = new Set<string>();
  return given.map((pair) => {
    const [name, column] = splitProperty(pair);
    if (names.has(name)) throw usage(`--property: "${name}" is given twice`);
    names.add(name);
    return [name, column];
  });
}

function splitProperty(pair: string): readonly [string, string] {
  const [name = '', ...rest] = pair.split('=');
  if (name === '') throw usage(`--property takes name=column or a column, not "${pair}"`);
  refuseForbidden(name);
  return [name, rest.length === 0 ? name : rest.join('=')];
}

/** Refuses such a name as the service would: an object here would silently lose it. */
function refuseForbidden(name: string): void {
  if (isForbiddenName(name))
    throw usage(
      `"${name}" cannot be the name of a property`,
      'choose the columns and give them other names with --property name=column',
    );
}

/** The properties of `--set`. Throws a usage error if one is given twice or is in `names`. */
export function constantsOf(given: readonly string[], names: readonly string[]): Record<string, string | ExactNumber> {
  const constants: Record<string, string | ExactNumber> = {};
  for (const pair of given) {
    const at = pair.indexOf('=');
    if (at < 1) throw usage(`--set takes name=value, not "${pair}"`);
    const name = pair.slice(0, at);
    refuseForbidden(name);
    if (Object.hasOwn(constants, name) || names.includes(name)) {
      throw usage(whySetTwice(name));
    }
    constants[name] = cellValue(pair.slice(at + 1));
  }
  return constants;
}

/** The words for a property with two values: neither takes precedence. */
export function whySetTwice(name: string): string {
  return `--set: "${name}" has a value already`;
}

/**
 * A cell that is a number by JSON's grammar becomes one, with its digits. A number that no event may carry stays a text: one
 * in a hundred ids of eight hexadecimal digits, such as `12e45678`, is such a number.
 */
function cellValue(cell: string): string | ExactNumber {
  return isNumberText(cell) && isSmallEnough(cell) ? exactNumber(cell) : cell;
}

/** Properties of a row; an empty cell gives none. */
function readProperties(
  row: readonly string[],
  properties: readonly PropertyColumn[],
): Record<string, string | ExactNumber> {
  const read: Record<string, string | ExactNumber> = {};
  for (const { name, column } of properties) {
    const cell = row[column] ?? '';
    if (cell !== '') read[name] = cellValue(cell);
  }
  return read;
}

const timestampForm = /^(\d{4}-\d{2}-\d{2})[ Tt](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)\s?([Zz]|[+-]\d{2}(?::?\d{2})?)?$/;

/** Spreadsheets write dates in many other ways, which could be mistaken for one another. */
export const noTimestamp = 'is not a timestamp such as 2026-03-01T09:30:00Z';

/** This form needs no conversion. */
const utcForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** Reads a cell into RFC 3339 form; a time without an offset is in the given zone. Undefined for anything else. */
export function createTimestampReader(timeZone: string): (cell: string) => string | undefined {
  const isUtc = timeZone.toUpperCase() === 'UTC';
  if (!isUtc) checkTimeZone(timeZone);
  return (cell) => {
    if (utcForm.test(cell)) return cell;
    const match = timestampForm.exec(cell.trim());
    if (match === null) return undefined;
    const [, date, time, offset] = match;
    if (offset !== undefined) return `${date}T${time}${withColon(offset)}`;
    if (isUtc) return `${date}T${time}Z`;
    // Temporal would read second 60 as second 59; the service refuses it.
    if (/:60/.test(time ?? '')) return undefined;
    try {
      const local = Temporal.PlainDateTime.from(`${date}T${time}`, { overflow: 'reject' });
      return local.toZonedDateTime(timeZone, { disambiguation: 'reject' }).toInstant().toString();
    } catch {
      return undefined;
    }
  };
}

/** Says why a cell is not an instant: a time that clocks skip or show twice looks like any other. */
export function whyNoInstant(cell: string, timeZone: string): string {
  if (!timestampForm.test(cell.trim())) return `"${cell}" ${noTimestamp}`;
  return `"${cell}" is not a definite time in ${timeZone}: no such day or time, or clocks skip it or show it twice; give it an offset`;
}

function withColon(offset: string): string {
  if (/^[+-]\d{2}$/.test(offset)) return `${offset}:00`;
  return /^[+-]\d{4}$/.test(offset) ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset;
}

function checkTimeZone(timeZone: string): void {
  try {
    Temporal.PlainDate.from('2026-01-01').toZonedDateTime(timeZone);
  } catch (cause) {
    throw new BillingError('usage', `--time-zone: "${timeZone}" is not a time zone`, {
      cause,
      hint: 'such as UTC or Europe/Berlin',
    });
  }
}

function usage(message: string, hint?: string): BillingError {
  return new BillingError('usage', message, { hint });
}
