/** A small CSV file with a header, read whole. */

import { BadRequestError, BillingError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { counted } from '../terminal/safe-text.ts';
import { readTextFile } from './files.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface CsvRow {
  /** Line of the file on which the row begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

export interface CsvFile {
  readonly header: readonly string[];
  readonly rows: readonly CsvRow[];
}

export interface ParsedRecord {
  readonly record: string[];
  /** What was read up to the end of the record. */
  readonly info: { readonly lines: number; readonly bytes: number };
}

/** How every CSV file is read. Line ends may be mixed: a file that two programs wrote to has both. */
export const csvForm = {
  bom: true,
  info: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  skip_empty_lines: true,
};

/** Whether a parser error is about the file. One code has a different prefix. */
export function isAboutCsv(code: string): boolean {
  return code.startsWith('CSV_') || code === 'INVALID_OPENING_QUOTE';
}

/** What the parser says of the place at which it stopped. */
interface CsvFault extends Error {
  readonly code: string;
  /** Rows before this one, the header included, and empty lines before it, which are skipped. */
  readonly records: number;
  readonly empty_lines: number;
  /** Place of the cell in its row, from 0. */
  readonly index: number;
}

/** Not the line: the parser counts both characters of a CRLF inside a quoted cell. */
const rowOf = ({ records, empty_lines: empty }: CsvFault) => `row ${records + empty + 1}, counted with the header,`;
const faults: Readonly<Record<string, (fault: CsvFault) => string>> = {
  CSV_QUOTE_NOT_CLOSED: (fault) => `a quote in ${rowOf(fault)} is never closed`,
  INVALID_OPENING_QUOTE: (fault) =>
    `cell ${fault.index + 1} of ${rowOf(fault)} holds a quote, but does not begin with one`,
  CSV_INVALID_CLOSING_QUOTE: (fault) => `cell ${fault.index + 1} of ${rowOf(fault)} goes on behind its closing quote`,
};

/** The refusal of a file that the parser refuses: an error for which `isAboutCsv` is true. */
export function notCsv(
  error: unknown,
  hint = 'a cell that holds a quote is written in quotes, and each quote in it twice',
): BadRequestError {
  const fault = error as CsvFault;
  const reason = faults[fault.code]?.(fault) ?? fault.message;
  return new BadRequestError(`the file is not valid CSV: ${reason}`, { cause: error, hint });
}

/** Throws a usage error for a file that cannot be read, BadRequestError for one that is not CSV, `refuseEmpty` for an empty one. */
export async function readCsv(
  path: string,
  delimiter: string,
  terminal: Terminal,
  refuseEmpty = withoutHeader,
): Promise<CsvFile> {
  const text = await readTextFile(path, terminal);
  if (/^\s*[[{]/.test(text)) throw jsonInPlace();
  const { parse } = await import('csv-parse/sync');
  const records = parsed(text, () => parse(text, { ...csvForm, delimiter }) as unknown as ParsedRecord[], delimiter);
  const [first, ...rest] = records;
  if (first === undefined) throw refuseEmpty();
  const linesOf = createLineCount();
  linesOf(first);
  const rows = rest.map((parsedRow) => ({ line: linesOf(parsedRow).line, cells: parsedRow.record }));
  const filled = rows.filter(({ cells }) => !isBlank(cells));
  return { header: first.record.map((name) => name.trim()), rows: filled };
}

/** Whether a row says nothing: spreadsheets write such rows behind the last one that they show. */
export function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === '');
}

/** The parser would complain of a quote. */
function jsonInPlace(): BadRequestError {
  return new BadRequestError('the file is JSON, where CSV with a header line is read', {
    hint: 'make CSV of it, for example with @csv of jq',
  });
}

/** The refusal of a file without even a header. */
export function withoutHeader(): BadRequestError {
  return new BadRequestError('the file is empty: it must begin with a header line of column names');
}

/** The refusal of a file with a row too long to be read to its end, after `rows` rows, the header included. */
export function rowWithoutEnd(rows: number, cause?: unknown): BadRequestError {
  return new BadRequestError(`the row after the first ${rows} is longer than ${limits.rowBytes} characters`, {
    cause,
    hint: 'look there for an unclosed quote or a missing line end',
  });
}

function parsed<T>(text: string, parse: () => T, delimiter: string): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && isAboutCsv(String(error.code)))) throw error;
    const [header = ''] = text.split(/\r?\n/, 1);
    // If another delimiter was meant, the parser complains of a quoted cell in the middle of a line.
    throw notCsv(error, header.includes(delimiter) ? undefined : delimiterHint([header]));
  }
}

/**
 * Returns the first and last line of each row, called with all rows in order, the header included. A quoted cell may hold line
 * breaks, and the parser counts both characters of a CRLF inside one.
 */
export function createLineCount(): (row: ParsedRecord) => { readonly line: number; readonly lastLine: number } {
  let countedTwice = 0;
  return ({ record, info }) => {
    let breaks = 0;
    for (const cell of record) {
      if (!/[\r\n]/.test(cell)) continue;
      breaks += cell.split(/\r\n|[\r\n]/).length - 1;
      countedTwice += cell.split('\r\n').length - 1;
    }
    const lastLine = info.lines - countedTwice;
    return { line: lastLine - breaks, lastLine };
  };
}

/** What is wrong with a row of more or fewer cells than the header has columns. */
export function otherWidth(cells: readonly unknown[], header: readonly unknown[]): string {
  return `has ${counted(cells.length, 'column')} where the header has ${header.length}`;
}

/** A header of one column more often has another delimiter than only one name; undefined if nothing suggests that. */
export function delimiterHint(header: readonly string[]): string | undefined {
  const delimiter = header.length === 1 ? /[;\t|,]/.exec(header[0] ?? '')?.[0] : undefined;
  if (delimiter === undefined) return undefined;
  return `if that is several columns, give --delimiter ${delimiter === '\t' ? 'tab' : `'${delimiter}'`}`;
}

/** The character that `--delimiter` stands for. Throws a usage error for anything else. */
export function delimiterOf(text: string): string {
  const delimiter = text === String.raw`\t` || text === 'tab' ? '\t' : text;
  if (delimiter.length === 1 && delimiter !== '"' && delimiter !== '\n') return delimiter;
  throw new BillingError('usage', `--delimiter takes one character, not "${text}"`, {
    hint: String.raw`such as ; or \t`,
  });
}
