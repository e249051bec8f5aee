/**
 * When a contract's next grant expires, in its row, in place of a table with a row for each grant: a commit of many grants wrote a
 * page of that table and one of its index for almost each of them.
 */

import { column, optional } from './columns.ts';
import type { Migration } from './migration.ts';

export const nextExpiry: Migration = {
  version: 17,
  statements: [
    `ALTER TABLE "contracts" ADD COLUMN ${optional(column.instant('nextExpiryAt'))}`,
    `UPDATE "contracts" SET "nextExpiryAt" = (SELECT min("expiresAt") FROM "grantExpiries"
       WHERE "grantExpiries"."orgId" = "contracts"."orgId" AND "grantExpiries"."contractId" = "contracts"."id")`,
    'CREATE INDEX "contracts_expiring" ON "contracts" ("orgId", "nextExpiryAt") WHERE "nextExpiryAt" IS NOT NULL',
    'DROP TABLE "grantExpiries"',
  ],
};
