/** Webhook endpoints, the events to be sent, and their deliveries. */

import { appendOnly, column, optional } from './columns.ts';
import type { Migration } from './migration.ts';

const { sequence, id, text, oneOf, json, instant, flag, count } = column;

function table(name: string, columns: readonly string[]): string {
  return `CREATE TABLE "${name}" (${[sequence, id('orgId'), id('id'), ...columns].join(', ')},
    UNIQUE ("orgId", "id"),
    FOREIGN KEY ("orgId") REFERENCES "organizations" ("id")) STRICT`;
}

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
  'FOREIGN KEY ("orgId", "eventId") REFERENCES "webhookEvents" ("orgId", "id")',
  'FOREIGN KEY ("orgId", "endpointId") REFERENCES "webhookEndpoints" ("orgId", "id")',
]);

export const webhooks: Migration = {
  version: 3,
  statements: [
    endpoints,
    events,
    deliveries,
    'CREATE INDEX "webhookEndpoints_live" ON "webhookEndpoints" ("orgId") WHERE "removedAt" IS NULL',
    `CREATE INDEX "webhookDeliveries_pending" ON "webhookDeliveries" ("nextAttemptAt") WHERE "status" = 'pending'`,
    'CREATE INDEX "webhookDeliveries_created" ON "webhookDeliveries" ("orgId", "createdAt")',
    'CREATE INDEX "webhookDeliveries_endpoint" ON "webhookDeliveries" ("orgId", "endpointId")',
    ...appendOnly('webhookEvents', 'an event that is to be sent'),
  ],
};
