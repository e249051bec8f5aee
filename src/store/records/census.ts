/** Readings of a whole organization, for the checks that no single contract can answer. */

import { sql } from 'kysely';

import type { Transaction } from '../database.ts';
import type { Contract } from './contracts.ts';
import { askedInParts } from './padded.ts';

/** How many records of each kind an organization has. */
export interface Census {
  readonly contractCount: number;
  readonly invoiceCount: number;
  readonly entryCount: number;
}

/** A finalized invoice by its legal number. */
export interface NumberedInvoice {
  readonly id: string;
  readonly number: string;
  readonly finalizedAt: string;
}

/** Ids that prices and grants name. */
export const catalogMembers = ['meterIds', 'pricingIds', 'productIds'] as const;
export type CatalogIds = Readonly<Record<(typeof catalogMembers)[number], readonly string[]>>;

/** Counts all records, whatever their state. */
export async function readCensus(tx: Transaction, orgId: string): Promise<Census> {
  const count = async (table: 'contracts' | 'invoices' | 'ledgerEntries') => {
    const query = tx.selectFrom(table).select((row) => row.fn.countAll<bigint>().as('total'));
    return Number((await query.where('orgId', '=', orgId).executeTakeFirstOrThrow()).total);
  };
  return {
    contractCount: await count('contracts'),
    invoiceCount: await count('invoices'),
    entryCount: await count('ledgerEntries'),
  };
}

/** A contract with the customer whose it is. */
export type OwnedContract = Pick<Contract, 'id' | 'customerId'>;

/** The next contracts of an organization after the given one, ordered by customer and id; the first without one. */
export async function listOwnedContracts(
  tx: Transaction,
  orgId: string,
  { after, limit }: { readonly after: OwnedContract | undefined; readonly limit: number },
): Promise<readonly OwnedContract[]> {
  return await tx
    .selectFrom('contracts')
    .select(['id', 'customerId'])
    .where('orgId', '=', orgId)
    .where(sql<boolean>`("customerId", "id") > (${after?.customerId ?? ''}, ${after?.id ?? ''})`)
    .orderBy('customerId')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Every finalized invoice of an organization, and the number that the next invoice will get. */
export async function readLegalNumbers(
  tx: Transaction,
  orgId: string,
): Promise<{ readonly invoices: readonly NumberedInvoice[]; readonly next: number }> {
  const rows = await tx
    .selectFrom('invoices')
    .select(['id', 'number', 'finalizedAt'])
    .where('orgId', '=', orgId)
    .where('finalizedAt', 'is not', null)
    .orderBy('seq')
    .execute();
  const { nextInvoiceNumber } = await tx
    .selectFrom('organizations')
    .select('nextInvoiceNumber')
    .where('id', '=', orgId)
    .executeTakeFirstOrThrow();
  return {
    invoices: rows.map((row) => ({ ...row, finalizedAt: row.finalizedAt ?? '' })),
    next: Number(nextInvoiceNumber),
  };
}

/** The ids among these that the organization has. */
export async function findCatalogIds(tx: Transaction, orgId: string, ids: CatalogIds): Promise<CatalogIds> {
  const known = async (table: 'meters' | 'pricings' | 'products', sought: readonly string[]) => {
    const query = tx.selectFrom(table).select('id').where('orgId', '=', orgId).orderBy('id');
    const rows = await askedInParts(sought, async (part) => await query.where('id', 'in', part).execute());
    return rows.map((row) => row.id);
  };
  return {
    meterIds: await known('meters', ids.meterIds),
    pricingIds: await known('pricings', ids.pricingIds),
    productIds: await known('products', ids.productIds),
  };
}
