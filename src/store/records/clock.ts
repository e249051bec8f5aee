/** Where a simulated clock stands; a database without a simulated clock uses the real one. */

import type { Transaction } from '../database.ts';
import { prepared } from '../prepared.ts';
import { instantText } from './row-values.ts';

/** The instant of the simulated clock; undefined if time is real. */
export async function findClock(tx: Transaction): Promise<Temporal.Instant | undefined> {
  const [row] = await clock(tx, {});
  return row === undefined ? undefined : Temporal.Instant.from(row.now);
}

const clock = prepared((tx) => tx.selectFrom('clock').select('now'), { name: 'clock', of: () => [{}] });

/** Makes time simulated, or moves the simulated clock, forwards or backwards. */
export async function setClock(tx: Transaction, instant: Temporal.Instant): Promise<void> {
  const now = instantText(instant);
  await tx
    .insertInto('clock')
    .values({ id: 1, now })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ now }))
    .execute();
}

/** Makes time real again. */
export async function removeClock(tx: Transaction): Promise<void> {
  await tx.deleteFrom('clock').execute();
}

/** Nothing else that has a time can be recorded before one of these tables has a row. */
const firstTables = ['customers', 'products', 'meters', 'plans', 'webhookEndpoints'] as const;

/** Whether no organization has anything but its keys. */
export async function hasNoRecords(tx: Transaction): Promise<boolean> {
  for (const table of firstTables) {
    if ((await tx.selectFrom(table).select('seq').limit(1).executeTakeFirst()) !== undefined) return false;
  }
  return true;
}

/** Lets every organization begin at an instant; for a database without records. */
export async function beginAt(tx: Transaction, instant: Temporal.Instant): Promise<void> {
  const at = instantText(instant);
  await tx.updateTable('organizations').set({ createdAt: at, lastCreatedAt: at }).execute();
}
