/** Events of a file in the batches in which they are sent, with the rows among them that are not events. */

import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';

import { BadRequestError, isFailureOfDisk, UnavailableError } from '../../errors.ts';
import { isAboutCsv, notCsv, rowWithoutEnd } from '../files/csv-file.ts';
import { measured, notUtf8, sniffed, unpacked, unpackOnce } from './input.ts';
import type { ImportFormat } from './input.ts';
import type { ImportedEvent, Mapping, MappingOptions } from './mapping.ts';
import { readEvents } from './readers.ts';
import type { RowUnit } from './readers.ts';

export interface RefusedRow {
  /** Line of the file on which the row begins, or number of the element in a JSON document; from 1. */
  readonly line: number;
  readonly reason: string;
}

export interface Batch {
  readonly events: readonly ImportedEvent[];
  /** For each event the line on which its row begins, counted as in `RefusedRow`. */
  readonly lines: ArrayLike<number>;
  readonly unit: RowUnit;
  readonly refused: readonly RefusedRow[];
  /** Line on which the last of these rows ends. */
  readonly lastLine: number;
  /** Bytes of the input read for this batch and those before. */
  readonly bytes: number;
  /** Whether this is the rest at the end of the input, smaller than a whole batch. */
  readonly isRest: boolean;
  /** The journal's hash of sending these events, if it is known already. */
  readonly requestHash?: string | undefined;
}

export type Batches = AsyncGenerator<Batch>;

export interface ReadingOptions {
  /** Found by the first character when not given. */
  readonly format?: ImportFormat | undefined;
  readonly delimiter: string;
  readonly mapping: MappingOptions;
  /** Most events in a batch, at least 1. */
  readonly batchSize: number;
  /** Events in the first batch; each further one has twice as many, up to `batchSize`, which is the default. */
  readonly firstBatchSize?: number | undefined;
}

export type OnStart = (mapping: Pick<Mapping, 'timestampColumn' | 'properties'>) => void;

/** Reads the batches of `input`, packed or not. Throws what stops the import: no header, a missing column, a damaged file. */
export async function* readBatches(input: Readable, options: ReadingOptions, onStart?: OnStart): Batches {
  try {
    yield* batchesOf(input, options, onStart);
  } catch (error) {
    // The sum that would tell stands at the end, so wrong rows may have been read, and sent.
    throw meaningOf(error, {
      ifCut: 'get all of it, and import that; rows that are done count once',
      ifWrong: 'get a sound copy, and import that; rows of this one may be wrong; see them with: tally usage events',
    });
  }
}

/** Bytes read from a file at a time: reported progress is ahead by no more. */
const readBytes = 256 * 1024;

/** The same of a file, which is read twice where it is packed: nothing is taken from one that is damaged. */
export async function* readFileBatches(path: string, options: ReadingOptions, onStart?: OnStart): Batches {
  try {
    await unpackOnce(path);
  } catch (error) {
    const ifCut = 'get all of it; nothing of this one was imported';
    throw meaningOf(error, { ifCut, ifWrong: 'get a sound copy; nothing of this one was imported' });
  }
  yield* readBatches(createReadStream(path, { highWaterMark: readBytes }), options, onStart);
}

interface Remedies {
  readonly ifCut: string;
  readonly ifWrong: string;
}

/** A failure of reading in the words of people, with what to do. */
function meaningOf(error: unknown, { ifCut, ifWrong }: Remedies): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code.startsWith('ERR_ENCODING_INVALID')) return notUtf8(undefined, error);
  if (code === 'CSV_MAX_RECORD_SIZE')
    return rowWithoutEnd((error as { readonly records?: number }).records ?? 0, error);
  if (isFailureOfDisk(error)) {
    return new UnavailableError(`the disk failed while the file was read (${code})`, {
      cause: error,
      hint: 'check its disk, or use a copy of the file',
    });
  }
  if (isAboutCsv(code)) return notCsv(error);
  if (!code.startsWith('Z_')) return error;
  return new BadRequestError(`the file is damaged: it cannot be decompressed: ${(error as Error).message}`, {
    cause: error,
    hint: code === 'Z_BUF_ERROR' ? `it is cut off: ${ifCut}` : ifWrong,
  });
}

async function* batchesOf(
  input: Readable,
  { format, delimiter, mapping, batchSize, firstBatchSize = batchSize }: ReadingOptions,
  onStart: OnStart | undefined,
): Batches {
  let bytes = 0;
  const unpackedInput = await unpacked(measured(input, (total) => (bytes = total)));
  const found = format === undefined ? await sniffed(unpackedInput) : { format, bytes: unpackedInput };
  let [events, lines, refused]: [ImportedEvent[], number[], RefusedRow[]] = [[], [], []];
  let end = 0;
  let countedBy: RowUnit = 'line';
  let size = Math.min(firstBatchSize, batchSize);
  for await (const rows of readEvents(found.format, found.bytes, { delimiter, mapping, onStart })) {
    for (const { unit = 'line', line, lastLine, mapped } of rows) {
      end = lastLine;
      countedBy = unit;
      if ('reason' in mapped) {
        refused.push({ line, reason: mapped.reason });
        continue;
      }
      events.push(mapped.event);
      lines.push(line);
      if (events.length < size) continue;
      yield { events, lines, unit, refused, lastLine: end, bytes, isRest: false };
      [events, lines, refused] = [[], [], []];
      size = Math.min(2 * size, batchSize);
    }
  }
  if (lines.length + refused.length > 0)
    yield { events, lines, unit: countedBy, refused, lastLine: end, bytes, isRest: true };
}
