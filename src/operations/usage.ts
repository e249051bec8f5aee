/** Events, and what usage costs (interface 4.18; semantics 1, 8, 11). */

import * as z from 'zod';

import { isExactNumber, textOfNumber } from '../exact-json.ts';
import type { ExactNumber } from '../exact-json.ts';
import { limits } from '../limits.ts';
import { hasLongMarks, longMarksMessage } from '../normal-text.ts';
import { exampleIds } from './example-ids.ts';
import {
  cents,
  dateOrTimestampInput,
  exact,
  listOf,
  membersInput,
  one,
  page,
  referenceTo,
  text,
  timestamp,
  timestampInput,
  uuid,
} from './fields.ts';
import { isSmallEnough, isStorable } from './field-rules.ts';
import { defineOperation } from './define-operation.ts';
import type { Column } from './operation.ts';
import { ruleIssue } from './cross-rules.ts';
import { recognizedAs, underRule } from './plain.ts';
import { costFields } from './usage-question.ts';
import { currency } from './wire-values.ts';

/** A primitive; a number has the digits that the sender wrote (semantics 8). */
export type EventPropertyValue = string | boolean | null | ExactNumber;

/**
 * A primitive of at most 4,096 characters; numbers have at most 40 digits before and 40 after the point, not counting zeros that
 * change nothing (semantics 8, our choice of the bounds).
 */
const propertyValue = z
  .custom<EventPropertyValue>(isPrimitive, { error: 'must be text, a number, a boolean or null' })
  .refine((value) => lengthOf(value) <= limits.eventPropertyValueCharacters, {
    error: `must have at most ${limits.eventPropertyValueCharacters} characters`,
    abort: true,
  })
  .refine((value) => !isExactNumber(value) || isSmallEnough(textOfNumber(value)), {
    error: `must be a number below 1e${limits.eventIntegerDigits} with at most ${limits.eventFractionDigits} decimals`,
  })
  .refine((value) => typeof value !== 'string' || isStorable(value), {
    error: 'must be well-formed Unicode without NUL',
  })
  .refine((value) => typeof value !== 'string' || !hasLongMarks(value), { error: longMarksMessage })
  .meta({ type: ['string', 'number', 'boolean', 'null'] });

function isPrimitive(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || isExactNumber(value);
}

/** As it is kept: a number keeps its zeros, also those that change nothing. */
function lengthOf(value: EventPropertyValue): number {
  if (typeof value === 'string') return value.length;
  return JSON.isRawJSON(value) ? value.rawJSON.length : 0;
}

/** One event as it is sent; `eventInput` says that exactly one of the two customer ids is given. */
const eventFields = z.strictObject({
  eventName: text().describe('What happened, such as llm.request.'),
  customerId: referenceTo('customers').optional().describe('Customer who used the service; or externalCustomerId.'),
  externalCustomerId: referenceTo('externalCustomers').optional().describe('The same, by your own id.'),
  contractId: referenceTo('contracts').optional().describe('Contract to bill; found automatically when not given.'),
  idempotencyKey: text(limits.idempotencyKeyCharacters)
    .optional()
    .describe('The same key counts once; the latest version wins.'),
  timestamp: timestampInput.optional().describe('When it happened; now when not given, at most an hour ahead.'),
  properties: membersInput({
    keys: limits.eventPropertyKeys,
    keyCharacters: limits.eventPropertyKeyCharacters,
    value: propertyValue,
  })
    .meta({ flag: 'property' })
    .optional()
    .describe('Facts to meter, filter and group by.'),
});
export type EventInput = z.output<typeof eventFields>;

/** One event, alone or in a batch (semantics 1), with exactly one of the two customer ids. */
export const eventInput = eventFields.superRefine((event, context) => {
  if ((event.customerId === undefined) === (event.externalCustomerId === undefined)) {
    context.addIssue(ruleIssue(['customerId'], 'exactly one of customerId and externalCustomerId is required'));
  }
});

const event = z.strictObject({
  id: uuid,
  eventName: z.string(),
  customerId: uuid,
  contractId: uuid.nullable(),
  idempotencyKey: z.string(),
  timestamp,
  properties: z.record(z.string(), z.union([z.string(), z.boolean(), z.null(), exact])),
  version: z.int(),
  isLate: z.boolean(),
  receivedAt: timestamp,
});

const eventsQuery = z.strictObject({
  eventName: text().optional().describe('Only events of this name.'),
  customerId: referenceTo('customers').optional().describe('Only events of this customer.'),
  start: dateOrTimestampInput.optional().describe('From this instant, included.'),
  end: dateOrTimestampInput.optional().describe('Up to this instant, excluded.'),
  ...page(),
});

const eventColumns: readonly Column[] = [
  { header: 'TIMESTAMP', path: 'timestamp', format: 'timestamp' },
  { header: 'EVENT', path: 'eventName' },
  { header: 'CUSTOMER', path: 'customerId' },
  { header: 'PROPERTIES', path: 'properties', format: 'list' },
  { header: 'IDEMPOTENCY KEY', path: 'idempotencyKey' },
];

const exampleEvent = {
  eventName: 'llm.request',
  externalCustomerId: 'acme',
  idempotencyKey: 'request-1',
  properties: { Model: 'large', ContextTokens: 374, GeneratedTokens: 44 },
};

/** Only `usage.cost` stands in the interface (4.18). `pricing.estimate` is here because it rates events. */
export const usageOperations = [
  defineOperation({
    name: 'usage.cost',
    summary: 'Calculate what usage costs',
    description: 'For a customer by the newest prices, or for a contract exactly as its invoices calculate it.',
    route: { method: 'POST', path: '/v1/usage/cost' },
    scope: 'usage:read',
    status: 200,
    body: underRule(
      'costQuestion',
      z.strictObject({
        ...costFields,
        unit: z
          .enum(['currency', 'credits'])
          .default('currency')
          .describe("credits: by the rate of the customer's newest grant."),
      }),
    ),
    response: z.strictObject({
      totalAmount: exact,
      currency: z.literal(currency).optional(),
      creditRateCents: cents.optional(),
      unit: z.enum(['currency', 'credits']),
      startDate: timestamp,
      endDate: timestamp,
      queriedAt: timestamp,
      contractId: uuid.optional(),
    }),
    errors: ['conflict', 'invalidInput'],
    command: { group: 'usage', verb: 'cost' },
    view: {
      rows: '',
      columns: [
        { header: 'TOTAL', path: 'totalAmount', format: 'usd' },
        { header: 'UNIT', path: 'unit' },
        { header: 'START', path: 'startDate', format: 'timestamp' },
        { header: 'END', path: 'endDate', format: 'timestamp' },
      ],
    },
    examples: [
      { about: 'A contract so far', input: { body: { contractId: exampleIds.contract } } },
      {
        about: 'A customer in one month',
        input: {
          body: { externalCustomerId: 'acme', startDate: '2026-03-01T00:00:00Z', endDate: '2026-04-01T00:00:00Z' },
        },
      },
    ],
    documented: true,
    readOnly: true,
    repeatable: 'always',
  }),
  defineOperation({
    name: 'usage.breakdown',
    summary: 'Split what usage costs by a group key of the meters',
    description:
      'The same lines as usage cost, added up for each value; the rows add up to the total. Most expensive first.',
    route: { method: 'POST', path: '/v1/usage/cost/breakdown' },
    scope: 'usage:read',
    status: 200,
    body: underRule(
      'costQuestion',
      z.strictObject({
        groupKey: text(limits.eventPropertyKeyCharacters).describe('Group key of a meter, such as model.'),
        ...costFields,
      }),
    ),
    response: one(
      z.strictObject({
        groupKey: z.string(),
        totalAmount: exact,
        currency: z.literal(currency),
        startDate: timestamp,
        endDate: timestamp,
        queriedAt: timestamp,
        contractId: z.string().optional(),
        /** `value` is null for usage of meters without the key, and empty for events without the property. */
        rows: z.array(z.strictObject({ value: z.string().nullable(), totalAmount: exact })),
      }),
    ),
    errors: ['conflict', 'invalidInput'],
    command: { group: 'usage', verb: 'breakdown' },
    view: {
      rows: 'data.rows',
      columns: [
        { header: 'VALUE', path: 'value' },
        { header: 'TOTAL', path: 'totalAmount', format: 'usd' },
      ],
    },
    examples: [{ about: 'By model', input: { body: { contractId: exampleIds.contract, groupKey: 'Model' } } }],
    readOnly: true,
    repeatable: 'always',
  }),
  defineOperation({
    name: 'usage.ingest',
    summary: 'Send one event',
    description:
      'Stored before it is acknowledged. The same idempotencyKey with other content replaces the event while its period is open.',
    route: { method: 'POST', path: '/v1/events' },
    scope: 'usage:write',
    status: 202,
    body: eventInput,
    response: z.strictObject({ status: z.literal('accepted'), idempotencyKey: z.string(), requestId: z.string() }),
    errors: ['conflict', 'invalidInput'],
    command: { group: 'usage', verb: 'ingest' },
    view: {
      rows: '',
      columns: [
        { header: 'STATUS', path: 'status' },
        { header: 'IDEMPOTENCY KEY', path: 'idempotencyKey' },
        { header: 'REQUEST', path: 'requestId' },
      ],
    },
    examples: [{ about: 'One request to a language model', input: { body: exampleEvent } }],
    published: true,
    repeatable: { whenGiven: 'idempotencyKey' },
    recordsEvents: true,
  }),
  defineOperation({
    name: 'usage.ingestBatch',
    summary: 'Send up to 10,000 events, all or none',
    route: { method: 'POST', path: '/v1/events/batch' },
    scope: 'usage:write',
    status: 202,
    body: recognizedAs(
      'events',
      z.strictObject({
        events: z
          .array(eventInput)
          .min(1)
          .max(limits.eventsPerBatch)
          .meta({ flag: 'event' })
          .describe('1 to 10,000 events.'),
      }),
    ),
    response: z.strictObject({ status: z.literal('accepted'), count: z.int(), requestId: z.string() }),
    errors: ['conflict', 'invalidInput'],
    command: { group: 'usage', verb: 'ingest-batch' },
    view: {
      rows: '',
      columns: [
        { header: 'STATUS', path: 'status' },
        { header: 'EVENTS', path: 'count', format: 'number' },
        { header: 'REQUEST', path: 'requestId' },
      ],
    },
    examples: [{ about: 'A batch', input: { body: { events: [exampleEvent] } } }],
    published: true,
    repeatable: { whenGiven: 'idempotencyKey', inEach: 'events' },
    recordsEvents: true,
  }),
  defineOperation({
    name: 'usage.events',
    summary: 'List events, newest first',
    route: { method: 'GET', path: '/v1/events' },
    scope: 'usage:read',
    status: 200,
    query: eventsQuery,
    response: listOf(event),
    errors: ['conflict'],
    command: { group: 'usage', verb: 'events' },
    view: { rows: 'data', columns: [...eventColumns, { header: 'LATE', path: 'isLate', format: 'boolean' }] },
    examples: [{ about: 'Events of one day', input: { query: { start: '2026-03-01', end: '2026-03-02' } } }],
    published: true,
  }),
  defineOperation({
    name: 'usage.late',
    summary: 'List events that came after their period was finalized, newest first',
    description: 'They are kept, but never billed.',
    route: { method: 'GET', path: '/v1/events/late' },
    scope: 'usage:read',
    status: 200,
    query: eventsQuery,
    response: listOf(event),
    errors: ['conflict'],
    command: { group: 'usage', verb: 'late' },
    view: { rows: 'data', columns: [...eventColumns, { header: 'RECEIVED', path: 'receivedAt', format: 'timestamp' }] },
    examples: [{ about: 'Late events of March', input: { query: { start: '2026-03-01', end: '2026-04-01' } } }],
  }),
  defineOperation({
    name: 'pricing.estimate',
    summary: 'Estimate what events would cost, without storing them',
    description:
      'By the prices of a contract, or by the newest price of each meter. Totals are exact, also below a cent.',
    route: { method: 'POST', path: '/v1/pricing/estimate' },
    scope: 'pricing:read',
    status: 200,
    body: z.strictObject({
      contractId: referenceTo('contracts').optional().describe('Prices of this contract.'),
      events: z
        .array(z.strictObject({ eventName: eventFields.shape.eventName, properties: eventFields.shape.properties }))
        .min(1)
        .max(limits.estimateEvents)
        .meta({ flag: 'event' })
        .describe(`1 to ${limits.estimateEvents} events.`),
    }),
    response: one(
      z.strictObject({
        totalAmount: exact,
        currency: z.literal(currency),
        lines: z.array(
          z.strictObject({
            meterId: uuid,
            meterCode: z.string(),
            pricingId: uuid,
            name: z.string(),
            dimensions: z.record(z.string(), z.string()),
            quantity: exact,
            unitPrice: z.string(),
            totalAmount: z.string(),
          }),
        ),
      }),
    ),
    errors: ['invalidInput'],
    command: { group: 'usage', verb: 'estimate' },
    view: {
      rows: 'data.lines',
      columns: [
        { header: 'METER', path: 'meterCode' },
        { header: 'PRICE', path: 'name' },
        { header: 'DIMENSIONS', path: 'dimensions', format: 'list' },
        { header: 'QUANTITY', path: 'quantity', format: 'number' },
        { header: 'UNIT USD', path: 'unitPrice', format: 'number' },
        { header: 'TOTAL USD', path: 'totalAmount', format: 'number' },
      ],
    },
    examples: [
      {
        about: 'One request',
        input: {
          body: { events: [{ eventName: 'llm.request', properties: { Model: 'large', GeneratedTokens: 44 } }] },
        },
      },
    ],
    published: true,
    readOnly: true,
    repeatable: 'always',
  }),
] as const;
