/** What of a contract falls due at which instant, and the doing of it (semantics 6, 7, 9). */

import { dateOf, startOfDay } from '../calculation/billing-period.ts';
import type { Contract } from '../store/records/contracts.ts';
import { closeExpiries, findContractDue, scheduleDrafts } from '../store/records/due-work.ts';
import type { ContractDue, DueBy } from '../store/records/due-work.ts';
import { listInvoicesOfContract } from '../store/records/invoices.ts';
import { getContract } from './contract-lookup.ts';
import { endContract } from './contracts.ts';
import { topUpDrafts } from './draft-periods.ts';
import type { CallContext } from './handler.ts';
import { finalizeInvoice } from './invoices-finalize.ts';
import type { FinalizedInvoice } from './invoices-finalize.ts';
import { sweepExpired } from './settlement.ts';

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

export interface InstantOfWork {
  readonly done: WorkDone;
  /** Whether there is more that is due by then, at a later instant. */
  readonly isMore: boolean;
}

/**
 * Does what of a contract falls due at the earliest instant up to `until`: missing drafts are made, due drafts finalized in
 * the order of their periods, grants that have expired swept, and the end is told. Undefined when nothing is due, as after
 * another process has done it.
 */
export async function workOffInstant(
  context: CallContext,
  { contractId, until }: { readonly contractId: string; readonly until: Temporal.Instant },
): Promise<InstantOfWork | undefined> {
  const { tx, orgId, finalizationGraceHours } = context;
  const due = await findContractDue(tx, orgId, contractId);
  const instant = earliestDue(due, finalizationGraceHours);
  if (!isBy(instant, until)) return undefined;
  const contract = await getContract(context, contractId);
  const by = dueBy(instant, finalizationGraceHours);
  const drafts = await topUpDrafts(context, contract);
  const isRolled = due.draftsDueOn !== undefined && Temporal.PlainDate.compare(due.draftsDueOn, by.date) <= 0;
  // Where an end has come nearer, the date that was noted before brings no draft.
  if (isRolled && drafts.length === 0) await scheduleDrafts(tx, orgId, { contractId, dueOn: undefined });
  const invoices = await finalizeDue(context, contract, by);
  const expiredGrantCount = isBy(due.expiresAt, instant) ? await expireDue(context, contract, instant) : 0;
  const isEnding = due.endsOn !== undefined && Temporal.PlainDate.compare(due.endsOn, by.date) <= 0;
  if (isEnding) await endContract(context, contract);
  const next = earliestDue(await findContractDue(tx, orgId, contractId), finalizationGraceHours);
  return {
    done: {
      ...nothingDone,
      invoices,
      draftedCount: drafts.length,
      expiredGrantCount,
      endedContractCount: isEnding ? 1 : 0,
    },
    isMore: isBy(next, until),
  };
}

/** When an invoice of this date may be finalized. */
function finalizedFrom(invoiceDate: Temporal.PlainDate, graceHours: number): Temporal.Instant {
  return startOfDay(invoiceDate).add({ hours: graceHours });
}

function isBy(instant: Temporal.Instant | undefined, until: Temporal.Instant): instant is Temporal.Instant {
  return instant !== undefined && Temporal.Instant.compare(instant, until) <= 0;
}

async function finalizeDue(context: CallContext, contract: Contract, by: DueBy): Promise<FinalizedInvoice[]> {
  const drafts = (await listInvoicesOfContract(context.tx, context.orgId, contract.id)).filter(
    ({ status, invoiceDate }) => status === 'Drafted' && Temporal.PlainDate.compare(invoiceDate, by.invoiceDate) <= 0,
  );
  const finalized: FinalizedInvoice[] = [];
  for (const draft of drafts) finalized.push(await finalizeInvoice(context, contract, draft));
  return finalized;
}

/** Usage before the expiry is settled, then the rest lapses; gives how many grants have come to their day. */
async function expireDue(context: CallContext, contract: Contract, instant: Temporal.Instant): Promise<number> {
  await sweepExpired(context, contract);
  return await closeExpiries(context.tx, context.orgId, { contractId: contract.id, until: instant });
}
