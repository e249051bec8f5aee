/** The form of a catalog file: the fields are those of the operations that create things, with names instead of ids. */

import { Big } from 'big.js';
import * as z from 'zod';

import { isExactNumber, textOfNumber } from '../../exact-json.ts';
import type { ExactNumber } from '../../exact-json.ts';
import { limits } from '../../limits.ts';
import { operations } from '../../operations/all.ts';
import { decimalForm } from '../../operations/field-rules.ts';
import { decimalInput, text } from '../../operations/fields.ts';
import { ruleIssue } from '../../operations/cross-rules.ts';
import { underRule } from '../../operations/plain.ts';
import type { Section } from './definitions.ts';

const product = operations['products.create'].body.shape;
const meter = operations['meters.create'].body.shape;
const rateCard = operations['meters.setRateCard'].body.shape;
const price = operations['pricing.create'].body.shape;
const tier = price.pricingTiers.unwrap().element.shape;
const plan = operations['plans.create'].body.shape;
const planDefaults = plan.metadata.unwrap().shape;

/** Accepts text or number: 0.50 without quotes means its digits. */
export function digits<T extends z.ZodType<unknown, string>>(form: T, json: { readonly pattern?: string }) {
  return z
    .custom<ExactNumber | string>((value) => typeof value === 'string' || isExactNumber(value), {
      error: 'must be a number',
    })
    .transform((value) => (typeof value === 'string' ? value : textOfNumber(value)))
    .pipe(form)
    .meta({ type: ['string', 'number'] as never, ...json });
}

const decimal = digits(decimalInput, { pattern: decimalForm.source });
const decimalOf = (words: string) => decimal.optional().describe(words);

const productEntry = z.strictObject({
  name: text().describe('Name of the product, which identifies it.'),
  description: product.description,
});

const meterEntry = z
  .strictObject({
    code: meter.code.describe('Code of the meter, which identifies it: uppercase letters, digits, underscores.'),
    displayName: meter.displayName,
    description: meter.description,
    aggregationType: meter.aggregationType.unwrap().optional().describe('SUM when not given.'),
    aggregationKey: meter.aggregationKey,
    eventTypeFilter: meter.eventTypeFilter,
    propertyFilters: meter.propertyFilters,
    groupKeys: meter.groupKeys,
    sql: meter.sql,
  })
  .superRefine((entry, context) => {
    if (entry.sql === undefined) return;
    for (const rule of overridden) {
      if (entry[rule] !== undefined) context.addIssue(ruleIssue([rule], 'has no effect with sql: leave it out'));
    }
  });
const overridden = ['aggregationType', 'aggregationKey', 'eventTypeFilter', 'propertyFilters', 'groupKeys'] as const;

const rateCardEntry = z.strictObject({
  meter: text().describe('Code of the meter.'),
  rates: z
    .array(
      z.strictObject({
        dimensions: rateCard.rates.element.shape.dimensions,
        unitAmount: decimal.describe('Price of one unit in USD.'),
      }),
    )
    .max(limits.rateCardRates)
    .default([])
    .describe('Rates in order: the most specific one wins, then the first.'),
  fallbackUnitAmount: decimalOf('Price of combinations that no rate matches, in USD.'),
});

const priceEntry = z.strictObject({
  product: text().describe('Name of the product.'),
  name: text().describe('Name of the price, which identifies it within its product.'),
  description: price.description,
  model: price.model,
  billingMode: price.billingMode,
  tiering: price.tiering,
  unitAmount: decimalOf('Price of one unit in USD.'),
  flatAmount: decimalOf('Amount owed each period, in USD.'),
  priceInterval: price.priceInterval,
  priceIntervalCount: price.priceIntervalCount,
  meter: text().optional().describe('Code of the meter whose quantity is priced; required for USAGE.'),
  pricingTiers: z
    .array(
      underRule(
        'tier',
        z.strictObject({
          maxQty: decimalOf('Last quantity of the tier, included; left out in the last one.'),
          unitAmount: decimalOf(tier.unitAmount.description ?? ''),
          flatAmount: decimalOf(tier.flatAmount.description ?? ''),
        }),
      ),
    )
    .min(1)
    .max(limits.pricingTiers)
    .superRefine((tiers, context) => {
      for (const [index, { maxQty }] of tiers.entries()) {
        const words = boundProblem(maxQty, tiers[index - 1]?.maxQty, index === tiers.length - 1);
        if (words !== undefined) context.addIssue(ruleIssue([index, 'maxQty'], words));
      }
    })
    .optional()
    .describe('Tiers, ascending; each begins where the one before it ends.'),
});

function boundProblem(maxQty: string | undefined, before = '0', isLast: boolean): string | undefined {
  if (isLast) return maxQty === undefined ? undefined : 'must be left out in the last tier, which has no end';
  if (maxQty === undefined) return 'is required in every tier but the last';
  // A bound that is not a decimal is reported already, and cannot be compared.
  if (![maxQty, before].every((bound) => decimalInput.safeParse(bound).success)) return undefined;
  return new Big(maxQty).gt(before) ? undefined : `must be above ${before}, where the tier begins`;
}

const planEntry = z.strictObject({
  name: text().describe('Name of the plan, which identifies it when it has no externalId.'),
  externalId: plan.externalId.describe('Your own id of the plan, which identifies it.'),
  description: plan.description,
  netTerms: digits(plan.netTerms.unwrap(), {}).default('30').describe('Whole days between invoice date and due date.'),
  metadata: z
    .strictObject({ ...planDefaults })
    .optional()
    .describe('Defaults for contracts of the plan.'),
  items: z
    .array(
      z.strictObject({
        product: text().describe('Name of the product.'),
        price: text().describe('Name of the price, within its product.'),
        defaultQuantity: decimal.default('1').describe('Quantity of a price that is not metered.'),
      }),
    )
    .min(1)
    .max(limits.planItems)
    .describe('Prices of the plan.'),
});

const entries = {
  products: productEntry,
  meters: meterEntry,
  rateCards: rateCardEntry,
  pricing: priceEntry,
  plans: planEntry,
} as const satisfies Record<Section, z.ZodObject>;

/** Every section is optional; what is not in the file stays unchanged. */
export const catalogFile = z
  .strictObject({
    products: z.array(entries.products).optional().describe('What prices are for.'),
    meters: z.array(entries.meters).optional().describe('What is measured.'),
    rateCards: z.array(entries.rateCards).optional().describe('Prices per dimension of a meter.'),
    pricing: z.array(entries.pricing).optional().describe('Prices. One that differs is replaced, never changed.'),
    plans: z.array(entries.plans).optional().describe('Plans made of prices.'),
  })
  .meta({ title: 'tallybook catalog', description: 'Products, meters, rate cards, prices and plans, by name.' });

export type ParsedFile = z.output<typeof catalogFile>;
export type Parsed<S extends Section> = NonNullable<ParsedFile[S]>[number];

/** Names of the fields that an entry of a section may have, including those of its parts. */
export function fieldNames(section: Section): string[] {
  return [...new Set(namesIn(jsonSchema(entries[section])))];
}

function namesIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {} } = schema as { readonly properties?: object };
  return [...Object.keys(properties), ...Object.values(schema).flatMap(namesIn)];
}

/** Names of the fields at a place in the file; empty for what is no record. */
export function fieldsAt(path: readonly PropertyKey[]): string[] {
  let schema: JsonSchema | undefined = jsonSchema(catalogFile) as JsonSchema;
  for (const step of path) schema = typeof step === 'number' ? schema?.items : schema?.properties?.[String(step)];
  return Object.keys(schema?.properties ?? {});
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
}

/** The JSON Schema by which editors check a file, ending in a line end. */
export function catalogJsonSchema(): string {
  return `${JSON.stringify(jsonSchema(catalogFile), undefined, 2)}\n`;
}

/** The JSON Schema of a kind of file, without the notes that declarations carry for the command line. */
export function jsonSchema(type: z.ZodType): unknown {
  const schema = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' });
  return JSON.parse(JSON.stringify(schema, (name, value: unknown) => (ownNotes.has(name) ? undefined : value)));
}
const ownNotes: ReadonlySet<string> = new Set(['flag', 'x-members']);
