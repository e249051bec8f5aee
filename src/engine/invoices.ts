/** Invoices: reading, finalization, payment and their undoing (interface 2.3, 4.5, 4.6; semantics 7). */

import { assert } from '../assert.ts';
import { dateOf, isBefore } from '../calculation/billing-period.ts';
import { sumOf } from '../calculation/money.ts';
import { ConflictError, InvalidInputError } from '../errors.ts';
import type { invoiceOperations } from '../operations/invoices.ts';
import type { Contract } from '../store/records/contracts.ts';
import { listInvoices } from '../store/records/invoice-pages.ts';
import { findInvoice, updateInvoice } from '../store/records/invoices.ts';
import type { Invoice } from '../store/records/invoices.ts';
import { listLedgerOfInvoice } from '../store/records/ledger.ts';
import { getContract } from './contract-lookup.ts';
import { takeBackKept, takeBackPrepaid } from './credits-prepaid.ts';
import { wireEntry } from './credits-wire.ts';
import type { CallContext, HandlersOf } from './handler.ts';
import { finalizeInvoice, isCustomerPaused } from './invoices-finalize.ts';
import { isDue, transitions } from './invoices-transitions.ts';
import { plainInvoice, tellOfInvoices, wireInvoices } from './invoices-wire.ts';
import type { WireOptions } from './invoices-wire.ts';
import { readLedger } from './known-ledgers.ts';
import { listBody, pageOf } from './listing.ts';
import { existing } from './refuse.ts';
import { returnCredits, settle, sweepExpired } from './settlement.ts';
import { wireCents, wireCredits } from './wire.ts';

const paymentActions = { initiated: 'initiatePayment', failed: 'failPayment', paid: 'pay' } as const;

export const invoiceHandlers: HandlersOf<typeof invoiceOperations> = {
  'invoices.list': async (context, { query }) => {
    const page = pageOf(query);
    const { include, ...filter } = query;
    const found = await listInvoices(context.tx, context.orgId, { ...filter, ...page });
    const data = await wireInvoices(context, found.rows, wireOptionsOf(include));
    return { body: listBody(found, page, data) };
  },

  'invoices.get': async (context, { params, query }) =>
    await show(context, params.invoiceId, wireOptionsOf(query.include)),

  'invoices.finalize': async (context, { params }) => {
    const invoice = await getInvoice(context, params.invoiceId);
    if (!isDue(invoice, 'finalize')) return await unchanged(context, invoice.id);
    await finalizeInvoice(context, await getContract(context, invoice.contractId), invoice);
    return await show(context, invoice.id);
  },

  'invoices.send': async (context, { params }) => {
    const invoice = await getInvoice(context, params.invoiceId);
    if (!isDue(invoice, 'send') || invoice.sentAt !== undefined) return await unchanged(context, invoice.id);
    if (await isCustomerPaused(context, invoice.customerId)) {
      throw new ConflictError(`customer ${invoice.customerId} is paused, so invoice ${invoice.number} waits`, {
        hint: 'resume the customer, then send it',
      });
    }
    await change(context, invoice, { sentAt: context.now, isHeld: false });
    return await show(context, invoice.id);
  },

  'invoices.pay': async (context, { params, body }) => {
    const invoice = await getInvoice(context, params.invoiceId);
    const action = paymentActions[body.status];
    if (!isDue(invoice, action)) return await unchanged(context, invoice.id);
    const date = dateNotBefore(context, invoice, body.date);
    await change(context, invoice, {
      status: transitions[action].to[0],
      ...(action === 'pay' ? { latestPaymentDate: date } : {}),
    });
    return await show(context, invoice.id);
  },

  'invoices.cancel': async (context, { params }) => {
    const invoice = await getInvoice(context, params.invoiceId);
    if (!isDue(invoice, 'cancel')) return await unchanged(context, invoice.id);
    const contract = await getContract(context, invoice.contractId);
    await sweepExpired(context, contract);
    await cancelInvoices(context, contract, { invoices: [invoice] });
    return await show(context, invoice.id);
  },

  'invoices.refund': async (context, { params, body }) => {
    const invoice = await getInvoice(context, params.invoiceId);
    if (!isDue(invoice, 'refund')) return await unchanged(context, invoice.id);
    dateNotBefore(context, invoice, body.date);
    await change(context, invoice, { status: 'Refunded' });
    if (body.restoreCredits) {
      const contract = await getContract(context, invoice.contractId);
      const { fold } = await sweepExpired(context, contract);
      await takeBackKept(context, contract, invoice);
      await returnCredits(context, contract, { invoiceIds: new Set([invoice.id]) });
      await settle(context, contract, { since: fold.last });
    }
    return await show(context, invoice.id);
  },

  'invoices.explain': async (context, { params }) => {
    const invoice = await getInvoice(context, params.invoiceId);
    const { explainInvoice } = await import('./explain-invoice.ts');
    return { body: { data: (await explainInvoice(context, invoice)).data } };
  },

  'invoices.creditReport': async (context, { params }) => {
    const invoice = await getInvoice(context, params.invoiceId);
    const entries = await listLedgerOfInvoice(context.tx, context.orgId, invoice.id);
    return {
      body: {
        data: {
          invoiceId: invoice.id,
          entries: entries.toReversed().map(wireEntry),
          summary: {
            totalCredits: wireCredits(-sumOf(entries.map((entry) => entry.creditMicros))),
            totalCents: wireCents(sumOf(entries.map((entry) => entry.appliedCents))),
            entryCount: entries.length,
          },
        },
      },
    };
  },
};

/**
 * Cancels drafts, or voids finalized invoices: what they took from grants returns, and pays for other open usage where it
 * can; prepaid credits that they bill are taken back. The invoices must belong to one contract and be cancellable. Expired
 * grants must be swept, as for `returnCredits`, which says what `isUsageMoved` means.
 */
export async function cancelInvoices(
  context: CallContext,
  contract: Contract,
  { invoices, isUsageMoved = false }: { readonly invoices: readonly Invoice[]; readonly isUsageMoved?: boolean },
): Promise<void> {
  const { fold } = await readLedger(context, contract.id);
  for (const invoice of invoices) {
    await takeBackPrepaid(context, contract, invoice);
    await takeBackKept(context, contract, invoice);
    await change(context, invoice, { status: 'Cancelled' });
  }
  await returnCredits(context, contract, { invoiceIds: new Set(invoices.map(({ id }) => id)), isUsageMoved });
  await settle(context, contract, { since: fold.last });
}

async function getInvoice({ tx, orgId }: CallContext, id: string): Promise<Invoice> {
  return existing(await findInvoice(tx, orgId, id), 'invoice', 'invoices list');
}

function wireOptionsOf(include: readonly string[] = []): WireOptions {
  return { withLines: include.includes('lineItems'), withPeriod: include.includes('period') };
}

async function show(context: CallContext, id: string, options = plainInvoice) {
  const [data] = await wireInvoices(context, [await getInvoice(context, id)], options);
  assert(data !== undefined, 'one invoice gives one answer');
  return { body: { data } };
}

/** A transition that has already been made changes nothing (semantics 7), whatever else was asked for with it. */
async function unchanged(context: CallContext, id: string) {
  return { ...(await show(context, id)), isReplay: true };
}

async function change(
  context: CallContext,
  invoice: Invoice,
  changes: Omit<Parameters<typeof updateInvoice>[2], 'id' | 'updatedAt'>,
): Promise<void> {
  await updateInvoice(context.tx, context.orgId, { ...changes, id: invoice.id, updatedAt: context.now });
  await tellOfInvoices(context, 'invoice.updated', [invoice.id]);
}

/** The day given, or today; not before the invoice's own (semantics 14). */
function dateNotBefore({ now }: CallContext, invoice: Invoice, given: string | undefined): Temporal.PlainDate {
  const date = given === undefined ? dateOf(now) : Temporal.PlainDate.from(given);
  if (isBefore(date, invoice.invoiceDate)) {
    throw new InvalidInputError([
      { path: 'date', message: `must not be before the invoice date, ${invoice.invoiceDate.toString()}` },
    ]);
  }
  return date;
}
