import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';

import { keyOf } from '../../../src/cli/catalog/comparison.ts';
import { catalogJsonSchema } from '../../../src/cli/catalog/file-schema.ts';
import { readCatalogFile } from '../../../src/cli/catalog/file.ts';
import { readYaml } from '../../../src/cli/catalog/yaml-source.ts';
import { refusalOf } from '../../support/refusal.ts';

const problemsOf = async (text: string) =>
  (await refusalOf(Promise.try(() => readCatalogFile(text, 'catalog.yaml')))).replace('invalidInput ', '').split('; ');

const price = (lines: string) => `pricing:\n  - product: Inference\n    name: Tokens\n${lines}`;

describe('a file with a mistake is refused, with the line and the path of the mistake', () => {
  test.each([
    ['nothing', '', ['catalog.yaml: the file is empty']],
    ['a comment alone', '# later\n', ['catalog.yaml: the file is empty']],
    ['a text', 'products', ['catalog.yaml:1: must be an object']],
    ['no YAML', 'products:\n  - name: "Inference\n', ['catalog.yaml:3: Missing closing "quote']],
    [
      'a tag of a language',
      'products:\n  - !!js/function x\n',
      ['catalog.yaml:2: Unresolved tag: tag:yaml.org,2002:js/function'],
    ],
    [
      'two documents',
      'products: []\n---\nproducts: []\n',
      ['catalog.yaml:2: a second document begins here, but a file must be one'],
    ],
    [
      'lists within lists without an end',
      `products: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`,
      ['catalog.yaml:1: is nested too deep to be read'],
    ],
    ['a repeated key', 'products:\n  - name: A\n    name: B\n', ['catalog.yaml:3: this key is here a second time']],
    ['a key that is one in the data', '1: a\n"1": b\n', ['catalog.yaml:2: this key is here a second time']],
    [
      'a repeated key in braces',
      'products:\n  - { name: A, name: B }\n',
      ['catalog.yaml:2: this key is here a second time'],
    ],
    [
      'a name that a schema would pass over',
      'rateCards:\n  - meter: TOKENS\n    rates:\n      - { dimensions: { model: a, __proto__: b }, unitAmount: 1 }\n',
      ['catalog.yaml:4: __proto__: this name is not allowed'],
    ],
    [
      'a section that is none',
      'products: []\nprices: []\n',
      ['catalog.yaml:2: prices: unknown field: the fields here are products, meters, rateCards, pricing, plans'],
    ],
    [
      'a file of another kind',
      'start: 2026-01-01\nproduct: []\nuntil: 2026-02-01\n',
      [
        'catalog.yaml:1: start: unknown field: the fields here are products, meters, rateCards, pricing, plans',
        'catalog.yaml:2: product: unknown field: did you mean products?',
        'catalog.yaml:3: until: unknown field',
      ],
    ],
    [
      'the first bound of a tier where there are no tiers, and another field',
      'products:\n  - { name: P, minQty: 1, sku: 2 }\n',
      [
        'catalog.yaml:2: products[0].minQty: unknown field: leave it out, since a tier begins where the one before it ends',
        'catalog.yaml:2: products[0].sku: unknown field: the fields here are name, description',
      ],
    ],
    [
      'a field of another name inside an entry',
      'meters:\n  - code: CALLS\n    displayName: Calls\n    eventTypeFilter: { in: [call] }\n',
      ['catalog.yaml:4: meters[0].eventTypeFilter.in: unknown field: the fields here are include, exclude'],
    ],
    [
      'a field that belongs elsewhere',
      'plans:\n  - name: Basic\n    items:\n      - { product: P, price: Seat, name: Seat }\n',
      ['catalog.yaml:4: plans[0].items[0].name: unknown field: the fields here are product, price, defaultQuantity'],
    ],
    ['a misspelt section', 'product: []\n', ['catalog.yaml:1: product: unknown field: did you mean products?']],
    ['an empty section', 'plans:\nproducts: []\n', ['catalog.yaml:1: plans: must be a list']],
    [
      'a misspelt field',
      price('    model: FLAT\n    unitAmonut: 1\n    priceInterval: MONTH'),
      ['catalog.yaml:5: pricing[0].unitAmonut: unknown field: did you mean unitAmount?'],
    ],
    ['a field that is missing', 'meters:\n  - code: A\n', ['catalog.yaml:2: meters[0].displayName: is required']],
    [
      'a number for a name',
      'products:\n  - name: 2026\n',
      ['catalog.yaml:2: products[0].name: must be text (put it in quotes)'],
    ],
    [
      'an exponent',
      price('    model: FLAT\n    unitAmount: 1e-6\n    priceInterval: MONTH'),
      [
        'catalog.yaml:5: pricing[0].unitAmount: must be a decimal such as "12.50": at most 15 digits before and 12 after the point',
      ],
    ],
    [
      'a number of another base',
      price('    model: FLAT\n    unitAmount: 0x10\n    priceInterval: MONTH'),
      [
        'catalog.yaml:5: pricing[0].unitAmount: must be a decimal such as "12.50": at most 15 digits before and 12 after the point',
      ],
    ],
    [
      'an unknown model',
      price('    model: FLATT\n'),
      ['catalog.yaml:4: pricing[0].model: must be "FLAT" or "TIER" or "USAGE"'],
    ],
    [
      'a price by usage without a meter',
      price('    model: USAGE\n    unitAmount: 1\n    priceInterval: MONTH'),
      ['catalog.yaml:2: pricing[0].meter: is required for USAGE'],
    ],
    [
      'tiers that descend',
      price(
        '    model: TIER\n    priceInterval: MONTH\n    pricingTiers:\n      - { maxQty: 10, unitAmount: 3 }\n      - { maxQty: 9, flatAmount: 2 }\n      - unitAmount: 1',
      ),
      ['catalog.yaml:8: pricing[0].pricingTiers[1].maxQty: must be above 10, where the tier begins'],
    ],
    [
      'a last tier with an end',
      price('    model: TIER\n    priceInterval: MONTH\n    pricingTiers:\n      - { maxQty: 10, unitAmount: 1 }'),
      ['catalog.yaml:7: pricing[0].pricingTiers[0].maxQty: must be left out in the last tier, which has no end'],
    ],
    [
      'ends of tiers that are no decimals',
      price(
        '    model: TIER\n    priceInterval: MONTH\n    pricingTiers:\n      - { maxQty: x, unitAmount: 1 }\n      - { maxQty: 9, unitAmount: 1 }\n      - { maxQty: "", unitAmount: 1 }',
      ),
      [
        'catalog.yaml:7: pricing[0].pricingTiers[0].maxQty: must be a decimal such as "12.50": at most 15 digits before and 12 after the point',
        'catalog.yaml:9: pricing[0].pricingTiers[2].maxQty: must be a decimal such as "12.50": at most 15 digits before and 12 after the point',
        'catalog.yaml:9: pricing[0].pricingTiers[2].maxQty: must be left out in the last tier, which has no end',
      ],
    ],
    [
      'a tier without an amount',
      price('    model: TIER\n    priceInterval: MONTH\n    pricingTiers:\n      - maxQty: 10\n      - unitAmount: 1'),
      [
        'catalog.yaml:7: pricing[0].pricingTiers[0].unitAmount: is required, or flatAmount: give 0 where the tier is free',
      ],
    ],
    [
      'a first quantity, as the service answers it',
      price('    model: TIER\n    priceInterval: MONTH\n    pricingTiers:\n      - minQty: 0\n        unitAmount: 1'),
      [
        'catalog.yaml:7: pricing[0].pricingTiers[0].minQty: unknown field: leave it out, since a tier begins where the one before it ends',
      ],
    ],
    [
      'rules beside a query',
      'meters:\n  - code: A\n    displayName: A\n    sql: x\n    groupKeys: [model]\n',
      ['catalog.yaml:5: meters[0].groupKeys: has no effect with sql: leave it out'],
    ],
    [
      'a meter without its key',
      'meters:\n  - code: A\n    displayName: A\n',
      ['catalog.yaml:2: meters[0].aggregationKey: is required for SUM'],
    ],
    [
      'a repeated product',
      'products:\n  - name: A\n  - name: B\n  - name: A\n',
      ['catalog.yaml:4: products[2]: is the same as products[0]'],
    ],
    [
      'a repeated plan',
      'plans:\n  - name: A\n    items: [{ product: P, price: Q }]\n  - name: A\n    items: [{ product: P, price: Q }]\n',
      ['catalog.yaml:4: plans[1]: is the same as plans[0]'],
    ],
    [
      'a price twice in a plan',
      'plans:\n  - name: A\n    items:\n      - { product: P, price: Q }\n      - { product: P, price: Q, defaultQuantity: 2 }\n',
      ['catalog.yaml:5: plans[0].items[1]: is the same as plans[0].items[0]'],
    ],
    [
      'two mistakes',
      'products:\n  - nam: A\nmeters:\n  - code: a\n    displayName: A\n    aggregationKey: a\n',
      [
        'catalog.yaml:2: products[0].name: is required',
        'catalog.yaml:2: products[0].nam: unknown field: did you mean name?',
        'catalog.yaml:4: meters[0].code: must consist of uppercase letters, digits and underscores',
      ],
    ],
    [
      'mistakes from the last section to the first',
      'plans:\n  - nme: A\nproducts:\n  - name: ""\n',
      [
        'catalog.yaml:2: plans[0].name: is required',
        'catalog.yaml:2: plans[0].items: is required',
        'catalog.yaml:2: plans[0].nme: unknown field: did you mean name?',
        'catalog.yaml:4: products[0].name: must not be empty',
      ],
    ],
    [
      'a bomb of aliases',
      `products: &a [${'x,'.repeat(9)}x]\n${['b', 'c', 'd', 'e'].map((name, index) => `${name}: &${name} [${`*${'abcd'[index]},`.repeat(9)}1]`).join('\n')}`,
      ['catalog.yaml:1: Excessive alias count indicates a resource exhaustion attack'],
    ],
  ])('%s', async (_case, text, problems) => {
    expect(await problemsOf(text)).toEqual(problems);
  });
});

const readPrice = (lines: string) => readCatalogFile(price(lines), 'catalog.yaml').catalog.pricing[0] ?? {};

describe('a file', () => {
  test.each([
    ['0.50', '"0.5"'],
    ['12', '"12.000"'],
    ['0.000003', '0.0000030'],
    ['999999999999999.999999999999', '"999999999999999.999999999999"'],
  ])('may say %s or %s: decimals are compared as numbers', (one, other) => {
    const [first, second] = [one, other].map((text) =>
      readPrice(`    model: FLAT\n    billingMode: ONE_TIME\n    unitAmount: ${text}`),
    );
    expect(keyOf(first ?? {})).toBe(keyOf(second ?? {}));
  });

  test('keeps the digits of a number that stands without quotes', () => {
    expect(readPrice('    model: FLAT\n    billingMode: ONE_TIME\n    unitAmount: 12.50')).toMatchObject({
      unitAmount: '12.50',
    });
  });

  test('has its keys as they are written, whatever else they could be read as', () => {
    const text = 'oneOf: { 1.10: 3, 1.1: 1, 007: 1, 1e3: 1, 0x10: 1, null: 1, ~: 1, true: 1 }';
    const { value, lineOf } = readYaml(`${text}\n4.0:\n  - 1\n`, 'scenario.yaml', { example: '' });
    const oneOf = { '1.10': 3, '1.1': 1, '007': 1, '1e3': 1, '0x10': 1, null: 1, '~': 1, true: 1 };
    expect(value).toEqual({ oneOf, '4.0': [1] });
    expect(lineOf(['4.0', 0])).toBe(3);
  });

  test('that spells out a default says the same as one that does not', () => {
    const short = '    model: TIER\n    priceInterval: MONTH\n    pricingTiers: [{ unitAmount: 1 }]';
    const long = `${short.replace('1 }', '1, flatAmount: 0.00 }')}\n    billingMode: RECURRING\n    priceIntervalCount: 1\n    tiering: GRADUATED`;
    expect(keyOf(readPrice(short))).toBe(keyOf(readPrice(long)));
  });

  test('may list what has no order in any order', () => {
    const meter = (rules: string) =>
      readCatalogFile(`meters: [{ code: A, displayName: A, aggregationKey: a, ${rules} }]`, 'catalog.yaml').catalog;
    expect(keyOf(meter('groupKeys: [x, y], eventTypeFilter: { include: [a, b], exclude: [] }'))).toBe(
      keyOf(meter('eventTypeFilter: { include: [b, a] }, groupKeys: [y, x]')),
    );
    expect(keyOf(meter('propertyFilters: [{ name: x, exists: true }, { name: y, include: [a, b] }]'))).toBe(
      keyOf(meter('propertyFilters: [{ name: y, include: [b, a] }, { name: x, exists: true }]')),
    );
  });

  test('may say how many of a price as a decimal of any form', () => {
    const plan = (quantity: string) =>
      readCatalogFile(
        `plans: [{ name: P, items: [{ product: A, price: Q, defaultQuantity: ${quantity} }] }]`,
        'catalog.yaml',
      ).catalog;
    expect(keyOf(plan('25'))).toBe(keyOf(plan('"25.0"')));
  });

  test('may use anchors', () => {
    const text =
      'products:\n  - &a { name: A }\n  - name: B\nplans:\n  - name: P\n    items: &i [{ product: A, price: Q }]\n  - name: R\n    items: *i\n';
    expect(readCatalogFile(text, 'catalog.yaml').catalog.plans.map(({ items }) => items[0]?.price)).toEqual(['Q', 'Q']);
  });
});

describe('the JSON Schema', () => {
  const schema = z.fromJSONSchema(JSON.parse(catalogJsonSchema()) as Parameters<typeof z.fromJSONSchema>[0]);

  const flat = (amount: string) => price(`    model: FLAT\n    unitAmount: ${amount}\n    priceInterval: MONTH`);

  test.each([
    ['a product', 'products: [{ name: A }]', true],
    ['a decimal without quotes', flat('0.5'), true],
    ['a decimal in quotes', flat('"0.5"'), true],
    ['a misspelt field', 'products: [{ nam: A }]', false],
    ['a misspelt section', 'product: []', false],
    ['an unknown model', price('    model: FLATT'), false],
    ['an exponent', flat('"1e3"'), false],
    ['a count out of range', price('    model: FLAT\n    priceIntervalCount: 121'), false],
  ])('judges %s as the command does', (_case, text, isFine) => {
    expect(schema.safeParse(parse(text)).success).toBe(isFine);
    expect([text, isPermitted(text)]).toEqual([text, isFine]);
  });
});

function isPermitted(text: string): boolean {
  try {
    readCatalogFile(text, 'catalog.yaml');
    return true;
  } catch {
    return false;
  }
}

test('a map of a hundred thousand keys is read in one pass, and the line of each is found without another', () => {
  const count = 100_000;
  const text = Array.from({ length: count }, (_, index) => `k${index}: 1\n`).join('');
  // Each key compared with all before it, this took minutes.
  const { lineOf } = readYaml(text, 'catalog.yaml', { example: '' });
  for (let index = 0; index < count; index += 1) expect(lineOf([`k${index}`])).toBe(index + 1);
  expect(() => readYaml(`${text}k5: 2\n`, 'catalog.yaml', { example: '' })).toThrow(
    `catalog.yaml:${count + 1}: this key is here a second time`,
  );
});
