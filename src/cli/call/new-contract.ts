/** What may be wrong with a contract that was just made, and that without a warning only its invoices would show. */

import { limits } from '../../limits.ts';
import type { Answer, Billing, ResponseBody } from '../../operations/index.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import { ifTold } from '../session/if-told.ts';

type Contract = ResponseBody<'contracts.list'>['data'][number];

/** A slip of the year is about as long, in January too; a contract that is entered late seldom is. */
const longBeforeDays = 180;
const dayMilliseconds = 86_400_000;

/** Warns if a contract seems to have been made twice, and a person also if it begins long before it was made. */
export async function warnOfNewContract(
  { body: { data: created } }: Answer<'contracts.create'>,
  billing: Billing,
  session: Session,
): Promise<void> {
  if (session.flags.quiet === true) return;
  // Scripts bring in old contracts on purpose.
  if (session.terminal.stderr.isTerminal && session.output.format === 'table') warnOfLongBefore(created, session);
  await warnOfSamePlan(created, billing, session);
}

function warnOfLongBefore({ id, startDate, createdAt }: Contract, session: Session): void {
  const days = Math.floor((Date.parse(createdAt) - Date.parse(startDate)) / dayMilliseconds);
  // NaN if a service leaves one of the two out: the contract is made, and nothing is to fail over a warning.
  if (!(days > longBeforeDays)) return;
  const time = say`on ${startDate}, ${counted(days, 'day')} ago`;
  tell(session, say`warning: the contract begins ${time}: the next bill run bills all periods that are over`);
  tell(session, say`  hint: if the date is wrong, ${ending(id)}`);
}

/**
 * A contract made twice bills its fixed prices twice: warns if another, among the newest, has the customer on the plan at the same
 * time. Says nothing if the key may not read contracts.
 */
async function warnOfSamePlan(created: Contract, billing: Billing, session: Session): Promise<void> {
  const other = (await onSamePlan(created, billing)).find(({ id }) => id !== created.id);
  if (other === undefined) return;
  const { id, startDate, endDate } = other;
  const time = endDate === undefined ? say`since ${startDate}` : say`${startDate} to ${endDate}`;
  tell(session, say`warning: the customer already has another contract on this plan: ${id} (${time}); both are billed`);
  tell(session, say`  hint: if it was made twice, ${ending(created.id)}`);
}

function ending(id: string): SafeText {
  return say`end this one with: tally contracts cancel ${id}, and its drafts with: tally invoices cancel ID`;
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
