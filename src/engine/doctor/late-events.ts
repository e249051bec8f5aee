/** Events that nothing bills, and whether that is right. */

import { limits } from '../../limits.ts';
import type { StoredEvent } from '../../store/event-store.ts';
import type { CallContext } from '../handler.ts';
import { loadEventOwners, wasFinalized } from '../usage-finalized.ts';
import type { LateEvents } from './check.ts';

const eventsAtOnce = 1000;

/** Counts late events. Only a full examination reads each of them and finds those that are wrongly marked late. */
export async function readLateEvents(
  context: Pick<CallContext, 'tx' | 'orgId' | 'events'>,
  isFull: boolean,
): Promise<LateEvents> {
  const { tx, orgId, events } = context;
  const { total } = await events.list(tx, { orgId, onlyLate: true, limit: 1, offset: 0 });
  if (!isFull) return { count: total, unjustified: [] };
  const unjustified: string[] = [];
  for (let offset = 0; offset < total; offset += eventsAtOnce) {
    const { rows } = await events.list(tx, { orgId, onlyLate: true, limit: eventsAtOnce, offset });
    unjustified.push(...(await unjustifiedKeys(context, rows)));
    if (unjustified.length >= limits.findingsPerCheck) break;
  }
  return { count: total - unjustified.length, unjustified };
}

async function unjustifiedKeys(
  context: Pick<CallContext, 'tx' | 'orgId'>,
  rows: readonly StoredEvent[],
): Promise<string[]> {
  const owners = await loadEventOwners(context, [...new Set(rows.map((row) => row.customerId))]);
  return rows.filter((row) => !wasFinalized(owners, row)).map((row) => row.idempotencyKey);
}
