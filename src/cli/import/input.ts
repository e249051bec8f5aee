/** The bytes of a file of events: unpacked where they are packed, and in which format they are. */

import { pipeline, Readable } from 'node:stream';

import { BadRequestError } from '../../errors.ts';
import { encodingHint, wideEncodingOf } from '../files/files.ts';

export const importFormats = ['csv', 'jsonl', 'json', 'cloudevents'] as const;
export type ImportFormat = (typeof importFormats)[number];

export type Bytes = AsyncIterable<Uint8Array>;

/** The format of `--format`, else of the file's name; undefined where its first character has to tell. */
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

const gzipMagic = [0x1f, 0x8b];
/** No text in UTF-8 begins so. */
const zstdMagic = [0x28, 0xb5, 0x2f, 0xfd];

/**
 * The bytes as they were before gzip, whatever the file is called; other bytes as they are. Throws for those of zstd and of
 * UTF-16: what is said of a text in an older encoding would lead astray.
 */
export async function unpacked(bytes: Bytes): Promise<Bytes> {
  const { head, whole } = await peeked(bytes, zstdMagic.length);
  const beginsWith = (magic: readonly number[]) => magic.every((byte, index) => head[index] === byte);
  if (beginsWith(zstdMagic)) {
    throw new BadRequestError('the file is packed by zstd: what is read is packed by gzip, or not at all', {
      hint: 'unpack it on the way, as in: zstd -dc FILE | tally import events - …',
    });
  }
  if (wideEncodingOf(head) !== undefined) throw notUtf8(head);
  if (!beginsWith(gzipMagic)) return whole;
  const { createGunzip } = await import('node:zlib');
  // A failure on the way shows itself to whoever reads the end of the pipe.
  return pipeline(Readable.from(whole, { objectMode: false }), createGunzip(), () => undefined);
}

/** The refusal of a text in another encoding; `head` is what it begins with, where that is known. */
export function notUtf8(head?: Uint8Array, cause?: unknown): BadRequestError {
  return new BadRequestError('the file is not UTF-8 text', { cause, hint: encodingHint(head) });
}

/** The same bytes, and what they begin with: `count` of them where there are so many. */
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

/** The same bytes; tells how many have been read so far. */
export async function* counted(bytes: Bytes, onRead: (total: number) => void): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of bytes) {
    total += chunk.length;
    onRead(total);
    yield chunk;
  }
}
