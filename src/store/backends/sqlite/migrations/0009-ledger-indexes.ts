/**
 * The ledger with fewer indexes, of which few are ordered by contract. A commit writes every page that its entries have touched,
 * and in such an index each contract's entries touch another page. Ids rise with time, so an index that begins with ids keeps
 * new entries together.
 */

import { appendOnly, column, optional } from './columns.ts';
import type { Migration } from './migration.ts';

const { sequence, id, text, oneOf, json, instant, flag, cents, centsFromZero, creditMicros, balance } = column;

const references = (name: string, parent: string): string =>
  `FOREIGN KEY ("orgId", "${name}") REFERENCES "${parent}" ("orgId", "id")`;

const referencesInContract = (name: string): string =>
  `FOREIGN KEY ("orgId", "contractId", "${name}") REFERENCES "ledgerEntries" ("orgId", "contractId", "id")`;

/** In the order of the old table, so that rows are copied as they are. */
export const ledgerColumns = [
  sequence,
  id('orgId'),
  id('id'),
  id('contractId'),
  oneOf('type', ['grant', 'usage', 'adjustment', 'reversal', 'expiration']),
  cents('amountCents'),
  creditMicros('creditMicros'),
  centsFromZero('creditRateCents'),
  centsFromZero('purchaseRateCents'),
  text('currency'),
  text('description'),
  text('sourceType'),
  optional(id('invoiceId')),
  optional(text('lineKey')),
  optional(id('grantEntryId')),
  optional(id('reversesEntryId')),
  optional(instant('expiresAt')),
  flag('isPromotional'),
  optional(text('externalId')),
  optional(text('fingerprint')),
  optional(json('specifiers')),
  optional(json('metadata')),
  cents('appliedCents'),
  balance('balanceAfterCents'),
  balance('creditBalanceAfterMicros'),
  instant('createdAt'),
  `"hash" TEXT NOT NULL DEFAULT '' CHECK (length("hash") IN (0, 64))`,
];

/** What the reference of an entry to its contract implies. */
export const ofOrganization = 'FOREIGN KEY ("orgId") REFERENCES "organizations" ("id")';

export const ledgerRules = [
  `CHECK ("type" <> 'grant' OR ("amountCents" >= 0 AND "creditMicros" >= 0))`,
  `CHECK ("type" NOT IN ('usage', 'expiration') OR
     ("amountCents" <= 0 AND "creditMicros" <= 0 AND "grantEntryId" IS NOT NULL))`,
  `CHECK (("type" = 'reversal') = ("reversesEntryId" IS NOT NULL))`,
  ofOrganization,
  references('contractId', 'contracts'),
  references('invoiceId', 'invoices'),
  referencesInContract('grantEntryId'),
  referencesInContract('reversesEntryId'),
];

const unique = [
  'UNIQUE ("orgId", "id")',
  // The key of references within a contract, in the order of time.
  'UNIQUE ("orgId", "id", "contractId")',
];

/** What belongs to a rebuilt table, beside the index by contract. */
const ledgerGuards = [
  'CREATE INDEX "ledgerEntries_invoice" ON "ledgerEntries" ("orgId", "invoiceId") WHERE "invoiceId" IS NOT NULL',
  `CREATE UNIQUE INDEX "ledgerEntries_externalId" ON "ledgerEntries" ("orgId", "contractId", "externalId")
     WHERE "externalId" IS NOT NULL`,
  `CREATE UNIQUE INDEX "ledgerEntries_reverses" ON "ledgerEntries" ("orgId", "reversesEntryId")
     WHERE "reversesEntryId" IS NOT NULL`,
  ...appendOnly('ledgerEntries', 'a ledger entry'),
];

/** Makes the ledger anew by this definition, with its rows as they are and an index by contract of this key. */
export function rebuiltLedger(definition: readonly string[], contractKey: string): readonly string[] {
  return [
    `CREATE TABLE "newLedgerEntries" (${definition.join(', ')}) STRICT`,
    'INSERT INTO "newLedgerEntries" SELECT * FROM "ledgerEntries" ORDER BY "seq"',
    'DROP TABLE "ledgerEntries"',
    'ALTER TABLE "newLedgerEntries" RENAME TO "ledgerEntries"',
    `CREATE INDEX "ledgerEntries_contract" ON "ledgerEntries" (${contractKey})`,
    ...ledgerGuards,
  ];
}

export const ledgerIndexes: Migration = {
  version: 9,
  rebuildsTables: true,
  statements: [
    ...rebuiltLedger([...ledgerColumns, ...unique, ...ledgerRules], '"orgId", "contractId"'),
    // Many grants expire at one instant; within it, the index is in the order of time, too.
    'DROP INDEX "grantExpiries_due"',
    'CREATE INDEX "grantExpiries_due" ON "grantExpiries" ("orgId", "expiresAt", "grantId")',
  ],
};
