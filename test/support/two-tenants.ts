/** A book of two tenants in a file, and how to see that nothing of it changed. */

import { dump } from '../reliability/database-image.ts';
import { subscribe, use } from './billing-scenario.ts';
import { createWorld } from './world.ts';

/** Ids and keys by what they are for. */
export interface TwoTenants {
  readonly customer: string;
  readonly contract: string;
  readonly plan: string;
  /** An invoice of the contract. */
  readonly draft: string;
  readonly key: string;
  /** A key that may read customers, and no more. */
  readonly readingKey: string;
  /** A customer of the other tenant. */
  readonly theirs: string;
  /** An id that nothing has. */
  readonly nobody: string;
}

/** A customer with a contract, an event and keys; and another organization with a customer of its own. */
export async function writeTwoTenants(database: string): Promise<TwoTenants> {
  const world = await createWorld({ database, start: '2026-03-10T00:00:00Z' });
  const acme = await subscribe(world);
  await use(world, acme, { tokens: 5, at: '2026-03-02T00:00:00Z', key: 'e-1' });
  const draft = (await world.call('invoices.list')).data[0]?.id ?? '';
  const keyOf = async (name: string, scopes: readonly string[]): Promise<string> =>
    (await world.call('keys.create', { body: { name, scopes } })).data.key;
  const [key, readingKey] = [await keyOf('all', ['*']), await keyOf('reading', ['customers:read'])];
  const eu = await world.addOrganization('eu');
  const contacts = [{ name: 'Bo', email: 'bo@globex.example', roles: ['primary'] }];
  const theirs = (await eu.call('customers.create', { body: { name: 'Globex', contacts } })).body.data.id;
  const plan = (await world.call('plans.list')).data[0]?.id ?? '';
  await world.close();
  return {
    customer: acme.customerId,
    contract: acme.contractId,
    draft,
    plan,
    key,
    readingKey,
    theirs,
    nobody: '01900000-0000-7000-8000-ffffffffffff',
  };
}

/** Every row but those of keys, which note when they were used. */
export function rowsOf(database: string): string {
  const [, ...tables] = dump(database).split(/^# /m);
  return tables.filter((table) => !table.startsWith('apiKeys\n')).join('# ');
}
