/** Contracts between a customer and a plan (interface 2.6, 4.10, 4.11; semantics 6). */

import * as z from 'zod';

import { isExactNumber, textOfNumber } from '../exact-json.ts';
import type { ExactNumber } from '../exact-json.ts';
import { limits } from '../limits.ts';
import { hasLongMarks, longMarksMessage } from '../normal-text.ts';
import { budgetInput } from './budgets.ts';
import { exampleIds } from './example-ids.ts';
import {
  cents,
  centsInput,
  comparedText,
  contractParams,
  date,
  dateInput,
  decimalInput,
  exact,
  integerInput,
  listOf,
  membersInput,
  one,
  page,
  queryBoolean,
  queryInclude,
  referenceTo,
  timestamp,
  timestampInput,
  uuid,
} from './fields.ts';
import { isStorable } from './field-rules.ts';
import { depletionActions } from './wire-values.ts';
import { defineOperation } from './define-operation.ts';
import type { View } from './operation.ts';
import { tierInput } from './pricing-fields.ts';

const wireTier = z.strictObject({
  minQty: z.string(),
  maxQty: z.string(),
  unitAmount: z.string(),
  flatAmount: z.string(),
});

/** What was agreed and frozen when the contract was made. */
const terms = z.strictObject({
  netTerms: z.int(),
  /** Where a cancellation ended service, exclusive. */
  effectiveEndDate: date.nullable(),
  creditGrantCents: cents.nullable(),
  creditSettings: z.strictObject({
    onDepletion: z.enum(depletionActions).optional(),
    creditRateCents: cents.optional(),
    expiresAt: timestamp.optional(),
    alertThresholdsCents: z.array(cents).optional(),
  }),
  /** Prices of the plan with overrides and rate cards. */
  items: z.array(
    z.strictObject({
      pricingId: uuid,
      quantity: z.string(),
      unitAmount: z.string().nullable(),
      flatAmount: z.string().nullable(),
      pricingTiers: z.array(wireTier),
      meterId: uuid.nullable(),
      rates: z.array(z.strictObject({ dimensions: z.record(z.string(), z.string()), unitAmount: z.string() })),
      fallbackUnitAmount: z.string().nullable(),
    }),
  ),
});

const contract = z.strictObject({
  id: uuid,
  customerId: uuid,
  planId: uuid,
  name: z.string(),
  startDate: date,
  endDate: date.optional(),
  isActive: z.boolean(),
  createdAt: timestamp,
  metadata: z.record(z.string(), z.union([z.string(), exact, z.boolean()])),
  terms: terms.optional(),
});

const include = queryInclude(['terms']).optional().describe('terms: also what was frozen when it was made.');

/** A text, number or boolean whose JSON text form has at most 500 characters (interface 4.11, semantics 6). */
const metadataValue = z
  .custom<string | boolean | ExactNumber>(isMetadataValue, { error: 'must be text, a number or a boolean' })
  .refine((value) => typeof value !== 'string' || isStorable(value), {
    error: 'must be well-formed Unicode without NUL',
  })
  .refine((value) => valueText(value).length <= limits.contractMetadataValueCharacters, {
    error: `must have at most ${limits.contractMetadataValueCharacters} characters`,
  })
  .refine((value) => typeof value !== 'string' || !hasLongMarks(value), { error: longMarksMessage })
  .transform((value) => (typeof value === 'string' ? value.normalize('NFC') : value))
  .meta({ type: ['string', 'number', 'boolean'], maxLength: limits.contractMetadataValueCharacters });

function isMetadataValue(value: unknown): boolean {
  if (typeof value === 'boolean' || typeof value === 'string') return true;
  return isExactNumber(value) && Number.isFinite(Number(textOfNumber(value)));
}

function valueText(value: string | boolean | ExactNumber): string {
  return isExactNumber(value) ? textOfNumber(value) : String(value);
}

const metadata = membersInput({
  keys: limits.contractMetadataKeys,
  keyCharacters: limits.contractMetadataKeyCharacters,
  value: metadataValue,
});

const itemOverride = z.strictObject({
  basePricingId: referenceTo('pricing').describe('Price of the plan that is overridden.'),
  unitAmount: decimalInput.optional(),
  flatAmount: decimalInput.optional(),
  pricingTiers: z.array(tierInput).min(1).max(limits.pricingTiers).optional(),
  quantity: decimalInput.optional(),
});

const dimensionOverride = z.strictObject({
  meterId: referenceTo('meters').describe('Meter whose rate is overridden.'),
  dimensions: membersInput({
    keys: limits.meterGroupKeys,
    keyCharacters: limits.eventPropertyKeyCharacters,
    value: comparedText,
  }),
  unitAmount: decimalInput,
});

/** The two kinds are told apart by what they name, so that a refusal speaks of the kind that was meant. */
const overrideInput = z
  .looseObject({ basePricingId: z.unknown(), meterId: z.unknown() })
  .partial()
  .transform((input, context) => {
    const form = 'meterId' in input && !('basePricingId' in input) ? dimensionOverride : itemOverride;
    const parsed = form.safeParse(input);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) context.addIssue(issue as Parameters<typeof context.addIssue>[0]);
    return z.NEVER;
  })
  .meta({ type: 'object', anyOf: [itemOverride, dimensionOverride].map(described) });

/** Only for the generated documents, which cannot look behind a transformation. */
function described(form: z.ZodObject): z.core.JSONSchema.JSONSchema {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(form, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      for (const hint of ['reference', 'x-members']) delete jsonSchema[hint];
    },
  });
  return schema;
}

const creditSettings = z.strictObject({
  onDepletion: z
    .enum(depletionActions)
    .optional()
    .describe('auto_invoice: overage is invoiced; alert_only: the invoice is held.'),
  creditRateCents: integerInput(1, limits.creditRateCents).optional().describe('Cents that a free credit is worth.'),
  expiresAt: timestampInput.optional().describe("Expiry of the contract's own credit grant."),
  alertThresholdsCents: z.array(centsInput()).max(limits.alertThresholds).optional(),
  budgets: z.array(budgetInput).max(limits.budgetsPerContract).optional(),
});

const view: View = {
  rows: 'data',
  columns: [
    { header: 'ID', path: 'id' },
    { header: 'NAME', path: 'name' },
    { header: 'CUSTOMER', path: 'customerId' },
    { header: 'START', path: 'startDate', format: 'date' },
    { header: 'END', path: 'endDate', format: 'date' },
    { header: 'ACTIVE', path: 'isActive', format: 'boolean' },
  ],
  included: {
    terms: [
      { header: 'NET TERMS', path: 'terms.netTerms', format: 'number' },
      { header: 'EFFECTIVE END', path: 'terms.effectiveEndDate', format: 'date' },
      { header: 'CREDIT GRANT', path: 'terms.creditGrantCents', format: 'money' },
      { header: 'CREDIT SETTINGS', path: 'terms.creditSettings' },
      { header: 'ITEMS', path: 'terms.items', format: 'count' },
    ],
  },
};

/** Creation and update are interface 4.10 and 4.11; reading and cancellation are semantics 1. */
export const contractOperations = [
  defineOperation({
    name: 'contracts.create',
    summary: 'Create a contract and its draft invoices',
    description:
      'Prices are frozen into the contract: a later change of the catalog leaves it as it is. endDate is exclusive.',
    route: { method: 'POST', path: '/v1/contracts' },
    scope: 'contracts:write',
    status: 201,
    body: z.strictObject({
      planId: referenceTo('plans').describe('Plan of the contract.'),
      customerId: referenceTo('customers').describe('Customer of the contract.'),
      startDate: dateInput.describe('First day of service.'),
      endDate: dateInput.optional().describe('First day without service; omit for a rolling contract.'),
      netTerms: integerInput(0, limits.netTermsDays)
        .optional()
        .describe("Days until an invoice is due; the plan's when not given."),
      overrides: z
        .array(overrideInput)
        .max(limits.rateCardRates)
        .meta({ flag: 'override' })
        .optional()
        .describe('Other prices for this contract, by basePricingId, or by meterId and dimensions.'),
      creditGrantCents: centsInput()
        .nullable()
        .optional()
        .describe("Paid credits to begin with; the plan's when not given, 0 for none."),
      creditSettings: creditSettings.optional().describe('How credits and budgets of the contract behave.'),
      metadata: metadata.optional().describe(`Up to ${limits.contractMetadataKeys} values of your own.`),
    }),
    response: one(contract),
    errors: ['conflict', 'invalidInput'],
    command: { group: 'contracts', verb: 'create' },
    view,
    examples: [
      {
        about: 'A rolling contract',
        input: { body: { customerId: exampleIds.customer, planId: exampleIds.plan, startDate: '2026-03-01' } },
      },
      {
        about: 'A year with 100.00 USD of prepaid credits',
        input: {
          body: {
            customerId: exampleIds.customer,
            planId: exampleIds.plan,
            startDate: '2026-03-01',
            endDate: '2027-03-01',
            creditGrantCents: 10000,
          },
        },
      },
    ],
    documented: true,
  }),
  defineOperation({
    name: 'contracts.get',
    summary: 'Show one contract',
    route: { method: 'GET', path: '/v1/contracts/{contractId}' },
    scope: 'contracts:read',
    status: 200,
    params: contractParams,
    query: z.strictObject({ include }),
    response: one(contract),
    errors: ['notFound'],
    command: { group: 'contracts', verb: 'get', positional: ['contractId'] },
    view,
    examples: [{ about: 'One contract', input: { params: { contractId: exampleIds.contract } } }],
    published: true,
  }),
  defineOperation({
    name: 'contracts.list',
    summary: 'List contracts, newest first',
    route: { method: 'GET', path: '/v1/contracts' },
    scope: 'contracts:read',
    status: 200,
    query: z.strictObject({
      customerId: referenceTo('customers').optional().describe('Only contracts of this customer.'),
      externalCustomerId: referenceTo('externalCustomers')
        .optional()
        .describe('Only contracts of the customer with this id of yours.'),
      planId: referenceTo('plans').optional().describe('Only contracts on this plan.'),
      isActive: queryBoolean.optional().describe('Only active ones, or only ended ones.'),
      include,
      ...page(),
    }),
    response: listOf(contract),
    errors: [],
    command: { group: 'contracts', verb: 'list' },
    view,
    examples: [{ about: 'Active contracts', input: { query: { isActive: 'true' } } }],
    published: true,
  }),
  defineOperation({
    name: 'contracts.update',
    summary: 'Replace or clear the metadata of a contract',
    description:
      'Plan, prices, dates and net terms stay as agreed. For others, cancel the contract, which ends with its current billing period, and create a new one from then on.',
    route: { method: 'PATCH', path: '/v1/contracts/{contractId}' },
    scope: 'contracts:write',
    status: 200,
    params: contractParams,
    body: z.strictObject({ metadata: metadata.nullable().describe('Values of your own; null clears all.') }),
    response: one(contract),
    errors: ['notFound', 'invalidInput'],
    command: { group: 'contracts', verb: 'update', positional: ['contractId'] },
    view,
    examples: [
      {
        about: 'Note an order number',
        input: { params: { contractId: exampleIds.contract }, body: { metadata: { order: 'PO-7781' } } },
      },
    ],
    documented: true,
  }),
  defineOperation({
    name: 'contracts.cancel',
    summary: 'End a contract with its current billing period',
    description: "The current period's invoice is kept, later drafts are cancelled.",
    route: { method: 'POST', path: '/v1/contracts/{contractId}/cancel' },
    scope: 'contracts:write',
    status: 200,
    params: contractParams,
    body: z.strictObject({
      cancelAt: z.literal('end_of_period').default('end_of_period').describe('When the contract ends.'),
    }),
    response: one(
      z.strictObject({
        id: uuid,
        isActive: z.boolean(),
        effectiveCancellationDate: date,
        cancelledInvoiceCount: z.int(),
      }),
    ),
    errors: ['notFound', 'conflict', 'invalidInput'],
    command: { group: 'contracts', verb: 'cancel', positional: ['contractId'] },
    view: {
      rows: 'data',
      columns: [
        { header: 'ID', path: 'id' },
        { header: 'ACTIVE', path: 'isActive', format: 'boolean' },
        { header: 'ENDS', path: 'effectiveCancellationDate', format: 'date' },
        { header: 'CANCELLED DRAFTS', path: 'cancelledInvoiceCount', format: 'number' },
      ],
    },
    examples: [
      {
        about: 'At the end of the period',
        input: { params: { contractId: exampleIds.contract }, body: { cancelAt: 'end_of_period' } },
      },
    ],
    movesMoney: true,
    published: true,
  }),
] as const;
