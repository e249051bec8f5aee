/** Nothing reads the whole ledger of an organization, or all of its contracts, to find a few of them. */

import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';

import { readDueContracts } from '../../src/engine/due-contracts.ts';
import { loadEventOwners } from '../../src/engine/usage-finalized.ts';
import type { Transaction } from '../../src/store/database.ts';
import { hasCreditGrant } from '../../src/store/records/budgets.ts';
import { listContracts } from '../../src/store/records/contracts.ts';
import { listCustomers } from '../../src/store/records/customers.ts';
import { listInvoices } from '../../src/store/records/invoice-pages.ts';
import * as ledger from '../../src/store/records/ledger.ts';
import { readSealedLedger } from '../../src/store/records/seals.ts';
import { listWebhookDeliveries } from '../../src/store/records/webhooks.ts';
import { hasDueDelivery } from '../../src/store/records/webhook-queue.ts';
import type { Store } from '../../src/store/store.ts';
import { watchStatements } from '../reliability/statements.ts';
import { invoiceRow } from './rows.ts';
import { addCustomer, file, open, openFilled, useTestFile } from './test-file.ts';

useTestFile();

test('every reading of the ledger goes by an index of more than the organization', async () => {
  const statements = await statementsOf(async (tx) => {
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
  const readings = statements.filter((sql) => sql.includes('"ledgerEntries"'));
  expect(readings).toHaveLength(9);
  for (const sql of readings) {
    const onLedger = planOf(sql).filter((step) => step.includes('ledgerEntries'));
    expect({ sql, onLedger }).toEqual({ sql, onLedger: [searched] });
  }
});

test('a page of a ledger, or of the contracts of one customer, is read in the order of an index', async () => {
  const statements = await statementsOf(async (tx) => {
    const page = { limit: 10, offset: 20 };
    await ledger.listLedgerPage(tx, 'o', { contractId: 'c', ...page });
    await listContracts(tx, 'o', { customerId: 'u', today, ...page });
    await listContracts(tx, 'o', { externalCustomerId: 'x', today, ...page });
  });
  const plans = statements.filter((sql) => sql.includes('offset')).map(planOf);
  const customer = expect.stringMatching(/^SEARCH contracts USING INDEX \S+ \(orgId=\? AND customerId=\?\)$/);
  expect(plans).toEqual([
    ['SEARCH ledgerEntries USING INDEX ledgerEntries_contract (contractId=?)'],
    [customer],
    [customer, 'SCALAR SUBQUERY 1', expect.stringMatching(/^SEARCH customers /)],
  ]);
});

const today = Temporal.PlainDate.from('2026-03-01');

test('whatever a bill run reads of many contracts, and a batch of events of many customers, goes by such an index', async () => {
  const ids = Array.from({ length: 100 }, (_, index) => `id-${index}`);
  const statements = await statementsOf(async (tx) => {
    await readDueContracts({ tx, orgId: 'o' }, ids);
    await loadEventOwners({ tx, orgId: 'o' }, ids);
  });
  const readings = statements.filter((sql) => sql.includes('"orgId"'));
  expect(readings).toHaveLength(5);
  for (const sql of readings) {
    const steps = planOf(sql).filter((step) => /^(SCAN|SEARCH)/.test(step));
    expect({ sql, steps }).toEqual({ sql, steps: steps.map(() => searched) });
  }
});

test('a walk through a list counts its rows once, and passes over none', async () => {
  const store = await openFilled();
  for (const id of ['c', 'd', 'e', 'f', 'g']) await addCustomer(store, id);
  const asked: (readonly [sql: string, values: readonly unknown[]])[] = [];
  const stop = watchStatements((sql, values) => asked.push([sql, values]));
  const names: string[] = [];
  for (let offset = 0; offset < 7; offset += 2) {
    const page = await store.read((tx) => listCustomers(tx, 'org-a', { limit: 2, offset }));
    names.push(...page.rows.map(({ name }) => name));
  }
  stop();
  expect(names).toEqual(['g', 'f', 'e', 'd', 'c', 'only-in-a', 'customer']);
  const ofCustomers = asked.filter(([sql]) => sql.includes('"customers"'));
  expect(ofCustomers.filter(([sql]) => sql.includes('count('))).toHaveLength(1);
  const pages = ofCustomers.filter(([sql]) => sql.includes('offset'));
  expect(new Set(pages.map(([, values]) => values.at(-1)))).toEqual(new Set([0n]));
  // All of them are of one instant, so that the last page asks for those of before, too.
  const behind = ['orgId=? AND createdAt=? AND rowid<?'];
  const found = pages.map(([sql]) => planOf(sql).map((step) => /^SEARCH .* \((.*)\)$/.exec(step)?.[1]));
  expect(found).toEqual([['orgId=?'], behind, behind, behind, ['orgId=? AND createdAt<?']]);
});

test('invoices of a status are found by it, but those of a customer by the customer', async () => {
  const statements = await statementsOf(async (tx) => {
    await listInvoices(tx, 'o', { status: 'In Transit', limit: 10, offset: 0 });
    await listInvoices(tx, 'o', { status: 'Paid', customerId: 'u', limit: 10, offset: 0 });
  });
  const plans = statements.filter((sql) => sql.includes('"invoices"')).map(planOf);
  expect(plans.map(([step]) => step)).toEqual([
    'SEARCH invoices USING INDEX invoices_status (orgId=? AND status=?)',
    'SEARCH invoices USING COVERING INDEX invoices_status (orgId=? AND status=?)',
    'SEARCH invoices USING INDEX invoices_customer (orgId=? AND customerId=?)',
    'SEARCH invoices USING INDEX invoices_customer (orgId=? AND customerId=?)',
  ]);
});

test('a walk through the invoices of before an instant asks for one end of time at once', async () => {
  const store = await openFilled();
  const days = ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-03', '2026-01-04'];
  for (const [periodIndex, day] of days.entries()) {
    const made = { createdAt: `${day}T00:00:00.000Z`, periodIndex };
    const invoice = invoiceRow('org-a', `i${periodIndex}`, made);
    await store.write((tx) => tx.insertInto('invoices').values(invoice).execute());
  }
  const ends: number[] = [];
  const stop = watchStatements((sql) => ends.push(sql.split('"createdAt" < ?').length - 1));
  const ids: string[] = [];
  for (let offset = 0; offset < 4; offset += 1) {
    const page = { limit: 1, offset, createdBefore: '2026-01-04T00:00:00.000Z' };
    ids.push(...(await store.read((tx) => listInvoices(tx, 'org-a', page))).rows.map(({ id }) => id));
  }
  stop();
  expect(ids).toEqual(['i3', 'i2', 'i1', 'i0']);
  expect(Math.max(...ends)).toBe(1);
});

test('deliveries are counted without their events and endpoints', async () => {
  const statements = await statementsOf(async (tx) => {
    await listWebhookDeliveries(tx, 'o', { limit: 10, offset: 0 });
    await listWebhookDeliveries(tx, 'o', { endpointId: 'e', limit: 10, offset: 0 });
  });
  const plans = statements.filter((sql) => sql.includes('count(')).map(planOf);
  const searchedAlone = expect.stringMatching(/^SEARCH webhookDeliveries USING COVERING INDEX \S+ \(orgId=\?/);
  expect(plans).toEqual([[searchedAlone], [searchedAlone]]);
});

test('all events are counted with one look at each customer', async () => {
  const statements = await statementsOf(async (tx, { events }) => {
    await events.list(tx, { orgId: 'o', limit: 10, offset: 0 });
  });
  const counting = statements.find((sql) => sql.includes('sum(')) ?? '';
  const ofTail = planOf(counting).slice(-2);
  expect(ofTail).toEqual([expect.stringMatching(/^SCAN tail/), 'SEARCH customers USING INTEGER PRIMARY KEY (rowid=?)']);
});

test('a sender reads of each endpoint what is due first, however much waits behind it', async () => {
  const taken = { ofEndpoints: new Map([['e', 2]]), ofOrganizations: new Map([['o', 50]]) };
  const room = { free: 50, perEndpoint: 2, begun: ['a delivery'], ...taken };
  const statements = await statementsOf(async (tx) => await hasDueDelivery(tx, '2026-01-01T00:00:00.000Z', room));
  const plans = statements.filter((sql) => sql.includes('"webhookDeliveries"')).map(planOf);
  expect(plans).toEqual([
    [
      expect.stringMatching(/^S\S+ target/),
      'SEARCH due USING INTEGER PRIMARY KEY (rowid=?)',
      'CORRELATED SCALAR SUBQUERY 1',
      'SEARCH due USING INDEX webhookDeliveries_queue (orgId=? AND endpointId=?)',
      // Of one for each endpoint.
      'USE TEMP B-TREE FOR ORDER BY',
    ],
  ]);
});

const searched: unknown = expect.stringMatching(/^SEARCH .* \((?:orgId=\? AND |contractId=\?|id=\?)/);

async function statementsOf(read: (tx: Transaction, store: Store) => Promise<unknown>): Promise<string[]> {
  const store = await open();
  const statements = new Set<string>();
  const stop = watchStatements((sql) => statements.add(sql));
  await store.read((tx) => read(tx, store));
  stop();
  await store.close();
  return [...statements];
}

function planOf(sql: string): string[] {
  const database = new DatabaseSync(file);
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  database.close();
  return steps.map((step) => String(step['detail']));
}
