/** Events of a file as they are sent: so many at a time, with the rows among them that are none. */

import type { Readable } from 'node:stream';

import { BadRequestError } from '../../errors.ts';
import { isAboutCsv, rowWithoutEnd } from '../files/csv-file.ts';
import { counted, notUtf8, sniffed, unpacked } from './input.ts';
import type { ImportFormat } from './input.ts';
import type { ImportedEvent, Mapping, MappingOptions } from './mapping.ts';
import { readEvents } from './readers.ts';
import type { RowUnit } from './readers.ts';

export interface RefusedRow {
  /** Line of the file on which the row begins, or number of the element of a JSON document; from 1. */
  readonly line: number;
  readonly reason: string;
}

export interface Batch {
  readonly events: readonly ImportedEvent[];
  /** Of each event the line on which its row begins, counted as in `RefusedRow`. */
  readonly lines: ArrayLike<number>;
  readonly unit: RowUnit;
  readonly refused: readonly RefusedRow[];
  /** Line on which the last of these rows ends. */
  readonly lastLine: number;
  /** Bytes of the input that were read for it and those before. */
  readonly bytes: number;
  /** It is what was left at the end of the input, fewer than a whole one. */
  readonly isRest: boolean;
  /** What the journal calls sending these events, where it is known already. */
  readonly requestHash?: string | undefined;
}

export type Batches = AsyncGenerator<Batch>;

export interface ReadingOptions {
  /** Told by the first character when not given. */
  readonly format?: ImportFormat | undefined;
  readonly delimiter: string;
  readonly mapping: MappingOptions;
  /** Events in a batch at most, at least 1. */
  readonly batchSize: number;
  /** Events in the first batch: each has twice as many as the one before it, up to `batchSize`, which is meant when not given. */
  readonly firstBatchSize?: number | undefined;
}

export type OnStart = (mapping: Pick<Mapping, 'timestampColumn' | 'properties'>) => void;

/** `input` may be packed by gzip. Throws what stops the whole import: no header, a missing column, a file that is damaged. */
export async function* readBatches(input: Readable, options: ReadingOptions, onStart?: OnStart): Batches {
  try {
    yield* batchesOf(input, options, onStart);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code.startsWith('ERR_ENCODING_INVALID')) throw notUtf8(undefined, error);
    if (code === 'CSV_MAX_RECORD_SIZE')
      throw rowWithoutEnd((error as { readonly records?: number }).records ?? 0, error);
    const words = damageOf(code);
    throw words === undefined ? error : new BadRequestError(`${words}: ${(error as Error).message}`, { cause: error });
  }
}

/** What is wrong with a file, by the code of the failure. */
function damageOf(code: string): string | undefined {
  if (isAboutCsv(code)) return 'the file is no CSV';
  return code.startsWith('Z_') ? 'the file is damaged: it cannot be unpacked' : undefined;
}

async function* batchesOf(
  input: Readable,
  { format, delimiter, mapping, batchSize, firstBatchSize = batchSize }: ReadingOptions,
  onStart: OnStart | undefined,
): Batches {
  let bytes = 0;
  const unpackedInput = await unpacked(counted(input, (total) => (bytes = total)));
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
