/** In what two books differ: rows by table, the ends of the ledgers, and every version of every event. */

import { counted } from '../../counted.ts';
import { sha256 } from '../../digest.ts';
import { compareText } from '../../text-order.ts';
import type { Transaction } from '../database.ts';
import { readLedgerHead } from '../records/seals.ts';
import { digestTables } from './book-tables.ts';
import { type Content, type End, takeTime, usualPage } from './copy-end.ts';

/** A sentence for each difference; none if the target has what the source has. */
export async function differences(
  tx: Transaction,
  { source, target, content }: { readonly source: End; readonly target: End; readonly content: Content },
): Promise<string[]> {
  return await target.store.read(async (to) => {
    await takeTime(to, target);
    const problems: string[] = [];
    const copied = new Map((await digestTables(to, target.readRows)).map((each) => [each.table, each]));
    for (const { table, rowCount, digest } of content.tables) {
      const copy = copied.get(table);
      if (copy?.rowCount !== rowCount)
        problems.push(`${copy?.rowCount ?? 0} of ${counted(rowCount, 'row')} of ${table}`);
      else if (copy.digest !== digest) problems.push(`a row of ${table} is different`);
    }
    for (const { id: orgId, ledgerHead } of content.organizations) {
      if ((await readLedgerHead(to, orgId)) !== ledgerHead)
        problems.push(`the ledger of ${orgId} ends in a different seal`);
      const [was, is] = [await digestEvents(source, tx, orgId), await digestEvents(target, to, orgId)];
      if (was.count !== is.count)
        problems.push(`${is.count} of ${counted(was.count, 'version')} of events of ${orgId}`);
      else if (was.digest !== is.digest) problems.push(`an event of ${orgId} is different`);
    }
    return problems;
  });
}

async function digestEvents(
  { readPage }: End,
  tx: Transaction,
  orgId: string,
): Promise<{ readonly count: number; readonly digest: string }> {
  const hash = sha256();
  let count = 0;
  for (let after = 0; ;) {
    const page = await readPage(tx, orgId, { after, limit: usualPage });
    const last = page.at(-1);
    if (last === undefined) return { count, digest: hash.digest('hex') };
    for (const { versions } of page) {
      for (const event of versions) hash.update(textOf(event));
      count += versions.length;
    }
    after = last.place;
  }
}

function textOf(event: object): string {
  return `${JSON.stringify(Object.entries(event).toSorted(([a], [b]) => compareText(a, b)))}\n`;
}
