/** Pending deliveries by endpoint, so that no query walks through all that wait for an endpoint that does not answer. */

import type { PostgresMigration } from './migration.ts';

export const webhookQueue: PostgresMigration = {
  version: 5,
  statements: [
    'DROP INDEX "webhookDeliveries_pending"',
    `CREATE INDEX "webhookDeliveries_queue" ON "webhookDeliveries" ("orgId", "endpointId", "nextAttemptAt" NULLS FIRST, "seq")
     WHERE "status" = 'pending'`,
  ],
};
