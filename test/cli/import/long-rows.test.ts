/** Rows and lines that are long, or do not end, in a file that is imported. */

import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { readBatches } from '../../../src/cli/import/batches.ts';
import { importEvents } from '../../../src/cli/import/events.ts';
import { limits } from '../../../src/limits.ts';
import { createCustomer } from '../../support/usage-scenario.ts';
import { createWorld } from '../../support/world.ts';
import type { World } from '../../support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
  await createCustomer(world, 'acme');
});
afterEach(async () => await world.close());

const mapping = { timeZone: 'UTC', properties: [] };

test.each([
  ['one cell', 'x'],
  ['one cell in quotes, with line ends', 'x\n'],
  ['empty cells', ','],
])('a row of a table that does not end is refused before much of it is read: of %s', async (what, piece) => {
  const row = '2026-02-01 00:00:00,Bonn\n';
  let read = 0;
  function* table() {
    yield Buffer.from(`timestamp,city\n${row}${row}2026-02-01 00:00:00,${what.includes('quotes') ? '"' : ''}`);
    for (; read < 32_000_000; read += 10_000) yield Buffer.from(piece.repeat(10_000 / piece.length));
  }
  const whose = { ...mapping, eventName: 'e', customer: 'acme' };
  const batches = readBatches(Readable.from(table()), { format: 'csv', delimiter: ',', batchSize: 3, mapping: whose });
  await expect(importEvents(batches, { billing: world.billing })).rejects.toMatchObject({
    kind: 'badRequest',
    message: expect.stringContaining('the row after the first 3 is longer than 8388608 characters') as string,
    hint: 'look there for an unclosed quote or a missing line end',
  });
  expect(read).toBeLessThan(12_000_000);
});

test.each([
  ['one cell', 'x'.repeat(3_000_000)],
  ['one cell in quotes, with line ends', `"${'x\n'.repeat(1_500_000)}"`],
  ['many cells', 'xx,'.repeat(700_000)],
])(
  'a row of a table that is too long is refused alone, and those around it are recorded: of %s',
  async (_what, cells) => {
    const row = '2026-02-01 00:00:00,Bonn\n';
    const text = `timestamp,city\n${row}${row}2026-02-01 00:00:00,${cells}\n${row}`;
    const whose = { ...mapping, eventName: 'e', customer: 'acme' };
    const chunks = text.match(/[^]{1,65536}/g) ?? [];
    const batches = readBatches(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), {
      format: 'csv',
      delimiter: ',',
      batchSize: 10,
      mapping: whose,
    });
    const report = await importEvents(batches, { billing: world.billing });
    expect(report).toMatchObject({
      rows: 4,
      accepted: 3,
      refused: [{ line: 4, reason: 'is longer than 1048576 characters' }],
      isComplete: true,
    });
  },
);

test('a row of a table may have a megabyte, with as many rows and empty lines behind it as there are', async () => {
  const [long, empty] = ['x'.repeat(1_000_000), '\n'.repeat(5_000_000)];
  const text = `timestamp,note,other\n2026-02-01 00:00:00,${long},1\n${empty}2026-02-01 00:00:00,y,2\n`;
  const whose = { ...mapping, eventName: 'e', customer: 'acme', properties: ['other'] };
  const batches = readBatches(Readable.from([gzipSync(text)]), {
    format: 'csv',
    delimiter: ',',
    batchSize: 3,
    mapping: whose,
  });
  const report = await importEvents(batches, { billing: world.billing });
  expect(report).toMatchObject({ rows: 2, accepted: 2, refused: [], isComplete: true });
});

test('a line that does not end is refused, and takes no longer than it is long', async () => {
  const event = JSON.stringify({ eventName: 'a', externalCustomerId: 'acme', timestamp: '2026-01-01T00:00:00Z' });
  const packed = gzipSync(`${' '.repeat(64_000_000)}${event}\n${event}\n`);
  const batches = readBatches(Readable.from([packed]), { format: 'jsonl', delimiter: ',', batchSize: 3, mapping });
  // With each chunk joined to all before it this would not end in the time that a test has.
  const report = await importEvents(batches, { billing: world.billing });
  const refused = [{ line: 1, reason: 'is longer than 1048576 characters' }];
  expect(report).toMatchObject({ accepted: 1, refused });
});

test('an event in the middle of a line of spaces that is too long is refused, and not passed over as an empty line', async () => {
  const event = JSON.stringify({ eventName: 'a', externalCustomerId: 'acme', timestamp: '2026-01-01T00:00:00Z' });
  const spaces = ' '.repeat(2_000_000);
  const chunks = `${spaces}${event}${spaces}\n${event}\n`.match(/[^]{1,65536}/g) ?? [];
  const input = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  const batches = readBatches(input, { format: 'jsonl', delimiter: ',', batchSize: 3, mapping });
  const refused = [{ line: 1, reason: 'is longer than 1048576 characters' }];
  expect(await importEvents(batches, { billing: world.billing })).toMatchObject({ accepted: 1, refused });
});

test('a JSON document may have more names and elements than a request', async () => {
  const event = { eventName: 'a', externalCustomerId: 'acme', timestamp: '2026-01-01T00:00:00Z', properties: { a: 1 } };
  const count = limits.jsonKeys / 5;
  const elements = [
    ...Array.from({ length: limits.jsonElements }, () => 0),
    ...Array.from({ length: count }, () => event),
  ];
  const document = JSON.stringify(elements);
  const input = Readable.from([Buffer.from(document)]);
  let events = 0;
  for await (const batch of readBatches(input, { format: 'json', delimiter: ',', batchSize: 5_000, mapping }))
    events += batch.events.length;
  expect(events).toBe(count);
});
