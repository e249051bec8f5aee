/** Answers for people: a table that fits the terminal, or the fields of one record below each other. */

import { Chalk } from 'chalk';
import widthOf from 'fast-string-width';

import { isExactNumber, isJsonObject } from '../../exact-json.ts';
import type { Column, View } from '../../operations/operation.ts';
import { cellText, columnOf, isRightAligned, valueAt } from '../wire/rows.ts';
import type { Row, Rows } from '../wire/rows.ts';
import { safe, say, vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { fittedColumns } from './table-fit.ts';
import type { FittedColumn } from './table-fit.ts';
import type { OutputStream } from '../terminal/terminal.ts';

export interface TableOptions {
  readonly found: Rows;
  /** The requested columns; the view's if there are none. */
  readonly columns: readonly Column[] | undefined;
  readonly stdout: OutputStream;
  /** Whether it stands beside the answer, so that JSON has nothing of it. */
  readonly isBeside?: boolean;
}

/** A table for a list; for one record its fields, unless columns were requested. */
export function table(body: unknown, view: View, { found, columns, stdout, isBeside }: TableOptions): SafeText {
  const bold = (text: SafeText) => vouch(new Chalk({ level: stdout.hasColor ? 1 : 0 }).bold(text));
  const isAsked = columns !== undefined;
  const draw = (rows: readonly Row[], shown: readonly Column[]) =>
    grid(rows, shown, { width: stdout.columns, bold, isAsked, elsewhere: isBeside === true ? '' : inJson });
  if (found.isList || columns !== undefined) {
    const above = columns === undefined ? summaryOf(body, view) : {};
    const summary = Object.keys(above).length > 0 ? fieldLines(above, { view, bold, draw }) : '';
    const rows = draw(found.rows, columns?.map((column) => headed(column, view)) ?? view.columns);
    return vouch([summary, rows].filter((part) => part !== '').join('\n'));
  }
  return vouch(found.rows.map((row) => fieldLines(row, { view, bold, draw })).join('\n'));
}

/** A requested column, with a header in words unless the view or somebody else has named it. */
function headed(column: Column, view: View): Column {
  if (view.columns.includes(column)) return column;
  const label = labelOf(column.path, view);
  return { ...column, header: label.includes('.') ? label : label.toUpperCase() };
}

/** What an answer contains besides its rows: totals and the like, without a list of nothing. */
function summaryOf(body: unknown, view: View): Row {
  const path = view.rows.split('.');
  const parent = path.length < 2 ? undefined : valueAt(body, path.slice(0, -1).join('.'));
  if (typeof parent !== 'object' || parent === null) return {};
  return Object.fromEntries(
    Object.entries(parent).filter(([name, value]) => name !== path.at(-1) && !isEmptyList(value)),
  );
}

interface Style {
  readonly view: View;
  readonly bold: (text: SafeText) => SafeText;
  readonly draw: (rows: readonly Row[], columns: readonly Column[]) => SafeText;
}

/** `label  value` for each field, then each list of records below its label; a list of none only where it is counted. */
function fieldLines(row: Row, { view, bold, draw }: Style): SafeText {
  const isShown = ([path, value]: [string, unknown]) =>
    view.parts?.[path] === undefined || !isEmptyList(value) || cellText(row, valueColumn(path, row, view)) !== '';
  const fields = flattened(row, '').filter(isShown);
  const labels = labelsOf(
    fields.map(([path]) => path),
    view,
  );
  const labelAt = (path: string) => safe(labels.get(path) ?? path);
  const plain = fields.filter(([, value]) => !isRecords(value));
  const pad = Math.max(0, ...plain.map(([path]) => labelAt(path).length));
  const above = plain.map(([path]) => {
    const label = vouch(labelAt(path).padEnd(pad));
    return `${bold(label)}  ${cellText(row, valueColumn(path, row, view))}`.trimEnd();
  });
  const below = fields
    .filter((field): field is [string, readonly Row[]] => isRecords(field[1]))
    .map(([path, rows]) => `\n${bold(labelAt(path))}\n${draw(rows, view.parts?.[path] ?? columnsOf(rows))}`.trimEnd());
  return vouch(`${[...above, ...below].join('\n')}\n`);
}

function valueColumn(path: string, row: Row, view: View): Column {
  const column = columnOf(path, view);
  const value = valueAt(row, path);
  return column.format === 'text' && typeof value === 'object' && !isExactNumber(value)
    ? { ...column, format: 'list' }
    : column;
}

/** Every plain field of the records, in the order in which they first appear. */
function columnsOf(rows: readonly Row[]): Column[] {
  const paths = new Set(rows.flatMap((row) => flattened(row, '').map(([path]) => path)));
  const unknown = { rows: '', columns: [] };
  const labels = labelsOf([...paths], unknown);
  return [...paths].map((path) => ({
    ...columnOf(path, unknown),
    header: (labels.get(path) ?? path).toUpperCase(),
  }));
}

/** Objects whose members somebody else has named. */
const namedElsewhere: ReadonlySet<string> = new Set(['metadata', 'properties', 'groupValues']);

/** What tables call a field, so that it has no other name where a record has no column for it. */
export const columnWords: ReadonlyMap<string, string> = new Map([
  ['contractId', 'contract'],
  ['createdAt', 'created'],
  ['creditBalanceAfter', 'credit balance'],
  ['customerId', 'customer'],
  ['dueDate', 'due'],
  ['endDate', 'end'],
  ['expiresAt', 'expires'],
  ['fallbackUnitAmount', 'fallback unit usd'],
  ['flatAmount', 'flat usd'],
  ['grantEntryId', 'grant'],
  ['invoiceDate', 'date'],
  ['invoiceId', 'invoice'],
  ['invoiceNumber', 'number'],
  ['planId', 'plan'],
  ['pricingModel', 'model'],
  ['pricingName', 'price'],
  ['productName', 'product'],
  ['startDate', 'start'],
  ['unitAmount', 'unit usd'],
  ['updatedAt', 'updated'],
]);

/**
 * The labels of a record's fields, by path: the header of its column, or its path in words without units. An outer word that
 * one of its own members repeats (`balance.creditBalance`) says nothing, and is left out if no other field has the remaining
 * words. Other outer words tell whose field it is (`organization.name`, `projected.creditBalance`).
 */
function labelsOf(paths: readonly string[], view: View): ReadonlyMap<string, string> {
  const labels = new Map(paths.map((path) => [path, labelOf(path, view)]));
  const said = new Set(labels.values());
  for (const path of paths) {
    const [outer = '', ...inner] = path.split('.');
    const label = labels.get(path) ?? '';
    const rest = label.slice(wordsOf(outer).length + 1);
    const isRepeated = paths.some(
      (each) => each.startsWith(`${outer}.`) && each.toLowerCase().endsWith(outer.toLowerCase()),
    );
    if (inner.length === 0 || !isRepeated || label !== `${wordsOf(outer)} ${rest}` || said.has(rest)) continue;
    said.add(rest);
    labels.set(path, rest);
  }
  return labels;
}

function labelOf(path: string, view: View): string {
  const known = view.columns.find((column) => column.path === path);
  if (known !== undefined) return known.header.toLowerCase();
  const segments = path.split('.');
  if (segments.length > 1 && segments.some((segment) => namedElsewhere.has(segment))) return path;
  const { format } = columnOf(path, view);
  const words = segments.map((segment) => columnWords.get(segment) ?? wordsOf(segment));
  const last = (words.pop() ?? '').replace(format === 'money' ? / cents$/ : /^(?:is|has) /, '');
  return [...words.filter((outer) => last !== outer), last].join(' ');
}

function wordsOf(name: string): string {
  return name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ').toLowerCase();
}

function flattened(row: Row, prefix: string): [string, unknown][] {
  return Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const isNested = isJsonObject(value) && Object.keys(value).length > 0 && !name.includes('.');
    return isNested ? flattened(value, path) : [[path, value]];
  });
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isRecords(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each) => typeof each === 'object' && each !== null && !isExactNumber(each))
  );
}

interface GridOptions {
  readonly width: number | undefined;
  readonly bold: (text: SafeText) => SafeText;
  /** Whether these columns were requested, so that none may be left out. */
  readonly isAsked: boolean;
  /** Said of columns that have no room: where to find them. */
  readonly elsewhere: string;
}

const inJson = ' (-o json has everything)';

function grid(
  rows: readonly Row[],
  columns: readonly Column[],
  { width, bold, isAsked, elsewhere }: GridOptions,
): SafeText {
  if (rows.length === 0) return vouch('');
  const cells = rows.map((row) => columns.map((column) => cellText(row, column)));
  const measured = columns.map((column, index) => ({
    column,
    natural: cells.reduce((most, row) => Math.max(most, widthOf(row[index] ?? '')), widthOf(safe(column.header))),
    isEmpty: cells.every((row) => row[index] === ''),
    isZero: cells.every((row) => row[index] === '' || row[index] === '0'),
  }));
  const fitted = fittedColumns(measured, { width, mayLeaveOut: !isAsked });
  const lineOf = (textOf: (each: FittedColumn) => string | undefined, style?: GridOptions['bold']) =>
    fitted
      .map((each) => aligned(textOf(each) ?? '', each, style))
      .join('  ')
      .trimEnd();
  const head = lineOf(({ column }) => safe(column.header), bold);
  const lines = cells.map((row) => lineOf(({ index, asDates }) => (asDates ? dateOf(row[index]) : row[index])));
  const missing = measured
    .filter(({ column, isZero }) => !isZero && fitted.every((each) => each.column !== column))
    .map(({ column }) => column.header);
  const note = missing.length > 0 ? say`no room for ${missing.join(', ')}${elsewhere}\n` : '';
  return vouch(`${[head, ...lines].join('\n')}\n${note}`);
}

/** The text in as many columns as there are. */
function aligned(text: string, { column, width }: FittedColumn, style: GridOptions['bold'] = vouch): string {
  const shown = cut(text, width);
  const space = ' '.repeat(width - widthOf(shown));
  return isRightAligned(column) ? `${space}${style(vouch(shown))}` : `${style(vouch(shown))}${space}`;
}

/** The text with an ellipsis in place of what has no room. Marks and joined emoji stay with their character. */
function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (/^[ -~]*$/.test(text)) return `${text.slice(0, width - 1)}…`;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (widthOf(kept + segment) >= width) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** `2026-03-01` of `2026-03-01T09:14:00Z`. */
function dateOf(time: SafeText | undefined): string | undefined {
  return time?.replace(/(?<=^\d{4}-\d\d-\d\d)T.*/, '');
}
