/** The bytes of a file of events, unpacked if they are packed, and their format. */

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';

import { BadRequestError } from '../../errors.ts';
import { beginsWith, encodingHint, gzipMagic, noTextHint, wideEncodingOf, zstdMagic } from '../files/files.ts';

export const importFormats = ['csv', 'jsonl', 'json', 'cloudevents'] as const;
export type ImportFormat = (typeof importFormats)[number];

export type Bytes = AsyncIterable<Uint8Array>;

/** The format of `--format`, else of the file's name; undefined if the first character has to tell. */
export function formatOf(file: string, given: ImportFormat | undefined): ImportFormat | undefined {
  if (given !== undefined) return given;
  const name = file.toLowerCase().replace(/\.gz$/, '');
  if (/\.(?:csv|tsv|txt)$/.test(name)) return 'csv';
  if (/\.(?:jsonl|ndjson)$/.test(name)) return 'jsonl';
  return name.endsWith('.json') ? 'json' : undefined;
}

/** The format by the first character: JSON begins with a bracket, a header of columns does not. */
export async function sniffed(bytes: Bytes): Promise<{ readonly format: ImportFormat; readonly bytes: Bytes }> {
  const { head, whole } = await peeked(bytes, 512);
  const [first] = new TextDecoder().decode(head).trimStart();
  return { format: first === '{' ? 'jsonl' : first === '[' ? 'json' : 'csv', bytes: whole };
}

/**
 * The bytes, unpacked if they are gzip, whatever the file is called. Throws for zstd, UTF-16 and workbooks: the message about
 * other encodings would mislead.
 */
export async function unpacked(bytes: Bytes): Promise<Bytes> {
  const { head, whole } = await peeked(bytes, zstdMagic.length);
  if (beginsWith(head, zstdMagic)) {
    throw new BadRequestError('the file is compressed with zstd: it must be compressed with gzip, or not at all', {
      hint: 'decompress it on the way, for example: zstd -dc FILE | tally import events - …',
    });
  }
  if (!beginsWith(head, gzipMagic)) {
    if (wideEncodingOf(head) !== undefined || noTextHint(head) !== undefined) throw notUtf8(head);
    return whole;
  }
  const { createGunzip } = await import('node:zlib');
  // A failure on the way reaches whoever reads the end of the pipe.
  return pipeline(Readable.from(whole, { objectMode: false }), createGunzip(), () => undefined);
}

/**
 * Unpacks a file that is gzip, and keeps nothing: fails where it is damaged, which the sum at its end tells. A pipe is left alone,
 * since it can be read once only.
 */
export async function unpackOnce(path: string): Promise<void> {
  if (!(await stat(path)).isFile()) return;
  const [head = new Uint8Array()] = await createReadStream(path, { end: gzipMagic.length - 1 }).toArray();
  if (!beginsWith(head as Uint8Array, gzipMagic)) return;
  const { createGunzip } = await import('node:zlib');
  const gunzip = createGunzip();
  for await (const part of pipeline(createReadStream(path), gunzip, () => undefined)) void part;
  // Zeros are padding to Node, which stops reading there, whatever follows them.
  for await (const part of createReadStream(path, { start: gunzip.bytesWritten })) {
    if (!(part as Uint8Array).some((byte) => byte !== 0)) continue;
    throw Object.assign(new Error('more follows behind zeros'), { code: 'Z_DATA_ERROR' });
  }
}

/** The refusal of a text in another encoding; `head` is its beginning, if known. */
export function notUtf8(head?: Uint8Array, cause?: unknown): BadRequestError {
  return new BadRequestError('the file is not UTF-8 text', { cause, hint: encodingHint(head) });
}

/** The same bytes, and their beginning: at least `count` of them if there are so many. */
async function peeked(bytes: Bytes, count: number): Promise<{ readonly head: Uint8Array; readonly whole: Bytes }> {
  const iterator = bytes[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (length < count) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    chunks.push(value);
    length += value.length;
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield* chunks;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { head: Buffer.concat(chunks), whole: whole() };
}

/** The same bytes; reports how many have been read so far. */
export async function* measured(bytes: Bytes, onRead: (total: number) => void): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of bytes) {
    total += chunk.length;
    onRead(total);
    yield chunk;
  }
}
