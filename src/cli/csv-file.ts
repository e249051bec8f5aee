/** A small CSV file with a header, read as a whole. */

import { BadRequestError, BillingError } from '../errors.ts';
import { readTextFile } from './files.ts';
import type { Terminal } from './terminal.ts';

export interface CsvRow {
  /** Line of the file on which the row begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

export interface CsvFile {
  readonly header: readonly string[];
  readonly rows: readonly CsvRow[];
}

interface ParsedRecord {
  readonly record: string[];
  readonly info: { readonly lines: number };
}

/** Throws a usage error for a file that cannot be read, and BadRequestError for one that is no CSV or has no header. */
export async function readCsv(path: string, delimiter: string, terminal: Terminal): Promise<CsvFile> {
  const text = await readTextFile(path, terminal);
  const { parse } = await import('csv-parse/sync');
  const options = { bom: true, info: true, relax_column_count: true, skip_empty_lines: true, delimiter };
  const records = parsed(() => parse(text, options) as unknown as ParsedRecord[]);
  const [first, ...rest] = records;
  if (first === undefined) {
    throw new BadRequestError('the file is empty: a header line with the names of the columns comes first');
  }
  const header = first.record.map((name) => name.trim());
  return { header, rows: rest.map(({ record, info }) => ({ line: info.lines - lineBreaks(record), cells: record })) };
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_')) {
      throw new BadRequestError(`the file is no CSV: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

/** A quoted cell may hold line breaks; a row is reported by the line on which it begins. */
export function lineBreaks(record: readonly string[]): number {
  return record.reduce((sum, cell) => sum + (cell.includes('\n') ? cell.split('\n').length - 1 : 0), 0);
}

/** The character that `--delimiter` stands for. Throws a usage error for what is none. */
export function delimiterOf(text: string): string {
  const delimiter = text === String.raw`\t` || text === 'tab' ? '\t' : text;
  if (delimiter.length === 1 && delimiter !== '"' && delimiter !== '\n') return delimiter;
  throw new BillingError('usage', `--delimiter takes one character, not "${text}"`, {
    hint: String.raw`such as ; or \t`,
  });
}
