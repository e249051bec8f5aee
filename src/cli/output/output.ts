/** One answer in each format. Formats for scripts carry wire values; the table is for people (table.ts). */

import { BillingError } from '../../errors.ts';
import { isExactNumber, isNumberText } from '../../exact-json.ts';
import type { Column, View } from '../../operations/operation.ts';
import { outputFormats, printedBy } from '../command-line/global-flags.ts';
import type { GlobalFlags, OutputFormat } from '../command-line/global-flags.ts';
import { columnOf, folded, isRightAligned, rowsOf, valueAt, wireText } from '../wire/rows.ts';
import type { Row, Rows } from '../wire/rows.ts';
import { asLines, safe, safeJson, safeLines, vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { OutputStream, Terminal } from '../terminal/terminal.ts';

export interface OutputChoice {
  readonly format: OutputFormat;
  /** Fields of `--json a,b`: only the rows, with these members. */
  readonly jsonFields?: readonly string[] | undefined;
  /** Fields of `--columns`. */
  readonly columns?: readonly string[] | undefined;
  /** Expression of `--jq`, applied to what is printed as JSON. */
  readonly jq?: string | undefined;
  /** Whether CSV keeps texts as they are, for programs, even those that a spreadsheet would run as a formula. */
  readonly isRaw?: boolean;
}

export type OutputFlags = Pick<GlobalFlags, 'output' | 'json' | 'columns' | 'jq' | 'raw'>;

/** The format that the flags ask for; without one a table on a terminal, and TSV elsewhere. */
export function chooseOutput(flags: OutputFlags, stdout: OutputStream): OutputChoice {
  const format = askedFormat(flags) ?? (stdout.isTerminal ? 'table' : 'tsv');
  if (!isFormat(format)) {
    throw new BillingError('usage', `-o ${format}: not a known format`, {
      hint: `give one of ${outputFormats.join(', ')}`,
    });
  }
  if (flags.json !== undefined && format !== 'json' && format !== 'jsonl') {
    throw new BillingError('usage', `--json and -o ${format} ask for two formats`, { hint: 'give one of them' });
  }
  if (flags.jq !== undefined && format !== 'json') {
    throw new BillingError('usage', `--jq works on JSON, not on ${format}`, { hint: 'leave out -o, or give -o json' });
  }
  if (flags.columns !== undefined && printedBy[format] !== 'columns') {
    throw new BillingError('usage', `--columns cannot be used with ${format}`, { hint: 'use --json FIELDS' });
  }
  if (flags.raw === true && format !== 'csv') {
    throw new BillingError('usage', '--raw is for -o csv alone', { hint: 'leave it out, or give -o csv' });
  }
  const fields = typeof flags.json === 'string' ? splitNames(flags.json) : undefined;
  const columns = flags.columns === undefined ? undefined : splitNames(flags.columns);
  return { format, jsonFields: fields, columns, jq: flags.jq, isRaw: flags.raw === true };
}

/** Throws a usage error for a format that a command does not have; `formats` are those that it has. */
export function allowFormats(flags: OutputFlags, formats: readonly OutputFormat[]): void {
  const asked = askedFormat(flags);
  const has = formats.length === 0 ? 'it prints plain text only' : `its formats are ${formats.join(', ')}`;
  if (asked !== undefined && !(formats as readonly string[]).includes(asked)) {
    throw new BillingError('usage', `-o ${asked} cannot be used with this command`, { hint: has });
  }
  if (flags.columns !== undefined && !formats.includes('table')) {
    throw new BillingError('usage', '--columns cannot be used with this command', { hint: has });
  }
}

/** Throws a usage error for another format than JSON, and for fields: `what` is printed whole. */
export function allowWholeJson(
  what: string,
  { flags, output }: { readonly flags: OutputFlags; readonly output: OutputChoice },
): void {
  allowFormats(flags, ['json']);
  if (output.jsonFields === undefined) return;
  throw new BillingError('usage', `${what} is printed whole`, { hint: 'give --jq EXPRESSION' });
}

function askedFormat({ output, json, jq }: OutputFlags): string | undefined {
  return output ?? (json === undefined && jq === undefined ? undefined : 'json');
}

/** The text of an answer, ending in a line end if it is not empty. */
export async function render(
  body: unknown,
  view: View,
  options: {
    readonly choice: OutputChoice;
    readonly fields: readonly string[];
    readonly stdout: OutputStream;
    readonly isBeside?: boolean;
  },
): Promise<SafeText> {
  const { choice, fields, stdout, isBeside = false } = options;
  const found = rowsOf(body, view);
  const { format, jsonFields } = choice;
  checkFields(choice, fields, view);
  if (format === 'json') return await jsonAnswer(jsonFields === undefined ? body : picked(found, jsonFields), choice);
  if (format === 'yaml') return await (await import('../wire/yaml-text.ts')).yamlText(body);
  const lined = await lineText(view, choice, fields);
  if (lined !== undefined) return vouch(`${lined.begin}${lined.rows(found.rows, true)}`);
  const columns = columnsOf(view, choice);
  if (view.layout !== undefined && columns === undefined) {
    const { layouts } = await import('../views/layouts.ts');
    return (await layouts[view.layout]())(body, stdout);
  }
  const { table } = await import('./table.ts');
  return table(body, view, { found, columns, stdout, isBeside });
}

/** Prints an answer in the chosen format. `fields` are those that can be picked, by default what the columns show. */
export async function printBody(
  body: unknown,
  { view, fields = columnPaths(view) }: { readonly view: View; readonly fields?: readonly string[] },
  { terminal, output }: { readonly terminal: Terminal; readonly output: OutputChoice },
): Promise<void> {
  terminal.out(await render(body, view, { choice: output, fields, stdout: terminal.stdout }));
}

/** Prints a JSON Schema as it is written, or what `--jq` makes of it. Throws a usage error for another format. */
export async function printSchema(
  schema: string,
  {
    terminal,
    flags,
    output,
  }: { readonly terminal: Terminal; readonly flags: OutputFlags; readonly output: OutputChoice },
): Promise<void> {
  allowWholeJson('a schema', { flags, output });
  terminal.out(output.jq === undefined ? vouch(schema) : await (await import('./jq.ts')).jqLines(schema, output.jq));
}

/** What the columns of a view show. */
export function columnPaths({ columns }: View): string[] {
  return columns.map(({ path }) => path);
}

/** A list whose rows come in parts. */
export interface ListText {
  readonly begin: SafeText;
  readonly rows: (rows: readonly Row[], isFirst: boolean) => SafeText;
  /** `beside` are the members that the answer has besides its rows. */
  readonly end: (list: { readonly count: number; readonly beside: Row }) => SafeText;
}

/** The text that `render` makes of a whole list, in parts; undefined for a format that needs all rows at once. */
export async function listText(
  view: View,
  { choice, fields }: { readonly choice: OutputChoice; readonly fields: readonly string[] },
): Promise<ListText | undefined> {
  if (choice.format === 'yaml') return await yamlList();
  if (choice.format !== 'json') return await lineText(view, choice, fields);
  return choice.jq === undefined ? jsonList(choice.jsonFields) : undefined;
}

/** The text of a format with a line or a record for each row. */
async function lineText(view: View, choice: OutputChoice, fields: readonly string[]): Promise<ListText | undefined> {
  const nothing = vouch('');
  const ofRows = (rows: ListText['rows']): ListText => ({ begin: nothing, rows, end: () => nothing });
  const { format, jsonFields } = choice;
  if (format === 'jsonl') {
    return ofRows((rows) => jsonLines(jsonFields === undefined ? rows : pickedRows(rows, jsonFields)));
  }
  if (format === 'name') {
    const field = nameField(fields) ?? view.columns[0]?.path ?? '';
    // The balances of a statement stand among its entries but have no id: an empty line would be taken for one.
    const named = (rows: readonly Row[]) => rows.map((row) => wireText(row[field])).filter((text) => text !== '');
    return ofRows((rows) => asLines(named(rows).map(safe)));
  }
  const columns = columnsOf(view, choice) ?? view.columns;
  if (format === 'tsv') return ofRows((rows) => tsv(rows, columns));
  return format === 'csv' ? await csvText(columns, choice) : undefined;
}

function columnsOf(view: View, { columns }: OutputChoice): Column[] | undefined {
  return columns?.map((name) => columnOf(name, view));
}

/** The same text as `jsonDocument` of an answer with these rows, or of the rows alone if fields are picked. */
function jsonList(fields: readonly string[] | undefined): ListText {
  const [head, indent, tail] = fields === undefined ? ['{\n  "data": ', '  ', '\n}\n'] : ['', '', '\n'];
  return {
    begin: vouch(`${head}[`),
    rows(rows, isFirst) {
      const texts = (fields === undefined ? rows : pickedRows(rows, fields)).map(
        (row) => `\n${JSON.stringify(row, undefined, 2)}`,
      );
      const joined = texts.join(',').replaceAll('\n', `\n${indent}  `);
      return safeJson(isFirst ? joined : `,${joined}`);
    },
    end({ count, beside }) {
      const shown = Object.entries(fields === undefined ? beside : {}).filter(([, value]) => value !== undefined);
      const others = shown.map(([name, value]) => `,\n  ${JSON.stringify(name)}: ${JSON.stringify(value)}`);
      return vouch(`${count === 0 ? '' : `\n${indent}`}]${others.join('')}${tail}`);
    },
  };
}

/** The same text as that of an answer with these rows. */
async function yamlList(): Promise<ListText> {
  const textOf = await (await import('../wire/yaml-text.ts')).yamlWriter();
  return {
    begin: vouch('data:'),
    // Before each part its line end, because the text of no rows stands on the first line.
    rows: (rows) => vouch(textOf({ data: rows }).slice('data:'.length, -1)),
    end({ count, beside }) {
      const others = Object.keys(beside).length === 0 ? '' : textOf(beside);
      return vouch(`${count === 0 ? ' []' : ''}\n${others}`);
    },
  };
}

/** One JSON document, or what `--jq` makes of it. */
export async function jsonAnswer(value: unknown, { jq }: Pick<OutputChoice, 'jq'>): Promise<SafeText> {
  if (jq === undefined) return jsonDocument(value);
  const { jqLines } = await import('./jq.ts');
  return await jqLines(JSON.stringify(value), jq);
}

/** Called with the rows of a list, page by page, throws what printing all of them would once they are more than `--jq` takes. */
export async function jqBound({ jq, jsonFields }: OutputChoice): Promise<(rows: readonly Row[]) => void> {
  if (jq === undefined) return () => undefined;
  const { refuseLong } = await import('./jq.ts');
  let characters = 0;
  return (rows) => {
    // Without its brackets, but with a comma to the next page.
    characters += JSON.stringify(jsonFields === undefined ? rows : pickedRows(rows, jsonFields)).length - 1;
    refuseLong(characters);
  };
}

/** One JSON document, with the digits of every number as they came. */
function jsonDocument(value: unknown): SafeText {
  return safeJson(`${JSON.stringify(value, undefined, 2)}\n`);
}

function jsonLines(rows: readonly unknown[]): SafeText {
  return safeJson(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}

function picked(found: Rows, fields: readonly string[]): unknown {
  const rows = pickedRows(found.rows, fields);
  return found.isList ? rows : (rows[0] ?? {});
}

function pickedRows(rows: readonly Row[], fields: readonly string[]): Row[] {
  return rows.map((row) => Object.fromEntries(fields.map((field) => [field, valueAt(row, field) ?? null])));
}

/** Refuses a misspelt field before anything is done: it would be an empty column that nobody notices. */
export function checkFields(choice: OutputChoice, fields: readonly string[], view: View): void {
  if (fields.length === 0) return;
  if (choice.format === 'name' && nameField(fields) === undefined) {
    throw new BillingError('usage', '-o name cannot be used with this command: what it prints has no ids', {
      hint: `its formats are ${outputFormats.filter((format) => format !== 'name').join(', ')}`,
    });
  }
  const included = Object.values(view.included ?? {}).flat();
  const columns = [...view.columns, ...included];
  const headers = columns.map((column) => folded(column.header));
  const asked = [
    ...(choice.jsonFields ?? []),
    ...(choice.columns ?? []).filter((name) => !headers.includes(folded(name))),
  ];
  const unknown = asked.find((name) => !fields.includes(name.split('.')[0] ?? ''));
  if (unknown !== undefined) {
    const inner = columns.find(({ path }) => path.endsWith(`.${unknown}`))?.path;
    throw noField(unknown, inner === undefined ? `the fields are ${fields.join(', ')}` : `did you mean ${inner}?`);
  }
  const ofList = asked.find((name) => isOfWholeList(name, view));
  if (ofList !== undefined) throw noField(ofList, `did you mean ${ofList.replace('.', '.*.')}?`);
}

function noField(name: string, hint: string): BillingError {
  return new BillingError('usage', `there is no field "${name}"`, { hint });
}

/** Whether it names a field of a list, and not one of its elements: `invoices.totalCents`. */
function isOfWholeList(name: string, { parts = {} }: View): boolean {
  const [list = '', inner] = name.split('.');
  return inner !== undefined && Object.hasOwn(parts, list) && !/^(?:\*|\d+)$/.test(inner);
}

/** The field that `-o name` prints. */
function nameField(fields: readonly string[]): string | undefined {
  return ['id', 'name', 'command'].find((field) => fields.includes(field));
}

/** TSV without a header. Control characters, tabs and line ends inside a value are made visible, so that a row is a line. */
function tsv(rows: readonly Row[], columns: readonly Column[]): SafeText {
  return asLines(
    rows.map((row) => vouch(columns.map((column) => safe(wireText(valueAt(row, column.path)))).join('\t'))),
  );
}

async function csvText(columns: readonly Column[], { isRaw = false }: OutputChoice): Promise<ListText> {
  const { stringify } = await import('csv-stringify/sync');
  const cellOf = isRaw ? csvCell : spreadsheetCell;
  const textOf = (records: (string | number)[][]): SafeText => vouch(stringify(records, { quoted_string: true }));
  return {
    begin: textOf([columns.map((column) => column.path)]),
    rows: (rows) => textOf(rows.map((row) => columns.map((column) => cellOf(valueAt(row, column.path), column)))),
    end: () => vouch(''),
  };
}

/**
 * A text that a spreadsheet would run as a formula gets a leading apostrophe (security 4, SEC-22). Numbers stay numbers,
 * including decimals that the wire sends as text: a negative amount also begins with a minus sign.
 */
export function spreadsheetCell(value: unknown, column: Column): string | number {
  const cell = csvCell(value);
  if (typeof cell === 'number') return cell;
  const text = wireText(value);
  const isNumber = isExactNumber(value) || (isRightAligned(column) && isNumberText(text));
  return !isNumber && /^\s*[=+\-@\t\r\n\u0000＝＋－＠]/u.test(text) ? `'${cell}` : cell;
}

/** Characters on which a terminal acts are made visible. */
function csvCell(value: unknown): string | number {
  return typeof value === 'number' ? value : safeLines(wireText(value));
}

function splitNames(text: string): string[] {
  return text.split(',').map((name) => name.trim());
}

function isFormat(text: string): text is OutputFormat {
  return Object.hasOwn(printedBy, text);
}
