/** A thread that reads gives what reading here gives: the same rows, line for line, and the same failure. */

import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { importEvents } from '../../../src/cli/import/events.ts';
import { unpacked } from '../../../src/cli/import/input.ts';
import type { Bytes, ImportFormat } from '../../../src/cli/import/input.ts';
import { readInThread } from '../../../src/cli/import/read-in-thread.ts';
import { readEvents } from '../../../src/cli/import/readers.ts';
import type { ReadRow, ReadRows } from '../../../src/cli/import/readers.ts';
import { root } from '../../support/sources.ts';

const module = join(root, 'src/cli/import/reading-thread.ts');
const mapping = { eventName: 'request', customer: 'acme', timeZone: 'UTC', properties: [] };
const options = { delimiter: ',', mapping };

async function outcomeOf(rows: ReadRows, plans: unknown[]) {
  const found: ReadRow[] = [];
  try {
    for await (const group of rows) found.push(...group);
  } catch (error) {
    const { kind, message, hint, code } = error as Record<string, unknown>;
    return { found, plans, failure: { kind, message, hint, code } };
  }
  return { found, plans };
}

async function bothOutcomes(format: ImportFormat, open: () => Promise<Bytes> | Bytes) {
  const [ofThread, ofOurs]: [unknown[], unknown[]] = [[], []];
  const toPlan = (plans: unknown[]) => (plan: { readonly timestampColumn: string; readonly properties: unknown }) =>
    void plans.push([plan.timestampColumn, plan.properties]);
  const read = { ...options, format, module, onStart: toPlan(ofThread) };
  return [
    await outcomeOf(readInThread(await open(), read), ofThread),
    await outcomeOf(readEvents(format, await open(), { ...options, onStart: toPlan(ofOurs) }), ofOurs),
  ];
}

function inPieces(bytes: Buffer, length: number): Readable {
  const count = Math.ceil(bytes.length / length);
  return Readable.from(
    Array.from({ length: count }, (_, piece) => bytes.subarray(piece * length, (piece + 1) * length)),
  );
}

const time = '"timestamp":"2026-02-01T00:00:00Z"';
const lines = [
  `{${time},"tokens":1}`,
  '',
  `{${time},"tokens":1}`,
  `{${time},"price":1.10,"id":12345678901234567890,"zero":-0}`,
  '{"tokens":1}',
  'no JSON',
  `{${time},"name":"Zoë \\ud83d\\ude00","__proto__":1}`,
  `{${time},"name":"Zoë 😀","list":[1,{"a":null}],"7":1,"b":true}`,
  `{"eventName":"own","externalCustomerId":"globex","idempotencyKey":"k",${time},"properties":{"b":1,"a":2}}`,
].join('\n');
const table =
  'timestamp,tokens,note\n2026-02-01,1.10,"two\nlines"\n2026-02-01 00:00:00,2,\nnever,3,x\n2026-02-02,4,y,z\n';
const many = Array.from({ length: 5_000 }, (_, row) => `{${time},"row":${row},"price":${row}.${row % 10}}`).join('\n');

test.each([
  ['jsonl', lines],
  ['jsonl', `${lines}\n`],
  ['jsonl', ''],
  ['jsonl', many],
  ['csv', table],
  ['csv', ''],
  ['csv', 'one,two\n1,2\n'],
  ['csv', 'timestamp,tokens\n2026-02-01 00:00:00,1\n2026-02-01 00:00:00,"2\n'],
] as const)('%s %#, whole and in pieces', async (format, text) => {
  for (const length of [Math.ceil(text.length / 80) + 1, 1_000_000]) {
    const [thread, ours] = await bothOutcomes(format, () => inPieces(Buffer.from(text), length));
    expect(thread).toEqual(ours);
  }
});

test('text that is not UTF-8 stops it behind the rows before', async () => {
  const bytes = Buffer.concat([Buffer.from(`${lines}\n`), Buffer.from([0xff, 0xfe]), Buffer.from('\n{}')]);
  const [thread, ours] = await bothOutcomes('jsonl', () => inPieces(bytes, 50));
  expect(thread).toEqual(ours);
  expect(thread).toMatchObject({ failure: { code: 'ERR_ENCODING_INVALID_ENCODED_DATA' } });
});

test('a packed file that is cut off stops it with the failure of unpacking', async () => {
  const bytes = gzipSync(many).subarray(0, -20);
  const [thread, ours] = await bothOutcomes('jsonl', async () => await unpacked(inPieces(bytes, 1_000)));
  expect(thread).toMatchObject({ failure: { code: 'Z_BUF_ERROR' } });
  expect(ours).toMatchObject({ failure: { code: 'Z_BUF_ERROR' } });
});

test('a module that is not there is an error, and nothing is waited for', async () => {
  const read = { ...options, format: 'jsonl' as const, module: join(root, 'missing.ts'), onStart: undefined };
  const { failure } = await outcomeOf(readInThread(inPieces(Buffer.from(lines), 50), read), []);
  expect(failure?.message).toContain('missing.ts');
});

test('an import that is stopped leaves the rest unread', async () => {
  const input = inPieces(Buffer.from(many), 10_000);
  const stop = new AbortController();
  stop.abort();
  const given = { input, ...options, format: 'jsonl' as const, readingThread: module, batchSize: 1_000 };
  const report = await importEvents({ ...given, billing: undefined, signal: stop.signal });
  expect(report).toMatchObject({ rows: 1_000, accepted: 1_000, isComplete: false, lastLine: 1_000 });
});

test.each([20_000, 200_000])(
  'progress is of rows that are stored, not of what has been read ahead, pieces of %i',
  async (length) => {
    const input = inPieces(Buffer.from(many), length);
    const seen: [rows: number, part: number][] = [];
    const onProgress = ({ rows, bytes }: { readonly rows: number; readonly bytes: number }) =>
      void seen.push([rows, bytes / many.length]);
    const given = { input, ...options, format: 'jsonl' as const, readingThread: module, batchSize: 1_000, onProgress };
    await importEvents({ ...given, billing: undefined });
    expect(seen.map(([rows]) => rows)).toEqual([1_000, 2_000, 3_000, 4_000, 5_000]);
    for (const [rows, part] of seen) expect(Math.abs(part - rows / 5_000)).toBeLessThan(0.15);
  },
);
