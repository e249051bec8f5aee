/** A book in which much has fallen due and nothing is done: contracts by usage, with grants that have expired. */

import { grant, subscribe, use } from '../support/billing-scenario.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';
import { startChild } from './child.ts';
import { withDatabase } from './database-image.ts';

const dueAt = '2026-05-02T00:00:00Z';

/** Makes the book in a new file and closes it: two periods of each contract are to be finalized. */
export async function writeDueBook(file: string, contracts: number): Promise<void> {
  const world = await createWorld({ database: file });
  for (let index = 0; index < contracts; index += 1) {
    const each = await subscribe(world, { name: `customer${index}`, contract: { endDate: '2026-05-01' } });
    await grant(world, each, { amountCents: 100, expiresAt: '2026-03-20T00:00:00Z' });
    await use(world, each, { tokens: 60 + index, at: '2026-03-01T00:00:00Z' });
    await use(world, each, { tokens: 70 + index, at: '2026-03-01T00:30:00Z' });
  }
  await world.close();
}

/** Opens the book when all of that is due. Ids begin with `prefix`, four hexadecimal digits, so that two writers differ. */
export async function openDueBook(file: string, prefix: string): Promise<World> {
  let count = 0;
  const newId = (): string => {
    count += 1;
    return `01900000-${prefix}-7000-8000-${count.toString(16).padStart(12, '0')}`;
  };
  return await createWorld({ database: file, start: dueAt, newId, graceHours: 12 });
}

/** Has a process do the bill run, and kills it once it has finalized a few invoices; gives the book, open here. */
export async function killMidway(file: string): Promise<World> {
  const child = startChild('bill-run-process.ts', [file, 'cccc']);
  const reader = await openDueBook(file, 'dddd');
  while ((await countFinalized(reader)) < 3) await new Promise((resolve) => setImmediate(resolve));
  child.process.kill('SIGKILL');
  await child.ended;
  return reader;
}

export async function countFinalized({ store }: World): Promise<number> {
  const finalized = await store.read(
    async (tx) => await tx.selectFrom('invoices').select('id').where('finalizedAt', 'is not', null).execute(),
  );
  return finalized.length;
}

/** Invoices, movements and marks of a book, without ids: the same however often its run was broken off. */
export function figuresOf(file: string): string[] {
  return withDatabase(file, (database) =>
    [
      `SELECT number, contractId, periodIndex, status, totalCents FROM invoices ORDER BY number`,
      `SELECT contractId, type, amountCents, appliedCents, balanceAfterCents, lineKey FROM ledgerEntries
       ORDER BY contractId, seq`,
      `SELECT id, terminatedAt, draftsDueOn, nextExpiryAt FROM contracts ORDER BY seq`,
      `SELECT nextInvoiceNumber FROM organizations`,
    ].flatMap((sql) =>
      database
        .prepare(sql)
        .all()
        .map((row) => Object.values(row).join(' ')),
    ),
  );
}
