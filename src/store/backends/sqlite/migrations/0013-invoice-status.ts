/** Invoices by status, so that nobody walks through all there are to find the few of a rare one. */

import type { Migration } from './migration.ts';

export const invoiceStatus: Migration = {
  version: 13,
  statements: ['CREATE INDEX "invoices_status" ON "invoices" ("orgId", "status", "createdAt")'],
};
