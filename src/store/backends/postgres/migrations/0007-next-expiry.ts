/** When a contract's next grant expires, in its row, in place of a table with a row for each grant. */

import { column, optional } from './columns.ts';
import type { PostgresMigration } from './migration.ts';

export const nextExpiry: PostgresMigration = {
  version: 7,
  statements: [
    `ALTER TABLE "contracts" ADD COLUMN ${optional(column.instant('nextExpiryAt'))}`,
    `UPDATE "contracts" SET "nextExpiryAt" = "least"."expiresAt" FROM
       (SELECT "orgId", "contractId", min("expiresAt") AS "expiresAt" FROM "grantExpiries" GROUP BY "orgId", "contractId") AS "least"
       WHERE "least"."orgId" = "contracts"."orgId" AND "least"."contractId" = "contracts"."id"`,
    'CREATE INDEX "contracts_expiring" ON "contracts" ("orgId", "nextExpiryAt") WHERE "nextExpiryAt" IS NOT NULL',
    'DROP TABLE "grantExpiries"',
  ],
};
