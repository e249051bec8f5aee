/** Invoices by status, so that finding the few of a rare status does not walk through all of them. */

import type { PostgresMigration } from './migration.ts';

export const invoiceStatus: PostgresMigration = {
  version: 6,
  statements: ['CREATE INDEX "invoices_status" ON "invoices" ("orgId", "status", "createdAt", "seq")'],
};
