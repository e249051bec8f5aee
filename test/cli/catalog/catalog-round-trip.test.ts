/** Any catalog there can be: applied, exported, applied elsewhere, it says the same. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { keyOf } from '../../../src/cli/catalog/comparison.ts';
import type { Catalog, PriceDefinition } from '../../../src/cli/catalog/definitions.ts';
import { priceKey } from '../../../src/cli/catalog/definitions.ts';
import { readCatalogFile } from '../../../src/cli/catalog/file.ts';
import { catalogOf, readCatalog } from '../../../src/cli/catalog/live.ts';
import { diffOf } from '../../../src/cli/catalog/diff.ts';
import type { CatalogDiff } from '../../../src/cli/catalog/diff.ts';
import { countSteps, takeSteps } from '../../../src/cli/catalog/steps.ts';
import { writeCatalog } from '../../../src/cli/catalog/writing.ts';
import { BillingError } from '../../../src/errors.ts';
import type { Billing } from '../../../src/operations/index.ts';
import { createWorld } from '../../support/world.ts';

/** Names that YAML readers would take for something else, beside any text. */
const oddNames = [
  '1',
  '0.50',
  'true',
  'null',
  'no',
  '~',
  '- a',
  'a: b',
  '#1',
  "it's",
  '"',
  '<<',
  '*x',
  '&x',
  '!x',
  '%',
];
const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('Tokens', 'Seats', 'Setup', ...oddNames) },
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).map(storable),
);
const description = fc.option(
  fc.oneof(name, fc.constantFrom('two\nlines\n', '  spaces  ', '\n', 'tab\there', 'a\r\nb', '\u0085\u2028')),
  { nil: undefined },
);
const decimals = ['0', '0.50', '0.5', '12', '0.000003', '007'];
const quantity = fc.constantFrom(...decimals);
/** As large as an invoice takes twelve of them. */
const decimal = fc.constantFrom(...decimals, '99999999999.999999999999');

/** What a service keeps of a text. */
function storable(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '').normalize('NFC') || 'x';
}

const code = fc.constantFrom('A', 'B_2', 'TOKENS', '0');
/** No member of JSON may have one of these names, and so no rate a dimension. */
const forbidden = new Set(['__proto__', 'constructor', 'prototype']);
const keys = fc.uniqueArray(
  name.filter((each) => !forbidden.has(each)),
  { maxLength: 3 },
);

const meter = fc.record({ code, displayName: name, description }).chain((named) =>
  fc.oneof(fc.constant({ ...named, sql: 'SELECT count(*) AS value\nFROM events\n' }), {
    weight: 9,
    arbitrary: fc.record({
      code: fc.constant(named.code),
      displayName: fc.constant(named.displayName),
      description: fc.constant(named.description),
      aggregationType: fc.constantFrom('SUM', 'COUNT', 'MAX', 'MIN'),
      aggregationKey: name,
      eventTypeFilter: fc.record({ include: keys, exclude: keys }),
      propertyFilters: fc.array(fc.record({ name, exists: fc.boolean(), include: keys }), { maxLength: 2 }),
      groupKeys: keys,
    }),
  }),
);

const tiers = fc
  .record({
    bounds: fc.uniqueArray(fc.integer({ min: 1, max: 1000 }), { maxLength: 3 }),
    unitAmount: decimal,
    flatAmount: decimal,
  })
  .map(({ bounds, unitAmount, flatAmount }) => [
    ...bounds.toSorted((one, other) => one - other).map((bound) => ({ maxQty: String(bound), unitAmount, flatAmount })),
    { unitAmount, flatAmount },
  ]);
const tiering = fc.constantFrom('GRADUATED', 'VOLUME');
const interval = { priceInterval: fc.constantFrom('MONTH', 'YEAR'), priceIntervalCount: fc.constantFrom(1, 12) };
const recurring = { billingMode: fc.constant('RECURRING'), ...interval };
const optional = fc.option(decimal, { nil: undefined });

const price = (products: readonly string[], codes: readonly string[]) => {
  const named = { product: fc.constantFrom(...products), name, description };
  const flat = { model: fc.constant('FLAT'), tiering: fc.constant('NONE'), unitAmount: decimal, flatAmount: optional };
  return fc.oneof(
    fc.record({ ...named, ...flat, billingMode: fc.constant('ONE_TIME') }),
    fc.record({ ...named, ...flat, ...recurring }),
    fc.record({ ...named, ...recurring, model: fc.constant('TIER'), tiering, pricingTiers: tiers }),
    ...codes.flatMap((meterCode) => {
      const usage = { model: fc.constant('USAGE'), meter: fc.constant(meterCode), flatAmount: optional };
      return [
        fc.record({ ...named, ...usage, ...recurring, tiering: fc.constant('NONE'), unitAmount: decimal }),
        fc.record({ ...named, ...usage, ...recurring, tiering, pricingTiers: tiers }),
      ];
    }),
  );
};

const plan = (prices: readonly PriceDefinition[]) =>
  fc.record({
    name,
    externalId: fc.option(name, { nil: undefined }),
    description,
    netTerms: fc.constantFrom('0', '14', '30'),
    metadata: fc.record({
      defaultAutoPayEnabled: fc.boolean(),
      invoiceSendMethod: fc.constantFrom('auto', 'manual'),
      defaultCreditSettings: fc.option(fc.constant({ onDepletion: 'alert_only' }), { nil: undefined }),
      defaultCreditGrantCents: fc.option(fc.integer({ min: 0, max: 1e15 }), { nil: undefined }),
    }),
    items: fc.uniqueArray(
      fc.record({
        item: fc.constantFrom(...prices.map(({ product, name: called }) => ({ product, price: called }))),
        defaultQuantity: quantity,
      }),
      { minLength: 1, maxLength: 3, selector: ({ item }) => JSON.stringify(item) },
    ),
  });

const byKey = <T>(arbitrary: fc.Arbitrary<T>, selector: (entry: T) => string, maxLength: number, minLength = 0) =>
  fc.uniqueArray(arbitrary, { selector, minLength, maxLength });

const catalog: fc.Arbitrary<Catalog> = fc
  .record({
    products: byKey(fc.record({ name, description }), (product) => product.name, 3, 1),
    meters: byKey(meter, (each) => each.code, 3),
  })
  .chain(({ products, meters }) =>
    fc.record({
      products: fc.constant(products),
      meters: fc.constant(meters),
      rateCards: fc.tuple(...meters.map((each) => rateCard(each))).map((cards) => cards.flat()),
      pricing: byKey(
        price(
          products.map((product) => product.name),
          meters.map((each) => each.code),
        ) as fc.Arbitrary<PriceDefinition>,
        priceKey,
        4,
        1,
      ),
    }),
  )
  .chain((parts) =>
    byKey(plan(parts.pricing), (each) => each.externalId ?? `name ${each.name}`, 3).map((plans) => ({
      ...parts,
      plans: plans.map((each) => ({
        ...each,
        items: each.items.map(({ item, defaultQuantity }) => ({ ...item, defaultQuantity })),
      })),
    })),
  );

function rateCard(each: { readonly code: string; readonly groupKeys?: readonly string[] }) {
  const [group] = each.groupKeys ?? [];
  const rates =
    group === undefined
      ? fc.constant([])
      : fc.uniqueArray(fc.record({ dimensions: name.map((value) => ({ [group]: value })), unitAmount: decimal }), {
          maxLength: 3,
          selector: ({ dimensions }) => dimensions[group],
        });
  return fc.option(fc.record({ meter: fc.constant(each.code), rates, fallbackUnitAmount: decimal }), { nil: [] });
}

/** Other descriptions here and there, and some plans less. */
function edited(before: Catalog): fc.Arbitrary<Catalog> {
  const some = fc.array(fc.boolean(), { minLength: 4, maxLength: 4 });
  const edit = <D extends object>(definitions: readonly D[], isEdited: readonly boolean[]) =>
    definitions.map((definition, index) =>
      isEdited[index] === true ? { ...definition, description: 'new' } : definition,
    );
  const rarely = fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, some);
  return fc.tuple(rarely, rarely, some, some, some).map(([products, meters, pricing, plans, dropped]) => ({
    products: edit(before.products, products),
    meters: edit(before.meters, meters),
    rateCards: before.rateCards,
    pricing: edit(before.pricing, pricing),
    plans: edit(before.plans, plans).filter((_plan, index) => dropped[index] !== true),
  }));
}

/** A plan that only its name tells, where several have that name, is refused: the file has to say which one it is. */
function isClear(before: Catalog, after: Catalog): boolean {
  const ofName = Map.groupBy(before.plans, (each) => each.name);
  return after.plans.every((each) => each.externalId !== undefined || (ofName.get(each.name) ?? []).length < 2);
}

async function exported(billing: Billing): Promise<string> {
  return await writeCatalog(catalogOf(await readCatalog(billing)));
}

/** In the order of an export. */
function sorted({ products, meters, rateCards, pricing, plans }: Catalog): Catalog {
  const live = <D>(definitions: readonly D[]) =>
    definitions.map((definition, index) => ({ id: String(index), definition }));
  return catalogOf({
    products: live(products),
    meters: live(meters),
    rateCards: live(rateCards),
    pricing: live(pricing).map((row) => ({ ...row, productId: '', meterId: undefined })),
    plans: live(plans).map((row) => ({ ...row, pricingIds: [] })),
  });
}

async function diffWith(text: string, billing: Billing): Promise<CatalogDiff> {
  return diffOf(readCatalogFile(text, 'catalog.yaml'), await readCatalog(billing), { prune: true });
}

/** Applies a file; how many steps that took. */
async function apply(text: string, billing: Billing): Promise<number> {
  const diff = await diffWith(text, billing);
  await takeSteps(diff.steps, diff.known, { billing });
  return countSteps(diff.steps);
}

async function inWorld<T>(run: (billing: Billing) => Promise<T>): Promise<T> {
  const world = await createWorld();
  try {
    return await run(world.billing);
  } finally {
    await world.close();
  }
}

/** Fails at the given call that changes something, once. */
function failingAt(billing: Billing, count: number): Billing {
  let writes = 0;
  return {
    call: async (operation, input) => {
      if (/create|archive|setRateCard/.test(operation)) writes += 1;
      if (writes === count + 1) throw new BillingError('network', 'the line went dead');
      return await billing.call(operation, input);
    },
  };
}

describe('a catalog', () => {
  test('exported from what apply made is the same file, byte by byte, and nothing is left to do', async () => {
    await fc.assert(
      fc.asyncProperty(catalog, async (given) => {
        await inWorld(async (billing) => {
          const file = await writeCatalog(sorted(given));
          await apply(file, billing);
          expect(await exported(billing)).toBe(file);
          expect(await apply(file, billing)).toBe(0);
        });
      }),
      { numRuns: 40 },
    );
  }, 120_000);

  test.each([
    [
      'one of the same names that says other things',
      catalog.chain((before) => fc.tuple(fc.constant(before), edited(before))),
    ],
    ['any other one', fc.tuple(catalog, catalog).filter(([before, after]) => isClear(before, after))],
  ])(
    'becomes %s, wherever the way there was cut short',
    async (_other, pairs) => {
      await fc.assert(
        fc.asyncProperty(pairs, fc.nat({ max: 99 }), async ([before, after], percent) => {
          await inWorld(async (billing) => {
            await apply(await writeCatalog(before), billing);
            const file = await writeCatalog(sorted(after));
            const total = countSteps((await diffWith(file, billing)).steps);
            await apply(file, failingAt(billing, Math.floor((total * percent) / 100))).catch((error: unknown) => {
              if (!(error instanceof BillingError && error.message.includes('the line went dead'))) throw error;
            });
            await apply(file, billing);
            expect(await apply(file, billing)).toBe(0);
            expect(keyOf(readCatalogFile(await exported(billing), 'now').catalog)).toBe(
              keyOf(readCatalogFile(file, 'then').catalog),
            );
          });
        }),
        { numRuns: 40 },
      );
    },
    120_000,
  );
});
