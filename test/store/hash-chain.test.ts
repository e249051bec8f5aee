import { describe, expect, test } from 'vitest';

import { migrations } from '../../src/store/backends/sqlite/migrations/index.ts';
import { entryHash, hashOfHeads, invoiceHash, noHash } from '../../src/store/records/hash-chain.ts';
import { findLedgerHead, insertLedgerEntry } from '../../src/store/records/ledger.ts';
import type { NewLedgerEntry } from '../../src/store/records/ledger.ts';
import type { FrozenLine } from '../../src/store/records/invoices.ts';
import { findInvoice, freezeInvoice, updateInvoice } from '../../src/store/records/invoices.ts';
import { at, contractRow, entryRow, invoiceRow, newGrant } from './rows.ts';
import { open, openFilled, useTestFile, withSqlite } from './test-file.ts';

useTestFile();

const grant: NewLedgerEntry = {
  ...newGrant,
  expiresAt: Temporal.Instant.from('2026-12-31T00:00:00Z'),
  specifiers: { meterIds: ['m'] },
};

describe('the seals of a ledger', () => {
  const entry = entryRow('g1', { amountCents: 100n });

  test('are the same for a value on its way in and on its way back', () => {
    expect(entryHash(noHash, { ...entry, isPromotional: 1n, invoiceId: null })).toBe(entryHash(noHash, entry));
    expect(entryHash(noHash, entry)).toMatch(/^[0-9a-f]{64}$/);
  });

  test('change with every column, except its place and the seal itself', async () => {
    const store = await openFilled();
    await store.write(async (tx) => await insertLedgerEntry(tx, 'org-a', { entry: grant, head: noHash }));
    const row = await store.read((tx) => tx.selectFrom('ledgerEntries').selectAll().executeTakeFirstOrThrow());
    const isSealed = (column: string) => entryHash(noHash, { ...row, [column]: 'other' }) !== entryHash(noHash, row);
    expect(Object.keys(row).filter((column) => !isSealed(column))).toEqual(['seq', 'hash']);
  });

  test('change with what stands before, so that entries cannot be exchanged', () => {
    expect(entryHash(entryHash(noHash, entry), entry)).not.toBe(entryHash(noHash, entry));
  });

  test('are made for each contract by itself, each entry with the one before it', async () => {
    const store = await openFilled();
    await store.write(async (tx) => {
      await tx
        .insertInto('contracts')
        .values(contractRow('org-a', 'second', 'customer'))
        .execute();
      const { hash } = await insertLedgerEntry(tx, 'org-a', { entry: grant, head: noHash });
      const elsewhere = { ...grant, id: 'other', contractId: 'second' };
      await insertLedgerEntry(tx, 'org-a', { entry: elsewhere, head: noHash });
      await insertLedgerEntry(tx, 'org-a', { entry: { ...grant, id: 'g2' }, head: hash });
    });
    const rows = await store.read((tx) => tx.selectFrom('ledgerEntries').selectAll().orderBy('seq').execute());
    const [first, other, second] = rows;
    if (first === undefined || other === undefined || second === undefined) throw new Error('three were written');
    expect([first.hash, other.hash]).toEqual([entryHash(noHash, first), entryHash(noHash, other)]);
    expect(second.hash).toBe(entryHash(first.hash, second));
    expect(await store.read((tx) => findLedgerHead(tx, 'org-a', 'contract'))).toBe(second.hash);
  });

  test('come together as one over all contracts, which any of them changes', () => {
    const heads: [string, string][] = [
      ['c1', 'a'],
      ['c2', 'b'],
    ];
    expect(hashOfHeads(heads)).not.toBe(hashOfHeads(heads.toReversed()));
    expect(hashOfHeads(heads)).not.toBe(hashOfHeads([['c1', 'ac2 b']]));
  });
});

describe('the seal of an invoice', () => {
  const invoice = invoiceRow('org-a', 'i1', { finalizedAt: at });
  const line = { id: 'l1', position: 0n, totalCents: 100n };

  test.each([
    ['amount', { totalCents: 101n }, [line]],
    ['due date', { dueDate: '2026-04-01' }, [line]],
    ['lines', {}, []],
    ['amount of a line', {}, [{ ...line, totalCents: 99n }]],
  ])('changes with the %s', (_, change, lines) => {
    expect(invoiceHash({ ...invoice, ...change }, lines)).not.toBe(invoiceHash(invoice, [line]));
  });

  test.each([
    ['status', { status: 'Paid' }],
    ['sending', { sentAt: at, isHeld: true }],
    ['payment', { latestPaymentDate: '2026-03-01', updatedAt: '2027-01-01T00:00:00.000Z' }],
  ])('does not change with the %s', (_, change) => {
    expect(invoiceHash({ ...invoice, ...change }, [line])).toBe(invoiceHash(invoice, [line]));
  });

  test('is made by finalization over every column of its lines, and can never be changed', async () => {
    const store = await openFilled();
    await store.write((tx) => tx.insertInto('invoices').values(invoiceRow('org-a', 'i1')).execute());
    const read = () => store.read((tx) => tx.selectFrom('invoices').selectAll().executeTakeFirstOrThrow());
    const now = Temporal.Instant.from(at);
    await store.write((tx) => updateInvoice(tx, 'org-a', { id: 'i1', isHeld: true, updatedAt: now }));
    expect((await read()).contentHash).toBe(noHash);
    const end = Temporal.Instant.from('2026-02-01T00:00:00Z');
    const frozen: FrozenLine[] = [
      { ...frozenLine, id: 'l1' },
      { ...frozenLine, id: 'l2', groupValues: { model: 'ü' } },
    ];
    await store.write(async (tx) => {
      const draft = await findInvoice(tx, 'org-a', 'i1');
      if (draft === undefined) throw new Error('it was written');
      await freezeInvoice(tx, 'org-a', { ...draft, number: 'INV-1', finalizedAt: end }, frozen);
    });
    const sealed = await read();
    const lines = await store.read((tx) => tx.selectFrom('invoiceLines').selectAll().orderBy('position').execute());
    expect([sealed.number, lines.map(({ id }) => id)]).toEqual(['INV-1', ['l1', 'l2']]);
    expect(sealed.contentHash).toBe(invoiceHash(sealed, lines));
    const sealOf = (column: string) => invoiceHash(sealed, [{ ...lines[0], [column]: 'other' }, ...lines.slice(1)]);
    const unsealed = Object.keys(lines[0] ?? {}).filter((column) => sealOf(column) === sealed.contentHash);
    expect(unsealed).toEqual(['orgId', 'invoiceId']);
    const change = store.write((tx) => tx.updateTable('invoices').set({ contentHash: noHash }).execute());
    await expect(change).rejects.toMatchObject({ rule: 'appendOnly' });
  });
});

const frozenLine: Omit<FrozenLine, 'id'> = {
  lineKey: 'key',
  kind: 'metered',
  name: 'Tokens',
  description: 'Inference',
  quantity: '3.5',
  unitPrice: '0.0015',
  unitPriceCents: 0n,
  totalAmount: '0.00525',
  totalCents: 1n,
  serviceStart: Temporal.Instant.from('2026-01-01T00:00:00Z'),
  serviceEnd: Temporal.Instant.from('2026-02-01T00:00:00Z'),
  pricingId: undefined,
  meterId: undefined,
  productId: undefined,
  groupValues: undefined,
  grantId: undefined,
};

test('a database from before the seals gets them for what it holds, and refuses changes as before', async () => {
  withSqlite((database) => {
    for (const { statements, version } of migrations.slice(0, 3)) {
      for (const statement of statements) database.exec(statement);
      database.exec(`PRAGMA application_id = 1952541804; PRAGMA user_version = ${version}`);
    }
    database.exec(`PRAGMA foreign_keys = OFF;
      INSERT INTO organizations (id, name, keyPrefix, salesTaxEnabled, nextInvoiceNumber, lastCreatedAt, createdAt)
        VALUES ('org-a', 'A', 'a', 0, 2, '${at}', '${at}');
      INSERT INTO invoices (orgId, id, number, customerId, contractId, periodIndex, periodStart, periodEnd, status,
        invoiceDate, dueDate, totalCents, finalizedAt, isHeld, createdAt, updatedAt) VALUES ('org-a', 'i1', 'INV-000001',
        'customer', 'contract', 0, '2026-01-01', '2026-02-01', 'Paid', '2026-02-01', '2026-03-03', 0, '${at}', 0, '${at}', '${at}')`);
    for (const id of ['g1', 'g2']) {
      database.exec(`INSERT INTO ledgerEntries (orgId, id, contractId, type, amountCents, creditMicros, creditRateCents,
        purchaseRateCents, currency, description, sourceType, isPromotional, appliedCents, balanceAfterCents,
        creditBalanceAfterMicros, createdAt) VALUES ('org-a', '${id}', 'contract', 'grant', 1, 0, 0, 0, 'USD', 'x',
        'promotional', 1, 0, 1, 0, '${at}')`);
    }
  });
  const store = await open();
  const [first, second] = await store.read((tx) => tx.selectFrom('ledgerEntries').selectAll().orderBy('seq').execute());
  if (first === undefined || second === undefined) throw new Error('two were written');
  expect(first.hash).toBe(entryHash(noHash, first));
  expect(second.hash).toBe(entryHash(first.hash, second));
  const invoice = await store.read((tx) => tx.selectFrom('invoices').selectAll().executeTakeFirstOrThrow());
  expect(invoice.contentHash).toBe(invoiceHash(invoice, []));
  const change = store.write((tx) => tx.deleteFrom('ledgerEntries').execute());
  await expect(change).rejects.toMatchObject({ rule: 'appendOnly' });
});
