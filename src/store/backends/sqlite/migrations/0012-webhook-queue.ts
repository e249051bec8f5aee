/** Pending deliveries by endpoint, so that no query walks through all that wait for an endpoint that does not answer. */

import type { Migration } from './migration.ts';

export const webhookQueue: Migration = {
  version: 12,
  statements: [
    'DROP INDEX "webhookDeliveries_pending"',
    `CREATE INDEX "webhookDeliveries_queue" ON "webhookDeliveries" ("orgId", "endpointId", "nextAttemptAt")
     WHERE "status" = 'pending'`,
  ],
};
