/** Counts the events that came after their period was finalized: an import records them, and nobody is billed (semantics 8). */

import type { Billing } from '../../operations/index.ts';
import { ifTold } from '../session/if-told.ts';
import { warnOfLate } from '../session/late-events.ts';
import type { Session } from '../session/session.ts';

/** The count; undefined if the service does not tell, because an import does not need it. */
export async function countLate(billing: Billing): Promise<number | undefined> {
  return (await ifTold(async () => await billing.call('usage.late', { query: { limit: '1' } })))?.body.total;
}

/** Warns of late events. `before` is the count when the import began. */
export async function tellLate(session: Session, billing: Billing, before: number | undefined): Promise<void> {
  if (before === undefined) return;
  const count = ((await countLate(billing)) ?? before) - before;
  if (count > 0) warnOfLate(session, count);
}
