/** The same events as CSV, JSON lines, JSON and CloudEvents, packed or not, from a file or standard input. */

import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { readBatches } from '../../../src/cli/import/batches.ts';
import type { ReadingOptions } from '../../../src/cli/import/batches.ts';
import { importEvents } from '../../../src/cli/import/events.ts';
import type { SendingOptions } from '../../../src/cli/import/events.ts';
import { formatOf } from '../../../src/cli/import/input.ts';
import type { ImportFormat } from '../../../src/cli/import/input.ts';
import { BadRequestError, UnavailableError } from '../../../src/errors.ts';
import type { Billing } from '../../../src/operations/index.ts';
import { newDirectory } from '../../support/temporary-files.ts';
import { createCustomer } from '../../support/usage-scenario.ts';
import { createWorld } from '../../support/world.ts';
import type { World } from '../../support/world.ts';
import { createShell } from '../shell.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
  for (const externalCustomerId of ['acme', 'globex']) await createCustomer(world, externalCustomerId);
});
afterEach(async () => await world.close());

const mapping = { timeZone: 'UTC', properties: [] };

/** In chunks of a few bytes, so that no reader can count on where one ends. */
function chunked(bytes: Buffer): Readable {
  const chunks: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += 7) chunks.push(bytes.subarray(start, start + 7));
  return Readable.from(chunks);
}

type Options = ReadingOptions & SendingOptions;

async function importText(text: string | Buffer, given: Partial<Options> = {}) {
  const options = { delimiter: ',', batchSize: 3, billing: world.billing, mapping, ...given };
  return await importEvents(readBatches(chunked(Buffer.from(text)), options), options);
}

async function stored() {
  const { data } = await world.call('usage.events', { query: { limit: '100' } });
  return data
    .map(({ eventName, timestamp, properties }) => ({ eventName, timestamp, properties }))
    .toSorted((one, other) => (one.timestamp < other.timestamp ? -1 : 1));
}

const expected = [1, 2, 3, 4].map((tokens) => ({
  eventName: 'llm.request',
  timestamp: `2026-02-01T00:00:0${tokens}.000Z`,
  properties: { tokens, model: `a,\u2028"${tokens}` },
}));
const plain = expected.map(({ timestamp, properties }) => ({ timestamp, customer: 'acme', ...properties }));
const events = expected.map((event) => ({ ...event, externalCustomerId: 'acme' }));
const cloudEvents = expected.map(({ eventName, timestamp, properties }, index) => ({
  specversion: '1.0',
  id: `e${index}`,
  source: '/gateway',
  type: eventName,
  subject: 'acme',
  time: timestamp,
  datacontenttype: 'application/json',
  data: properties,
}));
const lines = (records: readonly object[]) => `${records.map((record) => JSON.stringify(record)).join('\n')}\n`;
const flags = { ...mapping, eventName: 'llm.request', customerColumn: 'customer' };
const csv = `timestamp,customer,tokens,model\n${plain
  .map(
    ({ timestamp, customer, tokens, model }) => `${timestamp},${customer},${tokens},"${model.replaceAll('"', '""')}"`,
  )
  .join('\n')}\n`;

describe.each<[string, string, ImportFormat | undefined, Partial<Options>]>([
  ['CSV', csv, 'csv', { mapping: flags }],
  ['CSV, told by its first character', csv, undefined, { mapping: flags }],
  ['JSON lines of plain records', lines(plain), 'jsonl', { mapping: flags }],
  ['JSON lines of events', lines(events), 'jsonl', {}],
  ['JSON lines, told by their first character', `\ufeff\n ${lines(events)}`, undefined, {}],
  ['JSON lines without a last line end', lines(events).trimEnd(), 'jsonl', {}],
  ['JSON lines of DOS', lines(events).replaceAll('\n', '\r\n'), 'jsonl', {}],
  ['a JSON array', JSON.stringify(events, undefined, 2), 'json', {}],
  ['a JSON array, told by its first character', JSON.stringify(plain), undefined, { mapping: flags }],
  ['lines of CloudEvents', lines(cloudEvents), 'cloudevents', {}],
  ['lines of CloudEvents, told by their specversion', lines(cloudEvents), 'jsonl', {}],
  ['a batch of CloudEvents', JSON.stringify(cloudEvents), 'cloudevents', {}],
  ['a batch of CloudEvents in a JSON file', JSON.stringify(cloudEvents), 'json', {}],
])('%s', (_name, text, format, options) => {
  test.each([
    ['plain', (bytes: string) => Buffer.from(bytes)],
    ['packed', (bytes: string) => gzipSync(bytes)],
    ['packed in two parts', (bytes: string) => Buffer.concat([gzipSync(bytes.slice(0, 9)), gzipSync(bytes.slice(9))])],
  ])('%s become the same events, however often they are imported', async (_how, pack) => {
    for (let time = 0; time < 2; time += 1) {
      const report = await importText(pack(text), { ...options, ...(format === undefined ? {} : { format }) });
      expect(report).toMatchObject({ rows: 4, accepted: 4, refused: [], isComplete: true });
    }
    expect(await stored()).toEqual(expected);
  });
});

test('the digits of a number stay', async () => {
  const text = '{"timestamp":"2026-02-01T00:00:00Z","a":1.10,"b":12345678901234.000000001}\n';
  await importText(text, { format: 'jsonl', mapping: { ...mapping, eventName: 'e', customer: 'acme' } });
  expect(JSON.stringify((await stored())[0]?.properties)).toBe('{"a":1.10,"b":12345678901234.000000001}');
});

test('equal records are that many events, and equal CloudEvents one', async () => {
  await importText(lines([plain[0] ?? {}, plain[0] ?? {}]), { format: 'jsonl', mapping: flags });
  expect(await stored()).toHaveLength(2);
  await importText(lines([cloudEvents[0] ?? {}, cloudEvents[0] ?? {}]), { format: 'jsonl' });
  expect(await stored()).toHaveLength(3);
});

test('records that differ in the names alone are different events', async () => {
  const time = { timestamp: '2026-02-01T00:00:00Z' };
  const options = { ...mapping, eventName: 'e', customer: 'acme' };
  await importText(
    lines([
      { ...time, a: 1 },
      { ...time, b: 1 },
      { ...time, a: '1' },
    ]),
    { format: 'jsonl', mapping: options },
  );
  expect(await stored()).toHaveLength(3);
});

test('flags name members, also inside others, and go before what the record says', async () => {
  const record = {
    at: '2026-02-01 01:00:00',
    who: { id: 'globex' },
    usage: { tokens: 5 },
    kind: 'x',
    key: 'k1',
    extra: 1,
  };
  await importText(lines([record]), {
    format: 'jsonl',
    mapping: {
      timeZone: 'Europe/Berlin',
      timestampColumn: 'at',
      eventNameColumn: 'kind',
      customerColumn: 'who.id',
      keyColumn: 'key',
      properties: ['tokens=usage.tokens', 'nothing'],
      constants: ['region=eu'],
    },
  });
  const { data } = await world.call('usage.events');
  expect(data).toMatchObject([
    {
      eventName: 'x',
      idempotencyKey: 'k1',
      timestamp: '2026-02-01T00:00:00.000Z',
      properties: { tokens: 5, region: 'eu' },
    },
  ]);
  expect(Object.keys(data[0]?.properties ?? {})).toEqual(['region', 'tokens']);
});

test('a record that is no JSON is known by the line of the file alone', async () => {
  const { refused } = await importText(`${'\n'.repeat(6)}{bad`, { format: 'jsonl' });
  expect(refused).toEqual([{ line: 7, reason: expect.stringMatching(/^the JSON is malformed: [^()]+$/) as string }]);
});

describe('a record that is no event is reported with its line, and the others are imported', () => {
  const time = '"timestamp":"2026-02-01T00:00:00Z"';
  const cloud = '"specversion":"1.0","id":"1","source":"s","type":"t","subject":"acme","time":"2026-02-01T00:00:00Z"';
  test.each<[string, string]>([
    ['{', 'the JSON is malformed'],
    ['[]', 'is not a JSON object'],
    ['1', 'is not a JSON object'],
    [`{${time},"customer":"acme"}`, 'has no event name'],
    ['{"eventName":"e","externalCustomerId":"acme"}', 'has no timestamp'],
    [
      '{"eventName":"e","externalCustomerId":"acme","timestamp":1767225600}',
      '1767225600 is not a timestamp such as 2026-03-01T09:30:00Z',
    ],
    [`{"eventName":"e",${time},"properties":{}}`, 'has no customer'],
    [`{"eventName":"e",${time},"externalCustomerId":"nobody"}`, 'externalCustomerId'],
    [`{"eventName":"e",${time},"externalCustomerId":"acme","properties":{"a":{"b":1}}}`, 'properties.a: must be text'],
    [`{"eventName":"e",${time},"externalCustomerId":"acme","properties":{"__proto__":1}}`, 'this name is not allowed'],
    [`{"eventName":"e",${time},"externalCustomerId":"acme","idempotencyKey":5}`, 'idempotencyKey: must be text'],
    [`{${cloud},"data":[1]}`, 'data: must be a JSON object'],
    [`{${cloud},"data_base64":"AA=="}`, 'data_base64: use data instead'],
    [`{${cloud.replace('1.0', '0.3')}}`, 'specversion: "0.3" is not "1.0"'],
    [`{${cloud.replace('"id":"1",', '')}}`, 'id: is required in a CloudEvent'],
    [`{${cloud.replace('"subject":"acme",', '')}}`, 'has no customer'],
    [`{${cloud.replace(/,"time".*/, '')}}`, 'has no timestamp'],
  ])('%s', async (line, reason) => {
    const text = lines(events.slice(0, 2)) + `${line}\n` + lines(events.slice(2));
    const report = await importText(text, { format: 'jsonl' });
    expect(report).toMatchObject({ rows: 5, accepted: 4, isComplete: true });
    expect(report.refused).toEqual([{ line: 3, reason: expect.stringContaining(reason) }]);
    expect(await stored()).toHaveLength(4);
  });

  test('in a JSON document by the number of the element', async () => {
    const report = await importText(JSON.stringify([events[0], {}, events[1]]), { format: 'json' });
    expect(report.refused).toEqual([{ line: 2, reason: 'has no event name' }]);
  });

  test('that is no CloudEvent where all must be', async () => {
    const report = await importText(lines([cloudEvents[0] ?? {}, events[1] ?? {}]), { format: 'cloudevents' });
    expect(report.refused).toEqual([{ line: 2, reason: 'is not a CloudEvent: it has no specversion' }]);
  });
});

const day = '"timestamp":"2026-02-01T00:00:00Z"';

test.each<[number, ImportFormat, string, string]>([
  [1, 'csv', 'timestamp\n2026-02-01 00:00:00\n2026-02-02 00:00:00\n', '; nothing was changed'],
  [
    2,
    'csv',
    'timestamp\n2026-02-01 00:00:00\n2026-02-02 00:00:00\n',
    ' (lines up to 2 are done; repeat the import to go on)',
  ],
  [2, 'jsonl', `{${day}}\n{${day}}\n`, ' (lines up to 1 are done; repeat the import to go on)'],
  [2, 'json', `[{${day}},{${day}}]`, ' (elements up to 1 are done; repeat the import to go on)'],
])(
  'that nothing was changed is said of an import which did nothing before: at batch %i of %s',
  async (failing, format, text, told) => {
    const whose = { ...mapping, eventName: 'e', customer: 'acme' };
    let sent = 0;
    const call: Billing['call'] = async (...asked) => {
      sent += 1;
      if (sent === failing) throw new UnavailableError('no space is left; nothing was changed');
      return await world.billing.call(...asked);
    };
    await expect(importText(text, { format, batchSize: 1, mapping: whose, billing: { call } })).rejects.toMatchObject({
      kind: 'unavailable',
      message: `no space is left${told}`,
    });
  },
);

test.each([true, false])(
  'what stops an import half-way tells what is done, and of a dry run nothing',
  async (isRehearsal) => {
    async function* breaking() {
      const text = 'timestamp,city\n2026-02-01 00:00:00,Bonn\n';
      const whose = { ...mapping, eventName: 'e', customer: 'acme' };
      yield* readBatches(chunked(Buffer.from(text)), { delimiter: ',', batchSize: 3, mapping: whose });
      throw new BadRequestError('it broke');
    }
    const done = isRehearsal ? '' : ' (lines up to 2 are done; repeat the import to go on)';
    await expect(importEvents(breaking(), { billing: world.billing, isRehearsal })).rejects.toMatchObject({
      message: `it broke${done}`,
    });
  },
);

test('a disk that fails under the file is not the fault of the file', async () => {
  async function* failing() {
    yield Buffer.from('timestamp,city\n2026-02-01 00:00:00,Bonn\n');
    throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read' });
  }
  const options = { delimiter: ',', batchSize: 1, mapping: { ...mapping, eventName: 'e', customer: 'acme' } };
  await expect(readBatches(Readable.from(failing()), options).next()).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'the disk failed while the file was read (EIO)',
  });
});

describe('a damaged file is a bad request', () => {
  test.each<[string, Buffer, ImportFormat, string]>([
    [
      'cut off in the middle of a packed part',
      gzipSync(lines(events)).subarray(0, -9),
      'jsonl',
      'it cannot be decompressed',
    ],
    ['that is not UTF-8', Buffer.from([0x7b, 0xff, 0xfe]), 'jsonl', 'not UTF-8'],
    [
      'of Latin letters in one byte',
      Buffer.from('timestamp,x\n2026-02-01 00:00:00,caf\xe9\n', 'latin1'),
      'csv',
      'not UTF-8',
    ],
    ['that ends within a character', Buffer.from('timestamp,x\n\xc3', 'latin1'), 'csv', 'not UTF-8'],
    ['of half a document', Buffer.from('[{'), 'json', 'the JSON is malformed'],
    ['of nothing', Buffer.from(''), 'csv', 'the file is empty'],
  ])('%s', async (_name, bytes, format, words) => {
    await expect(
      importText(bytes, { format, mapping: { ...mapping, eventName: 'e', customer: 'acme' } }),
    ).rejects.toMatchObject({
      kind: 'badRequest',
      message: expect.stringContaining(words),
    });
  });
});

test('rows of a table without any cell filled in are none, and those behind them are known by their lines', async () => {
  const text = 'timestamp,customer,tokens\n2026-02-01 00:00:01,acme,1\n,,\n ,"",\n2026-02-01 00:00:02,acme\n,,\n';
  const { rows, refused } = await importText(text, { format: 'csv', mapping: flags });
  expect([rows, refused]).toEqual([2, [{ line: 5, reason: 'has 2 columns where the header has 3' }]]);
});

test('nothing in lines is no event and no failure', async () => {
  expect(await importText('\n\n', { format: 'jsonl' })).toMatchObject({ rows: 0, accepted: 0, isComplete: true });
});

test('a stopped import of lines goes on when it is repeated', async () => {
  const stop = new AbortController();
  const report = await importText(lines(events), {
    format: 'jsonl',
    signal: stop.signal,
    onProgress: () => stop.abort(),
  });
  expect(report).toMatchObject({ rows: 3, isComplete: false, lastLine: 3 });
  expect(await importText(lines(events), { format: 'jsonl' })).toMatchObject({ isComplete: true });
  expect(await stored()).toHaveLength(4);
});

describe('the format', () => {
  test.each<[string, ImportFormat | undefined]>([
    ['a.csv', 'csv'],
    ['a.CSV.GZ', 'csv'],
    ['a.jsonl', 'jsonl'],
    ['a.ndjson.gz', 'jsonl'],
    ['a.json', 'json'],
    ['-', undefined],
    ['a.log', undefined],
  ])('of %s is %s', (name, format) => {
    expect(formatOf(name, undefined)).toBe(format);
    expect(formatOf(name, 'cloudevents')).toBe('cloudevents');
  });
});

describe('tally import events', () => {
  test('reads a packed file by its name, and standard input by what it begins with', async () => {
    const path = join(newDirectory(), 'events.jsonl.gz');
    writeFileSync(path, gzipSync(lines(events)));
    const shell = createShell();
    expect((await shell.run(`import events ${path}`)).stdout).toBe('4\t4\t0\t\t\n');
    expect((await shell.run('import events -', { input: JSON.stringify(cloudEvents) })).stdout).toBe('4\t4\t0\t\t\n');
    const sent = shell.calls
      .filter(({ name }) => name === 'usage.ingestBatch')
      .map(({ input }) => (input.body as { events: unknown[] }).events.length);
    expect(sent).toEqual([4, 4]);
  });

  test('sends nothing where its report could not be printed, or the refused rows not be written', async () => {
    const shell = createShell();
    const there = join(newDirectory(), 'there.csv');
    writeFileSync(there, 'precious');
    const flags = ['-o name', '--json nope', '--columns nope', '--refused /nowhere/refused.csv', `--refused ${there}`];
    const input = JSON.stringify(cloudEvents);
    const codes = [];
    for (const flag of flags) codes.push((await shell.run(`import events - ${flag}`, { input })).code);
    expect([codes, shell.calls]).toEqual([[2, 2, 2, 2, 2], []]);
    expect(readFileSync(there, 'utf8')).toBe('precious');
  });

  test('given again, writes its refused rows in the place of those of the run before', async () => {
    const refused = join(newDirectory(), 'refused.csv');
    const line = `import events - --event-name e --customer acme --refused ${refused}`;
    for (const cell of ['soon', 'later']) {
      for (const more of [' --dry-run', '']) {
        expect((await createShell().run(`${line}${more}`, { input: `timestamp\n${cell}\n` })).code).toBe(10);
        expect(readFileSync(refused, 'utf8')).toMatch(
          new RegExp(`^line,reason\n2,"timestamp: ""${cell}"" is not a .*"\n$`),
        );
      }
    }
  });

  test.each([
    ['/nowhere.csv', 'the file does not exist'],
    [tmpdir(), 'it is a directory'],
  ])('of %s is refused', async (path, words) => {
    const { code, stderr } = await createShell().run(['import', 'events', path]);
    expect([code, stderr]).toEqual([2, `tally: cannot read ${path}: ${words}\n`]);
  });

  test('takes no other format', async () => {
    const { code, stderr } = await createShell().run('import events - --format xml');
    expect(code).toBe(2);
    expect(stderr).toContain('Allowed choices are csv, jsonl, json, cloudevents');
  });
});
