/** Invoices by status, so that nobody walks through all there are to find the few of a rare one. */

import type { PostgresMigration } from './migration.ts';

export const invoiceStatus: PostgresMigration = {
  version: 6,
  statements: ['CREATE INDEX "invoices_status" ON "invoices" ("orgId", "status", "createdAt", "seq")'],
};
