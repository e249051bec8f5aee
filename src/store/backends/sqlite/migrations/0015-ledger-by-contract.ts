/**
 * Ledger indexes that begin with what tells rows apart. Ids of entries and contracts differ between organizations, so a leading
 * organization id helped no search. It doubled the keys of the index by contract, of which a commit writes a page for nearly
 * every contract that it touches. It also let SQLite prefer an index over the whole organization for a few contracts.
 */

import { ledgerColumns, ledgerRules, rebuiltLedger } from './0009-ledger-indexes.ts';
import type { Migration } from './migration.ts';

const definition = [
  ...ledgerColumns,
  'UNIQUE ("id", "orgId")',
  // The key of references within a contract.
  'UNIQUE ("id", "contractId", "orgId")',
  ...ledgerRules,
];

export const ledgerByContract: Migration = {
  version: 15,
  rebuildsTables: true,
  statements: rebuiltLedger(definition, '"contractId"'),
};
