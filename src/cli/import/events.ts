/**
 * Events from a file into a service, in batches that are accepted or refused as one. A refused row is taken out by its
 * index and reported, and the rest of its batch goes on. Repeating an import changes nothing, since rows keep their keys.
 */

import type { Readable } from 'node:stream';

import { BadRequestError, BillingError } from '../../errors.ts';
import type { Billing } from '../../operations/index.ts';
import { isAboutCsv } from '../csv-file.ts';
import { counted, sniffed, unpacked } from './input.ts';
import type { ImportFormat } from './input.ts';
import type { ImportedEvent, Mapping, MappingOptions } from './mapping.ts';
import { readEvents } from './readers.ts';
import type { ReadRows } from './readers.ts';

export interface RefusedRow {
  /** Line of the file on which the row begins, or number of the element of a JSON document; from 1. */
  readonly line: number;
  readonly reason: string;
}

export interface ImportReport {
  /** Rows read, the header not counted. */
  readonly rows: number;
  readonly accepted: number;
  readonly refused: readonly RefusedRow[];
  /** False when it was stopped: rows up to `lastLine` are done, and the rest was not read. */
  readonly isComplete: boolean;
  readonly lastLine: number;
}

export interface ImportOptions {
  /** Packed by gzip or not. */
  readonly input: Readable;
  /** Told by the first character when not given. */
  readonly format?: ImportFormat | undefined;
  readonly delimiter: string;
  readonly batchSize: number;
  readonly mapping: MappingOptions;
  /** Absent for a rehearsal: rows are mapped and checked, and nothing is sent. */
  readonly billing: Billing | undefined;
  /** Path of the module that reads in a thread of its own; read in this one where it is not given. */
  readonly readingThread?: string | undefined;
  readonly onStart?: (mapping: Pick<Mapping, 'timestampColumn' | 'properties'>) => void;
  /** Called after each batch with the bytes of input that are done. */
  readonly onProgress?: (progress: { readonly rows: number; readonly bytes: number }) => void;
  readonly signal?: AbortSignal;
}

interface PendingRow {
  readonly line: number;
  readonly event: ImportedEvent;
}

/** Throws what stops the whole import: no header, a missing column, a service that cannot be reached. */
export async function importEvents(options: ImportOptions): Promise<ImportReport> {
  let rows = 0;
  let accepted = 0;
  let bytes = 0;
  let lastLine = 0;
  let currentLine = 0;
  const refused: RefusedRow[] = [];
  let pending: PendingRow[] = [];
  const flush = async () => {
    accepted += await send(options.billing, pending, refused);
    pending = [];
    lastLine = currentLine;
  };
  try {
    for await (const found of await openRows(options, (done) => (bytes = done))) {
      for (const { line, lastLine: end, mapped } of found) {
        currentLine = end;
        rows += 1;
        if ('event' in mapped) pending.push({ line, event: mapped.event });
        else refused.push({ line, reason: mapped.reason });
        if (pending.length < options.batchSize) continue;
        await flush();
        options.onProgress?.({ rows, bytes });
        if (options.signal?.aborted === true)
          return { rows, accepted, refused: sorted(refused), isComplete: false, lastLine };
      }
    }
  } catch (error) {
    throw explained(error, lastLine);
  }
  await flush();
  return { rows, accepted, refused: sorted(refused), isComplete: true, lastLine };
}

/** The rows of the input, unpacked, in the format that is given or that its first character tells. */
async function openRows(
  { input, format, delimiter, mapping, readingThread, onStart }: ImportOptions,
  onBytes: (done: number) => void,
): Promise<ReadRows> {
  let read = 0;
  let isInThread = false;
  const onRead = (total: number) => {
    read = total;
    if (!isInThread) onBytes(total);
  };
  const bytes = await unpacked(counted(input, onRead));
  const found = format === undefined ? await sniffed(bytes) : { format, bytes };
  const options = { format: found.format, delimiter, mapping, onStart };
  // A document of JSON is read as a whole before its first row.
  const isByRows = found.format === 'csv' || found.format === 'jsonl';
  if (readingThread === undefined || !isByRows) return readEvents(found.format, found.bytes, options);
  const { readInThread } = await import('./read-in-thread.ts');
  isInThread = true;
  return readInThread(found.bytes, { ...options, module: readingThread, bytesRead: () => read, onTaken: onBytes });
}

/** How many of the rows were accepted; the others are added to `refused`. */
async function send(
  billing: Billing | undefined,
  batch: readonly PendingRow[],
  refused: RefusedRow[],
): Promise<number> {
  if (batch.length === 0) return 0;
  if (billing === undefined) return batch.length;
  try {
    await billing.call('usage.ingestBatch', { body: { events: batch.map((row) => row.event) } });
    return batch.length;
  } catch (error) {
    if (!(error instanceof BillingError) || !isAboutRows(error)) throw error;
    return await sendWithout(billing, batch, { error, refused });
  }
}

function isAboutRows(error: BillingError): boolean {
  return error.kind === 'invalidInput' || error.kind === 'conflict' || error.kind === 'payloadTooLarge';
}

/** The refusal names events by index; where it names none, halves are tried until the row stands alone. */
async function sendWithout(
  billing: Billing,
  batch: readonly PendingRow[],
  { error, refused }: { readonly error: BillingError; readonly refused: RefusedRow[] },
): Promise<number> {
  const reasons = error.kind === 'payloadTooLarge' ? new Map<number, string>() : reasonsByIndex(error.message);
  if (reasons.size > 0) {
    for (const [index, reason] of reasons) {
      const row = batch[index];
      if (row !== undefined) refused.push({ line: row.line, reason });
    }
    return await send(
      billing,
      batch.filter((_row, index) => !reasons.has(index)),
      refused,
    );
  }
  const [only] = batch;
  if (batch.length === 1 && only !== undefined) {
    refused.push({ line: only.line, reason: error.message });
    return 0;
  }
  const middle = Math.ceil(batch.length / 2);
  const first = await send(billing, batch.slice(0, middle), refused);
  return first + (await send(billing, batch.slice(middle), refused));
}

/** `events[3].timestamp: is too late; events[7]: …` by index, in the words of the refusal. */
function reasonsByIndex(message: string): Map<number, string> {
  const reasons = new Map<number, string>();
  for (const match of message.matchAll(/events\[(\d+)\]\.?(.*?)(?=; events\[|$)/gs)) {
    const index = Number(match[1]);
    const words = (match[2] ?? '').replace(/^: /, '');
    const earlier = reasons.get(index);
    reasons.set(index, earlier === undefined ? words : `${earlier}; ${words}`);
  }
  return reasons;
}

function sorted(refused: readonly RefusedRow[]): RefusedRow[] {
  return refused.toSorted((a, b) => a.line - b.line);
}

/** What stopped the import half-way says how far it came: repeating it is safe. */
function explained(error: unknown, lastLine: number): unknown {
  const done = lastLine > 1 ? ` (lines up to ${lastLine} are done; repeat the import to go on)` : '';
  if (error instanceof BillingError) {
    return new BillingError(error.kind, `${error.message}${done}`, {
      cause: error,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    });
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const words = damageOf(code);
  if (!(error instanceof Error) || words === undefined) return error;
  return new BadRequestError(`${words}: ${error.message}${done}`, { cause: error });
}

/** What is wrong with a file, by the code of the failure. */
function damageOf(code: string): string | undefined {
  if (isAboutCsv(code)) return 'the file is no CSV';
  if (code.startsWith('Z_')) return 'the file is damaged: it cannot be unpacked';
  return code.startsWith('ERR_ENCODING_INVALID') ? 'the file is not UTF-8 text' : undefined;
}
