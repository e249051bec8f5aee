/** A contract created twice bills its fixed prices twice; without a warning only the invoices would show it. */

import { limits } from '../../limits.ts';
import type { Answer, Billing, ResponseBody } from '../../operations/index.ts';
import { say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import { ifTold } from '../session/if-told.ts';

type Contract = ResponseBody<'contracts.list'>['data'][number];

/**
 * Warns if another contract, among the newest, has the customer on the plan at the same time. Says nothing if the key may not
 * read contracts.
 */
export async function tellOfSamePlan(
  { body: { data: created } }: Answer<'contracts.create'>,
  billing: Billing,
  session: Session,
): Promise<void> {
  if (session.flags.quiet === true) return;
  const other = (await onSamePlan(created, billing)).find(({ id }) => id !== created.id);
  if (other === undefined) return;
  const { id, startDate, endDate } = other;
  const time = endDate === undefined ? say`since ${startDate}` : say`${startDate} to ${endDate}`;
  tell(session, say`warning: the customer already has another contract on this plan: ${id} (${time}); both are billed`);
  const undo = say`end this one with: tally contracts cancel ${created.id}, and its drafts with: tally invoices cancel ID`;
  tell(session, say`  hint: if it was made twice, ${undo}`);
}

async function onSamePlan({ customerId, planId, ...own }: Contract, billing: Billing): Promise<readonly Contract[]> {
  const query = { customerId, planId, isActive: 'true', limit: String(limits.pageSize) };
  const others = (await ifTold(async () => await billing.call('contracts.list', { query })))?.body.data ?? [];
  return others.filter((other) => isBefore(other.startDate, own.endDate) && isBefore(own.startDate, other.endDate));
}

/** A contract without an end goes on. */
function isBefore(start: string, end: string | undefined): boolean {
  return end === undefined || start < end;
}
