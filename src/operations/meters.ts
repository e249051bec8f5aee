/** Meters: rules that aggregate events into quantities, and their rate cards (interface 2.9, 4.17; semantics 1, 3, 8). */

import * as z from 'zod';

import { limits } from '../limits.ts';
import { exampleIds } from './example-ids.ts';
import {
  comparedText,
  decimalInput,
  exact,
  listOf,
  membersInput,
  one,
  page,
  pathIdOf,
  referenceTo,
  text,
  timestamp,
  timestampInput,
  uuid,
  withinBytes,
} from './fields.ts';
import { eventCounts, skippedEvent, tracedEvent } from './explanation.ts';
import { defineOperation } from './define-operation.ts';
import type { View } from './operation.ts';
import { ruleIssue } from './cross-rules.ts';
import { underRule } from './plain.ts';
import { aggregationTypes, combinations } from './wire-values.ts';

const propertyFilter = z.strictObject({
  name: z.string(),
  exists: z.boolean().optional(),
  include: z.array(z.string()).optional(),
  exclude: z.array(z.string()).optional(),
});

const meter = z.strictObject({
  id: uuid,
  code: z.string(),
  displayName: z.string(),
  description: z.string().optional(),
  aggregationType: z.enum(aggregationTypes),
  eventTypeFilter: z.strictObject({ include: z.array(z.string()), exclude: z.array(z.string()) }),
  propertyFilters: z.array(propertyFilter),
  aggregationKey: z.string().optional(),
  groupKeys: z.array(z.string()),
  sql: z.string().optional(),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const listedMeter = meter.extend({ status: z.enum(['active', 'inactive']) });

const propertyKey = text(limits.eventPropertyKeyCharacters);
const eventNames = z.array(text()).max(limits.meterFilters);

const rateInput = z.strictObject({
  dimensions: membersInput({
    keys: limits.meterGroupKeys,
    keyCharacters: limits.eventPropertyKeyCharacters,
    value: comparedText,
  }).describe('Values of group keys that the rate is for.'),
  unitAmount: decimalInput.describe('Price of one unit in USD.'),
});

const rateCard = z.strictObject({
  meterId: uuid,
  rates: z.array(z.strictObject({ dimensions: z.record(z.string(), z.string()), unitAmount: z.string() })),
  fallbackUnitAmount: z.string().nullable(),
  updatedAt: timestamp.nullable(),
});

const view: View = {
  rows: 'data',
  columns: [
    { header: 'ID', path: 'id' },
    { header: 'CODE', path: 'code' },
    { header: 'NAME', path: 'displayName' },
    { header: 'AGGREGATION', path: 'aggregationType' },
    { header: 'KEY', path: 'aggregationKey' },
    { header: 'EVENTS', path: 'eventTypeFilter.include', format: 'list' },
    { header: 'GROUPED BY', path: 'groupKeys', format: 'list' },
  ],
};
const rateCardView: View = {
  rows: 'data.rates',
  columns: [
    { header: 'DIMENSIONS', path: 'dimensions', format: 'list' },
    { header: 'UNIT USD', path: 'unitAmount', format: 'number' },
  ],
};

const meterParams = z.strictObject({ meterId: pathIdOf('meters').describe('Meter id.') });
const meterExample = { meterId: exampleIds.meter };

/** Creation is interface 4.17; reading, archiving and rate cards are semantics 3, trials our choice. */
export const meterOperations = [
  defineOperation({
    name: 'meters.create',
    summary: 'Create a meter',
    description: 'A meter reads events that came before it as well.',
    route: { method: 'POST', path: '/v1/meters' },
    scope: 'meters:write',
    status: 201,
    body: z
      .strictObject({
        code: z
          .string()
          .max(limits.nameCharacters)
          .regex(/^[A-Z0-9_]+$/, 'must consist of uppercase letters, digits and underscores')
          .describe('Unique code: uppercase letters, digits, underscores.'),
        displayName: text().describe('Display name.'),
        description: text(limits.descriptionCharacters).optional().describe('What is measured, in words.'),
        aggregationType: z.enum(aggregationTypes).default('SUM').describe('How events become a quantity.'),
        eventTypeFilter: z
          .strictObject({ include: eventNames.optional(), exclude: eventNames.optional() })
          .optional()
          .describe('Event names to include (all when none is given) and to exclude; exclude wins.'),
        propertyFilters: z
          .array(
            z.strictObject({
              name: propertyKey,
              exists: z.boolean().optional(),
              include: z.array(comparedText).max(limits.meterFilters).optional(),
              exclude: z.array(comparedText).max(limits.meterFilters).optional(),
            }),
          )
          .max(limits.meterFilters)
          .refine(...withinBytes(limits.meterFiltersBytes))
          .meta({ flag: 'property-filter' })
          .optional()
          .describe('Conditions on properties, all of which must hold.'),
        aggregationKey: propertyKey.optional().describe('Property that is aggregated; required for SUM, MAX and MIN.'),
        groupKeys: z
          .array(propertyKey)
          .max(limits.meterGroupKeys)
          .meta({ flag: 'group-key' })
          .optional()
          .describe('Properties to group by, for prices per dimension.'),
        sql: text(limits.sqlCharacters)
          .optional()
          .describe(
            'Query of events(event_name, timestamp, properties) that returns one number as value; overrides the rest.',
          ),
      })
      .superRefine((input, context) => {
        if (input.sql === undefined && input.aggregationType !== 'COUNT' && input.aggregationKey === undefined) {
          context.addIssue(ruleIssue(['aggregationKey'], `is required for ${input.aggregationType}`));
        }
        if (input.groupKeys !== undefined && new Set(input.groupKeys).size !== input.groupKeys.length) {
          context.addIssue(ruleIssue(['groupKeys'], 'must not name a key twice'));
        }
        if (input.sql !== undefined && input.groupKeys !== undefined && input.groupKeys.length > 0) {
          context.addIssue(ruleIssue(['groupKeys'], 'cannot be given together with sql'));
        }
      }),
    response: one(meter),
    errors: ['conflict', 'invalidInput'],
    command: { group: 'meters', verb: 'create' },
    view,
    examples: [
      {
        about: 'Tokens by model',
        input: {
          body: {
            code: 'TOKENS_BY_MODEL',
            displayName: 'Tokens by model',
            aggregationKey: 'GeneratedTokens',
            eventTypeFilter: { include: ['llm.request'] },
            groupKeys: ['Model'],
          },
        },
      },
      {
        about: 'Users of a month, by a query',
        input: {
          body: {
            code: 'ACTIVE_USERS',
            displayName: 'Active users',
            sql: "SELECT count(DISTINCT properties['User']) AS value FROM events",
          },
        },
      },
    ],
    documented: true,
  }),
  defineOperation({
    name: 'meters.get',
    summary: 'Show one meter',
    route: { method: 'GET', path: '/v1/meters/{meterId}' },
    scope: 'meters:read',
    status: 200,
    params: meterParams,
    response: one(listedMeter),
    errors: ['notFound'],
    command: { group: 'meters', verb: 'get', positional: ['meterId'] },
    view,
    examples: [{ about: 'One meter', input: { params: meterExample } }],
    published: true,
  }),
  defineOperation({
    name: 'meters.list',
    summary: 'List meters, newest first',
    route: { method: 'GET', path: '/v1/meters' },
    scope: 'meters:read',
    status: 200,
    query: z.strictObject({
      status: z
        .enum(['active', 'inactive', 'all'])
        .optional()
        .describe('active when not given; archived meters are inactive.'),
      ...page(limits.defaultMeterPageSize),
    }),
    response: listOf(listedMeter),
    errors: [],
    command: { group: 'meters', verb: 'list' },
    view,
    examples: [{ about: 'All meters, archived ones too', input: { query: { status: 'all' } } }],
    published: true,
  }),
  defineOperation({
    name: 'meters.archive',
    summary: 'Take a meter out of use',
    description: 'Refused while an unarchived price uses it. Its code may be used again.',
    route: { method: 'DELETE', path: '/v1/meters/{meterId}' },
    scope: 'meters:write',
    status: 200,
    params: meterParams,
    response: one(listedMeter),
    errors: ['notFound', 'conflict'],
    command: { group: 'meters', verb: 'archive', positional: ['meterId'] },
    view,
    examples: [{ about: 'Archive a meter', input: { params: { meterId: exampleIds.freeMeter } } }],
    published: true,
    repeatable: 'always',
  }),
  defineOperation({
    name: 'meters.rateCard',
    summary: 'Show the prices per dimension of a meter',
    route: { method: 'GET', path: '/v1/meters/{meterId}/rate-card' },
    scope: 'meters:read',
    status: 200,
    params: meterParams,
    response: one(rateCard),
    errors: ['notFound'],
    command: { group: 'meters', verb: 'rate-card', positional: ['meterId'] },
    view: rateCardView,
    examples: [{ about: 'Prices per dimension', input: { params: meterExample } }],
  }),
  defineOperation({
    name: 'meters.setRateCard',
    summary: 'Replace the prices per dimension of a meter',
    description:
      'The most specific rate wins, then the first listed, then the fallback, then the unit price. Existing contracts keep theirs.',
    route: { method: 'PUT', path: '/v1/meters/{meterId}/rate-card' },
    scope: 'meters:write',
    status: 200,
    params: meterParams,
    body: z.strictObject({
      rates: z
        .array(rateInput)
        .max(limits.rateCardRates)
        .refine(...withinBytes(limits.contractPricesBytes))
        .meta({ flag: 'rate' })
        .describe('Rates in order.'),
      fallbackUnitAmount: decimalInput.nullable().optional().describe('Price of combinations that no rate matches.'),
    }),
    response: one(rateCard),
    errors: ['notFound', 'invalidInput'],
    command: { group: 'meters', verb: 'set-rate-card', positional: ['meterId'] },
    view: rateCardView,
    examples: [
      {
        about: 'A more expensive model',
        input: {
          params: meterExample,
          body: { rates: [{ dimensions: { Model: 'large' }, unitAmount: '0.000015' }], fallbackUnitAmount: '0.000003' },
        },
      },
    ],
    repeatable: 'always',
  }),
  defineOperation({
    name: 'meters.test',
    summary: 'Show what a meter reads for a customer, what it skips and why',
    description:
      'With contractId, only the events that are billed on that contract: none when it has no price for the meter.',
    route: { method: 'POST', path: '/v1/meters/{meterId}/test' },
    scope: 'meters:read',
    status: 200,
    params: meterParams,
    body: underRule(
      'costQuestion',
      z.strictObject({
        startDate: timestampInput.describe('From this instant, included.'),
        endDate: timestampInput.describe('Up to this instant, excluded.'),
        customerId: referenceTo('customers').optional().describe('Customer by id.'),
        externalCustomerId: referenceTo('externalCustomers').optional().describe('Customer by your own id.'),
        contractId: referenceTo('contracts').optional().describe('Only events that are billed on this contract.'),
      }),
    ),
    response: one(
      z.strictObject({
        meterId: uuid,
        meterCode: z.string(),
        aggregationType: z.enum(combinations),
        aggregationKey: z.string().optional(),
        customerId: uuid,
        contractId: uuid.optional(),
        startDate: timestamp,
        endDate: timestamp,
        matchedCount: z.int(),
        unmatchedCount: z.int(),
        lateCount: z.int(),
        groups: z.array(
          z.strictObject({
            dimensions: z.record(z.string(), z.string()),
            quantity: exact,
            ...eventCounts,
            decidedBy: tracedEvent.optional(),
          }),
        ),
        skipped: z.array(skippedEvent),
      }),
    ),
    errors: ['notFound', 'conflict', 'invalidInput'],
    command: { group: 'meters', verb: 'test', positional: ['meterId'] },
    view: {
      rows: 'data.groups',
      columns: [
        { header: 'DIMENSIONS', path: 'dimensions', format: 'list' },
        { header: 'QUANTITY', path: 'quantity', format: 'number' },
        { header: 'EVENTS', path: 'eventCount', format: 'number' },
        { header: 'SKIPPED', path: 'skippedCount', format: 'number' },
        { header: 'WITHOUT KEY', path: 'withoutKeyCount', format: 'number' },
        { header: 'FIRST', path: 'firstAt', format: 'timestamp' },
        { header: 'LAST', path: 'lastAt', format: 'timestamp' },
      ],
    },
    examples: [
      {
        about: 'One month of a customer',
        input: {
          params: meterExample,
          body: { externalCustomerId: 'acme', startDate: '2026-03-01T00:00:00Z', endDate: '2026-04-01T00:00:00Z' },
        },
      },
    ],
    readOnly: true,
    repeatable: 'always',
  }),
] as const;
