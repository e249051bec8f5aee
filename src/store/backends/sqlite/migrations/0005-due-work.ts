/** The clock, whether an organization is in production, and indexes that find due work without a search. */

import { column, optional } from './columns.ts';
import type { Migration } from './migration.ts';

const { id, instant, date, oneOf } = column;

/** At most one row: the instant of a simulated clock. Without a row the clock is the real one. */
const clock = `CREATE TABLE "clock" ("id" INTEGER PRIMARY KEY CHECK ("id" = 1), ${instant('now')}) STRICT`;

/** Grants whose expiry is still to be settled. */
const grantExpiries = `CREATE TABLE "grantExpiries" (${[
  id('orgId'),
  id('contractId'),
  id('grantId'),
  instant('expiresAt'),
  'PRIMARY KEY ("orgId", "contractId", "expiresAt", "grantId")',
  'FOREIGN KEY ("orgId", "contractId", "grantId") REFERENCES "ledgerEntries" ("orgId", "contractId", "id")',
].join(', ')}) STRICT, WITHOUT ROWID`;

export const dueWork: Migration = {
  version: 5,
  statements: [
    clock,
    `ALTER TABLE "organizations" ADD COLUMN ${oneOf('environment', ['sandbox', 'production'])} DEFAULT 'sandbox'`,
    `ALTER TABLE "contracts" ADD COLUMN ${optional(date('draftsDueOn'))}`,
    `ALTER TABLE "contracts" ADD COLUMN ${optional(instant('terminatedAt'))}`,
    grantExpiries,
    'CREATE INDEX "grantExpiries_due" ON "grantExpiries" ("orgId", "expiresAt")',
    'CREATE INDEX "contracts_draftsDue" ON "contracts" ("orgId", "draftsDueOn") WHERE "draftsDueOn" IS NOT NULL',
    `CREATE INDEX "contracts_ending" ON "contracts" ("orgId", coalesce("effectiveEndDate", "endDate"))
     WHERE "terminatedAt" IS NULL`,
    'CREATE INDEX "customers_paused" ON "customers" ("orgId", "pausedUntil") WHERE "pausedUntil" IS NOT NULL',
    // In the order in which they are read; otherwise SQLite would walk through all contracts of the organization.
    ...['contracts', 'invoices'].flatMap((table) => [
      `DROP INDEX "${table}_customer"`,
      `CREATE INDEX "${table}_customer" ON "${table}" ("orgId", "customerId", "createdAt")`,
    ]),
    // Makes every contract due once; that visit finds out when the next drafts are due.
    'UPDATE "contracts" SET "draftsDueOn" = "startDate"',
    `INSERT INTO "grantExpiries" ("orgId", "contractId", "grantId", "expiresAt")
     SELECT "orgId", "contractId", "id", "expiresAt" FROM "ledgerEntries" AS "grant"
     WHERE "type" = 'grant' AND "expiresAt" IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM "ledgerEntries" AS "lapse" WHERE "lapse"."orgId" = "grant"."orgId"
         AND "lapse"."grantEntryId" = "grant"."id" AND "lapse"."type" = 'expiration')`,
  ],
};
