import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test, vi } from 'vitest';

import { percentOf } from '../../../src/cli/simulation/comparison.ts';
import { textOfNumber } from '../../../src/exact-json.ts';
import { root } from '../../support/sources.ts';
import { createStage } from '../../support/stage.ts';
import { newDirectory } from '../../support/temporary-files.ts';
import { made, saved, stage, useStage } from '../../support/use-stage.ts';
import { writeYear } from '../../support/year-of-books.ts';

useStage('embedded');
let catalog: string;

/** A request costs a dollar, and a seat 10.00 USD a month. */
const catalogText = (unitAmount: string) => `products: [{ name: Inference }, { name: Seats }]
meters: [{ code: REQUESTS, displayName: Requests, aggregationType: COUNT, groupKeys: [model] }]
pricing:
  - { product: Inference, name: Requests, model: USAGE, meter: REQUESTS, priceInterval: MONTH, unitAmount: ${unitAmount} }
  - { product: Seats, name: Seat, model: FLAT, priceInterval: MONTH, unitAmount: 10 }
plans:
  - name: Standard
    items: [{ product: Inference, price: Requests }, { product: Seats, price: Seat }]
`;

interface Compared {
  readonly total: Record<string, number | null>;
  readonly customers: readonly Record<string, number | string | null>[];
  readonly notes: readonly { readonly customer: string; readonly note: string }[];
}

const run = async (...flags: string[]) => await stage.tally(['simulate', 'compare', ...flags]);
async function compared(...flags: string[]): Promise<Compared> {
  const { stdout, stderr, exitCode } = await run(...flags, '-o', 'json');
  expect(stderr).not.toContain('tally:');
  expect(exitCode).toBe(0);
  return (JSON.parse(stdout) as { data: Compared }).data;
}
/** Customer, before, after and difference of each row. */
const rows = ({ customers }: Compared) =>
  customers.map(({ customer, beforeCents, afterCents, differenceCents }) => [
    customer,
    beforeCents,
    afterCents,
    differenceCents,
  ]);

/** March and April: acme sends 30 requests a month; globex 60, for which it agreed on 0.50 USD. Each has a seat of 10.00 a month. */
beforeAll(async () => {
  catalog = saved('catalog.yaml', catalogText('1'));
  await stage.tally(['catalog', 'apply', catalog, '--yes']);
  const planId = await made('plans', 'list');
  const prices = (await made('pricing', 'list')).split('\n');
  const shown = await Promise.all(
    prices.map(async (each) => [each, (await stage.tally(['pricing', 'get', each, '--json', 'name'])).stdout] as const),
  );
  const requests = shown.find(([, text]) => text.includes('Requests'))?.[0] ?? '';
  for (const [name, ...agreed] of [
    ['acme'],
    ['globex', '--override', JSON.stringify([{ basePricingId: requests, unitAmount: '0.50' }])],
  ] as const) {
    const contact = 'name=Ada,email=ada@example.com,roles=accounts_payable';
    const customerId = await made(
      'customers',
      'create',
      '--name',
      name.toUpperCase(),
      '--external-customer-id',
      name,
      '--contact',
      contact,
    );
    await made(
      'contracts',
      'create',
      '--customer-id',
      customerId,
      '--plan-id',
      planId,
      '--start-date',
      '2026-03-01',
      ...agreed,
    );
  }
  const days = ['05', '10', '15', '20', '25'].flatMap((day) => [`2026-03-${day}`, `2026-04-${day}`]);
  const lines = days.flatMap((day) =>
    Array.from({ length: 6 }, (_request, hour) => [
      `${day}T0${hour}:00:00Z,acme,small`,
      `${day}T1${hour}:00:00Z,globex,small`,
      `${day}T1${hour}:00:00Z,globex,large`,
    ]).flat(),
  );
  const usage = saved('usage.csv', ['timestamp,account,model', ...lines].join('\n'));
  stage.clock.set('2026-05-01T00:00:00Z');
  await stage.tally(['import', 'events', usage, '--event-name', 'request', '--customer-column', 'account']);
  await stage.tally(['bill', 'run']);
});

describe('tally simulate compare', () => {
  // Acme 60 at 1.00 and 2 seats, globex 120 at 0.50 and 2 seats.
  test('shows what another price would have meant, and leaves what a contract agreed on', async () => {
    const found = await compared('--catalog', saved('dearer.yaml', catalogText('1.50')), '--to', '2026-05-01');
    expect(rows(found)).toEqual([
      ['acme', 8000, 11000, 3000],
      ['globex', 8000, 8000, 0],
    ]);
    expect(found.customers.map(({ billedCents, differencePercent }) => [billedCents, differencePercent])).toEqual([
      [8000, 37.5],
      [8000, 0],
    ]);
    expect(found.total).toEqual({
      billedCents: 16000,
      beforeCents: 16000,
      afterCents: 19000,
      differenceCents: 3000,
      differencePercent: 18.75,
    });
    expect(found.notes).toEqual([]);
  });

  test('makes the plan of the same name anew: a price that it loses is not billed any more', async () => {
    const without = catalogText('1').replace(', { product: Seats, price: Seat }', '');
    expect(rows(await compared('--catalog', saved('no-seats.yaml', without), '--to', '2026-05-01'))).toEqual([
      ['acme', 8000, 6000, -2000],
      ['globex', 8000, 6000, -2000],
    ]);
  });

  test('counts only billing periods of the window', async () => {
    const dearer = saved('dearer.yaml', catalogText('2'));
    expect(rows(await compared('--catalog', dearer, '--from', '2026-04-01', '--to', '2026-05-01'))).toEqual([
      ['acme', 4000, 7000, 3000],
      ['globex', 4000, 4000, 0],
    ]);
    expect(rows(await compared('--catalog', dearer, '--to', '2026-04-01', '--customer', 'acme'))).toEqual([
      ['acme', 4000, 7000, 3000],
    ]);
  });

  test('counts up to now the billing period that began this morning', async () => {
    stage.clock.set('2026-05-01T12:00:00Z');
    const grant = ['--grant', 'amount-cents=1', '--from', '2026-05-01'];
    const found = await compared(...grant, '--customer', 'acme');
    expect(found.customers.map(({ billedCents, beforeCents }) => [billedCents, beforeCents])).toEqual([[1000, 1000]]);
  });

  // From 16 April two of ten days are left, and one period begins before May.
  test('moves the first day of service', async () => {
    expect(rows(await compared('--start-date', '2026-04-16', '--to', '2026-05-01'))).toEqual([
      ['acme', 8000, 2200, -5800],
      ['globex', 8000, 2200, -5800],
    ]);
  });

  test('grants credits, which pay usage alone', async () => {
    expect(rows(await compared('--grant', 'customer=acme,amount-cents=4000', '--to', '2026-05-01'))).toEqual([
      ['acme', 8000, 4000, -4000],
      ['globex', 8000, 8000, 0],
    ]);
    expect(rows(await compared('--grant', 'amount-cents=999900', '--to', '2026-05-01'))).toEqual([
      ['acme', 8000, 2000, -6000],
      ['globex', 8000, 2000, -6000],
    ]);
    const lapsing = 'amountCents=4000,customer=acme,at=2026-03-11,expiresAt=2026-03-21';
    expect(rows(await compared('--grant', lapsing, '--to', '2026-05-01', '--customer', 'acme'))).toEqual([
      ['acme', 8000, 5600, -2400],
    ]);
  });

  test('never writes to the source, and leaves nothing behind', async () => {
    const database = join(stage.directory, 'stage.db');
    const hash = () => createHash('sha256').update(readFileSync(database)).digest('hex');
    // A folder of this test's own, since other tests simulate at the same time.
    const temporary = newDirectory();
    vi.stubEnv('TMPDIR', temporary);
    const left = () => [readdirSync(stage.directory), readdirSync(temporary)];
    const before = [hash(), left()];
    await run('--grant', 'amount-cents=1');
    vi.unstubAllEnvs();
    expect([hash(), left()]).toEqual(before);
  });

  test('gives the same bytes every time, as CSV with plain numbers, as rows and as a picture', async () => {
    const flags = ['--grant', 'customer=acme,amount-cents=4000', '--to', '2026-05-01'];
    const csv = await run(...flags, '-o', 'csv');
    expect(csv).toEqual(await run(...flags, '-o', 'csv'));
    expect(csv.stdout).toBe(
      '"customer","name","billedCents","beforeCents","afterCents","differenceCents","differencePercent"\n' +
        '"acme","ACME",8000,8000,4000,-4000,"-50.00"\n"globex","GLOBEX",8000,8000,8000,0,"0.00"\n',
    );
    expect(csv.stderr).toBe(
      '2 customers, 180 events: 160.00 USD becomes 120.00 USD, a difference of -40.00 USD (-25.00 %)\n',
    );
    expect((await run(...flags)).stdout).toBe(
      'acme\tACME\t8000\t8000\t4000\t-4000\t-50.00\nglobex\tGLOBEX\t8000\t8000\t8000\t0\t0.00\n',
    );
    expect((await run(...flags, '--json', 'customer,afterCents')).stdout).toContain('"afterCents": 4000');
    expect((await stage.tally(['simulate', 'compare', ...flags], { isTerminal: true })).stdout).toContain(
      '40.00 USD  -40.00 USD  -50.00 %',
    );
    const chart = (await run(...flags, '--chart')).stdout.split('\n');
    expect(chart[0]).toMatch(/^acme before {4}#+ +80\.00 USD$/);
    expect(chart[1]).toMatch(/^acme after {5}#+ +-40\.00 USD \(-50\.00 %\) {2}40\.00 USD$/);
    expect(chart[0]?.match(/#/g)?.length).toBe(chart[2]?.match(/#/g)?.length);
  });

  test('has an example that says something of the data of the demo', async () => {
    const { stdout } = await stage.tally(['demo']);
    const database = /TALLY_DATABASE=(\S+)/.exec(stdout)?.[1] ?? '';
    const found = await compared('--database', database, '--catalog', join(root, 'examples/new-prices.yaml'));
    const used = found.customers.filter(({ beforeCents }) => beforeCents !== 0);
    expect(used.map(({ customer, beforeCents }) => [customer, beforeCents])).toEqual([
      ['acme', 873],
      ['globex', 1525],
      ['initech', 825],
    ]);
    expect(used.every(({ differenceCents }) => Number(differenceCents) > 0)).toBe(true);
    expect(found.notes).toEqual([]);
  });

  test.each([
    [[], 2, 'nothing would be different'],
    [['--grant', 'customer=acme'], 8, '--grant: amountCents: is required'],
    [['--grant', 'amount-cents=1.5'], 8, '--grant: amountCents: must be a whole number of cents'],
    [['--grant', 'amount-cents=1,customer=nobody'], 4, 'there is no customer nobody'],
    [['--grant', 'amount-cents=1', '--customer', 'nobody'], 4, 'there is no customer nobody'],
    [['--start-date', '2026-02-30'], 2, '--start-date takes a date'],
    [['--to', '1999-12-31'], 2, 'not 1999-12-31\n  hint: it must be in the years 2000 to 2100\n'],
    [['--from', 'March'], 2, '--from takes a date such as 2026-03-01, not March\n'],
    [['--grant', 'amount-cents=1', '--to', '2026-03-01'], 8, 'nothing happens before 2026-03-01'],
    [['--grant', 'amount-cents=1', '--from', '2026-03-02', '--to', '2026-04-01'], 8, 'no billing period begins from'],
    [['--grant', 'amount-cents=1', '--from', '2031-01-01'], 8, 'no billing period begins from 2031-01-01 on'],
    [['--grant', 'amount-cents=1', '--chart', '-o', 'csv'], 2, '--chart draws a picture'],
    [['--grant', 'amount-cents=1', '--json', 'nothing'], 2, 'there is no field "nothing"'],
    [['--catalog', 'nothing.yaml'], 2, 'cannot read nothing.yaml'],
    [['--grant', 'amount-cents=1', '--database', 'nothing.db'], 4, 'there is no file'],
  ])('%j is refused', async (flags, code, words) => {
    const { exitCode, stdout, stderr } = await run(...flags);
    expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: '' });
    expect(stderr).toContain(words);
  });

  test('leaves out what customers without a contract have used', async () => {
    const contact = 'name=Ada,email=ada@example.com,roles=accounts_payable';
    const initech = await made('customers', 'create', '--name', 'INITECH', '--contact', contact);
    const when = ['--timestamp', '2026-04-05T00:00:00Z'];
    await stage.tally(['usage', 'ingest', '--event-name', 'request', '--customer-id', initech, ...when]);
    const found = await compared('--grant', 'amount-cents=1', '--to', '2026-05-01');
    expect(found.customers.map(({ customer }) => customer)).toEqual(['acme', 'globex']);
  });
});

describe('a replay of an unchanged history bills what was billed', () => {
  const directory = newDirectory();

  test('over a year of grants, free credits, budgets, pauses, weeks, month ends, terms and cancellations', async () => {
    const database = join(directory, 'year.db');
    const world = await writeYear(database);
    await world.call('clock.advance', { body: { to: '2027-05-05' } });
    await world.close();
    // A grant that nobody can use changes nothing.
    const useless = 'amount-cents=1,at=2027-01-11,expires-at=2027-01-12';
    const found = await compared('--database', database, '--grant', useless);
    expect(found.notes).toEqual([]);
    expect(found.customers).toHaveLength(6);
    expect(Number(found.total['beforeCents'])).toBeGreaterThan(10_000);
    for (const { billedCents, beforeCents, afterCents } of found.customers) {
      expect([beforeCents, afterCents]).toEqual([billedCents, billedCents]);
    }
  });

  test('also after the catalog has changed, and on a plan that is archived; the new prices are another catalog', async () => {
    const old = await createStage('embedded');
    const tally = async (...argv: string[]) => (await old.tally([...argv, '--quiet'])).stdout.trim();
    const write = (name: string, unitAmount: string) => {
      const path = join(old.directory, name);
      writeFileSync(path, catalogText(unitAmount));
      return path;
    };
    await tally('catalog', 'apply', write('old.yaml', '1'), '--yes');
    const contact = 'name=Ada,email=ada@example.com,roles=accounts_payable';
    const customerId = await tally(
      'customers',
      'create',
      '--name',
      'Acme',
      '--external-customer-id',
      'acme',
      '--contact',
      contact,
      '-o',
      'name',
    );
    const contract = [
      '--customer-id',
      customerId,
      '--plan-id',
      await tally('plans', 'list', '-o', 'name'),
      '--start-date',
      '2026-03-01',
    ];
    const contractId = await tally('contracts', 'create', ...contract, '--credit-grant-cents', '500', '-o', 'name');
    const grantId = await tally(
      'credits',
      'grant',
      contractId,
      '--amount-cents',
      '300',
      '--expires-at',
      '2027-01-01T00:00:00Z',
      '-o',
      'name',
    );
    await tally(
      'credits',
      'adjust',
      contractId,
      '--grant-entry-id',
      grantId,
      '--amount-cents',
      '-100',
      '--description',
      'too much',
    );
    const lost = await tally(
      'credits',
      'grant',
      contractId,
      '--amount-cents',
      '9900',
      '--expires-at',
      '2027-01-01T00:00:00Z',
      '-o',
      'name',
    );
    await tally('credits', 'reverse', contractId, lost);
    await tally('catalog', 'apply', write('new.yaml', '2'), '--yes');
    old.clock.set('2026-04-02T00:00:00Z');
    for (const key of ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']) {
      const event = ['--event-name', 'request', '--customer-id', customerId, '--idempotency-key', key];
      await tally('usage', 'ingest', ...event, '--timestamp', '2026-03-10T00:00:00Z');
    }
    await tally('bill', 'run');
    const { stdout } = await old.tally([
      'simulate',
      'compare',
      '--catalog',
      join(old.directory, 'new.yaml'),
      '--to',
      '2026-04-01',
      '-o',
      'json',
    ]);
    await old.close();
    const found = (JSON.parse(stdout) as { data: Compared }).data;
    // 5.00 prepaid, a seat of 10.00, and 10 requests of which credits pay 5.00 + 2.00.
    expect(rows(found)).toEqual([['acme', 1800, 2800, 1000]]);
    expect(found.customers[0]).toMatchObject({ billedCents: 1800 });
    expect(found.notes).toEqual([]);
  });
});

test.each([
  [1n, 3n, '33.33'],
  [2n, 3n, '66.67'],
  [-1n, 3n, '-33.33'],
  [1n, 800n, '0.13'],
  [-1n, 800n, '-0.13'],
  [-1n, 100_000n, '0.00'],
  [5n, 5n, '100.00'],
  [0n, 7n, '0.00'],
  [12_345n, 100n, '12345.00'],
])('%i of %i are %s percent', (part, whole, percent) => {
  expect(textOfNumber(percentOf(part, whole) ?? 0)).toBe(percent);
});

test('there is no percentage of nothing', () => {
  expect(percentOf(5n, 0n)).toBeNull();
});
