/** Files that are packed otherwise than by gzip. */

import { Readable } from 'node:stream';
import { gzipSync, zstdCompressSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { readBatches } from '../../../src/cli/import/batches.ts';
import { formatOf } from '../../../src/cli/import/input.ts';

const text = 'timestamp,tokens\n2026-02-01 00:00:00,1\n';

async function lastLineOf(chunks: readonly Uint8Array[], name: string): Promise<number | undefined> {
  const mapping = { eventName: 'e', customer: 'acme', timeZone: 'UTC', properties: [] };
  const options = { format: formatOf(name, undefined), delimiter: ',', batchSize: 3, mapping };
  let last: number | undefined;
  for await (const { lastLine } of readBatches(Readable.from(chunks), options)) last = lastLine;
  return last;
}

test.each(['events.csv', 'events.csv.zst', '-'])(
  'a file packed by zstd is told how to be unpacked: %s',
  async (name) => {
    const packed = zstdCompressSync(text);
    for (const chunks of [[packed], [packed.subarray(0, 1), packed.subarray(1)]]) {
      await expect(lastLineOf(chunks, name)).rejects.toMatchObject({
        kind: 'badRequest',
        message: 'the file is compressed with zstd: it must be compressed with gzip, or not at all',
        hint: 'decompress it on the way, for example: zstd -dc FILE | tally import events - …',
      });
    }
  },
);

test('a file that is shorter than what tells one packed by zstd is read', async () => {
  expect(await lastLineOf([Buffer.from('{}\n')], 'events.jsonl')).toBe(1);
  expect(await lastLineOf([gzipSync('{}')], 'events.jsonl')).toBe(1);
});
