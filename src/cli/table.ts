/** Answers for people: a table as wide as the terminal at most, or the fields of one record below each other. */

import { Chalk } from 'chalk';
import Table from 'cli-table3';

import { isExactNumber } from '../exact-json.ts';
import type { Column, View } from '../operations/operation.ts';
import { cellText, columnOf, isRightAligned, valueAt } from './rows.ts';
import type { Row, Rows } from './rows.ts';
import { safe, vouch } from './safe-text.ts';
import type { SafeText } from './safe-text.ts';
import type { OutputStream } from './terminal.ts';

const noBorders = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
} as const;

export interface TableOptions {
  readonly found: Rows;
  /** Columns that were asked for; the view's when none were. */
  readonly columns: readonly Column[] | undefined;
  readonly stdout: OutputStream;
}

/** A table for a list; for one record its fields, unless columns were asked for. */
export function table(body: unknown, view: View, { found, columns, stdout }: TableOptions): SafeText {
  const bold = (text: SafeText) => vouch(new Chalk({ level: stdout.hasColor ? 1 : 0 }).bold(text));
  const draw = (rows: readonly Row[], shown: readonly Column[]) => grid(rows, shown, { width: stdout.columns, bold });
  if (found.isList || columns !== undefined) {
    const above = columns === undefined ? summaryOf(body, view) : {};
    const summary = Object.keys(above).length > 0 ? `${fieldLines(above, { view, bold, draw })}\n` : '';
    return vouch(summary + draw(found.rows, columns ?? view.columns));
  }
  return vouch(found.rows.map((row) => fieldLines(row, { view, bold, draw })).join('\n'));
}

/** What stands beside the rows in an answer: totals and the like. */
function summaryOf(body: unknown, view: View): Row {
  const path = view.rows.split('.');
  const parent = path.length < 2 ? undefined : valueAt(body, path.slice(0, -1).join('.'));
  if (typeof parent !== 'object' || parent === null) return {};
  return Object.fromEntries(Object.entries(parent).filter(([name]) => name !== path.at(-1)));
}

interface Style {
  readonly view: View;
  readonly bold: (text: SafeText) => SafeText;
  readonly draw: (rows: readonly Row[], columns: readonly Column[]) => SafeText;
}

/** `label  value` for each field, then the lists of records below under theirs. */
function fieldLines(row: Row, { view, bold, draw }: Style): SafeText {
  const fields = flattened(row, '');
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

/** Every plain field of the records, in the order of the first that has it. */
function columnsOf(rows: readonly Row[]): Column[] {
  const paths = new Set(rows.flatMap((row) => flattened(row, '').map(([path]) => path)));
  const unknown = { rows: '', columns: [] };
  const labels = labelsOf([...paths], unknown);
  return [...paths].map((path) => ({
    ...columnOf(path, unknown),
    header: (labels.get(path) ?? path).toUpperCase(),
  }));
}

/** Members whose own members somebody else has named. */
const namedElsewhere: ReadonlySet<string> = new Set(['metadata', 'properties', 'groupValues']);

/**
 * The fields of a record in words, by path: what its column is called, or its path without units. An outer word that one of
 * its own members repeats (`balance.creditBalance`) says nothing, and is left out where no other field has the words that
 * are left; others are whose it is (`organization.name`, `projected.creditBalance`).
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
  const words = segments.map(wordsOf);
  const last = (words.pop() ?? '').replace(format === 'money' ? / cents$/ : /^(?:is|has) /, '');
  return [...words.filter((outer) => last !== outer), last].join(' ');
}

function wordsOf(name: string): string {
  return name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ').toLowerCase();
}

function flattened(row: Row, prefix: string): [string, unknown][] {
  return Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const isNested = typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
    return isNested && Object.keys(value).length > 0 && !name.includes('.')
      ? flattened(value as Row, path)
      : [[path, value]];
  });
}

function isRecords(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each) => typeof each === 'object' && each !== null && !isExactNumber(each))
  );
}

function grid(
  rows: readonly Row[],
  columns: readonly Column[],
  options: { readonly width: number | undefined; readonly bold: (text: SafeText) => SafeText },
): SafeText {
  if (rows.length === 0) return vouch('');
  const cells = rows.map((row) => columns.map((column) => cellText(row, column)));
  const drawn = (widths: readonly (number | null)[]) => {
    const drawing = new Table({
      head: columns.map((column) => options.bold(safe(column.header))),
      chars: noBorders,
      colAligns: columns.map((column) => (isRightAligned(column) ? 'right' : 'left')),
      colWidths: [...widths],
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
    });
    drawing.push(...cells.map((row) => [...row]));
    const text = drawing.toString();
    return { text, widths: drawing.options.colWidths.map((width) => width ?? 0) };
  };
  const natural = drawn([]);
  const widths = options.width === undefined ? natural.widths : fitted(natural.widths, columns, options.width);
  const text = widths.some((width, index) => width !== natural.widths[index]) ? drawn(widths).text : natural.text;
  return vouch(
    `${text
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')}\n`,
  );
}

const gap = 2;
const narrowest = 8;

/**
 * Takes columns off the widest column that may be cut until the table fits: first ids of other things, then texts, then
 * times. The id of a row is cut last, since half of one cannot be copied, and an amount never, since half of one is another.
 */
function fitted(natural: readonly number[], columns: readonly Column[], width: number): number[] {
  const widths = [...natural];
  const room = width - gap * (columns.length - 1);
  for (const kind of cutInTurn) {
    const mayCut = (index: number) => kindOf(columns[index]) === kind;
    let excess = widths.reduce((sum, each) => sum + each, 0) - room;
    while (excess > 0) {
      const widest = widestOf(widths, mayCut);
      if (widest === undefined) break;
      widths[widest] = (widths[widest] ?? 0) - 1;
      excess -= 1;
    }
  }
  return widths;
}

const cutInTurn = ['otherId', 'text', 'time', 'id'] as const;

function kindOf(column: Column | undefined): (typeof cutInTurn)[number] | 'amount' {
  if (column === undefined || isRightAligned(column)) return 'amount';
  if (column.path.endsWith('Id')) return 'otherId';
  if (column.path === 'id') return 'id';
  return column.format === 'timestamp' || column.format === 'date' ? 'time' : 'text';
}

function widestOf(widths: readonly number[], mayCut: (index: number) => boolean): number | undefined {
  let widest: number | undefined;
  for (const [index, width] of widths.entries()) {
    if (width > narrowest && mayCut(index) && width > (widest === undefined ? 0 : (widths[widest] ?? 0)))
      widest = index;
  }
  return widest;
}
