import { createReadStream, existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { readBatches } from '../../../src/cli/import/batches.ts';
import type { ReadingOptions } from '../../../src/cli/import/batches.ts';
import { importEvents } from '../../../src/cli/import/events.ts';
import type { SendingOptions } from '../../../src/cli/import/events.ts';
import { BillingError, InvalidInputError, UnavailableError } from '../../../src/errors.ts';
import type { Billing } from '../../../src/operations/index.ts';
import { createContract, createCustomer, createMeter, createPrice } from '../../support/usage-scenario.ts';
import { createWorld } from '../../support/world.ts';
import type { World } from '../../support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
  for (const externalCustomerId of ['acme', 'globex']) await createCustomer(world, externalCustomerId);
});
afterEach(async () => await world.close());

type Options = ReadingOptions & SendingOptions;

async function importText(text: string, given: Partial<Options> = {}) {
  const mapping = { eventName: 'request', customerColumn: 'customer', timeZone: 'UTC', properties: [] };
  const options = { delimiter: ',', batchSize: 3, billing: world.billing, mapping, ...given };
  return await importEvents(readBatches(Readable.from([Buffer.from(text)]), options), options);
}

const storedCount = async () => (await world.call('usage.events')).total;

const rows = [
  'timestamp,customer,tokens',
  '2026-02-01 00:00:00,acme,1',
  '2026-02-01 00:00:01,acme,2',
  '2026-02-01 00:00:02,globex,3',
  '2026-02-01 00:00:03,acme,4',
];

test('every row becomes one event, however often the file is imported', async () => {
  for (let time = 0; time < 3; time += 1) {
    expect(await importText(rows.join('\n'))).toEqual({
      rows: 4,
      accepted: 4,
      refused: [],
      known: { unchanged: time === 0 ? 0 : 4, replaced: 0 },
      outsideContractCount: 0,
      lateCount: 0,
      isComplete: true,
      lastLine: 5,
      unit: 'line',
    });
    expect(await storedCount()).toBe(4);
  }
});

test('a file that has grown adds its new rows alone', async () => {
  await importText(rows.join('\n'));
  await importText([...rows, '2026-02-01 00:00:04,acme,5', ''].join('\r\n'));
  expect(await storedCount()).toBe(5);
});

describe('a refused row is reported with its line and its reason, and the others are imported', () => {
  test.each([
    ['2026-02-30 00:00:00,acme,1', 'timestamp: must be on a day that exists: there is no 2026-02-30'],
    ['not a time,acme,1', 'timestamp: "not a time" is not a timestamp such as 2026-03-01T09:30:00Z'],
    ['2026-02-01 00:00:00,nobody,1', 'externalCustomerId'],
    ['2026-03-01 01:00:01,acme,1', 'timestamp'],
    ['2026-02-01 00:00:00,acme', 'has 2 columns where the header has 3'],
    ['2026-02-01 00:00:00,,1', 'has no customer'],
  ])('%s', async (row, reason) => {
    const report = await importText([...rows.slice(0, 3), row, ...rows.slice(3)].join('\n'));
    expect(report).toMatchObject({ rows: 5, accepted: 4, isComplete: true });
    expect(report.refused).toHaveLength(1);
    expect(report.refused[0]?.line).toBe(4);
    expect(report.refused[0]?.reason).toContain(reason);
    expect(await storedCount()).toBe(4);
  });

  test('also when they are more than a refusal lists, of which each has its own reason alone', async () => {
    const strange = Array.from({ length: 250 }, (_, index) => `2026-02-01 00:00:00,nobody,${index}`);
    const report = await importText([...rows, ...strange].join('\n'), { batchSize: 1_000 });
    expect(report).toMatchObject({ rows: 254, accepted: 4 });
    expect(new Set(report.refused.map(({ reason }) => reason))).toEqual(
      new Set(['externalCustomerId: names no customer: nobody']),
    );
  });

  test('whatever their own texts say of other rows', async () => {
    const lines = [
      { timestamp: '2026-02-01T00:00:00Z', customer: 'acme', tokens: 1 },
      { timestamp: '2026-02-01T00:00:00Z', customer: 'globex', 'tokens; events[0]': {} },
      { timestamp: '2026-02-30T00:00:00Z', customer: 'acme', tokens: `events[7]${'x'.repeat(4_096)}` },
      { timestamp: '2026-02-01T00:00:00Z', customer: 'acme', tokens: 3 },
    ];
    const reasons = [
      'properties.tokens; events[0]: must be text, a number, a boolean or null',
      'timestamp: must be on a day that exists: there is no 2026-02-30; properties.tokens: must have at most 4096 characters',
    ];
    const report = await importText(lines.map((line) => JSON.stringify(line)).join('\n'), { format: 'jsonl' });
    expect(report).toMatchObject({ rows: 4, accepted: 2, refused: reasons.map((reason) => ({ reason })) });
    expect(await storedCount()).toBe(2);
  });

  test('in a few requests, also where they are another version of what is finalized', async () => {
    const customerId = await createCustomer(world, 'initech');
    const pricingIds = [await createPrice(world, await createMeter(world, 'TOKENS'))];
    const contractId = await createContract(world, { customerId, pricingIds });
    const table = (tokens: number | string) =>
      [
        'timestamp,customer,tokens,id',
        ...Array.from({ length: 150 }, (_, index) => `2026-01-02 00:00:00,initech,${tokens},${index}`),
      ].join('\n');
    const mapping = {
      eventName: 'request',
      customerColumn: 'customer',
      timeZone: 'UTC',
      properties: ['tokens'],
      keyColumn: 'id',
    };
    const options = { batchSize: 1_000, mapping };
    expect(await importText(table(1), options)).toMatchObject({ accepted: 150 });
    const { data } = await world.call('invoices.list', { query: { limit: '100' } });
    const january = data.find((each) => each.contractId === contractId && each.invoiceDate === '2026-02-01');
    await world.call('invoices.finalize', { params: { invoiceId: january?.id ?? '' } });
    let requests = 0;
    const billing: Billing = {
      call: async (...given) => {
        requests += 1;
        return await world.billing.call(...given);
      },
    };
    const report = await importText(table(2), { ...options, billing });
    expect(report).toMatchObject({ rows: 150, accepted: 0 });
    expect(report.refused).toHaveLength(150);
    expect(requests).toBe(2);
    expect(await importText(table('events[7]'), options)).toMatchObject({ refused: report.refused });
  });

  test('also when all rows of a batch are refused for different reasons', async () => {
    const report = await importText(
      [
        'timestamp,customer,tokens',
        '2026-02-01 00:00:00,nobody,1',
        '2026-02-30 00:00:00,acme,1',
        '2027-01-01 00:00:00,acme,1',
      ].join('\n'),
    );
    expect(report).toMatchObject({ rows: 3, accepted: 0 });
    expect(report.refused.map((refusal) => refusal.line)).toEqual([2, 3, 4]);
    expect(await storedCount()).toBe(0);
  });

  test('a quoted line break does not shift the lines after it', async () => {
    const text = ['timestamp,customer,note', '2026-02-01 00:00:00,acme,"two\nlines"', 'never,acme,x'].join('\n');
    expect((await importText(text)).refused).toEqual([
      { line: 4, reason: 'timestamp: "never" is not a timestamp such as 2026-03-01T09:30:00Z' },
    ]);
  });
});

test('lines may end in both ways, also within quotes, and keep their numbers', async () => {
  const text =
    'timestamp,customer,note\r\n2026-02-01 00:00:00,acme,"two\r\nlines"\n2026-02-01 00:00:01,acme,x\r\nnever,acme,1\n';
  const report = await importText(text);
  expect(report).toMatchObject({ rows: 3, accepted: 2, lastLine: 5 });
  expect(report.refused).toEqual([
    { line: 5, reason: 'timestamp: "never" is not a timestamp such as 2026-03-01T09:30:00Z' },
  ]);
});

test('a header of one column is asked whether it has another delimiter', async () => {
  await expect(importText('timestamp;customer\n2026-02-01 00:00:00;acme\n')).rejects.toMatchObject({
    hint: "if that is several columns, give --delimiter ';'",
  });
});

describe('a column without a name', () => {
  const text = 'timestamp,customer,,tokens\n2026-02-01 00:00:00,acme,,1\n2026-02-01 00:00:01,acme,x,2\n';

  test('is nothing where it is empty, and a value in it says which column it is', async () => {
    expect(await importText(text)).toMatchObject({
      accepted: 1,
      refused: [{ line: 3, reason: 'column 3 has no name: name it in the header, or choose columns with --property' }],
    });
  });

  test('is left out where columns are chosen', async () => {
    const mapping = { eventName: 'e', customerColumn: 'customer', timeZone: 'UTC', properties: ['tokens'] };
    expect(await importText(text, { mapping })).toMatchObject({ accepted: 2, refused: [] });
  });

  test('beside another one stops the import', async () => {
    await expect(importText('timestamp,customer,,\n')).rejects.toMatchObject({
      message: 'the file has two columns without a name',
    });
  });
});

test('a stopped import says how far it came, and goes on when it is repeated', async () => {
  const stop = new AbortController();
  const report = await importText(rows.join('\n'), { signal: stop.signal, onProgress: () => stop.abort() });
  expect(report).toMatchObject({ rows: 3, accepted: 3, isComplete: false, lastLine: 4 });
  expect(await importText(rows.join('\n'))).toMatchObject({ isComplete: true });
  expect(await storedCount()).toBe(4);
});

test('an import that is stopped while the last of it is stored is complete, and tells no progress of that', async () => {
  const stop = new AbortController();
  stop.abort();
  const seen: number[] = [];
  const onProgress: SendingOptions['onProgress'] = ({ rows: count }) => void seen.push(count);
  const report = await importText(rows.join('\n'), { signal: stop.signal, onProgress, batchSize: 5 });
  expect([report.isComplete, report.accepted, seen]).toEqual([true, 4, []]);
});

test.each([
  [['2026-02-01 00:00:00,acme,1'], 1, [1]],
  [['never,acme,1', 'never,acme,2'], 0, []],
  [['2026-02-01 00:00:00,acme,1', '2026-02-01 00:00:00,nobody,1', '2026-02-01 00:00:01,acme,1'], 2, [3, 2]],
])('of %j so many are accepted: %i, in requests of %j', async (given, accepted, sizes) => {
  const sent: number[] = [];
  const billing: Billing = {
    call: async (name, input = {}) => {
      sent.push((input.body as { readonly events: readonly unknown[] }).events.length);
      return await world.billing.call(name, input);
    },
  };
  const report = await importText([rows[0], ...given].join('\n'), { billing });
  expect([report.accepted, sent]).toEqual([accepted, sizes]);
});

test('a JSON document may be one event, without a list around it', async () => {
  const event = { eventName: 'e', externalCustomerId: 'acme', timestamp: '2026-02-01T00:00:00Z', properties: {} };
  expect(
    await importText(JSON.stringify(event), { format: 'json', mapping: { timeZone: 'UTC', properties: [] } }),
  ).toMatchObject({ rows: 1, refused: [] });
});

test.each([
  ['an empty file', '', 'the file is empty'],
  [
    'an open quote',
    'timestamp,customer\n"2026',
    'not valid CSV: a quote in row 2, counted with the header, is never closed',
  ],
  ['a quote in a cell', 'timestamp,x\n1,a"b\n', 'cell 2 of row 2, counted with the header, holds a quote, but'],
  ['text behind a closing quote', 'timestamp,x\n"1" ,a\n', 'cell 1 of row 2, counted with the header, goes on behind'],
  ['that below a cell of lines', 'a,x\r\n\r\n1,"a\r\nb"\r\n1,"b"c\r\n', 'cell 2 of row 4, counted with the header,'],
])('%s is a bad request', async (_case, text, words) => {
  await expect(importText(text)).rejects.toMatchObject({ kind: 'badRequest', message: expect.stringContaining(words) });
});

const realFile = fileURLToPath(new URL('../../../../shared/data/azure-llm-inference-conv.csv', import.meta.url));

// oxlint-disable vitest/no-conditional-tests -- the file is no part of the project, and its absence is said, not skipped
if (existsSync(realFile))
  describe('19,366 requests of a language-model service', () => {
    importRealFile();
  });
else {
  test('the file of real requests is not beside this checkout, so its figures are not checked here', () => {
    expect(existsSync(realFile)).toBe(false);
  });
}

function importRealFile() {
  test('read 22,361,870 context and 4,088,665 generated tokens, and cost 128.415585 USD at 3.00 and 15.00 a million', async () => {
    world.clock.set('2026-03-01T00:00:00Z');
    for (const [code, aggregationKey, unitAmount] of [
      ['CONTEXT', 'ContextTokens', '0.000003'],
      ['GENERATED', 'GeneratedTokens', '0.000015'],
    ] as const) {
      const { data: meter } = await world.call('meters.create', { body: { code, displayName: code, aggregationKey } });
      await world.call('pricing.create', {
        body: {
          productName: 'Inference',
          name: code,
          model: 'USAGE',
          meterId: meter.id,
          unitAmount,
          priceInterval: 'MONTH',
        },
      });
    }
    const importOnce = async () =>
      await importEvents(
        readBatches(createReadStream(realFile), {
          delimiter: ',',
          batchSize: 5_000,
          mapping: { eventName: 'llm.request', customer: 'acme', timeZone: 'UTC', properties: [] },
        }),
        { billing: world.billing },
      );
    expect(await importOnce()).toMatchObject({ rows: 19_366, accepted: 19_366, refused: [] });
    expect(await importOnce()).toMatchObject({ rows: 19_366, accepted: 19_366, refused: [] });
    expect(await storedCount()).toBe(19_366);
    const cost = await world.call('usage.cost', {
      body: { externalCustomerId: 'acme', startDate: '2023-11-01T00:00:00Z', endDate: '2023-12-01T00:00:00Z' },
    });
    expect(cost).toMatchObject({ totalAmount: 128.415585, currency: 'USD' });
  });
}

test('a refusal that names none of the events by its place has halves tried until the row stands alone', async () => {
  let requests = 0;
  const billing: Billing = {
    call: async (name, input = {}) => {
      requests += 1;
      if (requests > 20) throw new Error('it is sent again and again');
      const { events } = input.body as { readonly events: readonly { readonly externalCustomerId: string }[] };
      if (events.every(({ externalCustomerId }) => externalCustomerId !== 'nobody'))
        return await world.billing.call(name, input);
      throw new InvalidInputError([{ path: `events[${events.length}].externalCustomerId`, message: 'is nobody' }]);
    },
  };
  const report = await importText([...rows.slice(0, 3), '2026-02-01 00:00:05,nobody,9'].join('\n'), { billing });
  expect(report).toMatchObject({ rows: 3, accepted: 2 });
  expect(report.refused.map(({ line }) => line)).toEqual([4]);
});

test('of a batch that is mostly wrong every row is named, without sending all of it for each hundred', async () => {
  const sizes: number[] = [];
  const billing: Billing = {
    call: async (name, input = {}) => {
      sizes.push((input.body as { readonly events: readonly unknown[] }).events.length);
      return await world.billing.call(name, input);
    },
  };
  const owners = Array.from({ length: 1_000 }, (_, index) => (index % 10 === 0 ? 'acme' : 'nobody'));
  const text = ['timestamp,customer', ...owners.map((owner) => `2026-02-01 00:00:00,${owner}`)].join('\n');
  const report = await importText(text, { billing, batchSize: 1_000 });
  expect([report.rows, report.accepted, report.refused.length]).toEqual([1_000, 100, 900]);
  expect(report.refused.map(({ line }) => line)).toEqual(
    owners.flatMap((owner, index) => (owner === 'nobody' ? [index + 2] : [])),
  );
  expect(await storedCount()).toBe(100);
  expect(sizes[0]).toBe(1_000);
  expect(Math.max(...sizes.slice(1))).toBe(100);
});

test('of a batch that is partly wrong no row is sent again for each hundred refused ones, in about as many requests', async () => {
  const count = 10_000;
  const isWrong = (index: number) => index % 5 < 2;
  const table = Array.from(
    { length: count },
    (_, index) => `2026-02-01 00:00:00,${isWrong(index) ? 'nobody' : 'acme'},${index}`,
  );
  const sizes: number[] = [];
  const billing: Billing = {
    call: async (name, input = {}) => {
      sizes.push((input.body as { readonly events: readonly unknown[] }).events.length);
      return await world.billing.call(name, input);
    },
  };
  const report = await importText([rows[0], ...table].join('\n'), { batchSize: count, billing });
  expect([report.rows, report.accepted]).toEqual([count, 6_000]);
  expect(report.refused.map(({ line }) => line)).toEqual(
    table.flatMap((_, index) => (isWrong(index) ? [index + 2] : [])),
  );
  expect(await storedCount()).toBe(6_000);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(8 * count);
  // Each names a hundred.
  expect(sizes.length).toBeLessThan(1.5 * 40);
});

test.each([1, 2])('how many were known is not said where one answer, the %i., does not tell', async (silent) => {
  let answers = 0;
  const billing: Billing = {
    call: async (name, input = {}) => {
      const { knownEvents, ...answer } = await world.billing.call(name, input);
      answers += 1;
      return answers === silent || knownEvents === undefined ? answer : { ...answer, knownEvents };
    },
  };
  expect(await importText(rows.join('\n'), { billing })).toMatchObject({ accepted: 4, known: undefined });
});

test('that nothing was changed is not said where a part of the first batch was stored before', async () => {
  const billing: Billing = {
    call: async (name, input = {}) => {
      const { events } = input.body as {
        readonly events: readonly { readonly properties: { readonly tokens: number } }[];
      };
      if (events.length > 2) throw new BillingError('payloadTooLarge', 'the body is too large');
      if (events.some(({ properties }) => properties.tokens === 4))
        throw new UnavailableError('no space is left; nothing was changed');
      return await world.billing.call(name, input);
    },
  };
  await expect(importText(rows.join('\n'), { billing, batchSize: 4 })).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'no space is left (a part is done; repeat the import to go on)',
  });
  expect(await storedCount()).toBe(2);
});
