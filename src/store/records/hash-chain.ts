/**
 * Seals, which show that a ledger entry or a finalized invoice is as it was written (reliability 5, invariants 12 and 15).
 * The entries of a contract form a chain: each is sealed together with the seal of the entry before it. Nobody can change, omit
 * or move an entry without breaking every later seal. Released databases depend on this file: a column added later needs a
 * seal of its own, or the chains of old entries would no longer verify.
 */

import type { Insertable } from 'kysely';

import { sha256, sha256Of } from '../../digest.ts';
import type { InvoiceLinesTable, InvoicesTable, LedgerEntriesTable } from '../database.ts';

type EntryColumn = Exclude<keyof LedgerEntriesTable, 'seq' | 'hash'>;
type InvoiceColumn = keyof InvoicesTable;
type LineColumn = keyof InvoiceLinesTable;

/** A ledger entry as it is written to the database, or as it is read back. */
export type EntryToSeal = Values<Pick<Insertable<LedgerEntriesTable>, EntryColumn>>;
/** The fields of an invoice that finalization freezes. */
export type InvoiceToSeal = Values<Pick<Insertable<InvoicesTable>, (typeof invoiceNames)[number]>>;
/** All fields of a line, because a line never changes. */
export type LineToSeal = Values<Pick<Insertable<InvoiceLinesTable>, LineColumn>>;

type Value = string | number | bigint | boolean | null | undefined;
type Values<Row> = { readonly [Column in keyof Row]?: Value };

/** Stands for the seal before the first entry of a contract. */
export const noHash = '';

const entryColumns = sealed<EntryColumn>([
  'orgId',
  'id',
  'contractId',
  'type',
  'amountCents',
  'creditMicros',
  'creditRateCents',
  'purchaseRateCents',
  'currency',
  'description',
  'sourceType',
  'invoiceId',
  'lineKey',
  'grantEntryId',
  'reversesEntryId',
  'expiresAt',
  'isPromotional',
  'externalId',
  'fingerprint',
  'specifiers',
  'metadata',
  'appliedCents',
  'balanceAfterCents',
  'creditBalanceAfterMicros',
  'createdAt',
]);

/** Without status, payment and sending, which go on changing. */
const invoiceNames = [
  'orgId',
  'id',
  'number',
  'customerId',
  'contractId',
  'periodIndex',
  'periodStart',
  'periodEnd',
  'invoiceDate',
  'dueDate',
  'totalCents',
  'finalizedAt',
  'createdAt',
] as const satisfies readonly InvoiceColumn[];
const invoiceColumns = sealed(invoiceNames);

const lineColumns = sealed<LineColumn>([
  'position',
  'id',
  'lineKey',
  'kind',
  'name',
  'description',
  'quantity',
  'unitPrice',
  'unitPriceCents',
  'totalAmount',
  'totalCents',
  'serviceStart',
  'serviceEnd',
  'pricingId',
  'meterId',
  'productId',
  'groupValues',
  'grantId',
]);

/** The seal of an entry that follows the one sealed as `previousHash`: SHA-256 in hexadecimal. */
export function entryHash(previousHash: string, entry: EntryToSeal): string {
  return sha256Of(`{"previousHash":${jsonOf(previousHash)},${membersOf(entry, entryColumns)}}`);
}

/** The seal of a finalized invoice with its lines in their order: SHA-256 in hexadecimal. */
export function invoiceHash(invoice: InvoiceToSeal, lines: readonly LineToSeal[]): string {
  const sealedLines = lines.map((line) => `{${membersOf(line, lineColumns)}}`);
  return sha256Of(`{${membersOf(invoice, invoiceColumns)},"lines":[${sealedLines.join(',')}]}`);
}

/** One seal over many heads, in the given order: a manifest keeps it for all chains of an organization. */
export function hashOfHeads(heads: Iterable<readonly [contractId: string, head: string]>): string {
  const hash = sha256();
  for (const [contractId, head] of heads) hash.update(`${contractId} ${head}\n`);
  return hash.digest('hex');
}

/**
 * The columns as members of a JSON object, each a text or null. A value gives the same text on its way into the database and
 * back from it. Concatenated by hand: every entry is sealed, and building an object for that costs more than the hash.
 */
function membersOf<Column extends string>(
  row: { readonly [C in Column]?: Value },
  columns: readonly SealedColumn<Column>[],
): string {
  let members = '';
  for (const { name, beginning } of columns) members += beginning + jsonOf(row[name]);
  return members;
}

interface SealedColumn<Column extends string> {
  readonly name: Column;
  /** The text before its value. */
  readonly beginning: string;
}

function sealed<Column extends string>(names: readonly Column[]): readonly SealedColumn<Column>[] {
  return names.map((name, index) => ({ name, beginning: `${index === 0 ? '' : ','}"${name}":` }));
}

function jsonOf(value: Value): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value);
  return typeof value === 'boolean' ? `"${Number(value)}"` : `"${value}"`;
}
