/** Where the rows of an answer are, and the text of a cell: for a script as on the wire, for a person with its unit. */

import { isExactNumber, textOfNumber } from '../../exact-json.ts';
import type { Column, ColumnFormat, View } from '../../operations/operation.ts';
import { currency } from '../../operations/wire-values.ts';
import { safe, safeJson, say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface Rows {
  readonly rows: readonly Row[];
  /** Whether the answer is a list, however many rows it has. */
  readonly isList: boolean;
}

/** The rows that a view shows. */
export function rowsOf(body: unknown, view: View): Rows {
  const found = view.rows === '' ? body : valueAt(body, view.rows);
  if (Array.isArray(found)) return { rows: found as Row[], isList: true };
  return { rows: found === undefined || found === null ? [] : [found as Row], isList: false };
}

/** Whether rows follow those that end at `offset`. Services of other makers may give only a total, or neither. */
export function moreFollow(
  { hasMore, total = 0 }: { readonly hasMore?: boolean; readonly total?: number },
  offset: number,
): boolean {
  return typeof hasMore === 'boolean' ? hasMore : total > offset;
}

/** The value at a path such as `metadata.externalCustomerId` or `items.*.name`; undefined where there is none. */
export function valueAt(value: unknown, path: string): unknown {
  const [name = '', ...rest] = path.split('.');
  if (path === '' || value === undefined || value === null) return path === '' ? value : undefined;
  if (name === '*') return Array.isArray(value) ? value.map((each) => valueAt(each, rest.join('.'))) : undefined;
  const inner = typeof value === 'object' && Object.hasOwn(value, name) ? (value as Row)[name] : undefined;
  return rest.length === 0 ? inner : valueAt(inner, rest.join('.'));
}

/** The text for a script: the value as it is on the wire, `''` for none, a list of plain values joined by commas, else JSON. */
export function wireText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (isExactNumber(value)) return textOfNumber(value);
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  const isPlainList = Array.isArray(value) && value.every((each) => typeof each !== 'object' || each === null);
  // Escaped as JSON does: made visible like other texts, it could not be parsed.
  return isPlainList ? value.map(wireText).join(',') : safeJson(JSON.stringify(value));
}

/** An instant for a person: without milliseconds where there are none. */
export function instantText(instant: string): SafeText {
  return safe(instant.replace(/\.000Z$/, 'Z'));
}

const formats: Readonly<Record<ColumnFormat, (value: unknown, row: Row, path: string) => SafeText>> = {
  text: (value) => safe(wireText(value)),
  money: (value, row, path) => moneyText(wireText(value), currencyAt(row, path)),
  usd: (value, row) =>
    row['unit'] === 'credits' ? say`${wireText(value)} credits` : say`${dollarsText(wireText(value))} ${currency}`,
  number: (value) => safe(wireText(value)),
  percent: (value) => say`${wireText(value)} %`,
  timestamp: (value) => instantText(wireText(value)),
  date: (value) => safe(wireText(value).replace(/T00:00:00\.000Z$/, '')),
  boolean: (value) => (value === true ? say`yes` : value === false ? say`no` : safe(wireText(value))),
  list: (value) => safe(listText(value)),
  count: (value) => safe(Array.isArray(value) ? String(value.length) : wireText(value)),
};

const rightAligned: ReadonlySet<ColumnFormat> = new Set(['money', 'usd', 'number', 'percent', 'count']);

/** Whether the cells of a column are aligned right. */
export function isRightAligned(column: Column): boolean {
  return rightAligned.has(column.format ?? 'text');
}

/** The text for a person: `12.50 USD`, `yes`; an empty cell for no value. */
export function cellText(row: Row, column: Column): SafeText {
  const value = valueAt(row, column.path);
  return value === undefined || value === null ? say`` : formats[column.format ?? 'text'](value, row, column.path);
}

/** The currency that stands beside the amount, else that of the row. */
function currencyAt(row: Row, path: string): string {
  const beside = valueAt(row, path.replace(/[^.]*$/, 'currency')) ?? row['currency'];
  return typeof beside === 'string' ? beside : currency;
}

/** The column of a field; if the view does not have it, its format follows from the ending of its name. */
export function columnOf(path: string, view: View): Column {
  const known = view.columns.find((column) => column.path === path || folded(column.header) === folded(path));
  return known ?? { header: path.toUpperCase(), path, format: formatOf(path) };
}

function formatOf(path: string): ColumnFormat {
  if (path.endsWith('Cents')) return 'money';
  if (/(?:At|Until|Before|Date|asOf|\b(?:until|start|end))$/.test(path)) return 'timestamp';
  if (path.endsWith('Percent')) return 'percent';
  return /(?:^|\.)(?:is|has)[A-Z]/.test(path) ? 'boolean' : 'text';
}

/** Cents as people write the amount: 1250 is 12.50, and 12.5 is 0.125. */
export function amountText(cents: string): string {
  const [, sign = '', digits = '', below = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(cents) ?? [];
  if (digits === '') return cents;
  const padded = digits.padStart(3, '0');
  return `${sign}${padded.slice(0, -2)}.${padded.slice(-2)}${below}`;
}

/** Cents as `12.50 USD`. */
export function moneyText(cents: bigint | string, code: string = currency): SafeText {
  return say`${amountText(String(cents))} ${code}`;
}

/** A decimal of dollars with at least two decimal places, and every further digit: 12.5 is 12.50. */
export function dollarsText(decimal: string): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  return /^-?\d+(?:\.\d+)?$/.test(decimal) ? `${whole}.${fraction.padEnd(2, '0')}` : decimal;
}

function listText(value: unknown): string {
  if (Array.isArray(value)) return value.map(wireText).join(', ');
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return wireText(value);
  return Object.entries(value)
    .map(([name, each]) => `${name}=${wireText(each)}`)
    .join(', ');
}

/** The form in which names are compared: lower case, without dashes, underscores and spaces. */
export function folded(text: string): string {
  return text.toLowerCase().replaceAll(/[-_\s]/g, '');
}
