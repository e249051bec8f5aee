/** Budgets: caps on the credit use of one usage dimension of a contract (interface 2.7, 4.12 to 4.14; semantics 10). */

import * as z from 'zod';

import { limits } from '../limits.ts';
import { exampleIds } from './example-ids.ts';
import {
  cents,
  centsInput,
  contractParams,
  creditsInput,
  exact,
  one,
  pathId,
  referenceTo,
  text,
  timestamp,
} from './fields.ts';
import { defineOperation } from './define-operation.ts';
import type { View } from './operation.ts';

const budgetFields = {
  index: z.int(),
  label: z.string(),
  eventPropertyKey: z.string(),
  eventPropertyValue: z.string(),
  meterId: z.string().nullable(),
  maxCredits: exact.nullable(),
  maxCreditsCents: cents.nullable(),
  isExhausted: z.boolean(),
};
const budget = z.strictObject(budgetFields);

const caps = {
  maxCredits: creditsInput('of 0 or more').nullable().optional().describe('Cap in credits.'),
  maxCreditsCents: centsInput().nullable().optional().describe('Cap in cents.'),
};

/** A budget as it is given, alone or in a contract's creditSettings. */
export const budgetInput = z.strictObject({
  label: text().optional().describe('Display name; key and value when not given.'),
  eventPropertyKey: text(limits.eventPropertyKeyCharacters).describe('Event property that is the dimension.'),
  eventPropertyValue: text(limits.nameCharacters).describe('Value of the property that the budget is for.'),
  meterId: referenceTo('meters').nullable().optional().describe('Only usage of this meter.'),
  ...caps,
});

const budgetParams = contractParams.extend({
  index: pathId.meta({ type: 'integer', minimum: 0 }).describe('Place in the list, from 0.'),
});
const walletMode = z.enum(['credits', 'dollars']);
const contractExample = { contractId: exampleIds.contract };

const columns = [
  { header: '#', path: 'index', format: 'number' },
  { header: 'LABEL', path: 'label' },
  { header: 'PROPERTY', path: 'eventPropertyKey' },
  { header: 'VALUE', path: 'eventPropertyValue' },
  { header: 'CAP CREDITS', path: 'maxCredits', format: 'number' },
  { header: 'CAP', path: 'maxCreditsCents', format: 'money' },
  { header: 'EXHAUSTED', path: 'isExhausted', format: 'boolean' },
] as const;
const view: View = { rows: 'data', columns };

/**
 * All but `budgets.usage` answer with an ETag of the contract's budgets, and changes take it back as `ifMatch`
 * (semantics 10).
 */
export const budgetOperations = [
  defineOperation({
    name: 'budgets.list',
    summary: 'List the budgets of a contract, without their consumption',
    route: { method: 'GET', path: '/v1/contracts/{contractId}/budgets' },
    scope: 'contracts:read',
    status: 200,
    params: contractParams,
    response: one(z.strictObject({ budgets: z.array(budget), contractId: z.string(), walletMode })),
    errors: ['notFound'],
    command: { group: 'budgets', verb: 'list', positional: ['contractId'] },
    view: { rows: 'data.budgets', columns },
    examples: [{ about: 'Budgets of a contract', input: { params: contractExample } }],
    documented: true,
    versioned: true,
  }),
  defineOperation({
    name: 'budgets.usage',
    summary: 'Show what each budget of a contract has consumed, metered now',
    route: { method: 'GET', path: '/v1/contracts/{contractId}/budgets/usage' },
    scope: 'contracts:read',
    status: 200,
    params: contractParams,
    response: one(
      z.strictObject({
        budgets: z.array(
          z.strictObject({ ...budgetFields, consumedUnits: exact, consumedCents: exact, percentConsumed: exact }),
        ),
        contractId: z.string(),
        walletMode,
        queriedAt: timestamp,
      }),
    ),
    errors: ['notFound'],
    command: { group: 'budgets', verb: 'usage', positional: ['contractId'] },
    view: {
      rows: 'data.budgets',
      columns: [
        ...columns,
        { header: 'CONSUMED CREDITS', path: 'consumedUnits', format: 'number' },
        { header: 'CONSUMED', path: 'consumedCents', format: 'money' },
        { header: '%', path: 'percentConsumed', format: 'percent' },
      ],
      layout: 'budgetBars',
    },
    examples: [{ about: 'Live consumption', input: { params: contractExample } }],
    documented: true,
  }),
  defineOperation({
    name: 'budgets.add',
    summary: 'Add a budget to a contract',
    route: { method: 'POST', path: '/v1/contracts/{contractId}/budgets' },
    scope: 'contracts:write',
    status: 201,
    params: contractParams,
    body: budgetInput,
    response: one(budget),
    errors: ['notFound', 'conflict', 'preconditionFailed', 'invalidInput'],
    command: { group: 'budgets', verb: 'add', positional: ['contractId'] },
    view,
    examples: [
      {
        about: 'At most 50.00 USD of credits for one model',
        input: {
          params: contractExample,
          body: { eventPropertyKey: 'Model', eventPropertyValue: 'medium', maxCreditsCents: 5000 },
        },
      },
    ],
    published: true,
    versioned: true,
  }),
  defineOperation({
    name: 'budgets.update',
    summary: 'Change a budget; a new cap rearms its alert',
    route: { method: 'PATCH', path: '/v1/contracts/{contractId}/budgets/{index}' },
    scope: 'contracts:write',
    status: 200,
    params: budgetParams,
    body: z.strictObject({
      label: text().optional().describe('Display name.'),
      meterId: referenceTo('meters').nullable().optional().describe('Only usage of this meter.'),
      ...caps,
    }),
    response: one(budget),
    errors: ['notFound', 'conflict', 'preconditionFailed', 'invalidInput'],
    command: { group: 'budgets', verb: 'update', positional: ['contractId', 'index'] },
    view,
    examples: [
      { about: 'Raise a cap', input: { params: { ...contractExample, index: '0' }, body: { maxCreditsCents: 10000 } } },
    ],
    documented: true,
    versioned: true,
  }),
  defineOperation({
    name: 'budgets.remove',
    summary: 'Remove a budget; the ones after it move up',
    route: { method: 'DELETE', path: '/v1/contracts/{contractId}/budgets/{index}' },
    scope: 'contracts:write',
    status: 200,
    params: budgetParams,
    response: one(z.strictObject({ removed: budget })),
    errors: ['notFound', 'preconditionFailed'],
    command: { group: 'budgets', verb: 'remove', positional: ['contractId', 'index'] },
    view: { rows: 'data.removed', columns },
    examples: [{ about: 'Remove the first budget', input: { params: { ...contractExample, index: '0' } } }],
    published: true,
    versioned: true,
  }),
] as const;
