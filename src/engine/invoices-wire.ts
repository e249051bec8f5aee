/** Invoices as they stand on the wire (interface 2.3): drafts computed now, all others as they were frozen. */

import { assert } from '../assert.ts';
import type { InvoiceDraft, InvoiceLine } from '../calculation/invoice-draft.ts';
import { decimalText } from '../calculation/money.ts';
import { sha256Of } from '../digest.ts';
import { exactNumber } from '../exact-json.ts';
import type { Contract } from '../store/records/contracts.ts';
import { findContract } from '../store/records/contracts.ts';
import { findInvoices, listInvoiceLines } from '../store/records/invoices.ts';
import type { FrozenLine, Invoice } from '../store/records/invoices.ts';
import { readDueContracts } from './due-contracts.ts';
import type { CallContext } from './handler.ts';
import { type KnownOfContract, readOpenBilling } from './open-billing.ts';
import { emitEach } from './webhooks-emit.ts';
import { wireCents, wireTimestamp } from './wire.ts';

export interface WireOptions {
  readonly withLines: boolean;
  readonly withPeriod: boolean;
}

/** The documented fields alone. */
export const plainInvoice: WireOptions = { withLines: false, withPeriod: false };

/** Invoices in the order given; the drafts of one contract are computed together. */
export async function wireInvoices(context: CallContext, invoices: readonly Invoice[], options: WireOptions) {
  const drafts = await readDrafts(context, invoices);
  const wired = [];
  for (const invoice of invoices) {
    const draft = drafts.get(invoice.id);
    const lines = options.withLines ? await linesOf(context, invoice, draft) : undefined;
    wired.push({
      ...wireInvoice(invoice, draft?.totalCents ?? invoice.totalCents),
      ...(lines && { lineItems: lines }),
      ...(options.withPeriod && { period: periodOf(invoice) }),
    });
  }
  return wired;
}

/** Emits a webhook for each of these invoices, as it stands now. */
export async function tellOfInvoices(
  context: CallContext,
  type: 'invoice.created' | 'invoice.updated',
  ids: readonly string[],
): Promise<void> {
  await emitEach(context, type, async () => {
    const invoices = await findInvoices(context.tx, context.orgId, ids);
    return await wireInvoices(context, invoices, plainInvoice);
  });
}

/** The lines of a draft as they are frozen. */
export function frozenLines(invoiceId: string, draft: InvoiceDraft): FrozenLine[] {
  return draft.lines.map((line) => frozenLine(invoiceId, line));
}

async function readDrafts(
  context: CallContext,
  invoices: readonly Invoice[],
): Promise<ReadonlyMap<string, InvoiceDraft>> {
  const drafts = new Map<string, InvoiceDraft>();
  const open = Map.groupBy(
    invoices.filter(({ status }) => status === 'Drafted'),
    ({ contractId }) => contractId,
  );
  for (const { contract, ...known } of await contractsWithFacts(context, [...open.keys()])) {
    const billing = await readOpenBilling(context, contract, known);
    for (const { id } of open.get(contract.id) ?? []) drafts.set(id, billing.draftOf(id));
  }
  return drafts;
}

/** For several contracts, what billing reads is read together: a page may have drafts of a hundred. */
async function contractsWithFacts(
  context: CallContext,
  contractIds: readonly string[],
): Promise<readonly (KnownOfContract & { readonly contract: Contract })[]> {
  if (contractIds.length > 1) {
    const found = await readDueContracts(context, contractIds);
    return found.map(({ contract, earlier, together, facts, invoices }) => ({
      contract,
      earlier,
      together,
      facts: facts && { ...facts, invoices },
    }));
  }
  const contracts = [];
  for (const id of contractIds) {
    const contract = await findContract(context.tx, context.orgId, id);
    assert(contract !== undefined, `the contract ${id} of an invoice is stored`);
    contracts.push({ contract });
  }
  return contracts;
}

async function linesOf({ tx, orgId }: CallContext, invoice: Invoice, draft: InvoiceDraft | undefined) {
  const lines = draft === undefined ? await listInvoiceLines(tx, orgId, invoice.id) : frozenLines(invoice.id, draft);
  return lines.map(wireLine);
}

function periodOf({ periodStart, periodEnd }: Invoice) {
  return { start: periodStart.toString(), end: periodEnd.toString() };
}

function wireInvoice(invoice: Invoice, totalCents: bigint) {
  const { id, number, customerId, contractId, status, memo, latestPaymentDate, paymentLink } = invoice;
  return {
    id,
    invoiceNumber: number,
    customerId,
    contractId,
    status,
    invoiceDate: invoice.invoiceDate.toString(),
    dueDate: invoice.dueDate.toString(),
    totalCents: wireCents(totalCents),
    ...(memo === undefined ? {} : { memo }),
    ...(latestPaymentDate === undefined ? {} : { latestPaymentDate: latestPaymentDate.toString() }),
    ...(paymentLink === undefined ? {} : { paymentLink }),
    externalIds: [],
    createdAt: wireTimestamp(invoice.createdAt),
    updatedAt: wireTimestamp(invoice.updatedAt),
  };
}

function wireLine(line: FrozenLine) {
  return {
    id: line.id,
    name: line.name,
    description: line.description,
    quantity: exactNumber(line.quantity),
    unitPriceCents: wireCents(line.unitPriceCents),
    totalAmountCents: wireCents(line.totalCents),
    unitPrice: line.unitPrice,
    totalAmount: line.totalAmount,
    servicePeriod: { start: wireTimestamp(line.serviceStart), end: wireTimestamp(line.serviceEnd) },
  };
}

/** One line of a draft as it is frozen. */
export function frozenLine(invoiceId: string, line: InvoiceLine): FrozenLine {
  const { lineKey, kind, name, description, unitPriceCents, totalCents, pricingId, meterId, productId, grantId } = line;
  return {
    id: lineIdOf(invoiceId, lineKey),
    lineKey,
    kind,
    name,
    description,
    quantity: decimalText(line.quantity),
    unitPrice: decimalText(line.unitPrice),
    unitPriceCents,
    totalAmount: decimalText(line.exactAmount),
    totalCents,
    serviceStart: line.servicePeriod.start,
    serviceEnd: line.servicePeriod.end,
    pricingId,
    meterId,
    productId,
    groupValues: line.groupValues,
    grantId,
  };
}

/**
 * A UUIDv7 of the invoice's own millisecond (semantics 2), its chance made from what the line is: so it is the same on every
 * reading of a draft and when it is frozen, and the lines of a bill run lie close together in their index and not all over it.
 */
function lineIdOf(invoiceId: string, lineKey: string): string {
  const digits = sha256Of(`${invoiceId} ${lineKey}`);
  return `${invoiceId.slice(0, 13)}-7${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}
