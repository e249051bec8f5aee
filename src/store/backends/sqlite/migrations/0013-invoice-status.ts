/** Invoices by status, so that finding the few of a rare status does not walk through all of them. */

import type { Migration } from './migration.ts';

export const invoiceStatus: Migration = {
  version: 13,
  statements: ['CREATE INDEX "invoices_status" ON "invoices" ("orgId", "status", "createdAt")'],
};
