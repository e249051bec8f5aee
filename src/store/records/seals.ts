/** A contract's ledger and invoices, with whether the seal of each row holds; doctor and verification read them. */

import type { Transaction } from '../database.ts';
import { entryHash, hashOfHeads, invoiceHash, noHash } from './hash-chain.ts';
import { invoicesOfContracts, toInvoice, toInvoiceLine } from './invoices.ts';
import type { FrozenLine, Invoice } from './invoices.ts';
import { entriesOfContract, toLedgerEntry } from './ledger.ts';
import type { StoredLedgerEntry } from './ledger.ts';

/** A contract's whole ledger, and where its chain is broken. */
export interface SealedLedger {
  /** Oldest first. */
  readonly entries: readonly StoredLedgerEntry[];
  /** Entries whose seal does not follow from the entry before them. */
  readonly brokenIds: readonly string[];
  /** The seal of the newest entry; empty without entries. */
  readonly head: string;
}

/** An invoice, and whether it is as finalization wrote it. */
export interface SealedInvoice {
  readonly invoice: Invoice;
  /** Empty for a draft. */
  readonly lines: readonly FrozenLine[];
  /** Also true for an invoice that is not finalized and has no seal. */
  readonly isIntact: boolean;
}

/** The whole ledger of a contract. Each entry is checked against the stored seal before it, so that one break is one finding. */
export async function readSealedLedger(tx: Transaction, orgId: string, contractId: string): Promise<SealedLedger> {
  const rows = await entriesOfContract(tx, { orgId, contractId });
  const broken = rows.filter((row, index) => row.hash !== entryHash(rows[index - 1]?.hash ?? noHash, row));
  return {
    entries: rows.map(toLedgerEntry),
    brokenIds: broken.map((row) => row.id),
    head: rows.at(-1)?.hash ?? noHash,
  };
}

/** Every invoice of a contract with its lines, ordered by period. */
export async function readSealedInvoices(
  tx: Transaction,
  orgId: string,
  contractId: string,
): Promise<readonly SealedInvoice[]> {
  const invoices = await invoicesOfContracts(tx, { orgId, contractIds: [contractId] });
  const ids = tx.selectFrom('invoices').select('id').where('orgId', '=', orgId).where('contractId', '=', contractId);
  const lines = await tx
    .selectFrom('invoiceLines')
    .selectAll()
    .where('orgId', '=', orgId)
    .where('invoiceId', 'in', ids)
    .orderBy('invoiceId')
    .orderBy('position')
    .execute();
  const byInvoice = Map.groupBy(lines, (line) => line.invoiceId);
  return invoices.map((row) => {
    const own = byInvoice.get(row.id) ?? [];
    const expected = row.finalizedAt === null ? noHash : invoiceHash(row, own);
    return { invoice: toInvoice(row), lines: own.map(toInvoiceLine), isIntact: row.contentHash === expected };
  });
}

/** One seal over the heads of all ledgers of an organization, by contract id; unchanged as long as no entry is written. */
export async function readLedgerHead(tx: Transaction, orgId: string): Promise<string> {
  const newest = tx
    .selectFrom('ledgerEntries')
    .select((row) => row.fn.max('seq').as('seq'))
    .where('orgId', '=', orgId)
    .groupBy('contractId');
  const rows = await tx
    .selectFrom('ledgerEntries')
    .select(['contractId', 'hash'])
    .where('orgId', '=', orgId)
    .where('seq', 'in', newest)
    .orderBy('contractId')
    .execute();
  return hashOfHeads(rows.map((row) => [row.contractId, row.hash]));
}
