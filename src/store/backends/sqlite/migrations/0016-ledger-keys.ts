/**
 * A ledger with one key in place of two, whose beginning is the shorter one. A commit writes a page of each key and index that its
 * entries have touched. Only lines of invoices referred to the shorter key: they are few, so that a trigger may hold them to it.
 */

import { frozenLines, invoiceLineColumns } from './0001-billing.ts';
import { ledgerColumns, ledgerRules, ofOrganization, rebuiltLedger } from './0009-ledger-indexes.ts';
import type { Migration } from './migration.ts';

const definition = [
  ...ledgerColumns,
  'UNIQUE ("id", "contractId", "orgId")',
  ...ledgerRules.filter((rule) => rule !== ofOrganization),
];

export const ledgerKeys: Migration = {
  version: 16,
  rebuildsTables: true,
  statements: [
    ...rebuiltLedger(definition, '"contractId"'),
    `CREATE TABLE "newInvoiceLines" (${invoiceLineColumns.join(', ')}) STRICT, WITHOUT ROWID`,
    'INSERT INTO "newInvoiceLines" SELECT * FROM "invoiceLines"',
    'DROP TABLE "invoiceLines"',
    'ALTER TABLE "newInvoiceLines" RENAME TO "invoiceLines"',
    ...frozenLines,
    `CREATE TRIGGER "invoiceLines_grant" BEFORE INSERT ON "invoiceLines"
       WHEN NEW."grantId" IS NOT NULL AND NOT EXISTS (
         SELECT 1 FROM "ledgerEntries" WHERE "id" = NEW."grantId" AND "orgId" = NEW."orgId")
       BEGIN SELECT RAISE(ABORT, 'reference: a line of an invoice names no grant of its organization'); END`,
  ],
};
