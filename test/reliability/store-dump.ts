/** Every row of a book on whichever store, as text: two stores hold the same book when these texts are equal. */

import { sql } from 'kysely';

import { readPageOfFile, readPageOfServer } from '../../src/store/copy/event-pages.ts';
import type { Database, Transaction } from '../../src/store/database.ts';
import { isPostgresUrl } from '../../src/store/open.ts';
import { listOrganizations } from '../../src/store/records/organizations.ts';
import type { Store } from '../../src/store/store.ts';

/** How a store keeps events of elsewhere; the events themselves are read below, wherever they are. */
type OfElsewhere = 'bookFacts' | 'eventHeads' | 'stagedEvents';

/** Each with what its rows are known by. */
const tables: Readonly<Record<Exclude<keyof Database, OfElsewhere>, string>> = {
  organizations: 'id',
  clock: 'id',
  apiKeys: 'orgId id',
  customers: 'orgId id',
  contacts: 'orgId id',
  products: 'orgId id',
  pricings: 'orgId id',
  plans: 'orgId id',
  planItems: 'orgId id',
  meters: 'orgId id',
  rateCards: 'orgId meterId',
  contracts: 'orgId id',
  invoices: 'orgId id',
  invoiceLines: 'orgId invoiceId position',
  ledgerEntries: 'orgId id',
  budgets: 'orgId id',
  frozenUsage: 'orgId contractId itemId startEpochMs',
  webhookEndpoints: 'orgId id',
  webhookEvents: 'orgId id',
  webhookDeliveries: 'orgId id',
};

/** Without `seq`, of which a server leaves numbers out; the order in which rows were made shows in it all the same. */
export async function dumpOf(
  store: Store,
  readEvents = isPostgresUrl(store.location) ? readPageOfServer : readPageOfFile,
): Promise<string> {
  return await store.read(async (tx) => {
    const lines: string[] = [];
    for (const [table, key] of Object.entries(tables)) {
      lines.push(`# ${table}`, ...(await rowsOf(tx, table as keyof Database, key)));
    }
    for (const { id } of await listOrganizations(tx)) {
      const { rows } = await store.events.list(tx, { orgId: id, limit: 1_000_000, offset: 0 });
      lines.push(...rows.map((event) => lineOf({ ...event })));
      for (const { versions } of await readEvents(tx, id, { after: 0, limit: 1_000_000 })) {
        lines.push(...versions.slice(0, -1).map((version) => `  ${lineOf({ ...version })}`));
      }
    }
    return lines.join('\n');
  });
}

async function rowsOf(tx: Transaction, table: keyof Database, key: string): Promise<string[]> {
  const names = key.split(' ').map((name) => sql.ref(name));
  const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}
    order by ${sql.join(names)}`.execute(tx);
  return rows.map(lineOf);
}

function lineOf({ seq: _seq, ...row }: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(row).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(Object.fromEntries(members), (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
}
