/** Products, pricing and plans (interface 4.7 to 4.9; creation from semantics 3 and 5). */

import * as z from 'zod';

import { limits } from '../limits.ts';
import { exampleIds } from './example-ids.ts';
import {
  cents,
  centsInput,
  decimalInput,
  listOf,
  one,
  page,
  pathIdOf,
  referenceTo,
  text,
  timestamp,
  uuid,
} from './fields.ts';
import { currency, depletionActions, pricingModels } from './wire-values.ts';
import { defineOperation } from './define-operation.ts';
import type { View } from './operation.ts';
import { pricing, pricingInput } from './pricing-fields.ts';

/** When invoices of a plan are sent: at finalization, or by command (semantics 5). */
const sendMethods = ['auto', 'manual'] as const;

const product = z.strictObject({
  id: uuid,
  name: z.string(),
  description: z.string().optional(),
  createdAt: timestamp,
});

const plan = z.strictObject({
  id: uuid,
  name: z.string(),
  description: z.string().optional(),
  currency: z.string(),
  netTerms: z.string(),
  externalId: z.string().optional(),
  metadata: z.strictObject({
    defaultAutoPayEnabled: z.boolean(),
    invoiceSendMethod: z.string(),
    defaultCreditSettings: z.strictObject({ onDepletion: z.string() }).optional(),
    defaultCreditGrantCents: cents.optional(),
  }),
  items: z.array(
    z.strictObject({
      id: uuid,
      pricingId: uuid,
      productId: uuid,
      productName: z.string(),
      pricingName: z.string(),
      pricingModel: z.string(),
      billingMode: z.string(),
      defaultQuantity: z.string(),
      isMetered: z.boolean(),
    }),
  ),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const productView: View = {
  rows: 'data',
  columns: [
    { header: 'ID', path: 'id' },
    { header: 'NAME', path: 'name' },
    { header: 'DESCRIPTION', path: 'description' },
    { header: 'CREATED', path: 'createdAt', format: 'timestamp' },
  ],
};

const pricingView: View = {
  rows: 'data',
  columns: [
    { header: 'ID', path: 'id' },
    { header: 'PRODUCT', path: 'productName' },
    { header: 'NAME', path: 'name' },
    { header: 'MODEL', path: 'model' },
    { header: 'TIERING', path: 'tiering' },
    { header: 'UNIT USD', path: 'unitAmount', format: 'number' },
    { header: 'FLAT USD', path: 'flatAmount', format: 'number' },
    { header: 'EVERY', path: 'priceIntervalCount', format: 'number', beside: 'priceInterval' },
    { header: 'INTERVAL', path: 'priceInterval' },
  ],
};

const planView: View = {
  rows: 'data',
  columns: [
    { header: 'ID', path: 'id' },
    { header: 'NAME', path: 'name' },
    { header: 'CURRENCY', path: 'currency' },
    { header: 'NET TERMS (DAYS)', path: 'netTerms', format: 'number' },
    { header: 'PRICES', path: 'items.*.pricingName', format: 'list' },
    { header: 'CREATED', path: 'createdAt', format: 'timestamp' },
  ],
};

const productParams = z.strictObject({ productId: pathIdOf('products').describe('Product id.') });
const planParams = z.strictObject({ planId: pathIdOf('plans').describe('Plan id.') });
const pricingParams = z.strictObject({ pricingId: pathIdOf('pricing').describe('Pricing id.') });
const netTerms = z
  .string()
  .max(10)
  // Without a flag of the expression, which the description of the interface could not carry.
  .regex(/^(?:[Nn][Ee][Tt] ?)?\d{1,3}$/, 'must be whole days such as "30" or "Net 30"')
  .transform((words) => String(Number(words.replace(/\D/g, ''))))
  .refine((days) => Number(days) <= limits.netTermsDays, `must be at most ${limits.netTermsDays} days`)
  .meta({ type: 'string', description: 'Whole days between invoice date and due date; "Net 30" is understood.' });

/** Reading is interface 4.7 to 4.9; the rest is semantics 3. A price never changes: it is archived and made anew. */
export const catalogOperations = [
  defineOperation({
    name: 'pricing.create',
    summary: 'Create a price of a product',
    description: 'A price never changes once it exists: archive it and create another.',
    route: { method: 'POST', path: '/v1/pricing' },
    scope: 'pricing:write',
    status: 201,
    body: pricingInput,
    response: one(pricing),
    errors: ['invalidInput'],
    command: { group: 'pricing', verb: 'create' },
    view: pricingView,
    examples: [
      {
        about: '3.00 USD per million tokens',
        input: {
          body: {
            productName: 'Inference',
            name: 'Context tokens, 2027',
            model: 'USAGE',
            meterId: exampleIds.meter,
            unitAmount: '0.000003',
            priceInterval: 'MONTH',
          },
        },
      },
      {
        about: 'A seat price in graduated tiers',
        input: {
          body: {
            productName: 'Seats',
            name: 'Seats, graduated',
            model: 'TIER',
            tiering: 'GRADUATED',
            priceInterval: 'MONTH',
            pricingTiers: [
              { maxQty: '10', unitAmount: '12' },
              { minQty: '10', unitAmount: '9.50' },
            ],
          },
        },
      },
    ],
    published: true,
  }),
  defineOperation({
    name: 'pricing.get',
    summary: 'Show one price',
    route: { method: 'GET', path: '/v1/pricing/{pricingId}' },
    scope: 'pricing:read',
    status: 200,
    params: pricingParams,
    response: one(pricing),
    errors: ['notFound'],
    command: { group: 'pricing', verb: 'get', positional: ['pricingId'] },
    view: pricingView,
    examples: [{ about: 'One price', input: { params: { pricingId: exampleIds.pricing } } }],
    documented: true,
  }),
  defineOperation({
    name: 'pricing.list',
    summary: 'List prices, newest first',
    route: { method: 'GET', path: '/v1/pricing' },
    scope: 'pricing:read',
    status: 200,
    query: z.strictObject({
      productId: referenceTo('products').optional().describe('Only prices of this product.'),
      model: z.enum(pricingModels).optional().describe('Only prices of this model.'),
      ...page(limits.defaultPricingPageSize),
    }),
    response: listOf(pricing),
    errors: [],
    command: { group: 'pricing', verb: 'list' },
    view: pricingView,
    examples: [{ about: 'Prices by usage', input: { query: { model: 'USAGE' } } }],
    documented: true,
  }),
  defineOperation({
    name: 'pricing.archive',
    summary: 'Take a price out of use',
    description: 'Refused while a plan has it. Contracts keep the prices that they were made with.',
    route: { method: 'DELETE', path: '/v1/pricing/{pricingId}' },
    scope: 'pricing:write',
    status: 200,
    params: pricingParams,
    response: one(pricing),
    errors: ['notFound', 'conflict'],
    command: { group: 'pricing', verb: 'archive', positional: ['pricingId'] },
    view: pricingView,
    examples: [{ about: 'Archive a price', input: { params: { pricingId: exampleIds.freePricing } } }],
    repeatable: 'always',
  }),
  defineOperation({
    name: 'plans.create',
    summary: 'Create a plan from prices',
    description: 'A plan never changes once it exists: archive it and create another.',
    route: { method: 'POST', path: '/v1/plans' },
    scope: 'plans:write',
    status: 201,
    body: z.strictObject({
      name: text().describe('Name of the plan.'),
      description: text(limits.descriptionCharacters).optional().describe('What the plan is for.'),
      currency: z.literal(currency).default(currency).describe('Currency of its prices.'),
      netTerms: netTerms.default('30'),
      externalId: text(limits.externalIdCharacters).optional().describe('Your own id of the plan.'),
      metadata: z
        .strictObject({
          defaultAutoPayEnabled: z.boolean().default(false),
          invoiceSendMethod: z
            .enum(sendMethods)
            .default('auto')
            .describe('auto: sent when finalized; manual: sent by command.'),
          defaultCreditSettings: z.strictObject({ onDepletion: z.enum(depletionActions) }).optional(),
          defaultCreditGrantCents: centsInput().optional().describe('Paid credits that a new contract begins with.'),
        })
        .optional()
        .describe('Defaults for contracts of the plan.'),
      items: z
        .array(
          z.strictObject({
            pricingId: referenceTo('pricing'),
            defaultQuantity: decimalInput.default('1').describe('Quantity of a price that is not metered.'),
          }),
        )
        .min(1)
        .max(limits.planItems)
        .meta({ flag: 'item' })
        .describe('Prices of the plan.'),
    }),
    response: one(plan),
    errors: ['invalidInput'],
    command: { group: 'plans', verb: 'create' },
    view: planView,
    examples: [
      {
        about: 'A plan of one price',
        input: { body: { name: 'Tokens alone', items: [{ pricingId: exampleIds.pricing }] } },
      },
    ],
    published: true,
  }),
  defineOperation({
    name: 'plans.get',
    summary: 'Show one plan',
    route: { method: 'GET', path: '/v1/plans/{planId}' },
    scope: 'plans:read',
    status: 200,
    params: planParams,
    response: one(plan),
    errors: ['notFound'],
    command: { group: 'plans', verb: 'get', positional: ['planId'] },
    view: planView,
    examples: [{ about: 'One plan', input: { params: { planId: exampleIds.plan } } }],
    documented: true,
  }),
  defineOperation({
    name: 'plans.list',
    summary: 'List plans, newest first',
    route: { method: 'GET', path: '/v1/plans' },
    scope: 'plans:read',
    status: 200,
    query: z.strictObject(page()),
    response: listOf(plan),
    errors: [],
    command: { group: 'plans', verb: 'list' },
    view: planView,
    examples: [{ about: 'The newest plans', input: {} }],
    published: true,
  }),
  defineOperation({
    name: 'plans.archive',
    summary: 'Take a plan out of use',
    description: 'Contracts on it go on; new ones cannot be made.',
    route: { method: 'DELETE', path: '/v1/plans/{planId}' },
    scope: 'plans:write',
    status: 200,
    params: planParams,
    response: one(plan),
    errors: ['notFound'],
    command: { group: 'plans', verb: 'archive', positional: ['planId'] },
    view: planView,
    examples: [{ about: 'Archive a plan', input: { params: { planId: exampleIds.plan } } }],
    repeatable: 'always',
  }),
  defineOperation({
    name: 'products.create',
    summary: 'Create a product',
    route: { method: 'POST', path: '/v1/products' },
    scope: 'pricing:write',
    status: 201,
    body: z.strictObject({
      name: text().describe('Name of the product.'),
      description: text(limits.descriptionCharacters).optional().describe('What the product is.'),
    }),
    response: one(product),
    errors: ['conflict', 'invalidInput'],
    command: { group: 'products', verb: 'create' },
    view: productView,
    examples: [{ about: 'A product', input: { body: { name: 'Training' } } }],
    published: true,
  }),
  defineOperation({
    name: 'products.get',
    summary: 'Show one product',
    route: { method: 'GET', path: '/v1/products/{productId}' },
    scope: 'pricing:read',
    status: 200,
    params: productParams,
    response: one(product),
    errors: ['notFound'],
    command: { group: 'products', verb: 'get', positional: ['productId'] },
    view: productView,
    examples: [{ about: 'One product', input: { params: { productId: exampleIds.product } } }],
  }),
  defineOperation({
    name: 'products.list',
    summary: 'List products, newest first',
    route: { method: 'GET', path: '/v1/products' },
    scope: 'pricing:read',
    status: 200,
    query: z.strictObject(page()),
    response: listOf(product),
    errors: [],
    command: { group: 'products', verb: 'list' },
    view: productView,
    examples: [{ about: 'The newest products', input: {} }],
    published: true,
  }),
  defineOperation({
    name: 'products.archive',
    summary: 'Take a product out of use',
    description: 'Refused while it has an unarchived price. Its name may be used again.',
    route: { method: 'DELETE', path: '/v1/products/{productId}' },
    scope: 'pricing:write',
    status: 200,
    params: productParams,
    response: one(product),
    errors: ['notFound', 'conflict'],
    command: { group: 'products', verb: 'archive', positional: ['productId'] },
    view: productView,
    examples: [{ about: 'Archive a product', input: { params: { productId: exampleIds.freeProduct } } }],
    repeatable: 'always',
  }),
] as const;
