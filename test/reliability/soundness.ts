/** What holds in every book, whatever happened to the program that wrote it (reliability 5). */

import { foldWhole, problemsIn } from '../../src/calculation/ledger-fold.ts';
import { readSealedInvoices, readSealedLedger } from '../../src/store/records/seals.ts';
import type { World } from '../support/world.ts';
import { withDatabase } from './database-image.ts';

/** Everything that is wrong with the book of the default organization; empty for a sound one. */
export async function problemsOf({ store, engine }: World): Promise<string[]> {
  const { organizationId: orgId } = await engine.owner();
  return await store.read(async (tx) => {
    const contracts = await tx.selectFrom('contracts').select('id').where('orgId', '=', orgId).orderBy('seq').execute();
    const problems: string[] = [];
    for (const { id } of contracts) {
      const { entries, brokenIds } = await readSealedLedger(tx, orgId, id);
      problems.push(...problemsIn(foldWhole(entries)).map(({ problem }) => problem));
      problems.push(...brokenIds.map((entry) => `entry ${entry} is not as it was sealed`));
      for (const { invoice, lines, isIntact } of await readSealedInvoices(tx, orgId, id)) {
        if (!isIntact) problems.push(`invoice ${invoice.number} is not as it was sealed`);
        const sum = lines.reduce((cents, line) => cents + line.totalCents, 0n);
        const isFinal = invoice.finalizedAt !== undefined;
        if (isFinal && sum !== invoice.totalCents) problems.push(`invoice ${invoice.number} is not its lines`);
        if (!isFinal && lines.length > 0) problems.push(`the draft ${invoice.number} has frozen lines`);
      }
    }
    const invoices = await tx.selectFrom('invoices').select('number').where('number', 'like', 'INV-%').execute();
    const numbers = invoices.map(({ number }) => number).toSorted();
    const gapless = numbers.map((_number, index) => `INV-${String(index + 1).padStart(6, '0')}`);
    if (numbers.join(' ') !== gapless.join(' ')) problems.push(`legal numbers have gaps: ${numbers.join(' ')}`);
    return problems;
  });
}

/** What SQLite itself finds wrong with a file that nobody writes. */
export function damageOf(file: string): string[] {
  return withDatabase(file, (database) => [
    ...database
      .prepare('PRAGMA integrity_check')
      .all()
      .map((row) => Object.values(row).join(' ')),
    ...database
      .prepare('PRAGMA foreign_key_check')
      .all()
      .map((row) => `dangling: ${Object.values(row).join(' ')}`),
  ]).filter((line) => line !== 'ok');
}
