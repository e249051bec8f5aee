/** Nothing reads the whole ledger of an organization to find a few of its entries. */

import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';

import { hasCreditGrant } from '../../src/store/records/budgets.ts';
import * as ledger from '../../src/store/records/ledger.ts';
import { readSealedLedger } from '../../src/store/records/seals.ts';
import { watchStatements } from '../reliability/statements.ts';
import { file, open, useTestFile } from './test-file.ts';

useTestFile();

test('every reading of the ledger goes by an index that begins with more than the organization', async () => {
  const store = await open();
  const statements = new Set<string>();
  const stop = watchStatements((sql) => statements.add(sql));
  await store.read(async (tx) => {
    await ledger.listLedger(tx, 'o', 'c');
    await ledger.listLedgerPage(tx, 'o', { contractId: 'c', type: 'grant', createdAfter: '2026-01-01', limit: 1 });
    await ledger.findLedgerEntry(tx, 'o', 'e');
    await ledger.findLedgerHead(tx, 'o', 'c');
    await ledger.findGrantByExternalId(tx, 'o', { contractId: 'c', externalId: 'x' });
    await ledger.listLedgerOfInvoice(tx, 'o', 'i');
    await ledger.listGrantsOfCustomer(tx, 'o', 'u');
    await hasCreditGrant(tx, 'o', 'c');
    await readSealedLedger(tx, 'o', 'c');
  });
  stop();
  const readings = [...statements].filter((sql) => sql.includes('"ledgerEntries"'));
  expect(readings).toHaveLength(9);

  const database = new DatabaseSync(file);
  for (const sql of readings) {
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
    const onLedger = steps.map((step) => String(step['detail'])).filter((detail) => detail.includes('ledgerEntries'));
    expect({ sql, onLedger }).toEqual({ sql, onLedger: [expect.stringMatching(/^SEARCH .* \(orgId=\? AND /)] });
  }
  database.close();
});
