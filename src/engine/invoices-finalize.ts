/** Finalization: settle, number, freeze and send (semantics 7). */

import { startOfDay } from '../calculation/billing-period.ts';
import { budgetCents } from '../calculation/budget.ts';
import { centsOfLines, type InvoiceDraft } from '../calculation/invoice-draft.ts';
import type { WalletState } from '../calculation/ledger.ts';
import { ConflictError } from '../errors.ts';
import { limits } from '../limits.ts';
import { legalNumberOf } from '../operations/invoice-number.ts';
import type { Contract } from '../store/records/contracts.ts';
import { type Customer, findCustomer } from '../store/records/customers.ts';
import { findEarliestDraft, freezeInvoice } from '../store/records/invoices.ts';
import type { FrozenInvoice, Invoice } from '../store/records/invoices.ts';
import { takeInvoiceNumber } from '../store/records/organizations.ts';
import { isPaused } from './customers.ts';
import { topUpDrafts } from './draft-periods.ts';
import type { CallContext } from './handler.ts';
import { frozenLines, tellOfInvoices } from './invoices-wire.ts';
import { knownSendMethod } from './known-catalog.ts';
import type { BillingFacts, KnownOfContract } from './open-billing.ts';
import { settle } from './settlement.ts';
import type { Settlement } from './settlement.ts';
import { wireTimestamp } from './wire.ts';

/** An invoice as it was finalized, with the number that it had as a draft. */
export type FinalizedInvoice = Pick<
  Invoice,
  'id' | 'contractId' | 'customerId' | 'invoiceDate' | 'number' | 'totalCents'
> & { readonly draftNumber: string; readonly lineCount: number };

/**
 * Finalizes a draft: credits are settled, the legal number is taken, lines are frozen, and the invoice is sent unless it is
 * held or the customer is paused. Throws ConflictError before its day; while an earlier draft of the contract is open,
 * because credits go to periods in their order; and for an amount beyond `limits.centsMaximum`.
 */
export async function finalizeInvoice(
  context: CallContext,
  contract: Contract,
  invoice: Invoice,
): Promise<FinalizedInvoice> {
  refuseEarly(context, invoice);
  await refuseOutOfOrder(context, invoice);
  await topUpDrafts(context, contract);
  return (await finalizeEarliest(context, contract, invoice)).finalized;
}

/** A draft that was finalized, and what is known of its contract after that, for the next draft in the same transaction. */
export interface Finalization {
  readonly finalized: FinalizedInvoice;
  readonly facts: BillingFacts;
}

/**
 * The same for the earliest draft of a contract that lacks no drafts; throws ConflictError before its day and for such an
 * amount. Takes what has been read of the contract and still holds.
 */
export async function finalizeEarliest(
  context: CallContext,
  contract: Contract,
  invoice: Invoice,
  { customer, ...known }: KnownOfContract & { readonly customer?: Customer | undefined } = {},
): Promise<Finalization> {
  refuseEarly(context, invoice);
  const { tx, orgId } = context;
  const number = legalNumberOf(await takeInvoiceNumber(tx, orgId));
  const numbers = new Map([[invoice.id, number]]);
  const settlement = await settle(context, contract, { ...known, numbers });
  const { billing } = settlement;
  const draft = billing.draftOf(invoice.id);
  refuseTooLarge(invoice, draft);
  const isHeld =
    isUncovered(contract, billing.wallet, draft) || (await knownSendMethod(context, contract.planId)) === 'manual';
  const isSent = !isHeld && !(await isCustomerPaused(context, invoice.customerId, customer));
  const finalized: FrozenInvoice = {
    ...invoice,
    number,
    ...outcomeOf(draft, invoice),
    totalCents: draft.totalCents,
    isHeld,
    finalizedAt: context.now,
    updatedAt: context.now,
    sentAt: isSent ? context.now : undefined,
  };
  await freezeInvoice(tx, orgId, finalized, frozenLines(invoice.id, draft));
  await tellOfInvoices(context, 'invoice.updated', [invoice.id]);
  const { id, contractId, customerId, invoiceDate, number: draftNumber } = invoice;
  const { totalCents, lines } = draft;
  const done = { id, contractId, customerId, invoiceDate, number, draftNumber, totalCents, lineCount: lines.length };
  return { finalized: done, facts: factsBehind(settlement, finalized) };
}

/**
 * The facts as finalization has changed them, all else as it was: a thousand drafts would otherwise read the whole contract a
 * thousand times.
 */
function factsBehind({ billing, written, ledger }: Settlement, finalized: Invoice): BillingFacts {
  const { budgets, metered } = billing;
  const atoms = (metered.usage.get(finalized.id) ?? []).flatMap((item) => item.atoms);
  const billed = budgets.map((budget): [string, bigint] => [
    budget.id,
    (metered.billedCents.get(budget.id) ?? 0n) + budgetCents(budget, atoms),
  ]);
  return {
    invoices: billing.invoices.map((each) => (each.id === finalized.id ? finalized : each)),
    ledger:
      written.length === 0 ? billing.ledger : { entries: [...billing.ledger.entries, ...written], head: ledger.head },
    budgets,
    metered: { ...metered, billedCents: new Map(billed) },
  };
}

/** Whether sending waits for the customer's resumption. */
export async function isCustomerPaused(context: CallContext, customerId: string, known?: Customer): Promise<boolean> {
  const customer = known ?? (await findCustomer(context.tx, context.orgId, customerId));
  return customer !== undefined && isPaused(customer, context);
}

/** An invoice of 0 is paid at once (semantics 7). */
function outcomeOf(draft: InvoiceDraft, invoice: Invoice) {
  if (draft.totalCents > 0n) return { status: 'In Progress' } as const;
  return { status: 'Paid', latestPaymentDate: invoice.invoiceDate } as const;
}

/** When an invoice of this date may be finalized (semantics 7). */
export function finalizedFrom(invoiceDate: Temporal.PlainDate, graceHours: number): Temporal.Instant {
  return startOfDay(invoiceDate).add({ hours: graceHours });
}

function refuseEarly({ now, finalizationGraceHours }: CallContext, invoice: Invoice): void {
  const due = finalizedFrom(invoice.invoiceDate, finalizationGraceHours);
  if (Temporal.Instant.compare(now, due) >= 0) return;
  throw new ConflictError(`invoice ${invoice.number} cannot be finalized before ${wireTimestamp(due)}`, {
    hint: 'usage of its period may still come in; finalize it at that time or later',
  });
}

/** A draft shows whatever prices and events come to; an amount that is kept for ever has a limit (security 8, SEC-71). */
function refuseTooLarge(invoice: Invoice, draft: InvoiceDraft): void {
  const amounts = [draft.totalCents, ...draft.lines.map(({ totalCents }) => totalCents)];
  const tooLarge = amounts.find((cents) => cents > limits.centsMaximum);
  if (tooLarge === undefined) return;
  throw new ConflictError(
    `invoice ${invoice.number} cannot be finalized over ${tooLarge} cents, more than ${limits.centsMaximum}`,
    { hint: 'correct the events of its period, or cancel it' },
  );
}

async function refuseOutOfOrder({ tx, orgId }: CallContext, invoice: Invoice): Promise<void> {
  const earlier = await findEarliestDraft(tx, orgId, invoice.contractId);
  if (earlier === undefined || earlier.periodIndex >= invoice.periodIndex) return;
  throw new ConflictError(`invoice ${invoice.number} waits for ${earlier.number}, an earlier draft of its contract`, {
    hint: `finalize or cancel ${earlier.id} first`,
  });
}

/** Whether credits ran out on a contract that then asks for a person's attention (semantics 5, onDepletion). */
function isUncovered(contract: Contract, wallet: WalletState, { meteredCents, lines }: InvoiceDraft): boolean {
  if (contract.creditSettings.onDepletion !== 'alert_only' || wallet.grants.length === 0) return false;
  return meteredCents + centsOfLines(lines.filter(({ kind }) => kind === 'credit')) > 0n;
}
