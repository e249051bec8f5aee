/** Webhooks of the first release: endpoints, the events to be sent, and their deliveries. */

import { appendOnly, column, optional, references, table } from './columns.ts';

const { text, oneOf, json, instant, flag, count, id } = column;

const endpoints = table('webhookEndpoints', [
  text('url'),
  optional(text('description')),
  optional(json('eventTypes')),
  flag('isEnabled'),
  optional(text('disabledReason')),
  flag('allowPrivate'),
  optional(text('secret')),
  optional(text('previousSecret')),
  optional(instant('previousSecretValidUntil')),
  optional(instant('removedAt')),
  instant('createdAt'),
  instant('updatedAt'),
  'CHECK (("previousSecret" IS NULL) = ("previousSecretValidUntil" IS NULL))',
  // A removed endpoint keeps no secret.
  'CHECK (("secret" IS NULL) = ("removedAt" IS NOT NULL))',
]);

const events = table('webhookEvents', [text('type'), json('body'), instant('createdAt')]);

const deliveries = table('webhookDeliveries', [
  id('eventId'),
  id('endpointId'),
  oneOf('status', ['pending', 'delivered', 'failed']),
  count('attempts'),
  optional(instant('nextAttemptAt')),
  optional(instant('leaseUntil')),
  optional(instant('lastAttemptAt')),
  optional(count('responseStatus')),
  optional(text('responseBody')),
  optional(text('error')),
  instant('createdAt'),
  'UNIQUE ("orgId", "eventId", "endpointId")',
  references('eventId', 'webhookEvents'),
  references('endpointId', 'webhookEndpoints'),
]);

export const webhooks: readonly string[] = [
  endpoints,
  events,
  deliveries,
  'CREATE INDEX "webhookEndpoints_live" ON "webhookEndpoints" ("orgId") WHERE "removedAt" IS NULL',
  `CREATE INDEX "webhookDeliveries_pending" ON "webhookDeliveries" ("nextAttemptAt" NULLS FIRST, "seq")
   WHERE "status" = 'pending'`,
  'CREATE INDEX "webhookDeliveries_seq" ON "webhookDeliveries" ("seq")',
  'CREATE INDEX "webhookDeliveries_created" ON "webhookDeliveries" ("orgId", "createdAt", "seq")',
  'CREATE INDEX "webhookDeliveries_endpoint" ON "webhookDeliveries" ("orgId", "endpointId")',
  ...appendOnly('webhookEvents', 'an event that is to be sent'),
];
