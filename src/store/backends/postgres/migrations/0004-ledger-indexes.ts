/** Drops a ledger index that nothing reads by, and keeps rows without a value out of two others. */

import type { PostgresMigration } from './migration.ts';

export const ledgerIndexes: PostgresMigration = {
  version: 4,
  statements: [
    'DROP INDEX "ledgerEntries_grant"',
    `ALTER TABLE "ledgerEntries" DROP CONSTRAINT "ledgerEntries_orgId_contractId_externalId_key",
       DROP CONSTRAINT "ledgerEntries_orgId_reversesEntryId_key"`,
    `CREATE UNIQUE INDEX "ledgerEntries_externalId" ON "ledgerEntries" ("orgId", "contractId", "externalId")
     WHERE "externalId" IS NOT NULL`,
    `CREATE UNIQUE INDEX "ledgerEntries_reverses" ON "ledgerEntries" ("orgId", "reversesEntryId")
     WHERE "reversesEntryId" IS NOT NULL`,
  ],
};
