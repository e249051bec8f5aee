/** What is pending by endpoint, so that nobody walks through what waits for one that does not answer. */

import type { Migration } from './migration.ts';

export const webhookQueue: Migration = {
  version: 12,
  statements: [
    'DROP INDEX "webhookDeliveries_pending"',
    `CREATE INDEX "webhookDeliveries_queue" ON "webhookDeliveries" ("orgId", "endpointId", "nextAttemptAt")
     WHERE "status" = 'pending'`,
  ],
};
