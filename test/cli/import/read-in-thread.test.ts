/** A thread that reads gives what reading here gives: the same batches, line for line, and the same failure. */

import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { readBatches } from '../../../src/cli/import/batches.ts';
import type { Batch, Batches } from '../../../src/cli/import/batches.ts';
import { importEvents } from '../../../src/cli/import/events.ts';
import type { Billing } from '../../../src/operations/index.ts';
import type { ImportFormat } from '../../../src/cli/import/input.ts';
import { readInThread } from '../../../src/cli/import/read-in-thread.ts';
import { requestHash } from '../../../src/cli/wire/request-hash.ts';
import { root } from '../../support/sources.ts';
import { newDirectory } from '../../support/temporary-files.ts';
import { createShell } from '../shell.ts';

const module = join(root, 'src/cli/import/reading-thread.ts');
const mapping = { eventName: 'request', customer: 'acme', timeZone: 'UTC', properties: [] };
const options = { delimiter: ',', mapping };

async function outcomeOf(batches: Batches) {
  const found: Omit<Batch, 'requestHash'>[] = [];
  try {
    for await (const { requestHash: hash, lines, ...batch } of batches) {
      if (hash !== undefined) expect(hash).toBe(requestHash('usage.ingestBatch', { body: { events: batch.events } }));
      // How far ahead the file has been read is no matter of the rows.
      found.push({ ...batch, lines: Array.from(lines), bytes: 0 });
    }
  } catch (error) {
    const { kind, message, hint, code } = error as Record<string, unknown>;
    return { found, failure: { kind, message, hint, code } };
  }
  return { found };
}

function fileOf(bytes: string | Buffer): string {
  const path = join(newDirectory(), 'events');
  writeFileSync(path, bytes);
  return path;
}

async function bothOutcomes(bytes: string | Buffer, format: ImportFormat | undefined, batchSize: number) {
  const path = fileOf(bytes);
  const [ofThread, ofOurs]: [unknown[], unknown[]] = [[], []];
  const toPlan = (plans: unknown[]) => (plan: { readonly timestampColumn: string; readonly properties: unknown }) =>
    void plans.push([plan.timestampColumn, plan.properties]);
  const task = { ...options, format, batchSize };
  const thread = readInThread(module, { ...task, path }, toPlan(ofThread));
  const outcomes = [
    { ...(await outcomeOf(thread.batches)), plans: ofThread },
    { ...(await outcomeOf(readBatches(createReadStream(path), task, toPlan(ofOurs)))), plans: ofOurs },
  ];
  thread.close();
  return outcomes;
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
  '{"tokens":2}',
].join('\n');
const document = JSON.stringify([{ timestamp: '2026-02-01T00:00:00Z', b: 1.5, a: { z: 1, y: 2 } }, { tokens: 1 }, 7]);
const table =
  'timestamp,tokens,note\n2026-02-01,1.10,"two\nlines"\n2026-02-01 00:00:00,2,\nnever,3,x\n2026-02-02,4,y,z\n';
const many = Array.from({ length: 20_000 }, (_, row) => `{${time},"row":${row},"price":${row}.${row % 10}}`).join('\n');

test.each([
  ['jsonl', lines],
  ['jsonl', `${lines}\n`],
  ['jsonl', ''],
  ['jsonl', many],
  ['json', document],
  ['json', '[{"tokens":'],
  [undefined, document],
  [undefined, table],
  [undefined, gzipSync(lines)],
  ['csv', table],
  ['csv', ''],
  ['csv', 'one,two\n1,2\n'],
  ['csv', 'timestamp,tokens\n2026-02-01 00:00:00,1\n2026-02-01 00:00:00,"2\n'],
] as const)('%s %#, batch for batch', async (format, bytes) => {
  const [thread, ours] = await bothOutcomes(bytes, format, bytes === many ? 10_000 : 3);
  expect(thread).toEqual(ours);
});

test('text that is not UTF-8 stops it behind the batches before', async () => {
  const bytes = Buffer.concat([Buffer.from(`${many}\n`), Buffer.from([0xff, 0xfe]), Buffer.from('\n{}')]);
  const [thread, ours] = await bothOutcomes(bytes, 'jsonl', 500);
  const message = expect.stringContaining('the file is not UTF-8 text');
  expect(thread).toMatchObject({ failure: { kind: 'badRequest', message } });
  expect(ours).toMatchObject({ failure: { kind: 'badRequest', message } });
  expect(thread?.found.length).toBeGreaterThan(20);
});

test.each([
  ['is cut off', (packed: Buffer) => packed.subarray(0, -20), 'it is cut off: get all of it'],
  ['has another sum', (packed: Buffer) => packed.fill(0, packed.length - 8), 'get a sound copy'],
])('nothing is taken from a packed file that %s, but from a pipe what stands before', async (_, damaged, words) => {
  const [thread, ours] = await bothOutcomes(damaged(gzipSync(many)), 'jsonl', 500);
  const message = expect.stringContaining('it cannot be decompressed');
  const failure = { kind: 'badRequest', message, hint: `${words}; nothing of this one was imported` };
  expect(thread).toMatchObject({ found: [], failure });
  expect(ours?.found.length).toBeGreaterThan(20);
  expect(ours).toMatchObject({
    failure: { ...failure, hint: expect.stringContaining(`${words}, and import that; rows`) },
  });
});

test('zeros behind a packed file are padding, and nothing is taken from one that goes on behind them', async () => {
  const [packed, zeros] = [gzipSync(lines), Buffer.alloc(600)];
  const [padded] = await bothOutcomes(Buffer.concat([packed, zeros]), 'jsonl', 3);
  const [sound] = await bothOutcomes(packed, 'jsonl', 3);
  expect(padded?.found.map(({ events }) => events)).toEqual(sound?.found.map(({ events }) => events));
  const [holed] = await bothOutcomes(Buffer.concat([packed, zeros, packed]), 'jsonl', 3);
  const message = 'the file is damaged: it cannot be decompressed: more follows behind zeros';
  expect(holed).toMatchObject({ found: [], failure: { kind: 'badRequest', message } });
});

test('a file that is gone is an error with its code', async () => {
  const { batches, close } = readInThread(module, { ...options, batchSize: 1, path: join(root, 'missing.jsonl') });
  await expect(outcomeOf(batches)).resolves.toMatchObject({ failure: { code: 'ENOENT' } });
  close();
});

test('a module that is not there is an error, and nothing is waited for', async () => {
  const { batches, close } = readInThread(join(root, 'missing.ts'), { ...options, batchSize: 1, path: fileOf(lines) });
  const { failure } = await outcomeOf(batches);
  expect(failure?.message).toContain('missing.ts');
  close();
});

test.each([
  ['twice as many each time, up to a whole one', { batchSize: 5_000, firstBatchSize: 1_000 }, [1, 2, 4, 5, 5, 3]],
  ['no more than a whole one', { batchSize: 8_000, firstBatchSize: 9_000 }, [8, 8, 4]],
])('the first batches have %s', async (_rule, sizes, thousands) => {
  const { batches, close } = readInThread(module, { ...options, ...sizes, path: fileOf(many) });
  const { found } = await outcomeOf(batches);
  expect(found.map(({ events }) => events.length / 1_000)).toEqual(thousands);
  close();
});

test('a thread that is closed reads no further', async () => {
  const { batches, close } = readInThread(module, { ...options, batchSize: 100, path: fileOf(many) });
  close();
  const { found, failure } = await outcomeOf(batches);
  expect(found.length).toBeLessThan(4);
  expect(failure?.message).toBe('the thread that reads the file stopped unexpectedly');
});

const takesAll: Billing = { call: async () => await Promise.resolve({ status: 202, body: {} } as never) };

test('an import that is stopped leaves the rest unread', async () => {
  const stop = new AbortController();
  stop.abort();
  const { batches, close } = readInThread(module, { ...options, batchSize: 1_000, path: fileOf(many) });
  const report = await importEvents(batches, { billing: takesAll, signal: stop.signal });
  expect(report).toMatchObject({ rows: 1_000, accepted: 1_000, isComplete: false, lastLine: 1_000 });
  close();
});

test('progress is of rows that are stored, not of what has been read ahead', async () => {
  const seen: [rows: number, part: number][] = [];
  const longer = `${many}\n${many}\n`;
  const { batches, close } = readInThread(module, { ...options, batchSize: 8_000, path: fileOf(longer) });
  await importEvents(batches, {
    billing: takesAll,
    onProgress: ({ rows, bytes }) => void seen.push([rows, bytes / longer.length]),
  });
  expect(seen.map(([rows]) => rows)).toEqual([8_000, 16_000, 24_000, 32_000, 40_000]);
  for (const [rows, part] of seen) expect(Math.abs(part - rows / 40_000)).toBeLessThan(0.15);
  close();
});

test.each([
  ['small batches first', [], [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 2_255]],
  ['as many at a time as it is told', ['--batch-size', '7000'], [7_000, 7_000, 6_005]],
])('the command sends and journals the same with the thread and without it: %s', async (_rule, words, sizes) => {
  // As large as what is read in a thread.
  const file = fileOf(`${lines}\n${many}\n${' '.repeat(1_000_000)}\n`);
  const sent = async (readingThread: string | undefined) => {
    const shell = createShell({ dependencies: { readingThread, untilStopped: () => new Promise(() => undefined) } });
    const flags = ['--event-name', 'request', '--customer', 'acme', ...words, '-o', 'json'];
    const { stdout, code } = await shell.run(['import', 'events', file, ...flags]);
    const journal = readFileSync(join(shell.home, 'data', 'journal', 'journal.jsonl'), 'utf8')
      .trimEnd()
      .split('\n');
    const hashes = journal.map((line) => (JSON.parse(line) as { requestHash: string }).requestHash);
    const calls = shell.calls.filter(({ name }) => name === 'usage.ingestBatch');
    expect(hashes).toEqual(calls.map(({ name, input }) => requestHash(name, { ...input })));
    return { stdout, code, calls };
  };
  const thread = await sent(module);
  expect(thread).toEqual(await sent(undefined));
  const eventsOf = ({ input }: (typeof thread.calls)[number]) =>
    (input['body'] as { readonly events: readonly unknown[] }).events;
  expect(thread.calls.map((call) => eventsOf(call).length)).toEqual(sizes);
  expect(thread.code).toBe(10);
});
