/**
 * Administration of webhooks, never offered over the API: endpoints, their secrets and what was delivered to them
 * (semantics 1, 3, 13). Events are signed by the Standard Webhooks convention.
 */

import * as z from 'zod';

import { limits } from '../limits.ts';
import { exampleIds } from './example-ids.ts';
import {
  id,
  listOf,
  one,
  page,
  pathId,
  pathIdOf,
  queryInclude,
  referenceTo,
  text,
  timestamp,
  timestampInput,
  uuid,
} from './fields.ts';
import { defineOperation } from './define-operation.ts';
import type { View } from './operation.ts';
import { underRule } from './plain.ts';
import { webhookEventTypes } from './wire-values.ts';

/** `pending`: on its way or waiting for its next attempt. `failed`: given up, until it is sent again by hand. */
export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

const endpointFields = {
  id: uuid,
  url: z.string(),
  description: z.string().nullable(),
  eventTypes: z.array(z.enum(webhookEventTypes)),
  isEnabled: z.boolean(),
  /** Why the service disabled it. */
  disabledReason: z.string().nullable(),
  /** Until then the secret before the last rotation signs too. */
  previousSecretValidUntil: timestamp.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
};
const endpoint = z.strictObject(endpointFields);
/** The secret stands first and is shown this once. */
const endpointWithSecret = z.strictObject({ secret: z.string(), ...endpointFields });

const delivery = z.strictObject({
  id: uuid,
  eventId: uuid,
  eventType: z.enum(webhookEventTypes),
  endpointId: uuid,
  url: z.string(),
  status: z.enum(deliveryStatuses),
  attempts: z.int(),
  /** Null when it is due at once, and when no attempt is to come. */
  nextAttemptAt: timestamp.nullable(),
  lastAttemptAt: timestamp.nullable(),
  responseStatus: z.int().nullable(),
  /** The beginning of the answer, made harmless. */
  responseBody: z.string().nullable(),
  /** Why the last attempt failed. */
  error: z.string().nullable(),
  createdAt: timestamp,
  /** The event as it is sent: type, timestamp and data. */
  payload: z.record(z.string(), z.unknown()).optional(),
});

const endpointColumns = [
  { header: 'ID', path: 'id' },
  { header: 'URL', path: 'url' },
  { header: 'EVENTS', path: 'eventTypes', format: 'list' },
  { header: 'ENABLED', path: 'isEnabled', format: 'boolean' },
  { header: 'REASON', path: 'disabledReason' },
  { header: 'OLD SECRET UNTIL', path: 'previousSecretValidUntil', format: 'timestamp' },
] as const;
const endpointView: View = { rows: 'data', columns: endpointColumns };
const secretView: View = { rows: 'data', columns: [{ header: 'SECRET', path: 'secret' }, ...endpointColumns] };
const deliveryView: View = {
  rows: 'data',
  columns: [
    { header: 'ID', path: 'id' },
    { header: 'EVENT', path: 'eventType' },
    { header: 'URL', path: 'url' },
    { header: 'STATUS', path: 'status' },
    { header: 'ATTEMPTS', path: 'attempts', format: 'number' },
    { header: 'NEXT', path: 'nextAttemptAt', format: 'timestamp' },
    { header: 'ANSWER', path: 'responseStatus', format: 'number' },
    { header: 'ERROR', path: 'error' },
    { header: 'CREATED', path: 'createdAt', format: 'timestamp' },
  ],
  included: { payload: [{ header: 'PAYLOAD', path: 'payload' }] },
};
const triggerView: View = {
  rows: 'data',
  columns: [
    { header: 'EVENT ID', path: 'eventId' },
    { header: 'TYPE', path: 'type' },
    { header: 'DELIVERIES', path: 'deliveryCount', format: 'number' },
  ],
};

const url = text(limits.webhookUrlCharacters).describe('Where events are posted to: https, on port 443 or 8443.');
const eventTypes = z
  .array(z.enum(webhookEventTypes))
  .min(1)
  .max(webhookEventTypes.length)
  .optional()
  .describe('Kinds of events to send.');
const description = text(limits.descriptionCharacters).nullable().optional().describe('What the endpoint is for.');
const allowPrivate = z
  .boolean()
  .optional()
  .describe(
    'For simulation: the address may be private. Whoever sends the webhooks must allow it too (serve --allow-private-webhooks).',
  );
const endpointParams = z.strictObject({ endpointId: pathIdOf('endpoints').describe('Endpoint id.') });
const endpointExample = { endpointId: exampleIds.endpoint };

/** None has a route: endpoints and their secrets are the owner's business. */
export const webhookOperations = [
  defineOperation({
    name: 'webhooks.create',
    summary: 'Register an endpoint; its secret is shown only once',
    scope: '*',
    status: 201,
    body: z.strictObject({
      url,
      eventTypes: eventTypes.describe(`${eventTypes.description} All when not given.`),
      description,
      allowPrivate,
    }),
    response: one(endpointWithSecret),
    errors: ['conflict', 'invalidInput'],
    command: { group: 'webhooks', verb: 'create' },
    view: secretView,
    examples: [
      { about: 'Every kind of event', input: { body: { url: 'https://hooks.example.com/billing' } } },
      {
        about: 'Exhausted budgets alone',
        input: { body: { url: 'https://hooks.example.com/budgets', eventTypes: ['credit.budget.exhausted'] } },
      },
    ],
    secret: true,
  }),
  defineOperation({
    name: 'webhooks.list',
    summary: 'List endpoints, newest first',
    scope: '*',
    status: 200,
    response: one(z.array(endpoint)),
    errors: [],
    command: { group: 'webhooks', verb: 'list' },
    view: endpointView,
    examples: [{ about: 'All endpoints', input: {} }],
    readOnly: true,
  }),
  defineOperation({
    name: 'webhooks.update',
    summary: 'Change, disable or enable an endpoint',
    description: 'Nothing is sent to a disabled endpoint; what was waiting for it goes out when it is enabled again.',
    scope: '*',
    status: 200,
    params: endpointParams,
    body: underRule(
      'change',
      z.strictObject({
        url: url.optional(),
        eventTypes,
        description,
        isEnabled: z.boolean().optional().describe('Whether events are sent to it.'),
        allowPrivate,
      }),
    ),
    response: one(endpoint),
    errors: ['notFound', 'invalidInput'],
    command: { group: 'webhooks', verb: 'update', positional: ['endpointId'] },
    view: endpointView,
    examples: [{ about: 'Disable an endpoint', input: { params: endpointExample, body: { isEnabled: false } } }],
    repeatable: 'always',
  }),
  defineOperation({
    name: 'webhooks.remove',
    summary: 'Remove an endpoint; what was waiting for it fails',
    scope: '*',
    status: 200,
    params: endpointParams,
    response: one(z.strictObject({ removed: endpoint })),
    errors: ['notFound'],
    command: { group: 'webhooks', verb: 'remove', positional: ['endpointId'] },
    view: { ...endpointView, rows: 'data.removed' },
    examples: [{ about: 'Remove an endpoint', input: { params: endpointExample } }],
  }),
  defineOperation({
    name: 'webhooks.rotate',
    summary: 'Give an endpoint a new secret; it is shown only once',
    description: `Both secrets sign until the old one ends: after ${limits.webhookRotationHours} hours, or at the given instant.`,
    scope: '*',
    status: 201,
    params: endpointParams,
    body: z.strictObject({ validUntil: timestampInput.optional().describe('The old secret signs too until then.') }),
    response: one(endpointWithSecret),
    errors: ['notFound', 'invalidInput'],
    command: { group: 'webhooks', verb: 'rotate', positional: ['endpointId'] },
    view: secretView,
    examples: [{ about: 'Rotate the secret', input: { params: endpointExample } }],
    secret: true,
  }),
  defineOperation({
    name: 'webhooks.deliveries',
    summary: 'List deliveries, newest first',
    scope: '*',
    status: 200,
    query: z.strictObject({
      status: z.enum(deliveryStatuses).optional().describe('Deliveries of this status.'),
      endpointId: referenceTo('endpoints').optional().describe('Deliveries to this endpoint.'),
      include: queryInclude(['payload']).optional().describe('payload: also the event as it is sent.'),
      ...page(),
    }),
    response: listOf(delivery),
    errors: [],
    command: { group: 'webhooks', verb: 'deliveries' },
    view: deliveryView,
    examples: [{ about: 'What could not be delivered', input: { query: { status: 'failed' } } }],
    readOnly: true,
  }),
  defineOperation({
    name: 'webhooks.resend',
    summary: 'Send a delivery again, with a new set of attempts',
    scope: '*',
    status: 200,
    params: z.strictObject({ deliveryId: pathIdOf('deliveries').describe('Delivery id.') }),
    response: one(delivery),
    errors: ['notFound', 'conflict'],
    command: { group: 'webhooks', verb: 'resend', positional: ['deliveryId'] },
    view: deliveryView,
    examples: [{ about: 'Send it again', input: { params: { deliveryId: exampleIds.delivery } } }],
    repeatable: 'always',
  }),
  defineOperation({
    name: 'webhooks.trigger',
    summary: 'Send a sample event of a kind to the endpoints that take it',
    scope: '*',
    status: 201,
    params: z.strictObject({
      eventType: pathId.meta({ enum: [...webhookEventTypes] }).describe('Kind of event, such as invoice.created.'),
    }),
    response: one(z.strictObject({ eventId: id, type: z.enum(webhookEventTypes), deliveryCount: z.int() })),
    errors: ['notFound', 'conflict'],
    command: { group: 'webhooks', verb: 'trigger', positional: ['eventType'] },
    view: triggerView,
    examples: [{ about: 'A budget that is used up', input: { params: { eventType: 'credit.budget.exhausted' } } }],
  }),
] as const;
