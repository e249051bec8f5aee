import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  buildContractItems,
  type DimensionRate,
  findOverrideProblems,
  isSamePrice,
  rateFor,
} from '../../src/calculation/rate-card.ts';
import { decimal, decimalText } from '../../src/calculation/money.ts';
import { isLineOf, rateUsage } from '../../src/calculation/rating.ts';
import { usageItem } from './fixtures.ts';

const rate = (dimensions: Record<string, string>, unitAmount: string): DimensionRate => ({ dimensions, unitAmount });
const source = (rates: readonly DimensionRate[] = [], fallbackUnitAmount?: string) => {
  const { dimensionRates: _, fallbackUnitAmount: __, ...item } = usageItem();
  return { ...item, rateCard: { rates, fallbackUnitAmount } };
};

describe('the rate of a combination', () => {
  const rates = [
    rate({}, '9'),
    rate({ model: 'a' }, '1'),
    rate({ region: 'eu' }, '2'),
    rate({ model: 'a', region: 'eu' }, '3'),
    rate({ model: 'a', region: 'eu' }, '4'),
  ];

  test.each([
    ['the most dimensions win, and of equals the first', { model: 'a', region: 'eu' }, '3'],
    ['one dimension is better than none', { model: 'a', region: 'us' }, '1'],
    ['the other dimension', { model: 'b', region: 'eu' }, '2'],
    ['a rate without dimensions fits all', { model: 'b', region: 'us' }, '9'],
    ['a missing key is an empty value, which no named rate fits', { model: '', region: '' }, '9'],
  ])('%s', (_, groupValues, unitAmount) => {
    expect(rateFor(usageItem({ dimensionRates: rates }), groupValues).unitAmount).toBe(unitAmount);
  });

  test('of equal specificity the one listed first wins', () => {
    const tied = [rate({ region: 'eu' }, '2'), rate({ model: 'a' }, '1')];
    const firstOf = (dimensionRates: readonly DimensionRate[]) =>
      rateFor(usageItem({ dimensionRates }), { model: 'a', region: 'eu' }).unitAmount;
    expect([firstOf(tied), firstOf(tied.toReversed())]).toEqual(['2', '1']);
  });

  test('without a match the fallback, and without one the own price with its tiers', () => {
    const dimensionRates = [rate({ model: 'a' }, '1')];
    const tiers = [{ minQty: '0', maxQty: '', unitAmount: '8', flatAmount: '0' }];
    const tiered = usageItem({ dimensionRates, tiering: 'VOLUME', tiers });
    expect(rateFor({ ...tiered, fallbackUnitAmount: '7' }, { model: 'b' })).toMatchObject({
      unitAmount: '7',
      tiering: 'NONE',
    });
    expect(rateFor(tiered, { model: 'b' })).toMatchObject({ tiering: 'VOLUME', tiers });
  });
});

test.each([
  ['written with more zeros', { unitAmount: '1.50' }, true],
  ['with a flat amount of 0, which is the same as none', { flatAmount: '0.00' }, true],
  ['with a flat amount', { flatAmount: '0.01' }, false],
  ['of another amount', { unitAmount: '1.51' }, false],
  ['with a tier', { tiers: [{ minQty: '0', maxQty: '', unitAmount: '1.5', flatAmount: '0' }] }, false],
])('a price %s is the same price: %s', (_, other, isSame) => {
  expect(isSamePrice({ unitAmount: '1.5', tiers: [] }, { unitAmount: '1.5', tiers: [], ...other })).toBe(isSame);
});

test.each([
  ['written with more zeros', { unitAmount: '2.0' }, true],
  ['that ends elsewhere', { maxQty: '20' }, false],
  ['of another unit amount', { unitAmount: '3' }, false],
  ['of another flat amount', { flatAmount: '5' }, false],
])('a price with a tier %s is the same price: %s', (_, other, isSame) => {
  const first = { minQty: '0', maxQty: '10', unitAmount: '2', flatAmount: '4' };
  const last = { minQty: '10', maxQty: '', unitAmount: '1', flatAmount: '0' };
  const changed = { ...first, ...other };
  const tiers = [changed, { ...last, minQty: changed.maxQty }];
  expect(isSamePrice({ tiers: [first, last] }, { tiers })).toBe(isSame);
});

test('a combination is looked at once, however many sets of dimensions a card names', () => {
  const keys = Array.from({ length: 10 }, (_, key) => `k${key}`);
  const setOf = (bits: number) => keys.filter((_key, place) => ((bits >> place) & 1) === 1);
  const dimensionRates = Array.from({ length: 1000 }, (_, bits) =>
    rate(Object.fromEntries(setOf(bits + 24).map((key) => [key, key === 'k9' ? 'other' : 'x'])), '1'),
  );
  let reads = 0;
  const values = new Proxy(Object.fromEntries(keys.map((key) => [key, 'x'])), {
    get: (target, key, receiver) => {
      reads += 1;
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  expect(rateFor(usageItem({ dimensionRates }), values).unitAmount).toBe('1');
  expect(reads).toBe(keys.length);
});

const names = ['model', 'region', 'tier', 'constructor'];
const values = ['a', 'b', '', 'caf\u00e9', 'cafe\u0301', '"],["'];
const dimensions = fc.dictionary(fc.constantFrom(...names), fc.constantFrom(...values), { noNullPrototype: true });

test('the rate of a combination is, of those that fit it, the first of the most dimensions', () => {
  fc.assert(
    fc.property(fc.array(dimensions, { maxLength: 40 }), fc.array(dimensions), (card, combinations) => {
      const item = usageItem({ dimensionRates: card.map((each, place) => rate(each, String(place))) });
      for (const combination of combinations) {
        const places = [...card.keys()].filter((place) =>
          Object.entries(card[place] ?? {}).every(
            ([name, value]) => Object.hasOwn(combination, name) && combination[name]?.normalize() === value.normalize(),
          ),
        );
        const size = (place: number): number => Object.keys(card[place] ?? {}).length;
        const [best] = places.toSorted((one, other) => size(other) - size(one) || one - other);
        expect(rateFor(item, combination).unitAmount).toBe(best === undefined ? item.unitAmount : String(best));
      }
    }),
  );
});

describe('the snapshot', () => {
  test("the contract's own rate wins over the card's of equal specificity, not over a more specific one", () => {
    const card = [rate({ model: 'a' }, '1'), rate({ model: 'a', region: 'eu' }, '3')];
    const overrides = [{ meterId: 'meter', dimensions: { model: 'a' }, unitAmount: '0.5' }];
    const [item] = buildContractItems([source(card, '6')], overrides);
    if (item === undefined) throw new Error('one item was given');
    expect(rateFor(item, { model: 'a', region: 'us' }).unitAmount).toBe('0.5');
    expect(rateFor(item, { model: 'a', region: 'eu' }).unitAmount).toBe('3');
    expect(rateFor(item, { model: 'b' }).unitAmount).toBe('6');
  });

  test('an override replaces what it names and nothing else', () => {
    const overrides = [{ basePricingId: 'pricing', unitAmount: '0.02', quantity: '4' }];
    const [item] = buildContractItems([{ ...source(), flatAmount: '1' }], overrides);
    expect(item).toMatchObject({ unitAmount: '0.02', quantity: '4', flatAmount: '1' });
  });

  test('an override leaves the other items of the plan as they are', () => {
    const storage = { ...source(), id: 'storage', pricingId: 'storage pricing', meterId: 'storage meter' };
    const overrides = [
      { basePricingId: 'pricing', unitAmount: '5' },
      { meterId: 'storage meter', dimensions: { region: 'eu' }, unitAmount: '3' },
    ];
    expect(findOverrideProblems([source(), storage], overrides)).toEqual([]);
    expect(buildContractItems([source(), storage], overrides)).toMatchObject([
      { id: 'item', unitAmount: '5', dimensionRates: [] },
      { id: 'storage', unitAmount: '0.01', dimensionRates: [rate({ region: 'eu' }, '3')] },
    ]);
  });

  test("an override's tiers take the place of the item's", () => {
    const pricingTiers = [{ minQty: '0', maxQty: '', unitAmount: '3', flatAmount: '0' }];
    const overrides = [{ basePricingId: 'pricing', pricingTiers, flatAmount: '2' }];
    expect(buildContractItems([source()], overrides)).toMatchObject([
      { tiers: pricingTiers, flatAmount: '2', unitAmount: '0.01' },
    ]);
  });

  test('survives being written as JSON', () => {
    const items = buildContractItems([source([rate({ model: 'a' }, '1')])], []);
    expect(JSON.parse(JSON.stringify(items))).toEqual(items);
  });

  test.each([
    ['a pricing that is not in the plan', [{ basePricingId: 'other' }], [{ index: 0, field: 'basePricingId' }]],
    [
      'a meter that is not in the plan',
      [{ meterId: 'x', dimensions: {}, unitAmount: '1' }],
      [{ index: 0, field: 'meterId' }],
    ],
    [
      'the same pricing twice',
      [{ basePricingId: 'pricing' }, { basePricingId: 'pricing' }],
      [{ index: 1, field: 'basePricingId' }],
    ],
    [
      'the same combination twice',
      [
        { meterId: 'meter', dimensions: { a: '1', b: '2' }, unitAmount: '1' },
        { meterId: 'meter', dimensions: { b: '2', a: '1' }, unitAmount: '2' },
      ],
      [{ index: 1, field: 'dimensions' }],
    ],
    [
      'the same combination of two meters',
      ['meter', 'other meter'].map((meterId) => ({ meterId, dimensions: { a: '1' }, unitAmount: '1' })),
      [],
    ],
    ['two combinations', [1, 2].map((n) => ({ meterId: 'meter', dimensions: { a: `${n}` }, unitAmount: '1' })), []],
  ])('overriding %s has the problems %j', (_, overrides, problems) => {
    const sources = [source(), { ...source(), pricingId: 'other pricing', meterId: 'other meter' }];
    expect(findOverrideProblems(sources, overrides)).toMatchObject(problems);
  });
});

describe('rating', () => {
  const quantity = (model: string, units: string) => ({ groupValues: { model }, quantity: decimal(units) });

  test('gives a line for each combination in the order of their values, each rounded once', () => {
    const item = usageItem({ dimensionRates: [rate({ model: 'a' }, '0.0005')], fallbackUnitAmount: '0.0001' });
    const lines = rateUsage(item, [quantity('b', '50'), quantity('a', '10'), quantity('', '49')]);
    const rows = lines.map((line) => `${line.groupValues.model}: ${decimalText(line.exactAmount)} ${line.totalCents}`);
    expect(rows).toEqual([': 0.0049 0', 'a: 0.005 1', 'b: 0.005 1']);
    expect(new Set(lines.map((line) => line.lineKey)).size).toBe(3);
    expect(lines[1]?.description).toBe('Inference (model=a)');
  });

  test('the key of a line tells its item, whatever the group values say', () => {
    const item = usageItem();
    const lines = [...rateUsage(item, []), ...rateUsage(item, [quantity('a', '1'), quantity('item2 [', '1')])];
    for (const { lineKey } of lines) {
      expect([isLineOf(item.id, lineKey), isLineOf(`${item.id}2`, lineKey), isLineOf('ite', lineKey)]).toEqual([
        true,
        false,
        false,
      ]);
    }
  });

  test('tiers apply to each combination by itself', () => {
    const tiers = [
      { minQty: '0', maxQty: '10', unitAmount: '1', flatAmount: '0' },
      { minQty: '10', maxQty: '', unitAmount: '0', flatAmount: '0' },
    ];
    const lines = rateUsage(usageItem({ tiering: 'GRADUATED', tiers }), [quantity('a', '15'), quantity('b', '8')]);
    expect(lines.map((line) => line.totalCents)).toEqual([1000n, 800n]);
  });

  test("a meter without usage gives one line of quantity 0, which owes the first tier's flat amount", () => {
    const tiers = [{ minQty: '0', maxQty: '', unitAmount: '1', flatAmount: '2.50' }];
    const lines = rateUsage(usageItem({ tiering: 'GRADUATED', tiers }), []);
    expect(lines).toMatchObject([{ totalCents: 250n, lineKey: 'item' }]);
  });

  test('a negative reading is billed as 0 and still told', () => {
    const [line] = rateUsage(usageItem(), [{ groupValues: {}, quantity: decimal('-5') }]);
    expect(line).toMatchObject({ totalCents: 0n });
    expect(decimalText(line?.quantity ?? decimal('1'))).toBe('0');
    expect(decimalText(line?.meteredQuantity ?? decimal('1'))).toBe('-5');
  });
});
