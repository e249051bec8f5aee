/** Organizations: the tenants of a database. */

import type { Selectable } from 'kysely';

import { assert } from '../../assert.ts';
import type { Environment } from '../../operations/keys.ts';
import type { OrganizationsTable, Transaction } from '../database.ts';
import { type OfOrganization, onceUnchanged, prepared } from '../prepared.ts';

/** A tenant as it is stored; instants are texts. */
export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly keyPrefix: string;
  readonly salesTaxEnabled: boolean;
  readonly paymentProcessor: string | null;
  readonly environment: Environment;
  /** The latest `createdAt` given out in the organization. */
  readonly lastCreatedAt: string;
  readonly createdAt: string;
  /** Its events from before this instant are dropped, in milliseconds since 1970; 0 if none are. */
  readonly eventsDroppedBeforeEpochMs: number;
}

const columns = [
  'id',
  'name',
  'keyPrefix',
  'salesTaxEnabled',
  'paymentProcessor',
  'environment',
  'lastCreatedAt',
  'createdAt',
  'eventsDroppedBeforeEpochMs',
] as const;

/** The organization with an id or, failing that, with a name. */
export async function findOrganization(tx: Transaction, idOrName: string): Promise<Organization | undefined> {
  const rows = await organizationsNamed(tx, { idOrName });
  const row = rows.find((each) => each.id === idOrName) ?? rows[0];
  return row === undefined ? undefined : toOrganization(row);
}

const organizationsNamed = prepared(
  (tx, { idOrName }: { readonly idOrName: string }) =>
    tx
      .selectFrom('organizations')
      .select(columns)
      .where((row) => row.or([row('id', '=', idOrName), row('name', '=', idOrName)]))
      .orderBy('seq'),
  { name: 'organizations named', isOfEveryCall: true, of: () => [{ idOrName: '' }] },
);

/** What every call reads first. */
export interface OrganizationAndClock {
  readonly organization: Organization;
  /** Where a simulated clock stands; undefined if time is real. */
  readonly simulated: string | undefined;
}

/** The organization with an id, and its clock. */
export const findOrganizationAndClock = onceUnchanged(async (tx, id): Promise<OrganizationAndClock | undefined> => {
  const [row] = await organizationAndClock(tx, { id });
  return row === undefined ? undefined : { organization: toOrganization(row), simulated: row.simulated ?? undefined };
});

const organizationAndClock = prepared(
  (tx, { id }: { readonly id: string }) =>
    tx
      .selectFrom('organizations')
      .select((row) => [...columns, row.selectFrom('clock').select('now').as('simulated')])
      .where('id', '=', id),
  { name: 'organization and clock', isOfEveryCall: true, of: () => [{ id: '' }] },
);

/** Every organization of the database, oldest first. */
export async function listOrganizations(tx: Transaction): Promise<Organization[]> {
  return (await allOrganizations(tx, {})).map(toOrganization);
}

const allOrganizations = prepared((tx) => tx.selectFrom('organizations').select(columns).orderBy('seq'), {
  name: 'organizations',
  isOfEveryCall: true,
  of: () => [{}],
});

/** The first legal invoice number will be 1 (semantics 7). */
export async function insertOrganization(tx: Transaction, organization: Organization): Promise<void> {
  await tx
    .insertInto('organizations')
    .values({ ...organization, nextInvoiceNumber: 1n })
    .execute();
}

/** Changes the given fields; the prefix of its keys never changes. */
export async function updateOrganization(
  tx: Transaction,
  id: string,
  changes: Partial<
    Pick<Organization, 'name' | 'salesTaxEnabled' | 'paymentProcessor' | 'environment' | 'eventsDroppedBeforeEpochMs'>
  >,
): Promise<void> {
  await tx.updateTable('organizations').set(changes).where('id', '=', id).execute();
}

/** Keeps the latest `createdAt` given out. */
export async function keepLastCreatedAt(tx: Transaction, id: string, lastCreatedAt: string): Promise<void> {
  await lastCreated(tx, { id, lastCreatedAt });
}

const lastCreated = prepared(
  (tx, { id, lastCreatedAt }: { readonly id: string; readonly lastCreatedAt: string }) =>
    tx.updateTable('organizations').set({ lastCreatedAt }).where('id', '=', id),
  { name: 'last created', isOfEveryCall: true, of: () => [{ id: '', lastCreatedAt: '' }] },
);

/** Takes the next legal invoice number (semantics 7: gapless, inside the transaction). */
export async function takeInvoiceNumber(tx: Transaction, orgId: string): Promise<bigint> {
  const [row] = await numbering(tx, { orgId });
  assert(row !== undefined, `organization ${orgId} is there`);
  return row.nextInvoiceNumber - 1n;
}

const numbering = prepared((tx, { orgId }: OfOrganization) =>
  tx
    .updateTable('organizations')
    .set((update) => ({ nextInvoiceNumber: update('nextInvoiceNumber', '+', 1n) }))
    .where('id', '=', orgId)
    .returning('nextInvoiceNumber'),
);

function toOrganization(row: Pick<Selectable<OrganizationsTable>, (typeof columns)[number]>): Organization {
  return {
    id: row.id,
    name: row.name,
    keyPrefix: row.keyPrefix,
    salesTaxEnabled: row.salesTaxEnabled === 1n,
    paymentProcessor: row.paymentProcessor,
    environment: row.environment,
    lastCreatedAt: row.lastCreatedAt,
    createdAt: row.createdAt,
    eventsDroppedBeforeEpochMs: Number(row.eventsDroppedBeforeEpochMs),
  };
}
