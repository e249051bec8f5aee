/** A reader for each format: turns bytes into rows that are events, or say why they are not. */

import { pipeline, Readable } from 'node:stream';

import { BadRequestError, BillingError } from '../../errors.ts';
import { parseExactJson } from '../../exact-json.ts';
import { limits } from '../../limits.ts';
import { createLineCount, csvForm, isBlank, rowWithoutEnd, withoutHeader } from '../files/csv-file.ts';
import type { ParsedRecord } from '../files/csv-file.ts';
import { sniffed } from './input.ts';
import type { Bytes, ImportFormat } from './input.ts';
import { createMapping } from './mapping.ts';
import type { MappedRow, Mapping, MappingOptions } from './mapping.ts';
import { createRecordMapping } from './record-mapping.ts';

/** The unit in which rows of a file are counted. */
export type RowUnit = 'line' | 'element';

export interface ReadRow {
  /** `element` for a JSON document; `line` when not given. */
  readonly unit?: RowUnit;
  /** Line of the file on which the row begins, or number of the element in a JSON document. From 1. */
  readonly line: number;
  /** Line on which the row ends. */
  readonly lastLine: number;
  readonly mapped: MappedRow;
}

export interface ReaderOptions {
  readonly delimiter: string;
  readonly mapping: MappingOptions;
  readonly onStart: ((mapping: Mapping) => void) | undefined;
}

/** Rows that are available together: awaiting each one would cost more than reading it. */
export type ReadRows = AsyncGenerator<Iterable<ReadRow>>;

/** Throws what stops the whole import: no header, a missing column, a document that is not JSON. */
export async function* readEvents(format: ImportFormat, bytes: Bytes, options: ReaderOptions): ReadRows {
  if (format === 'csv') return yield* readTable(bytes, options);
  const isCloudEvents = format === 'cloudevents';
  const toEvent = createRecordMapping(options.mapping, { isCloudEvents });
  // A batch of CloudEvents is an array; otherwise each line has one.
  const found = isCloudEvents ? await sniffed(bytes) : { format, bytes };
  yield* found.format === 'json' ? readDocument(found.bytes, toEvent) : readLines(found.bytes, toEvent);
}

async function* readTable(bytes: Bytes, { delimiter, mapping: options, onStart }: ReaderOptions): ReadRows {
  const { parse } = await import('csv-parse');
  const parser = parse({ ...csvForm, delimiter, max_record_size: limits.rowBytes });
  const rowsSoFar = (): number => parser.info.records + parser.info.empty_lines;
  // A failure on the way reaches whoever reads the records.
  pipeline(Readable.from(checked(bytes, rowsSoFar), { objectMode: false }), parser, () => undefined);
  const linesOf = createLineCount();
  let mapping: Mapping | undefined;
  let end = 0;
  for await (const row of parser as AsyncIterable<ParsedRecord>) {
    const lines = linesOf(row);
    // Empty lines before the row count among its bytes, so more of them are only a reason to check.
    const mayBeLong = row.info.bytes - end > limits.bodyBytes;
    end = row.info.bytes;
    if (mapping === undefined) {
      mapping = createMapping(row.record, options);
      onStart?.(mapping);
      continue;
    }
    if (isBlank(row.record)) continue;
    yield [{ ...lines, mapped: mayBeLong && isLong(row.record) ? tooLong : mapping.toEvent(row.record) }];
  }
  if (mapping === undefined) throw withoutHeader();
}

function isLong(cells: readonly string[]): boolean {
  return cells.reduce((sum, cell) => sum + cell.length, 0) > limits.bodyBytes;
}

const tooLong: MappedRow = { reason: `is longer than ${limits.bodyBytes} characters` };

type ToEvent = (record: unknown) => MappedRow;

async function* readLines(bytes: Bytes, toEvent: ToEvent): ReadRows {
  let line = 0;
  for await (const texts of linesOf(bytes)) {
    yield mapLines(texts, { after: line, toEvent });
    line += texts.length;
  }
}

/** Yields rows one by one, so that no more of them are held than a batch takes. */
function* mapLines(
  texts: readonly string[],
  { after, toEvent }: { readonly after: number; readonly toEvent: ToEvent },
): Generator<ReadRow> {
  let line = after;
  for (const text of texts) {
    line += 1;
    if (text.length > limits.bodyBytes || text.trim() !== '')
      yield { line, lastLine: line, mapped: mapLine(text, toEvent) };
  }
}

function mapLine(text: string, toEvent: ToEvent): MappedRow {
  if (text.length > limits.bodyBytes) return tooLong;
  try {
    return toEvent(parseExactJson(text));
  } catch (error) {
    // The parser counts lines within the text, which would look wrong beside the file's line.
    if (error instanceof BillingError) {
      return { reason: error.message.replace(/ \(line 1 column \d+\)$/, '') };
    }
    throw error;
  }
}

/** One array of events, or one event. Held whole, unlike lines. */
async function* readDocument(bytes: Bytes, toEvent: ToEvent): ReadRows {
  const parts: string[] = [];
  let length = 0;
  for await (const part of textOf(bytes)) {
    parts.push(part);
    length += part.length;
    if (length > limits.importDocumentCharacters) {
      throw new BadRequestError(`a JSON document can have at most ${limits.importDocumentCharacters} characters`, {
        hint: 'write one event per line, and give --format jsonl',
      });
    }
  }
  const bounds = { depth: limits.jsonDepth, keys: limits.responseJsonKeys };
  const value = parseExactJson(parts.join(''), bounds);
  yield mapRecords(Array.isArray(value) ? value : [value], toEvent);
}

function* mapRecords(records: readonly unknown[], toEvent: ToEvent): Generator<ReadRow> {
  for (const [index, record] of records.entries()) {
    yield { unit: 'element', line: index + 1, lastLine: index + 1, mapped: toEvent(record) };
  }
}

/** Lines end with a line feed; other characters that count as line ends elsewhere may stand inside a text. */
async function* linesOf(bytes: Bytes): AsyncGenerator<readonly string[]> {
  const begun: string[] = [];
  let length = 0;
  for await (const part of textOf(bytes)) {
    const lines = part.split('\n');
    const rest = lines.pop() ?? '';
    if (lines.length > 0) {
      lines[0] = begun.splice(0).join('') + lines[0];
      length = 0;
      yield lines;
    }
    // A line that is already too long is refused whatever follows, and not kept: a small packed file may hold an endless one.
    if (length <= limits.bodyBytes) begun.push(rest);
    length += rest.length;
  }
  if (length > 0) yield [begun.join('')];
}

/**
 * The same bytes. Throws if they are not UTF-8, which the parser would replace by other characters, and if a row has no end:
 * the parser counts the characters of cells, and a small packed file may hold a row of any number of empty ones.
 */
async function* checked(bytes: Bytes, rowsSoFar: () => number): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rows = 0;
  let behind = 0;
  for await (const chunk of bytes) {
    decoder.decode(chunk, { stream: true });
    behind = rowsSoFar() === rows ? behind + chunk.length : 0;
    rows = rowsSoFar();
    // More than a row, because some bytes have not reached the parser yet, and belong to later rows.
    if (behind > limits.rowBytes + limits.bodyBytes) throw rowWithoutEnd(rows);
    yield chunk;
  }
  decoder.decode();
}

async function* textOf(bytes: Bytes): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}
