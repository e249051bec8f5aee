/** Every row of a book on whichever store, as text: two stores hold the same book when these texts are equal. */

import { sql } from 'kysely';

import type { Database, Transaction } from '../../src/store/database.ts';
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
export async function dumpOf(store: Store): Promise<string> {
  return await store.read(async (tx) => {
    const lines: string[] = [];
    for (const [table, key] of Object.entries(tables)) {
      lines.push(`# ${table}`, ...(await rowsOf(tx, table as keyof Database, key)));
    }
    for (const { id } of await listOrganizations(tx)) {
      const { rows } = await store.events.list(tx, { orgId: id, limit: 1_000_000, offset: 0 });
      for (const event of rows) {
        lines.push(lineOf({ ...event }));
        const versions = await store.events.listVersions(tx, id, event.idempotencyKey);
        lines.push(...versions.map((version) => `  ${lineOf({ ...version })}`));
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
