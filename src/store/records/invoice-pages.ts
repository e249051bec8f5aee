/** Invoices page by page. */

import { sql } from 'kysely';

import type { InvoiceStatus } from '../../operations/invoices.ts';
import type { Transaction } from '../database.ts';
import { type OfOrganization, prepared } from '../prepared.ts';
import { type Invoice, toInvoice } from './invoices.ts';
import { countOf, firstPage, type Page, pageOf, type PageStart, readPage, type Rows } from './page.ts';

/** All given fields must match; times are those of creation. */
export interface InvoiceFilter {
  readonly customerId?: string | undefined;
  readonly status?: InvoiceStatus | undefined;
  /** Inclusive. */
  readonly createdAfter?: string | undefined;
  /** Exclusive. */
  readonly createdBefore?: string | undefined;
}

/** A page of invoices, newest first. */
export async function listInvoices(
  tx: Transaction,
  orgId: string,
  { limit, offset, ...filter }: InvoiceFilter & Page,
): Promise<Rows<Invoice>> {
  const chosen = { ...unfiltered, ...filter, orgId };
  const { rows, total } = await readPage(tx, {
    name: `invoices ${JSON.stringify(chosen)}`,
    page: { limit, offset },
    read: async (start) => await pageOfInvoices(tx, { ...withoutLaterEnd(chosen, start), ...start }),
    count: async () => await invoiceCount(tx, chosen),
  });
  return { rows: rows.map(toInvoice), total };
}

/** With two upper bounds, SQLite seeks the one written first and passes over all rows between them. */
function withoutLaterEnd(chosen: Chosen, { beforeInstant }: PageStart): Chosen {
  return beforeInstant === undefined ? chosen : { ...chosen, createdBefore: undefined };
}

type Chosen = OfOrganization & { readonly [Name in keyof Required<InvoiceFilter>]: InvoiceFilter[Name] };

const unfiltered: Chosen = {
  orgId: '',
  customerId: undefined,
  status: undefined,
  createdAfter: undefined,
  createdBefore: undefined,
};

const pageOfInvoices = prepared(
  (tx, chosen: Chosen & PageStart) => pageOf(invoicesAmong(tx, chosen).selectAll(), 'invoices', chosen),
  { name: 'page of invoices', of: () => [{ ...unfiltered, ...firstPage }] },
);

const invoiceCount = prepared((tx, chosen: Chosen) => countOf(invoicesAmong(tx, chosen)), {
  name: 'number of invoices',
  of: () => [unfiltered],
});

const concealedStatus = () => sql<InvoiceStatus>`"status" || ''`;

function invoicesAmong(tx: Transaction, chosen: Chosen) {
  const { orgId, customerId, status, createdAfter, createdBefore } = chosen;
  let query = tx.selectFrom('invoices').where('orgId', '=', orgId);
  if (customerId !== undefined) query = query.where('customerId', '=', customerId);
  // SQLite cannot tell which are fewer. A customer's are, so it must not see that the index of statuses would serve.
  if (status !== undefined) query = query.where(customerId === undefined ? 'status' : concealedStatus(), '=', status);
  if (createdAfter !== undefined) query = query.where('createdAt', '>=', createdAfter);
  if (createdBefore !== undefined) query = query.where('createdAt', '<', createdBefore);
  return query;
}
