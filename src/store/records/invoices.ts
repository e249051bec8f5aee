/** Invoices, and the lines of finalized ones. */

import type { Selectable } from 'kysely';

import type { LineKind } from '../../calculation/invoice-draft.ts';
import type { InvoiceStatus } from '../../operations/invoices.ts';
import type { Database, Transaction } from '../database.ts';
import { type OfOrganization, prepared, preparedRows } from '../prepared.ts';
import { invoiceHash } from './hash-chain.ts';
import { askedInParts, ofFew, type OfList } from './padded.ts';
import { drafted, instantText, oneRow, optionalDate, optionalInstant, optionalInstantText } from './row-values.ts';

/** An invoice as it is stored (interface 2.3), without its lines. */
export interface Invoice {
  readonly id: string;
  readonly number: string;
  readonly customerId: string;
  readonly contractId: string;
  /** Position in the contract, from 0. */
  readonly periodIndex: number;
  readonly periodStart: Temporal.PlainDate;
  /** Exclusive. */
  readonly periodEnd: Temporal.PlainDate;
  readonly status: InvoiceStatus;
  readonly invoiceDate: Temporal.PlainDate;
  readonly dueDate: Temporal.PlainDate;
  /** 0 until the invoice is finalized: a draft's amounts are computed when it is read. */
  readonly totalCents: bigint;
  readonly memo: string | undefined;
  readonly latestPaymentDate: Temporal.PlainDate | undefined;
  readonly paymentLink: string | undefined;
  readonly finalizedAt: Temporal.Instant | undefined;
  /** Undefined while it waits to be sent. */
  readonly sentAt: Temporal.Instant | undefined;
  /** Finalized, but held until it is sent by command: credits did not cover it (`alert_only`), or the plan says so. */
  readonly isHeld: boolean;
  readonly createdAt: Temporal.Instant;
  readonly updatedAt: Temporal.Instant;
}

/** A line of a finalized invoice. Decimals are texts. */
export interface FrozenLine {
  readonly id: string;
  readonly lineKey: string;
  readonly kind: LineKind;
  readonly name: string;
  readonly description: string;
  readonly quantity: string;
  readonly unitPrice: string;
  readonly unitPriceCents: bigint;
  readonly totalAmount: string;
  readonly totalCents: bigint;
  readonly serviceStart: Temporal.Instant;
  /** Exclusive. */
  readonly serviceEnd: Temporal.Instant;
  readonly pricingId: string | undefined;
  readonly meterId: string | undefined;
  readonly productId: string | undefined;
  readonly groupValues: Readonly<Record<string, string>> | undefined;
  readonly grantId: string | undefined;
}

/** One invoice; undefined for an id that the organization does not have. */
export async function findInvoice(tx: Transaction, orgId: string, id: string): Promise<Invoice | undefined> {
  const [invoice] = await findInvoices(tx, orgId, [id]);
  return invoice;
}

/** The invoices with these ids, in the order of the ids; those that the organization does not have are left out. */
export async function findInvoices(
  tx: Transaction,
  orgId: string,
  ids: readonly string[],
): Promise<readonly Invoice[]> {
  const rows = await askedInParts(ids, (part) => invoicesOfIds(tx, { orgId, ids: part }));
  const byId = new Map(rows.map((row) => [row.id, toInvoice(row)]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

const invoicesOfIds = prepared(
  (tx, { orgId, ids }: OfList<'ids'>) =>
    tx.selectFrom('invoices').selectAll().where('orgId', '=', orgId).where('id', 'in', ids),
  { name: 'invoices', of: () => ofFew('ids') },
);

/** Every invoice of a contract, ordered by period, whatever its status. */
export async function listInvoicesOfContract(
  tx: Transaction,
  orgId: string,
  contractId: string,
): Promise<readonly Invoice[]> {
  return (await listInvoicesOf(tx, orgId, [contractId])).get(contractId) ?? [];
}

/** As `listInvoicesOfContract`, for many contracts, by contract id. */
export async function listInvoicesOf(
  tx: Transaction,
  orgId: string,
  contractIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Invoice[]>> {
  const rows = await askedInParts(contractIds, (part) => invoicesOfContracts(tx, { orgId, contractIds: part }));
  return Map.groupBy(rows.map(toInvoice), ({ contractId }) => contractId);
}

/** The rows of these contracts' invoices, by contract, each contract's ordered by period. */
export const invoicesOfContracts = prepared(
  (tx, { orgId, contractIds }: OfList<'contractIds'>) =>
    tx
      .selectFrom('invoices')
      .selectAll()
      .where('orgId', '=', orgId)
      .where('contractId', 'in', contractIds)
      .orderBy('contractId')
      .orderBy('periodIndex'),
  { name: 'invoices of contracts', of: () => ofFew('contractIds') },
);

/** The draft of the contract's earliest period that has a draft. */
export async function findEarliestDraft(
  tx: Transaction,
  orgId: string,
  contractId: string,
): Promise<Invoice | undefined> {
  const [row] = await earliestDraft(tx, { orgId, contractId });
  return row === undefined ? undefined : toInvoice(row);
}

const earliestDraft = prepared((tx, { orgId, contractId }: OfOrganization<'contractId'>) =>
  tx
    .selectFrom('invoices')
    .selectAll()
    .where('orgId', '=', orgId)
    .where('contractId', '=', contractId)
    .where('status', '=', drafted())
    .orderBy('periodIndex')
    .limit(oneRow()),
);

/** The index of the last period for which a contract has an invoice; -1 if it has none. */
export async function lastPeriodIndexOf(tx: Transaction, orgId: string, contractId: string): Promise<number> {
  const [found] = await lastPeriodIndex(tx, { orgId, contractId });
  return Number(found?.last ?? -1);
}

const lastPeriodIndex = prepared((tx, { orgId, contractId }: OfOrganization<'contractId'>) =>
  tx
    .selectFrom('invoices')
    .select((row) => row.fn.max('periodIndex').as('last'))
    .where('orgId', '=', orgId)
    .where('contractId', '=', contractId),
);

/** The numbers among these that invoices of the organization have. */
export async function findTakenNumbers(
  tx: Transaction,
  orgId: string,
  numbers: readonly string[],
): Promise<readonly string[]> {
  const rows = await tx
    .selectFrom('invoices')
    .select('number')
    .where('orgId', '=', orgId)
    .where('number', 'in', numbers)
    .orderBy('number')
    .execute();
  return rows.map((row) => row.number);
}

/** If an invoice has the number already, or the same period of the contract, this is a ConstraintViolation. */
export async function insertInvoices(tx: Transaction, orgId: string, invoices: readonly Invoice[]): Promise<void> {
  await invoiceInsertion(
    tx,
    invoices.map((invoice) => invoiceRow(orgId, invoice)),
  );
}

const invoiceInsertion = preparedRows<ReturnType<typeof invoiceRow>>((tx, rows) =>
  tx.insertInto('invoices').values(rows),
);

function invoiceRow(orgId: string, { memo, paymentLink, ...invoice }: Invoice) {
  return {
    ...invoice,
    orgId,
    memo: memo ?? null,
    paymentLink: paymentLink ?? null,
    periodStart: invoice.periodStart.toString(),
    periodEnd: invoice.periodEnd.toString(),
    invoiceDate: invoice.invoiceDate.toString(),
    dueDate: invoice.dueDate.toString(),
    latestPaymentDate: invoice.latestPaymentDate?.toString() ?? null,
    finalizedAt: optionalInstantText(invoice.finalizedAt),
    sentAt: optionalInstantText(invoice.sentAt),
    createdAt: instantText(invoice.createdAt),
    updatedAt: instantText(invoice.updatedAt),
  };
}

/** The fields of an invoice that may change apart from finalization; an absent one stays as it is. */
export interface InvoiceChanges {
  readonly status?: InvoiceStatus;
  readonly invoiceDate?: Temporal.PlainDate;
  readonly dueDate?: Temporal.PlainDate;
  readonly latestPaymentDate?: Temporal.PlainDate;
  readonly sentAt?: Temporal.Instant;
  readonly isHeld?: boolean;
  readonly updatedAt: Temporal.Instant;
}

/** After finalization the database refuses to change dates. */
export async function updateInvoice(
  tx: Transaction,
  orgId: string,
  { id, ...changes }: InvoiceChanges & { readonly id: string },
): Promise<void> {
  const { invoiceDate, dueDate, latestPaymentDate, sentAt, updatedAt, ...plain } = changes;
  await tx
    .updateTable('invoices')
    .set({
      ...plain,
      updatedAt: instantText(updatedAt),
      invoiceDate: invoiceDate?.toString(),
      dueDate: dueDate?.toString(),
      latestPaymentDate: latestPaymentDate?.toString(),
      sentAt: sentAt && instantText(sentAt),
    })
    .where('orgId', '=', orgId)
    .where('id', '=', id)
    .execute();
}

/** A finalized invoice. */
export type FrozenInvoice = Invoice & { readonly finalizedAt: Temporal.Instant };

/**
 * Finalizes a draft: writes its lines in the given order and its total, sealed together. From then on the database refuses to
 * change number, amount, dates and lines.
 */
export async function freezeInvoice(
  tx: Transaction,
  orgId: string,
  invoice: FrozenInvoice,
  lines: readonly FrozenLine[],
): Promise<void> {
  const lineRows = lines.map((line, position) => lineRow(orgId, invoice.id, { ...line, position }));
  await lineInsertion(tx, lineRows);
  const row = invoiceRow(orgId, invoice);
  const { id, number, status, totalCents, isHeld, latestPaymentDate, finalizedAt, sentAt, updatedAt } = row;
  const contentHash = invoiceHash(row, lineRows);
  const frozen = { number, status, totalCents, isHeld, latestPaymentDate, finalizedAt, sentAt, updatedAt, contentHash };
  await freezing(tx, { ...frozen, orgId, id });
}

const lineInsertion = preparedRows<ReturnType<typeof lineRow>>((tx, rows) =>
  tx.insertInto('invoiceLines').values(rows),
);

type FrozenColumns = Pick<
  ReturnType<typeof invoiceRow>,
  'number' | 'status' | 'totalCents' | 'isHeld' | 'latestPaymentDate' | 'finalizedAt' | 'sentAt' | 'updatedAt'
> & { readonly contentHash: string; readonly orgId: string; readonly id: string };

const freezing = prepared((tx, { orgId, id, ...frozen }: FrozenColumns) =>
  tx.updateTable('invoices').set(frozen).where('orgId', '=', orgId).where('id', '=', id),
);

/**
 * Marks invoices as sent that waited for their customer's resumption: finalized, standing, and not held for another reason.
 * Gives their ids, in the order in which the invoices were made.
 */
export async function sendWaitingInvoices(
  tx: Transaction,
  orgId: string,
  { customerId, sentAt }: { readonly customerId: string; readonly sentAt: Temporal.Instant },
): Promise<readonly string[]> {
  const sent = await tx
    .updateTable('invoices')
    .set({ sentAt: instantText(sentAt), updatedAt: instantText(sentAt) })
    .where('orgId', '=', orgId)
    .where('customerId', '=', customerId)
    .where('status', 'in', ['In Progress', 'In Transit', 'Paid'])
    .where('sentAt', 'is', null)
    .where('isHeld', '=', 0n)
    .returning(['id', 'seq'])
    .execute();
  return sent.toSorted((one, other) => Number(one.seq - other.seq)).map(({ id }) => id);
}

/** The lines of one invoice, in order; a draft has none. */
export async function listInvoiceLines(
  tx: Transaction,
  orgId: string,
  invoiceId: string,
): Promise<readonly FrozenLine[]> {
  return (await linesOfInvoice(tx, { orgId, invoiceId })).map(toInvoiceLine);
}

const linesOfInvoice = prepared(
  (tx, { orgId, invoiceId }: OfOrganization<'invoiceId'>) =>
    tx
      .selectFrom('invoiceLines')
      .selectAll()
      .where('orgId', '=', orgId)
      .where('invoiceId', '=', invoiceId)
      .orderBy('position'),
  { name: 'lines', of: () => [{ orgId: '', invoiceId: '' }] },
);

function lineRow(orgId: string, invoiceId: string, line: FrozenLine & { readonly position: number }) {
  return {
    ...line,
    orgId,
    invoiceId,
    serviceStart: instantText(line.serviceStart),
    serviceEnd: instantText(line.serviceEnd),
    pricingId: line.pricingId ?? null,
    meterId: line.meterId ?? null,
    productId: line.productId ?? null,
    groupValues: line.groupValues === undefined ? null : JSON.stringify(line.groupValues),
    grantId: line.grantId ?? null,
  };
}

/** Converts a row; NULL becomes undefined. */
export function toInvoice(row: Selectable<Database['invoices']>): Invoice {
  const { id, number, customerId, contractId, status, totalCents } = row;
  return {
    id,
    number,
    customerId,
    contractId,
    periodIndex: Number(row.periodIndex),
    periodStart: Temporal.PlainDate.from(row.periodStart),
    periodEnd: Temporal.PlainDate.from(row.periodEnd),
    status,
    invoiceDate: Temporal.PlainDate.from(row.invoiceDate),
    dueDate: Temporal.PlainDate.from(row.dueDate),
    totalCents,
    memo: row.memo ?? undefined,
    latestPaymentDate: optionalDate(row.latestPaymentDate),
    paymentLink: row.paymentLink ?? undefined,
    finalizedAt: optionalInstant(row.finalizedAt),
    sentAt: optionalInstant(row.sentAt),
    isHeld: row.isHeld === 1n,
    createdAt: Temporal.Instant.from(row.createdAt),
    updatedAt: Temporal.Instant.from(row.updatedAt),
  };
}

/** Converts a row; NULL becomes undefined. */
export function toInvoiceLine(row: Selectable<Database['invoiceLines']>): FrozenLine {
  const { id, lineKey, kind, name, description, quantity, unitPrice, unitPriceCents, totalAmount, totalCents } = row;
  return {
    id,
    lineKey,
    kind,
    name,
    description,
    quantity,
    unitPrice,
    unitPriceCents,
    totalAmount,
    totalCents,
    serviceStart: Temporal.Instant.from(row.serviceStart),
    serviceEnd: Temporal.Instant.from(row.serviceEnd),
    pricingId: row.pricingId ?? undefined,
    meterId: row.meterId ?? undefined,
    productId: row.productId ?? undefined,
    groupValues: row.groupValues === null ? undefined : (JSON.parse(row.groupValues) as Record<string, string>),
    grantId: row.grantId ?? undefined,
  };
}
