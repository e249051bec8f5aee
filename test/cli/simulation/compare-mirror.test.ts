/** A comparison on a mirror: what the documented interface shows of contracts says as much of prices as the events do. */

import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { beforeAll, describe, expect, test } from 'vitest';

import { createMaintenance } from '../../../src/engine/maintenance.ts';
import { made, saved, stage, useStage } from '../../support/use-stage.ts';

interface Prices {
  readonly request: string;
  readonly seat: string;
  readonly small: string;
  readonly firstTier: string;
  readonly support: string;
}

const today: Prices = { request: '0.30', seat: '10', small: '0.015', firstTier: '0.07', support: '25' };

/** A price of every model: usage with rates by model, usage in tiers by region, usage with a flat amount, seats in tiers, a yearly fee. */
const catalogText = ({
  request,
  seat,
  small,
  firstTier,
  support,
}: Prices) => `products: [{ name: Inference }, { name: Seats }]
meters:
  - { code: REQUESTS, displayName: Requests, aggregationType: COUNT, eventTypeFilter: { include: [request] } }
  - { code: TOKENS, displayName: Tokens, aggregationKey: tokens, groupKeys: [model, region] }
  - { code: PEAK, displayName: Peak, aggregationType: MAX, aggregationKey: peak, groupKeys: [region] }
rateCards:
  - { meter: TOKENS, fallbackUnitAmount: 0.02, rates: [{ dimensions: { model: small }, unitAmount: ${small} }, { dimensions: { model: "large, x", region: eu }, unitAmount: 0.045 }] }
pricing:
  - { product: Inference, name: Requests, description: Calls, model: USAGE, meter: REQUESTS, priceInterval: MONTH, unitAmount: ${request}, flatAmount: 3 }
  - { product: Inference, name: Tokens, model: USAGE, meter: TOKENS, priceInterval: MONTH, unitAmount: 1 }
  - product: Inference
    name: Peak
    model: USAGE
    tiering: GRADUATED
    meter: PEAK
    priceInterval: MONTH
    pricingTiers: [{ maxQty: 10, unitAmount: ${firstTier}, flatAmount: 1 }, { unitAmount: 0.033 }]
  - { product: Seats, name: Seat, model: FLAT, priceInterval: MONTH, unitAmount: ${seat} }
  - { product: Seats, name: Support, model: TIER, tiering: VOLUME, priceInterval: MONTH, pricingTiers: [{ maxQty: 3, unitAmount: ${support} }, { unitAmount: 20 }] }
  - { product: Seats, name: Platform, model: FLAT, priceInterval: YEAR, unitAmount: 365 }
plans:
  - name: Standard
    items:
      - { product: Inference, price: Requests }
      - { product: Inference, price: Tokens }
      - { product: Inference, price: Peak }
      - { product: Seats, price: Seat, defaultQuantity: 3 }
      - { product: Seats, price: Support, defaultQuantity: 2 }
      - { product: Seats, price: Platform }
`;

interface Compared {
  readonly total: Record<string, number | null>;
  readonly customers: readonly Record<string, number | string | null>[];
  readonly notes: readonly { readonly customer: string; readonly note: string }[];
  readonly quantityCount?: number;
}

useStage('http', { start: '2026-01-01T00:00:00.000Z' });
let mirror: string;
let source: string;
let contracts: string[];
let plan: string;

/** What the interface does not offer, as the owner of the database. */
async function owned(...words: string[]): Promise<void> {
  expect((await stage.tally([...words, '--yes'], {}, { env: { TALLY_DATABASE: source } })).exitCode).toBe(0);
}
async function succeeds(...words: string[]): Promise<void> {
  expect((await stage.tally(words)).exitCode).toBe(0);
}
const run = async (database: string, ...flags: string[]) =>
  await stage.tally(['simulate', 'compare', ...flags], {}, { env: { TALLY_DATABASE: database } });
async function compared(database: string, ...flags: string[]): Promise<Compared> {
  const { stdout, stderr, exitCode } = await run(database, ...flags, '-o', 'json');
  expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('tally:')]);
  return (JSON.parse(stdout) as { data: Compared }).data;
}
/** Amounts of the customers, their total and notes: on the mirror, and on the database of the service. */
async function both(...flags: string[]) {
  const shown = ({ customers, total, notes }: Compared) => ({ customers, total, notes });
  const those = flags.includes('--customer')
    ? []
    : ['acme', 'globex', 'initech'].flatMap((name) => ['--customer', name]);
  return [shown(await compared(mirror, ...flags)), shown(await compared(source, ...those, ...flags))] as const;
}
const dearer = (instead: Partial<Prices>) => saved('dearer.yaml', catalogText({ ...today, ...instead }));

/** January to March of three customers: with prepaid credits, with promotional ones and a budget, and with prices agreed on. */
beforeAll(async () => {
  source = join(stage.directory, 'stage.db');
  mirror = join(stage.directory, 'mirror.db');
  await stage.tally(['catalog', 'apply', saved('catalog.yaml', catalogText(today)), '--yes']);
  plan = await made('plans', 'list');
  const pricing = JSON.parse((await stage.tally(['pricing', 'list', '-o', 'json'])).stdout) as {
    data: { id: string; name: string; meterId?: string }[];
  };
  const priceOf = (wanted: string) => pricing.data.find(({ name }) => name === wanted);
  const terms: Readonly<Record<string, readonly string[]>> = {
    acme: ['--credit-grant-cents', '2000'],
    globex: ['--end-date', '2026-03-11'],
    initech: [
      '--override',
      `base-pricing-id=${priceOf('Requests')?.id},unit-amount=0.25`,
      '--override',
      `meter-id=${priceOf('Tokens')?.meterId},dimensions.model=huge,unit-amount=0.5`,
      '--override',
      `base-pricing-id=${priceOf('Seat')?.id},quantity=7`,
    ],
    hooli: [],
  };
  contracts = [];
  for (const [name, words] of Object.entries(terms)) {
    stage.clock.advance({ seconds: 1 });
    const contact = 'name=Ada,email=ada@example.com,roles=accounts_payable';
    const named = ['--name', name.toUpperCase(), '--external-customer-id', name, '--contact', contact];
    const customerId = await made('customers', 'create', ...named);
    const dated = ['--customer-id', customerId, '--plan-id', plan, '--start-date', '2026-01-01'];
    contracts.push(await made('contracts', 'create', ...dated, ...words));
  }
  const [, globex = '', , hooli = ''] = contracts;
  // Of usage that ends within January, all; and of what comes by the middle of February, more than there is.
  for (const [at, amount] of [
    ['2026-01-10', '250'],
    ['2026-02-15', '99999'],
  ] as const) {
    await made('credits', 'grant', hooli, '--expires-at', `${at}T00:00:00Z`, '--amount-cents', amount);
    stage.clock.advance({ seconds: 1 });
  }
  const grant = ['credits', 'grant', globex, '--expires-at'];
  await made(...grant, '2027-01-01T00:00:00Z', '--amount-cents', '1500');
  stage.clock.advance({ seconds: 1 });
  const early = await made(...grant, '2026-02-01T00:00:00Z', '--amount-cents', '400');
  await owned(
    'credits',
    'adjust',
    globex,
    '--grant-entry-id',
    early,
    '--amount-cents',
    '-150',
    '--description',
    'less',
  );
  const lost = await made(...grant, '2027-02-01T00:00:00Z', '--amount-cents', '7700');
  await owned('credits', 'reverse', globex, lost);
  const budget = ['--event-property-key', 'model', '--event-property-value', 'small', '--max-credits-cents', '300'];
  const tokens = ['--meter-id', priceOf('Tokens')?.meterId ?? ''];
  await owned('budgets', 'add', globex, ...budget, ...tokens);
  const lines = Object.keys(terms).flatMap((name, customer) =>
    ['01-03', '01-20', '02-05', '02-25', '03-07'].flatMap((date, day) => [
      `2026-${date}T01:00:00Z,${name},request,,,,`,
      `2026-${date}T02:00:00Z,${name},request,,,,`,
      `2026-${date}T03:00:00Z,${name},tokens,${103 + customer * 10 + day},small,eu,`,
      `2026-${date}T04:00:00Z,${name},tokens,${57 + customer * 10 + day},"large, x",eu,`,
      `2026-${date}T05:00:00Z,${name},tokens,${31 + day}.5,"large, x",us,`,
      `2026-${date}T06:00:00Z,${name},tokens,${11 + day},huge,,`,
      `2026-${date}T07:00:00Z,${name},peak,,,eu,${17 + customer - day}`,
    ]),
  );
  const usage = saved('usage.csv', ['timestamp,account,event,tokens,model,region,peak', ...lines].join('\n'));
  stage.clock.set('2026-03-20T00:00:00Z');
  const columns = ['--event-name-column', 'event', '--customer-column', 'account'];
  await succeeds('import', 'events', usage, ...columns);
  await stage.tally(['bill', 'run', '--yes']);
  await succeeds('pull', '--to', mirror, '--contract', ...contracts.slice(0, 3), '--plan', plan);
});

describe('a comparison on a mirror says to the cent what one on its service says', () => {
  test.each<[string, Partial<Prices>]>([
    ['of a price by usage', { request: '0.45' }],
    ['of fixed prices and a tier', { seat: '12.34', support: '31', firstTier: '0.11' }],
    ['of all of them', { request: '0.1', seat: '0', support: '1', small: '0.5', firstTier: '0.001' }],
  ])('%s', async (_change, instead) => {
    const [found, there] = await both('--catalog', dearer(instead));
    expect(found).toEqual(there);
    expect(found.notes).toEqual([]);
    expect(found.customers.map(({ customer }) => customer)).toEqual(['acme', 'globex', 'initech']);
    expect(found.customers.every(({ billedCents, beforeCents }) => billedCents === beforeCents)).toBe(true);
    expect(Number(found.total['differenceCents'])).not.toBe(0);
  });

  test.each<[string, () => string]>([
    ['without meters', () => catalogText({ ...today, small: '0.03' }).replace(/meters:[^]*?rateCards:/, 'rateCards:')],
    ['without a price of the plan', () => catalogText(today).replace('- { product: Seats, price: Platform }\n', '')],
  ])('of a catalog %s', async (_lack, text) => {
    const [found, there] = await both('--catalog', saved('other.yaml', text()));
    expect(found).toEqual(there);
  });

  test.each([
    ['to all', ['amount-cents=100']],
    ['to one, of more than it uses', ['amount-cents=99999,customer=acme']],
    [
      'from a date on, and another to its end',
      ['amount-cents=700,at=2026-02-03', 'amount-cents=500,expires-at=2026-02-01'],
    ],
  ])('of a grant %s', async (_words, grants) => {
    const [found, there] = await both(...grants.flatMap((grant) => ['--grant', grant]));
    expect(found).toEqual(there);
    expect(Number(found.total['differenceCents'])).toBeLessThan(0);
  });

  test('of some billing periods, and of one customer', async () => {
    const dear = ['--catalog', dearer({ request: '2' })];
    for (const window of [
      ['--from', '2026-02-01', '--to', '2026-03-01'],
      ['--customer', 'globex'],
    ]) {
      const [found, there] = await both(...dear, ...window);
      expect(found).toEqual(there);
    }
  });
});

describe('on a mirror', () => {
  test('the file is only read, and nothing is left behind', async () => {
    const hash = () => createHash('sha256').update(readFileSync(mirror)).digest('hex');
    const left = () => readdirSync(stage.directory);
    const catalog = dearer({ seat: '11' });
    const before = [hash(), left()];
    expect((await run(mirror, '--catalog', catalog)).exitCode).toBe(0);
    expect([hash(), left()]).toEqual(before);
  });

  test('the answer says what it rests on', async () => {
    const { stdout, stderr } = await run(mirror, '--grant', 'amount-cents=100', '-o', 'json');
    expect((JSON.parse(stdout) as { data: Compared }).data).toMatchObject({ quantityCount: expect.any(Number) });
    expect(stderr).toContain(`${mirror} mirrors http://127.0.0.1`);
    expect(stderr).toContain('compared by the quantities on its invoices, period by period');
    expect(stderr).toMatch(/3 customers, \d+ invoiced quantities: /);
    expect((await run(mirror, '--grant', 'amount-cents=100', '--quiet')).stderr).toBe('');
  });

  test.each([
    ['whole numbers with decimals', /:-?\d+(?=[,}])/g, '$&.0'],
    ['null for no credits', /"(creditAmount|creditRateCents)":0(?=[,}])/g, '"$1":null'],
  ])('answers of a service that writes %s say the same', async (what, form, instead) => {
    const other = join(stage.directory, `${what}.db`);
    copyFileSync(mirror, other);
    const copy = new DatabaseSync(other);
    copy.function('written', (body) => String(body).replaceAll(form, instead));
    copy.exec('UPDATE records SET body = written(body)');
    copy.close();
    const change = ['--grant', 'amount-cents=100'];
    expect(await compared(other, ...change)).toEqual(await compared(mirror, ...change));
  });

  test('a price on a meter without usage is told of, and bills none', async () => {
    const other = `${catalogText(today)}      - { product: Inference, price: Images }\n`
      .replace('rateCards:', '  - { code: IMAGES, displayName: Images }\nrateCards:')
      .replace(
        'plans:',
        '  - { product: Inference, name: Images, model: USAGE, meter: IMAGES, priceInterval: MONTH, unitAmount: 5 }\nplans:',
      )
      .replace('displayName: Images }', 'displayName: Images, aggregationType: COUNT }');
    const { stderr, exitCode } = await run(mirror, '--catalog', saved('images.yaml', other));
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('Inference / Images: the mirror has no usage')]);
  });

  test('a rate card without a price of its meter is known by what it names, or refused where several have that', async () => {
    const rates = (dimension: string) =>
      `rateCards: [{ meter: TOKENS, fallbackUnitAmount: 0.1, rates: [{ dimensions: { ${dimension} }, unitAmount: 0.3 }] }]`;
    const known = ['--catalog', saved('known.yaml', rates('model: small'))];
    const [found, there] = await both(...known);
    expect(found).toEqual(there);
    expect((await run(mirror, ...known)).stderr).toContain('TOKENS is taken to be the meter of Tokens');
    const { stderr, exitCode } = await run(mirror, '--catalog', saved('unknown.yaml', rates('region: eu')));
    expect([exitCode, stderr]).toEqual([8, expect.stringContaining('name a price of TOKENS under pricing too')]);
  });

  test('prices that were billed by two meters cannot go to one', async () => {
    const other = catalogText(today).replace('meter: PEAK\n', 'meter: REQUESTS\n');
    const { stderr, stdout, exitCode } = await run(mirror, '--catalog', saved('one-meter.yaml', other));
    expect([exitCode, stdout]).toEqual([8, '']);
    expect(stderr).toContain('one-meter.yaml:');
    expect(stderr).toContain('were billed by different meters');
  });

  test('another start date is refused, since invoices do not show the days of usage', async () => {
    const { stderr, stdout, exitCode } = await run(mirror, '--start-date', '2026-01-16');
    expect([exitCode, stdout]).toEqual([12, '']);
    expect(stderr).toContain('the days of usage would have to be known');
    expect(stderr).toContain('tally simulate run');
  });

  test('contracts that were pulled without their plan are refused, by their id', async () => {
    const [contract = ''] = contracts;
    const bare = join(stage.directory, 'bare.db');
    await stage.tally(['pull', '--to', bare, '--contract', contract]);
    const { stderr, stdout, exitCode } = await run(bare, '--grant', 'amount-cents=1');
    expect([exitCode, stdout]).toEqual([7, '']);
    expect(stderr).toContain(`does not know the plan of contract ${contract}`);
    expect(stderr).toContain('--plan');
  });

  test('a mirror without contracts has nothing to compare', async () => {
    const empty = join(stage.directory, 'empty.db');
    const maintenance = createMaintenance({ now: stage.clock.now });
    const service = { environment: 'sandbox', address: 'https://billing.example.com', hasContracts: true };
    const mirror = await maintenance.openMirror(empty, service);
    await mirror.keep([], { pulledAt: '2026-03-20T00:00:00Z' });
    await mirror.close();
    const { stderr, stdout, exitCode } = await run(empty, '--grant', 'amount-cents=1');
    expect([exitCode, stdout]).toEqual([7, '']);
    expect(stderr).toContain('has no contracts');
  });

  test('credits that lapsed within a period pay what they paid, and a note says how that is known', async () => {
    const other = join(stage.directory, 'lapsed.db');
    await succeeds('pull', '--to', other, '--contract', contracts[3] ?? '', '--plan', plan);
    const useless = ['--grant', 'amount-cents=1,at=2026-02-01,expires-at=2026-02-01T00:00:01Z', '--to', '2026-03-01'];
    const found = await compared(other, ...useless);
    expect(found.customers).toEqual((await compared(source, '--customer', 'hooli', ...useless)).customers);
    expect(found.customers[0]?.['beforeCents']).toBe(found.customers[0]?.['billedCents']);
    expect(found.notes.map(({ note }) => note.slice(-23))).toEqual(
      ['before 2026-01-10', 'before 2026-02-15'].map((end) => expect.stringContaining(end) as string),
    );
  });

  test('what a line cannot show is noted for the customer that it concerns', async () => {
    const globex = contracts[1] ?? '';
    const elsewhere = join(stage.directory, 'noted.db');
    await owned('budgets', 'add', globex, '--event-property-key', 'colour', '--event-property-value', 'red');
    await stage.tally(['pull', '--to', elsewhere, '--contract', globex, '--plan', plan]);
    const { notes } = await compared(elsewhere, '--grant', 'amount-cents=100');
    expect(notes).toEqual([
      { customer: 'globex', note: expect.stringContaining('is on a property that some lines do not show') as string },
    ]);
  });
});
