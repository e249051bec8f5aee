/** What an import takes and no meter can add up is said at its end: otherwise nobody would be billed for it, unseen. */

import { join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import { BillingError } from '../../../src/errors.ts';
import { reviveExactJson } from '../../../src/exact-json.ts';
import { openStageWithAcme } from './acme.ts';
import { root } from '../../support/sources.ts';
import { saved, stage } from '../../support/use-stage.ts';
import { createShell } from '../shell.ts';

const addMeter = async (code: string, ...flags: readonly string[]) => {
  const words = ['meters', 'create', '--code', code, '--display-name', code, ...flags];
  expect(await stage.tally(words)).toMatchObject({ exitCode: 0 });
};

async function importing(text: string, ...flags: readonly string[]) {
  const file = saved('events', text);
  return await stage.tally(['import', 'events', file, ...flags]);
}
const ofRequests = ['--event-name', 'request', '--customer', 'acme'];
const warningsOf = (stderr: string) => stderr.split('\n').filter((line) => line.startsWith('warning:'));

const table = [
  'timestamp,status,tokens',
  '2026-02-01 00:00:00,ok,1',
  '2026-02-01 00:00:01,bad,"1,000.50"',
  '2026-02-01 00:00:02,ok,',
  '2026-02-01 00:00:03,ok,12 USD',
  '2026-02-01 00:00:04,ok,2.50',
].join('\n');

describe.each(['embedded', 'http'] as const)('%s', (surface) => {
  beforeEach(async () => await openStageWithAcme(surface));

  test('each meter that reads no number in a value says of how many, and where the first is', async () => {
    await addMeter('TOKENS', '--aggregation-key', 'tokens');
    await addMeter('PEAK', '--aggregation-type', 'MAX', '--aggregation-key', 'tokens');
    const { stdout, stderr, exitCode } = await importing(table, ...ofRequests);
    expect(warningsOf(stderr)).toEqual([
      'warning: tokens: meter PEAK skips 2 of 4 values; the first, in line 3: "1,000.50" is not a number',
      'warning: tokens: meter TOKENS skips 2 of 4 values; the first, in line 3: "1,000.50" is not a number',
    ]);
    expect(stderr).toContain(
      'hint: nothing is billed for them; write numbers with digits and a point, such as 1000.50',
    );
    expect([stdout, exitCode]).toEqual(['5\t5\t0\t0\t0\n', 0]);
  });

  test('of refused rows the first are told, which no table repeats, and all of them are in JSON', async () => {
    const rows = ['timestamp,tokens', ...Array.from({ length: 12 }, (_, index) => `never,${index}`)].join('\n');
    const { stdout, stderr } = await importing(rows, ...ofRequests, '-o', 'table');
    expect(stderr).toContain('and 2 more refused rows: all of them with --refused FILE or -o json');
    expect(stdout).toBe('rows       12\naccepted   0\nrefused    12\nunchanged  0\nreplaced   0\n');
    const { data } = JSON.parse((await importing(rows, ...ofRequests, '-o', 'json')).stdout);
    expect(data.refusals).toHaveLength(12);
  });

  test('a rehearsal says the same, and sends nothing', async () => {
    await addMeter('TOKENS', '--aggregation-key', 'tokens');
    const { stderr, exitCode } = await importing(table, ...ofRequests, '--dry-run');
    expect(warningsOf(stderr)).toHaveLength(1);
    expect(stderr).toContain('correct them before they are imported');
    expect(exitCode).toBe(0);
    expect((await stage.tally(['usage', 'events'])).stdout).toBe('');
  });

  test('what is said is what the meter skips, and goes away when it is corrected under the same keys', async () => {
    await addMeter('TOKENS', '--aggregation-key', 'tokens', '--property-filter', 'name=status,include=ok');
    const { stderr } = await importing(table, ...ofRequests);
    expect(warningsOf(stderr)).toEqual([
      'warning: tokens: meter TOKENS skips 1 of 3 values; the first, in line 5: "12 USD" is not a number',
    ]);
    const id = (await stage.tally(['meters', 'list', '-o', 'name'])).stdout.trim();
    const read = async () => {
      const range = ['--start-date', '2026-02-01T00:00:00Z', '--end-date', '2026-03-01T00:00:00Z'];
      const asked = ['meters', 'test', id, '--external-customer-id', 'acme', ...range, '--jq', '.data.groups[0]'];
      return reviveExactJson((await stage.tally(asked)).stdout);
    };
    expect(await read()).toMatchObject({ quantity: 3.5, eventCount: 2, skippedCount: 1 });
    const found = await stage.tally(['usage', 'events', '--jq', '.data[] | select(.properties.tokens == "12 USD")']);
    const { idempotencyKey } = JSON.parse(found.stdout) as { readonly idempotencyKey: string };
    const corrected = `timestamp,status,tokens,key\n2026-02-01 00:00:03,ok,12,${idempotencyKey}\n`;
    const told = 'warning: 1 event replaced what came earlier under the same key, which is no longer billed';
    const again = await importing(corrected, ...ofRequests, '--key-column', 'key');
    expect(warningsOf(again.stderr)).toEqual([told]);
    expect(await read()).toMatchObject({ quantity: 15.5, eventCount: 3, skippedCount: 0 });
  });

  test.each([
    [
      'jsonl',
      '{"timestamp":"2026-02-01T00:00:00Z","tokens":1}\n{"timestamp":"2026-02-01T00:00:01Z","tokens":null}',
      2,
      'line',
    ],
    [
      'json',
      '[{"timestamp":"2026-02-01T00:00:00Z","tokens":1},{"timestamp":"2026-02-01T00:00:01Z","tokens":null}]',
      2,
      'element',
    ],
    [
      'cloudevents',
      '{"specversion":"1.0","id":"1","source":"/g","type":"x","time":"2026-02-01T00:00:00Z","data":{"tokens":null}}',
      1,
      'line',
    ],
  ])('of %s as well', async (format, text, line, unit) => {
    await addMeter('TOKENS', '--aggregation-key', 'tokens');
    const { stderr } = await importing(text, ...ofRequests, '--format', format);
    expect(warningsOf(stderr)).toEqual([
      `warning: tokens: meter TOKENS skips 1 of ${line} value${line === 1 ? '' : 's'}; the first, in ${unit} ${line}: null is not a number`,
    ]);
    const wrong = await importing(text.replaceAll('2026-02-01T', 'never '), ...ofRequests, '--format', format);
    expect(wrong.stderr).toMatch(new RegExp(`^${unit} ${line}: .*time`, 'm'));
  });
});

describe('nothing is said', () => {
  beforeEach(async () => await openStageWithAcme('embedded'));

  test.each([
    ['where no meter is', []],
    ['of a meter that counts', ['--aggregation-type', 'COUNT', '--aggregation-key', 'tokens']],
    ['of a meter that is a query', ['--sql', 'SELECT count(*) AS value FROM events', '--aggregation-key', 'tokens']],
    ['of a meter of another property', ['--aggregation-key', 'bytes']],
    [
      'of a meter that leaves these events out',
      ['--aggregation-key', 'tokens', '--property-filter', 'name=status,include=x'],
    ],
  ])('%s', async (_case, flags) => {
    if (flags.length > 0) await addMeter('SOME', ...flags);
    const { stderr } = await importing(table, ...ofRequests);
    expect(stderr).toBe('times from timestamp, read as UTC where they carry no offset; properties: status, tokens\n');
  });

  test('of an archived meter', async () => {
    await addMeter('OLD', '--aggregation-key', 'tokens');
    const id = (await stage.tally(['meters', 'list', '-o', 'name'])).stdout.trim();
    expect(await stage.tally(['meters', 'archive', id, '--yes'])).toMatchObject({ exitCode: 0 });
    expect(warningsOf((await importing(table, ...ofRequests)).stderr)).toEqual([]);
  });

  test('with --quiet', async () => {
    await addMeter('TOKENS', '--aggregation-key', 'tokens');
    expect((await importing(table, ...ofRequests, '--quiet')).stderr).toBe('');
  });

  test('of a row that is refused, since it is reported by itself', async () => {
    await addMeter('TOKENS', '--aggregation-key', 'tokens');
    const rows = 'timestamp,customer,tokens\n2026-02-01 00:00:00,nobody,x\n2026-02-01 00:00:00,acme,y\n';
    const { stderr } = await importing(rows, '--event-name', 'request', '--customer-column', 'customer');
    expect(warningsOf(stderr)).toEqual([
      'warning: tokens: meter TOKENS skips 1 of 1 value; the first, in line 3: "y" is not a number',
    ]);
  });
});

test('events that no meter takes are said to be so by their names, and a key that none of them has', async () => {
  await openStageWithAcme('embedded');
  await addMeter('READS', '--aggregation-key', 'bytes', '--event-type-filter', '{"include":["read"]}');
  const names = ['read', 'raed', 'reed', 'rea', 'd', 'raed'];
  const text = ['timestamp,what,size', ...names.map((name) => `2026-02-01 00:00:00,${name},1`)].join('\n');
  const flags = ['--event-name-column', 'what', '--customer', 'acme'];
  const told = [
    'warning: no meter takes events called "raed", "reed", "rea" and others: 5 events',
    'warning: bytes: meter READS finds it in none of 1 event',
  ];
  const rehearsed = await importing(text, ...flags, '--dry-run');
  expect([warningsOf(rehearsed.stderr), rehearsed.exitCode]).toEqual([told, 0]);
  const { stderr } = await importing(text, ...flags);
  expect(warningsOf(stderr)).toEqual(told);
  expect(stderr).toContain('hint: nothing is billed for that; see what meters read with: tally meters list');
  expect(warningsOf((await importing(text, ...flags, '--property', 'bytes=size')).stderr)).toEqual([
    told[0],
    'warning: 6 events replaced what came earlier under the same key, which is no longer billed',
  ]);
});

test('as many names as are told are not followed by others, and a value of one line is told as a whole', async () => {
  await openStageWithAcme('embedded');
  await addMeter('READS', '--aggregation-key', 'size', '--event-type-filter', '{"include":["read"]}');
  const long = 'x'.repeat(58);
  const rows = ['raed,1', 'reed,1', 'rea,1', `read,${long}`].map((row) => `2026-02-01 00:00:00,${row}`);
  const text = ['timestamp,what,size', ...rows].join('\n');
  const { stderr } = await importing(text, '--event-name-column', 'what', '--customer', 'acme');
  expect(warningsOf(stderr)).toEqual([
    'warning: no meter takes events called "raed", "reed", "rea": 3 events',
    `warning: size: meter READS skips 1 of 1 value; the first, in line 5: "${long}" is not a number`,
  ]);
});

test('events of several names are looked at by the meters of each', async () => {
  await openStageWithAcme('embedded');
  await addMeter('READS', '--aggregation-key', 'size', '--event-type-filter', '{"include":["read"]}');
  await addMeter('WRITES', '--aggregation-key', 'size', '--event-type-filter', '{"exclude":["read"]}');
  const rows = ['read,1', 'write,a', 'read,b', 'write,c', 'write,2'].map((row) => `2026-02-01 00:00:00,${row}`);
  const text = ['timestamp,what,size', ...rows].join('\n');
  const { stderr } = await importing(text, '--event-name-column', 'what', '--customer', 'acme');
  expect(warningsOf(stderr)).toEqual([
    'warning: size: meter WRITES skips 2 of 3 values; the first, in line 3: "a" is not a number',
    'warning: size: meter READS skips 1 of 2 values; the first, in line 4: "b" is not a number',
  ]);
});

test('a value reaches the terminal without its escapes, and no longer than a line', async () => {
  await openStageWithAcme('embedded');
  await addMeter('TOKENS', '--aggregation-key', 'tokens');
  const { stderr } = await importing(
    `timestamp,tokens\n2026-02-01 00:00:00,\u009b31m${'x'.repeat(4_000)}\n`,
    ...ofRequests,
  );
  expect(warningsOf(stderr)).toEqual([
    `warning: tokens: meter TOKENS skips 1 of 1 value; the first, in line 2: "\\u{9b}31m${'x'.repeat(55)}… is not a number`,
  ]);
});

test('a file that is read in a thread says the same', async () => {
  await openStageWithAcme('embedded');
  await addMeter('TOKENS', '--aggregation-key', 'tokens');
  // As large as what is read in a thread.
  const rows = Array.from({ length: 300 }, (_, row) => `2026-02-01 00:00:00,${row},${'x'.repeat(4_000)}`);
  const text = ['timestamp,tokens,note', ...rows, '2026-02-01 00:00:00,n/a,', ...rows].join('\n');
  const file = saved('large.csv', text);
  const readingThread = join(root, 'src/cli/import/reading-thread.ts');
  const { stderr } = await stage.tally(['import', 'events', file, ...ofRequests], {}, { readingThread });
  expect(warningsOf(stderr)).toEqual([
    'warning: tokens: meter TOKENS skips 1 of 601 values; the first, in line 302: "n/a" is not a number',
  ]);
});

test('the events are shown of the organization that they were imported into', async () => {
  await openStageWithAcme('embedded');
  await addMeter('TOKENS', '--aggregation-key', 'tokens');
  const { stderr } = await importing(table, ...ofRequests, '--org', 'default');
  expect(stderr).toContain('; see the keys with: tally usage events --org default\n');
});

describe('an import does not need the meters', () => {
  beforeEach(async () => await openStageWithAcme('embedded'));

  test.each(['forbidden', 'notFound', 'notOffered', 'unavailable'] as const)('%s', async (kind) => {
    const shell = createShell({
      reply: ({ name }) => {
        if (name === 'meters.list') throw new BillingError(kind, 'no meters');
        return {};
      },
    });
    const file = saved('events', table);
    expect(await shell.run(['import', 'events', file, ...ofRequests, '-q'])).toMatchObject({ code: 0, stderr: '' });
    expect(shell.calls.map(({ name }) => name)).toEqual(['meters.list', 'usage.ingestBatch']);
  });

  test('a rehearsal goes on where there is no service', async () => {
    const openBilling = async () => await Promise.reject(new BillingError('unavailable', 'nobody there'));
    const shell = createShell({ dependencies: { openBilling } });
    const file = saved('events', table);
    const words = ['import', 'events', file, ...ofRequests, '--dry-run', '-q'];
    expect(await shell.run(words)).toMatchObject({ code: 0, stderr: '' });
  });
});
