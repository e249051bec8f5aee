/** Draft invoices for the billing periods of a contract (semantics 6, Drafts). */

import { dateOf } from '../calculation/billing-period.ts';
import type { BillingPeriod } from '../calculation/billing-period.ts';
import { invoiceDateOf, invoicePeriodAt, invoicePeriodIndexContaining } from '../calculation/invoice-periods.ts';
import type { BillingTerms } from '../calculation/invoice-periods.ts';
import { usageInvoiceIndex } from '../calculation/usage-windows.ts';
import { sha256Of } from '../digest.ts';
import { limits } from '../limits.ts';
import { draftNumberOf } from '../operations/invoice-number.ts';
import type { Contract } from '../store/records/contracts.ts';
import { scheduleDrafts } from '../store/records/due-work.ts';
import { findTakenNumbers, insertInvoices, lastPeriodIndexOf } from '../store/records/invoices.ts';
import type { Invoice } from '../store/records/invoices.ts';
import { billingTermsOf } from './contract-terms.ts';
import type { CallContext } from './handler.ts';
import { tellOfInvoices } from './invoices-wire.ts';

/** How many periods of a rolling contract are drafted at least: the current one and the next. */
const rollingPeriods = 2;

/**
 * Drafts the periods that a contract lacks by now, and returns the drafts. A fixed term gets all of its periods, up to
 * `limits.draftPeriods` from the current one on. A rolling contract gets those that have begun, the next, and all up to the one
 * that bills the usage of now: otherwise credits that lapse before it could not pay for that usage. Notes when there will be
 * more to draft. Takes the invoices of the contract, in the order of periods, where they have been read.
 */
export async function topUpDrafts(
  context: CallContext,
  contract: Contract,
  invoices?: readonly Invoice[],
): Promise<readonly Invoice[]> {
  const drafts = await makeDrafts(context, contract, invoices);
  await tellOfDrafts(context, drafts);
  return drafts;
}

/** The same without webhooks, for a caller that still changes what the drafts come to. */
export async function makeDrafts(
  context: CallContext,
  contract: Contract,
  invoices?: readonly Invoice[],
): Promise<readonly Invoice[]> {
  const { tx, orgId } = context;
  const last = invoices === undefined ? await lastPeriodIndexOf(tx, orgId, contract.id) : lastIndexIn(invoices);
  const missing = missingDrafts(context, contract, last);
  if (missing.length === 0) return [];
  const drafts = await numbered(context, missing);
  await insertInvoices(tx, orgId, drafts);
  await scheduleDrafts(tx, orgId, {
    contractId: contract.id,
    dueOn: nextDraftsDueOn(billingTermsOf(contract), drafts),
  });
  return drafts;
}

/** The invoices of a contract, then the drafts that it lacks by now; these have no number, because they are not stored. */
export function withMissingDrafts(
  context: CallContext,
  contract: Contract,
  invoices: readonly Invoice[],
): readonly Invoice[] {
  const missing = missingDrafts(context, contract, lastIndexIn(invoices));
  return [...invoices, ...missing.map((draft) => ({ ...draft, number: '' }))];
}

/** The drafts after period `lastIndex` that a contract lacks by now. */
function missingDrafts(context: CallContext, contract: Contract, lastIndex: number): Omit<Invoice, 'number'>[] {
  const terms = billingTermsOf(contract);
  const current = Math.max(0, invoicePeriodIndexContaining(terms, dateOf(context.now)));
  const periods = missingPeriods(terms, lastIndex + 1, draftedUntil(terms, current));
  return periods.map((period) => draftOf(context, contract, { terms, period }));
}

/** Emits the webhooks that drafts were made, with what they come to by now. */
export async function tellOfDrafts(context: CallContext, drafts: readonly Invoice[]): Promise<void> {
  const ids = drafts.map(({ id }) => id);
  await tellOfInvoices(context, 'invoice.created', ids);
}

/**
 * The day from which a contract with these invoices, in the order of periods, lacks a draft: the first day of the earliest
 * period that needs the next draft. Undefined when there is nothing more to draft.
 */
export function nextDraftsDueOn(
  terms: BillingTerms,
  invoices: readonly Pick<Invoice, 'periodIndex'>[],
): Temporal.PlainDate | undefined {
  const next = lastIndexIn(invoices) + 1;
  if (invoicePeriodAt(terms, next) === undefined) return undefined;
  let current = Math.max(0, next + 1 - periodsAhead(terms));
  while (current > 0 && draftedUntil(terms, current - 1) > next) current -= 1;
  return invoicePeriodAt(terms, current)?.start;
}

function lastIndexIn(invoices: readonly Pick<Invoice, 'periodIndex'>[]): number {
  return invoices.at(-1)?.periodIndex ?? -1;
}

/** When the invoice of a period is dated, and when it is due. */
export function invoiceDatesOf(
  contract: Contract,
  terms: BillingTerms,
  period: BillingPeriod,
): { readonly invoiceDate: Temporal.PlainDate; readonly dueDate: Temporal.PlainDate } {
  const invoiceDate = invoiceDateOf(terms, period);
  return { invoiceDate, dueDate: invoiceDate.add({ days: contract.netTermsDays }) };
}

/** The first period that is not drafted yet while `current` runs. */
function draftedUntil(terms: BillingTerms, current: number): number {
  const least = current + periodsAhead(terms);
  const most = current + limits.draftPeriods;
  return least === most ? most : Math.min(most, Math.max(least, usageInvoiceIndex(terms, current) + 1));
}

/** How many periods are drafted from the current one on, at least. */
function periodsAhead(terms: BillingTerms): number {
  return terms.endDate === undefined ? rollingPeriods : limits.draftPeriods;
}

function missingPeriods(terms: BillingTerms, from: number, until: number): BillingPeriod[] {
  const periods: BillingPeriod[] = [];
  for (let index = from; index < until; index += 1) {
    const period = invoicePeriodAt(terms, index);
    if (period === undefined) break;
    periods.push(period);
  }
  return periods;
}

function draftOf(
  context: CallContext,
  contract: Contract,
  { terms, period }: { readonly terms: BillingTerms; readonly period: BillingPeriod },
): Omit<Invoice, 'number'> {
  return {
    id: context.newId(),
    customerId: contract.customerId,
    contractId: contract.id,
    periodIndex: period.index,
    periodStart: period.start,
    periodEnd: period.end,
    status: 'Drafted',
    ...invoiceDatesOf(contract, terms, period),
    totalCents: 0n,
    memo: undefined,
    latestPaymentDate: undefined,
    paymentLink: undefined,
    finalizedAt: undefined,
    sentAt: undefined,
    isHeld: false,
    createdAt: context.now,
    updatedAt: context.now,
  };
}

/** With only eight digits, a number may already be taken; then the next one for the same invoice is tried. */
async function numbered(context: CallContext, drafts: readonly Omit<Invoice, 'number'>[]): Promise<Invoice[]> {
  const numbers = new Map<string, string>();
  let open = drafts;
  for (let attempt = 0; open.length > 0; attempt += 1) {
    const candidates = open.map((draft) => draftNumberOf(sha256Of(`${draft.id} ${attempt}`)));
    const taken = new Set(await findTakenNumbers(context.tx, context.orgId, candidates));
    open = open.filter((draft, index) => {
      const number = candidates[index] ?? '';
      if (taken.has(number)) return true;
      taken.add(number);
      numbers.set(draft.id, number);
      return false;
    });
  }
  return drafts.map((draft) => ({ ...draft, number: numbers.get(draft.id) ?? '' }));
}
