/**
 * Dropping old events in ClickHouse. The book has set the instant from which an organization has events, and no reader looks
 * further back; this file removes the rows. A month without rows of other organizations is dropped at once, as a partition. For
 * other months the server rewrites what is left, in its own time. Keys stay, so that an event that is sent again is recognised.
 */

import type { Transaction } from '../../database.ts';
import { listStagedBatches, readEventHead } from '../../records/staged-events.ts';
import { moveBatches } from './append.ts';
import type { ClickhouseServer } from './connection.ts';
import type { EventTable } from './tables.ts';

const emptied = ['tallybookEvents', 'tallybookSupersededEvents'] as const satisfies readonly EventTable[];

/** Belongs in a `write` with the turn of the organization; may be repeated. */
export async function dropEvents(server: ClickhouseServer, tx: Transaction, orgId: string): Promise<void> {
  const head = await readEventHead(tx, orgId);
  const beforeEpochMs = head.droppedBeforeEpochMs;
  if (beforeEpochMs === 0) return;
  // First of all, since it refuses where the events went on without this book: their own book must not miss what is not gone.
  await moveBatches(server, tx, { orgId, head, batches: await listStagedBatches(tx, orgId) });
  // Before any row goes: a reader with an older snapshot, or a restored book, must not take the rest for all there were.
  await server.insert('tallybookDropped', [{ orgId, beforeEpochMs }]);
  const organizations = await tx.selectFrom('organizations').select('id').limit(2).execute();
  for (const table of emptied)
    await empty(server, table, { orgId, beforeEpochMs, isAlone: organizations.length === 1 });
}

export async function countLeft({ ask }: ClickhouseServer, tx: Transaction, orgId: string): Promise<number> {
  const { droppedBeforeEpochMs } = await readEventHead(tx, orgId);
  if (droppedBeforeEpochMs === 0) return 0;
  const [row] = await ask(
    `SELECT count() AS total FROM tallybookEvents
     WHERE orgId = {orgId:String} AND timestampEpochMs < {droppedBeforeEpochMs:Int64}`,
    { orgId, droppedBeforeEpochMs },
  );
  return Number(row?.['total']);
}

async function empty(
  { ask, run }: ClickhouseServer,
  table: EventTable,
  {
    orgId,
    beforeEpochMs,
    isAlone,
  }: { readonly orgId: string; readonly beforeEpochMs: number; readonly isAlone: boolean },
): Promise<void> {
  const own = `orgId = '${literal(orgId)}' AND timestampEpochMs < ${beforeEpochMs}`;
  const months = await ask(
    `SELECT _partition_id AS month, countIf(NOT (${own})) AS others FROM ${table}
     GROUP BY month HAVING countIf(${own}) > 0 ORDER BY month`,
  );
  for (const { month, others } of months) {
    const partition = `PARTITION ID '${literal(String(month))}'`;
    // Another organization might record an event of that month between the count and the drop.
    const isWhole = isAlone && Number(others) === 0;
    await run(
      isWhole ? `ALTER TABLE ${table} DROP ${partition}` : `ALTER TABLE ${table} DELETE IN ${partition} WHERE ${own}`,
    );
  }
}

/** A mutation takes no parameters, because the server stores its text. */
function literal(text: string): string {
  return text.replaceAll(/[\\']/g, (character) => `\\${character}`);
}
