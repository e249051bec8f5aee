/** What `tally catalog` makes of a service, on a database and through a served one. */

import { join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import type { CommandResult, Surface } from '../../support/stage.ts';
import { openStage, stage } from '../../support/use-stage.ts';
import { damage } from '../../doctor/damage.ts';
import { catalog, dearer } from './catalog-sample.ts';

const tally = async (line: string, input = '', rest = {}) => await stage.tally(line.split(' '), { input, ...rest });
const apply = async (text: string, flags = '') => await tally(`catalog apply - --yes${flags}`, text);
const data = ({ stdout }: CommandResult) => JSON.parse(stdout).data;
const tokens = '      - product: Inference\n        price: Tokens\n';
const seats = '      - product: Seats\n        price: Seats\n        defaultQuantity: "25"\n';
const linesOf = (text: string) => text.trimEnd().split('\n');

describe.each<Surface>(['embedded', 'http'])('%s:', (surface) => {
  beforeEach(async () => await openStage(surface));

  test('what apply made is exported as the same file, and applying it again changes nothing', async () => {
    expect(await apply(catalog)).toMatchObject({ exitCode: 0 });
    expect(await tally('catalog export')).toEqual({ stdout: catalog, stderr: '', exitCode: 0 });
    expect(await apply(catalog)).toEqual({ stdout: '', stderr: '', exitCode: 0 });
    expect(data(await tally('catalog diff - -o json', catalog))).toEqual({ changes: [], unchanged: 8, unlisted: 0 });
  });

  test('the export as JSON is a file as well', async () => {
    await apply(catalog);
    const { stdout } = await tally('catalog export -o json');
    expect(JSON.parse(stdout)).toMatchObject({ products: [{ name: 'Inference' }, { name: 'Seats' }] });
    expect(await tally('catalog diff - --exit-code --prune', stdout)).toMatchObject({ exitCode: 0 });
  });

  test('a price that differs is replaced, and the plans that contain it with it', async () => {
    await apply(catalog);
    const before = data(await tally('pricing list -o json'));
    expect(linesOf((await apply(dearer)).stdout)).toEqual([
      'replace\tprice\tSeats / Seats\tpricingTiers: [{"maxQty":"10","unitAmount":"12","flatAmount":"0"},{"unitAmount":"9.50","flatAmount":"0"}] -> [{"maxQty":"10","unitAmount":"12","flatAmount":"0"},{"unitAmount":"9.75","flatAmount":"0"}]',
      'replace\tplan\tSolo\tcontains Seats / Seats, replaced',
      'replace\tplan\tTeam (team)\tcontains Seats / Seats, replaced',
    ]);
    expect((await tally('catalog export')).stdout).toBe(dearer);
    const after = data(await tally('pricing list -o json'));
    expect(after.map(({ id }: { id: string }) => before.some((each: { id: string }) => each.id === id))).toEqual([
      false,
      true,
    ]);
    expect(data(await tally('plans list -o json'))).toHaveLength(2);
  });

  test('contracts keep what they were made with, whatever becomes of the catalog', async () => {
    await apply(catalog);
    const [, solo] = data(await tally('plans list -o json'));
    const customer = data(
      await stage.tally([
        'customers',
        'create',
        '--name',
        'Acme',
        '--contact',
        'name=Ada,email=ada@acme.example,roles=primary',
        '-o',
        'json',
      ]),
    );
    const contract = data(
      await tally(`contracts create --customer-id ${customer.id} --plan-id ${solo.id} --start-date 2026-03-01 -o json`),
    );
    const drafts = async () =>
      data(await tally(`invoices list --customer-id ${customer.id} --include lineItems -o json`));
    const billed = await drafts();
    expect(billed[0].totalCents).toBe(1200);
    const all = dearer
      .replace('unitAmount: "12"', 'unitAmount: "99"')
      .replace('name: Seats\nmeters', 'name: Seats\n    description: Chairs\nmeters');
    expect(await apply(all)).toMatchObject({ exitCode: 0 });
    expect(await drafts()).toEqual(billed);
    expect(data(await tally(`contracts get ${contract.id} -o json`))).toEqual(contract);
    const empty = 'products: []\nmeters: []\nrateCards: []\npricing: []\nplans: []\n';
    expect(await apply(empty, ' --prune')).toMatchObject({ exitCode: 0 });
    expect(await drafts()).toEqual(billed);
    expect((await tally('catalog export -o json')).stdout).toBe(
      `${JSON.stringify({ products: [], meters: [], rateCards: [], pricing: [], plans: [] }, undefined, 2)}\n`,
    );
  });

  test('a failure half-way is told with what was done, and the same command goes on', async () => {
    // The service alone can tell that the intervals of a plan do not nest.
    const weekly = catalog.replace('model: TIER\n    priceInterval: MONTH', 'model: TIER\n    priceInterval: WEEK');
    const failed = await apply(weekly);
    expect(failed).toMatchObject({ exitCode: 8, stdout: '' });
    expect(failed.stderr).toContain(
      'tally: cannot create plan Team (team): items: the intervals of the prices do not nest',
    );
    expect(failed.stderr).toContain('hint: 7 of 8 steps are done');
    expect(linesOf((await apply(catalog)).stdout).map((line) => line.split('\t').slice(0, 3).join(' '))).toEqual([
      'create plan Team (team)',
      'replace price Seats / Seats',
      'replace plan Solo',
    ]);
    expect((await tally('catalog export')).stdout).toBe(catalog);
  });

  test('what the file leaves out stays unless it is pruned, and only in the sections that the file has', async () => {
    await apply(catalog);
    const { products } = { products: catalog.slice(catalog.indexOf('products'), catalog.indexOf('meters')) };
    const plans = catalog.slice(catalog.indexOf('plans:'), catalog.indexOf('  - name: Team'));
    const file = products + plans;
    expect(data(await tally('catalog diff - -o json', file))).toEqual({ changes: [], unchanged: 3, unlisted: 4 });
    expect((await tally('catalog diff - --prune', file)).stdout).toBe('archive\tplan\tTeam (team)\tnot in the file\n');
    await apply(file, ' --prune');
    expect(data(await tally('plans list --json name'))).toBeUndefined();
    expect((await tally('plans list --columns name')).stdout).toBe('Solo\n');
    expect((await tally('pricing list --columns name')).stdout).toBe('Seats\nTokens\n');
  });
});

describe('on a database:', () => {
  beforeEach(async () => await openStage('embedded'));

  describe('what is not in the file', () => {
    const partOf = (text: string, section: string) => {
      const rest = text.slice(text.indexOf(`${section}:`));
      return rest.slice(0, /\n(?=\w)/.exec(rest)?.index ?? rest.length);
    };

    test('but contains a price that is replaced is made anew as it is', async () => {
      await apply(catalog);
      expect(await apply(partOf(dearer, 'pricing'))).toMatchObject({ exitCode: 0 });
      expect((await tally('catalog export')).stdout).toBe(dearer);
    });

    test.each([
      [
        'a price on a meter that is replaced',
        'meters: [{ code: TOKENS, displayName: Other, aggregationKey: tokens, groupKeys: [model] }]\nrateCards: []',
        'the price Inference / Tokens belongs to a product or meter that goes, and is not in the file; the rate card of meter TOKENS, which is replaced, is not in the file',
      ],
      [
        'a plan with a price on a product that is replaced',
        `products: [{ name: Seats, description: Chairs }]\n${partOf(catalog, 'pricing')}`,
        'the plan Solo contains a price that goes, and is not in the file; the plan Team (team) contains a price that goes, and is not in the file',
      ],
    ])('stops %s: it could not be made anew after a failure', async (_case, file, words) => {
      await apply(catalog);
      const refused = await tally('catalog diff -', file);
      expect(refused).toMatchObject({ exitCode: 7, stdout: '' });
      expect(refused.stderr).toContain(words);
      expect(refused.stderr).toContain('hint: add it to the file');
    });

    test('stops a prune that would leave a plan without its price', async () => {
      await apply(catalog);
      const refused = await apply('pricing: []', ' --prune');
      expect(refused.exitCode).toBe(7);
      expect((await tally('catalog export')).stdout).toBe(catalog);
    });
  });

  test.each([
    [
      'a product',
      'name: Seats\nmeters',
      'name: Seats\n    description: Chairs\nmeters',
      ['product', 'price', 'plan', 'plan'],
    ],
    ['a meter', 'displayName: Tokens', 'displayName: Words', ['meter', 'rate card', 'price', 'plan']],
    ['a rate card', 'unitAmount: "0.02"', 'unitAmount: "0.03"', ['rate card']],
    ['a plan', 'netTerms: "14"', 'netTerms: "15"', ['plan']],
    ['the order of a plan', `${tokens}${seats}`, `${seats}${tokens}`, ['plan']],
  ])('%s that differs is replaced, with what hangs on it', async (_case, from, to, kinds) => {
    await apply(catalog);
    const file = catalog.replace(from, to);
    const { changes } = data(await tally('catalog diff - -o json', file));
    expect(changes.map(({ action, kind }: { action: string; kind: string }) => `${action} ${kind}`)).toEqual(
      kinds.map((kind) => `replace ${kind}`),
    );
    await apply(file);
    expect((await tally('catalog export')).stdout).toBe(file);
  });

  test.each([
    ['an externalId is added', 'name: Solo\n', 'name: Solo\n    externalId: solo\n', 'externalId: (none) -> solo'],
    ['an externalId is dropped', '    externalId: team\n', '', 'externalId: team -> (none)'],
    ['a plan of an externalId is renamed', 'name: Team\n', 'name: Crew\n', 'name: Team -> Crew'],
  ])('when %s it stays the same plan', async (_case, from, to, words) => {
    await apply(catalog);
    const file = catalog.replace(from, to);
    expect(linesOf((await tally('catalog diff -', file)).stdout)).toEqual([expect.stringContaining(words)]);
    await apply(file);
    expect(data(await tally('plans list -o json'))).toHaveLength(2);
  });

  test.each([
    ['of another externalId is another plan', 'externalId: team', 'externalId: crew', ['create Team (crew)']],
    [
      'that two of the file could be is the first of them',
      '  - name: Team\n',
      '  - name: Solo\n    externalId: solo\n    items: [{ product: Seats, price: Seats }]\n  - name: Team\n',
      ['create Solo (solo)'],
    ],
    [
      'that two new ones of the file could be is replaced once',
      '  - name: Solo\n',
      '  - name: Solo\n    externalId: a\n    items: [{ product: Seats, price: Seats }]\n  - name: Solo\n    externalId: b\n',
      ['create Solo (b)', 'replace Solo (a)'],
    ],
  ])('a plan %s', async (_case, from, to, changes) => {
    await apply(catalog);
    const found = data(await tally('catalog diff - -o json', catalog.replace(from, to))).changes;
    expect(found.map(({ action, name }: { action: string; name: string }) => `${action} ${name}`)).toEqual(changes);
  });

  test('a file of another form is told where the form stands', async () => {
    const refused = await tally('catalog diff -', 'plans: [{ name: Team, items: [Seats / Seats] }]');
    expect(refused.exitCode).toBe(8);
    expect(refused.stderr).toContain('plans[0].items[0]: must be an object\n  hint: see what a catalog can hold with');
  });

  test('a plan that could be two is not guessed at', async () => {
    await apply(catalog);
    await apply(
      `${catalog}  - name: Team\n    externalId: other\n    items:\n      - product: Seats\n        price: Seats\n`,
    );
    const refused = await tally('catalog diff -', 'plans: [{ name: Team, items: [{ product: Seats, price: Seats }] }]');
    expect(refused.exitCode).toBe(8);
    expect(refused.stderr).toContain(
      'standard input:1: plans[0]: could be Team (other) or Team (team): say which by externalId',
    );
  });

  test.each([
    [
      'a product',
      'pricing: [{ product: None, name: N, model: FLAT, unitAmount: 1, priceInterval: MONTH }]',
      'pricing[0].product: names a product that is neither',
    ],
    ['a meter', 'rateCards: [{ meter: NONE }]', 'rateCards[0].meter: names a meter that is neither'],
    [
      'a price',
      'plans: [{ name: P, items: [{ product: Seats, price: None }] }]',
      'plans[0].items[0].price: names a price of Seats',
    ],
    [
      'a group key',
      'rateCards: [{ meter: TOKENS, rates: [{ dimensions: { region: eu }, unitAmount: 1 }] }]',
      'rateCards[0].rates[0].dimensions.region: is not a group key of meter TOKENS; it has model',
    ],
  ])('%s that there is not is refused with its line', async (_case, file, words) => {
    await apply(catalog);
    const refused = await tally('catalog diff -', `# a comment\n${file}`);
    expect(refused.exitCode).toBe(8);
    expect(refused.stderr).toContain(`tally: standard input:2: ${words}`);
  });

  test('two prices of one name cannot be told apart: an export names them, and a file that lists one keeps one', async () => {
    await apply(catalog);
    const [{ productId }] = data(await tally('pricing list -o json'));
    await tally(
      `pricing create --product-id ${productId} --name Seats --model FLAT --unit-amount 1 --price-interval MONTH`,
    );
    const refused = await tally('catalog export');
    expect(refused).toMatchObject({ exitCode: 7, stdout: '' });
    expect(refused.stderr).toMatch(
      /2 prices are called Seats \/ Seats: 01900000\S+, 01900000\S+\n {2}hint: .*tally pricing archive ID/,
    );
    const unclear = await tally('catalog diff -', 'plans: [{ name: P, items: [{ product: Seats, price: Seats }] }]');
    expect(unclear.exitCode).toBe(8);
    expect(unclear.stderr).toContain('plans[0].items[0].price: is the name of several prices');
    expect((await apply(catalog)).stdout).toBe('archive\tprice\tSeats / Seats\tanother one has the same name\n');
    expect((await tally('catalog export')).stdout).toBe(catalog);
  });

  // Here a meter with a price is not archived; another service may have let it be.
  test('a price on a meter that is archived is named, and an export goes on once it is archived, too', async () => {
    await apply(catalog);
    const pricing = data(await tally('pricing list -o json')) as readonly { id: string; name: string }[];
    const id = pricing.find(({ name }) => name === 'Tokens')?.id ?? '';
    damage(join(stage.directory, 'stage.db'), ({ run }) =>
      run(`UPDATE meters SET status = 'inactive', archivedAt = '2026-03-01T00:00:00.000Z'`),
    );
    expect(await tally('catalog export')).toEqual({
      exitCode: 7,
      stdout: '',
      stderr: `tally: the price Inference / Tokens (${id}) is on a meter that is archived\n  hint: take it out of use with: tally pricing archive ${id}\n`,
    });
    const plans = data(await tally('plans list -o json')) as readonly { id: string; name: string }[];
    await tally(`plans archive ${plans.find(({ name }) => name === 'Team')?.id}`);
    await tally(`pricing archive ${id}`);
    expect((await tally('catalog export')).exitCode).toBe(0);
  });

  test('more than a page of everything is read', async () => {
    const many = Array.from({ length: 101 }, (_, index) => `  - name: P${String(index).padStart(3, '0')}\n`).join('');
    await apply(`products:\n${many}`);
    expect(data(await tally('catalog diff - -o json', `products:\n${many}`))).toMatchObject({
      changes: [],
      unchanged: 101,
    });
  });
});
