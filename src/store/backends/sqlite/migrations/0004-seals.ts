/** Seals of ledger entries and finalized invoices; existing ones are sealed as they are. */

import { entryHash, invoiceHash, noHash } from '../../../records/hash-chain.ts';
import { appendOnly } from './columns.ts';
import type { Migration, MigrationConnection } from './migration.ts';

/** Empty if nothing is sealed: before an invoice is finalized. */
const seal = (name: string): string =>
  `"${name}" TEXT NOT NULL DEFAULT '${noHash}' CHECK (length("${name}") IN (0, 64))`;

const [ledgerUpdate = '', ledgerDelete = ''] = appendOnly('ledgerEntries', 'a ledger entry');

export const seals: Migration = {
  version: 4,
  statements: [
    `ALTER TABLE "ledgerEntries" ADD COLUMN ${seal('hash')}`,
    `ALTER TABLE "invoices" ADD COLUMN ${seal('contentHash')}`,
    `CREATE TRIGGER "invoices_seal" BEFORE UPDATE ON "invoices"
     WHEN OLD."contentHash" <> '${noHash}' AND NEW."contentHash" IS NOT OLD."contentHash"
     BEGIN SELECT RAISE(ABORT, 'append-only: the seal of a finalized invoice cannot be changed'); END`,
    'DROP TRIGGER "ledgerEntries_update"',
    'DROP TRIGGER "ledgerEntries_delete"',
  ],
  fill(connection) {
    sealEntries(connection);
    sealInvoices(connection);
    for (const statement of [ledgerUpdate, ledgerDelete]) connection.execute(statement);
  },
};

function sealEntries(connection: MigrationConnection): void {
  const update = connection.prepare('UPDATE "ledgerEntries" SET "hash" = ? WHERE "seq" = ?');
  const heads = new Map<string, string>();
  // One by one and by key, because a changed row must not meet the cursor that found it.
  const next = connection.prepare('SELECT * FROM "ledgerEntries" WHERE "seq" > ? ORDER BY "seq" LIMIT 1');
  for (let row = next.get(0n); row !== undefined; row = next.get(row['seq'] ?? 0n)) {
    const chain = JSON.stringify([row['orgId'], row['contractId']]);
    const hash = entryHash(heads.get(chain) ?? noHash, row);
    update.run(hash, row['seq'] ?? 0n);
    heads.set(chain, hash);
  }
}

function sealInvoices(connection: MigrationConnection): void {
  const update = connection.prepare('UPDATE "invoices" SET "contentHash" = ? WHERE "seq" = ?');
  const lines = connection.prepare(
    'SELECT * FROM "invoiceLines" WHERE "orgId" = ? AND "invoiceId" = ? ORDER BY "position"',
  );
  const next = connection.prepare(
    'SELECT * FROM "invoices" WHERE "seq" > ? AND "finalizedAt" IS NOT NULL ORDER BY "seq" LIMIT 1',
  );
  for (let row = next.get(0n); row !== undefined; row = next.get(row['seq'] ?? 0n)) {
    const own = lines.all(row['orgId'] ?? '', row['id'] ?? '');
    update.run(invoiceHash(row, own), row['seq'] ?? 0n);
  }
}
