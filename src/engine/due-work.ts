/** What of a contract falls due at which instant, and the doing of it (semantics 6, 7, 9). */

import { dateOf, startOfDay } from '../calculation/billing-period.ts';
import { hasExpired } from '../calculation/ledger.ts';
import type { Contract } from '../store/records/contracts.ts';
import { readNotedDue, scheduleDrafts } from '../store/records/due-work.ts';
import type { ContractDue, DueBy } from '../store/records/due-work.ts';
import { billingTermsOf } from './contract-terms.ts';
import { endContract } from './contracts.ts';
import { nextDraftsDueOn, topUpDrafts } from './draft-periods.ts';
import type { DueContract } from './due-contracts.ts';
import type { CallContext } from './handler.ts';
import { finalizedFrom, finalizeEarliest } from './invoices-finalize.ts';
import type { FinalizedInvoice } from './invoices-finalize.ts';
import type { BillingFacts } from './open-billing.ts';
import { settle } from './settlement.ts';

/** What was done at one instant. */
export interface WorkDone {
  readonly invoices: readonly FinalizedInvoice[];
  readonly draftedCount: number;
  readonly expiredGrantCount: number;
  readonly resumedCustomerCount: number;
  readonly endedContractCount: number;
}

export const nothingDone: WorkDone = {
  invoices: [],
  draftedCount: 0,
  expiredGrantCount: 0,
  resumedCustomerCount: 0,
  endedContractCount: 0,
};

/** Everything that is due by an instant, where invoices are finalized `graceHours` after the beginning of their date. */
export function dueBy(instant: Temporal.Instant, graceHours: number): DueBy {
  return { instant, date: dateOf(instant), invoiceDate: dateOf(instant.subtract({ hours: graceHours })) };
}

/** The earliest instant at which something falls due; undefined when nothing ever does. */
export function earliestDue(
  due: ContractDue & { readonly pausedUntil?: Temporal.PlainDate | undefined },
  graceHours: number,
): Temporal.Instant | undefined {
  const { invoiceDate, expiresAt } = due;
  const days = [due.draftsDueOn, due.endsOn, due.pausedUntil].flatMap((date) => date ?? []).map(startOfDay);
  const finalized = invoiceDate === undefined ? [] : [finalizedFrom(invoiceDate, graceHours)];
  return [...days, ...finalized, ...(expiresAt === undefined ? [] : [expiresAt])]
    .toSorted((one, other) => Temporal.Instant.compare(one, other))
    .at(0);
}

/**
 * Does everything of a contract that is due: missing drafts are made, due drafts finalized in the order of their periods,
 * grants that have expired swept, and the end is told. Undefined when nothing is due, as after another process has done it.
 */
export async function workOff(context: CallContext, subject: DueContract, by: DueBy): Promise<WorkDone | undefined> {
  const { draftsDueOn, endsOn, invoiceDate, expiresAt } = subject.due;
  const isDue =
    isOnDay(draftsDueOn, by.date) ||
    isOnDay(endsOn, by.date) ||
    isOnDay(invoiceDate, by.invoiceDate) ||
    isBy(expiresAt, by.instant);
  return isDue ? await doWork(context, subject, by) : undefined;
}

/** The same of what falls due at the earliest instant alone, so that what fails later stands in the way of nothing else. */
export async function workOffEarliest(
  context: CallContext,
  subject: DueContract,
  by: DueBy,
): Promise<WorkDone | undefined> {
  const { finalizationGraceHours } = context;
  const instant = earliestDue(subject.due, finalizationGraceHours);
  return isBy(instant, by.instant) ? await doWork(context, subject, dueBy(instant, finalizationGraceHours)) : undefined;
}

async function doWork(context: CallContext, subject: DueContract, by: DueBy): Promise<WorkDone> {
  const { contract, due } = subject;
  const drafts = await topUpDrafts(context, contract, subject.invoices);
  // Where an end has come nearer, or it was too early, the date that was noted before brings no draft.
  if (isOnDay(due.draftsDueOn, by.date) && drafts.length === 0) {
    const dueOn = nextDraftsDueOn(billingTermsOf(contract), subject.invoices);
    await scheduleDrafts(context.tx, context.orgId, { contractId: contract.id, dueOn });
  }
  const expiredGrantCount = isBy(due.expiresAt, by.instant) ? await countExpired(context, contract) : 0;
  const invoices = await finalizeDue(context, { ...subject, invoices: [...subject.invoices, ...drafts] }, by);
  // What finalizes an invoice settles expiries too.
  if (expiredGrantCount > 0 && invoices.length === 0) {
    await settle(context, contract, { earlier: subject.earlier, together: subject.together });
  }
  const isEnding = isOnDay(due.endsOn, by.date);
  if (isEnding) await endContract(context, contract);
  return {
    ...nothingDone,
    invoices,
    draftedCount: drafts.length,
    expiredGrantCount,
    endedContractCount: isEnding ? 1 : 0,
  };
}

function isOnDay(date: Temporal.PlainDate | undefined, last: Temporal.PlainDate): boolean {
  return date !== undefined && Temporal.PlainDate.compare(date, last) <= 0;
}

function isBy(instant: Temporal.Instant | undefined, until: Temporal.Instant): instant is Temporal.Instant {
  return instant !== undefined && Temporal.Instant.compare(instant, until) <= 0;
}

async function finalizeDue(
  context: CallContext,
  { contract, customer, invoices, earlier, together, facts }: DueContract,
  by: DueBy,
): Promise<FinalizedInvoice[]> {
  const finalized: FinalizedInvoice[] = [];
  let known: BillingFacts | undefined = facts && { ...facts, invoices };
  for (const draft of invoices.filter(({ status }) => status === 'Drafted')) {
    if (Temporal.PlainDate.compare(draft.invoiceDate, by.invoiceDate) > 0) break;
    const done = await finalizeEarliest(context, contract, draft, { facts: known, earlier, together, customer });
    finalized.push(done.finalized);
    known = done.facts;
  }
  return finalized;
}

/** How many grants have come to their day since expiries were settled. */
async function countExpired({ tx, orgId, now }: CallContext, { id }: Contract): Promise<number> {
  const { expiries } = await readNotedDue(tx, orgId, id);
  return expiries.filter((grant) => hasExpired(grant, now)).length;
}
