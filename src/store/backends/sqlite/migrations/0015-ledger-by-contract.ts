/**
 * The ledger with indexes that begin with what tells its rows apart. No two organizations have an id of an entry or of a contract
 * in common, so that an organization's id in front found nothing, made a key of the index by contract twice as long, of which a
 * commit writes a page for nearly every contract that it touches, and let SQLite take an index of all that the organization has
 * for one of a few contracts.
 */

import { ledgerColumns, ledgerGuards, ledgerRules } from './0009-ledger-indexes.ts';
import type { Migration } from './migration.ts';

const definition = [
  ...ledgerColumns,
  'UNIQUE ("id", "orgId")',
  // What references within a contract ask for.
  'UNIQUE ("id", "contractId", "orgId")',
  ...ledgerRules,
];

export const ledgerByContract: Migration = {
  version: 15,
  rebuildsTables: true,
  statements: [
    `CREATE TABLE "newLedgerEntries" (${definition.join(', ')}) STRICT`,
    'INSERT INTO "newLedgerEntries" SELECT * FROM "ledgerEntries" ORDER BY "seq"',
    'DROP TABLE "ledgerEntries"',
    'ALTER TABLE "newLedgerEntries" RENAME TO "ledgerEntries"',
    'CREATE INDEX "ledgerEntries_contract" ON "ledgerEntries" ("contractId")',
    ...ledgerGuards,
  ],
};
