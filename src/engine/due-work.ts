/** What falls due on a contract, when, and the doing of it (semantics 6, 7, 9). */

import { dateOf, startOfDay } from '../calculation/billing-period.ts';
import { countExpiring } from '../calculation/ledger-fold.ts';
import { limits } from '../limits.ts';
import { scheduleDrafts } from '../store/records/due-work.ts';
import type { ContractDue, DueBy } from '../store/records/due-work.ts';
import { billingTermsOf } from './contract-terms.ts';
import { endContract } from './contracts.ts';
import { nextDraftsDueOn, topUpDrafts } from './draft-periods.ts';
import type { DueContract } from './due-contracts.ts';
import type { CallContext } from './handler.ts';
import { finalizedFrom, finalizeEarliest } from './invoices-finalize.ts';
import type { FinalizedInvoice } from './invoices-finalize.ts';
import { readLedger } from './known-ledgers.ts';
import type { BillingFacts } from './open-billing.ts';
import { settle } from './settlement.ts';

/** What was done at one instant. */
export interface WorkDone {
  readonly invoices: readonly FinalizedInvoice[];
  readonly draftedCount: number;
  readonly expiredGrantCount: number;
  readonly resumedCustomerCount: number;
  readonly endedContractCount: number;
  /** Whether due drafts are left to another transaction, and with them the end of the contract. */
  readonly hasMore: boolean;
}

export const nothingDone: WorkDone = {
  invoices: [],
  draftedCount: 0,
  expiredGrantCount: 0,
  resumedCustomerCount: 0,
  endedContractCount: 0,
  hasMore: false,
};

/** How much of a contract is to be done at once. */
export interface Portion {
  readonly by: DueBy;
  /** Everything, whoever has to wait; otherwise finalization stops after as much as `isLong` says. */
  readonly isWhole: boolean;
}

/**
 * Whether finalizing these has held up others for long enough, so that their transaction should end. On a contract with many
 * `openLines` a certain part of them must be done first, because every transaction meters all of them.
 */
export function isLong(invoices: readonly FinalizedInvoice[], openLines = 0): boolean {
  const lineCount = invoices.reduce((sum, invoice) => sum + invoice.lineCount, 0);
  const least = Math.max(limits.billRunBatchLines, openLines / limits.billRunOpenPart);
  return invoices.length >= limits.billRunBatch || lineCount >= least;
}

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
 * Does everything that is due on a contract: makes missing drafts, finalizes due drafts in the order of their periods, sweeps
 * expired grants, and tells of the end. Undefined when nothing is due, for example because another process has done it.
 */
export async function workOff(
  context: CallContext,
  subject: DueContract,
  portion: Portion,
): Promise<WorkDone | undefined> {
  const { by } = portion;
  const { draftsDueOn, endsOn, invoiceDate, expiresAt } = subject.due;
  const isDue =
    isOnDay(draftsDueOn, by.date) ||
    isOnDay(endsOn, by.date) ||
    isOnDay(invoiceDate, by.invoiceDate) ||
    isBy(expiresAt, by.instant);
  return isDue ? await doWork(context, subject, portion) : undefined;
}

/** The same for the earliest instant at which anything is due, so that a later failure keeps nothing earlier from being done. */
export async function workOffEarliest(
  context: CallContext,
  subject: DueContract,
  { by, isWhole }: Portion,
): Promise<WorkDone | undefined> {
  const { finalizationGraceHours } = context;
  const instant = earliestDue(subject.due, finalizationGraceHours);
  if (!isBy(instant, by.instant)) return undefined;
  return await doWork(context, subject, { by: dueBy(instant, finalizationGraceHours), isWhole });
}

async function doWork(context: CallContext, subject: DueContract, portion: Portion): Promise<WorkDone> {
  const { contract, due } = subject;
  const { by } = portion;
  const drafts = await topUpDrafts(context, contract, subject.invoices);
  // The noted date may bring no draft: it was too early, or the end of the contract has come nearer.
  if (isOnDay(due.draftsDueOn, by.date) && drafts.length === 0) {
    const dueOn = nextDraftsDueOn(billingTermsOf(contract), subject.invoices);
    await scheduleDrafts(context.tx, context.orgId, { contractId: contract.id, dueOn });
  }
  const expiredGrantCount = isBy(due.expiresAt, by.instant) ? await countExpired(context, subject) : 0;
  const all = [...subject.invoices, ...drafts];
  const { invoices, hasMore } = await finalizeDue(context, { ...subject, invoices: all }, portion);
  // Finalizing an invoice settles expiries too.
  if (expiredGrantCount > 0 && invoices.length === 0) {
    await settle(context, contract, { earlier: subject.earlier, together: subject.together });
  }
  const isEnding = !hasMore && isOnDay(due.endsOn, by.date);
  if (isEnding) await endContract(context, contract);
  return {
    ...nothingDone,
    invoices,
    draftedCount: drafts.length,
    expiredGrantCount,
    endedContractCount: isEnding ? 1 : 0,
    hasMore,
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
  { by, isWhole }: Portion,
): Promise<Pick<WorkDone, 'invoices' | 'hasMore'>> {
  const finalized: FinalizedInvoice[] = [];
  let known: BillingFacts | undefined = facts && { ...facts, invoices };
  let openLines = 0;
  for (const draft of invoices.filter(({ status }) => status === 'Drafted')) {
    if (Temporal.PlainDate.compare(draft.invoiceDate, by.invoiceDate) > 0) break;
    if (!isWhole && isLong(finalized, openLines)) return { invoices: finalized, hasMore: true };
    const done = await finalizeEarliest(context, contract, draft, { facts: known, earlier, together, customer });
    finalized.push(done.finalized);
    known = done.facts;
    if (finalized.length === 1) openLines = countLines(done.facts);
  }
  return { invoices: finalized, hasMore: false };
}

/** Lines of usage on all invoices that were open when they were metered. */
function countLines({ metered }: BillingFacts): number {
  const items = [...(metered?.usage.values() ?? [])].flat();
  return items.reduce((sum, { lines }) => sum + lines.length, 0);
}

/** How many grants have expired since expiries were last settled. */
async function countExpired(context: CallContext, { contract, due, facts }: DueContract): Promise<number> {
  if (due.expiresAt === undefined) return 0;
  const { fold } = await readLedger(context, contract.id, facts?.ledger.entries);
  return countExpiring(fold, { from: due.expiresAt, until: context.now });
}
