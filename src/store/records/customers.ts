/** Customers: their links to other systems, address, default payment method and pause. */

import type { Selectable } from 'kysely';

import type { CustomersTable, Transaction } from '../database.ts';
import { anyValues, type OfOrganization, prepared } from '../prepared.ts';
import { askedInParts, ofFew, type OfList } from './padded.ts';
import { countOf, firstPage, type Page, pageOf, type PageStart, readPage, type Rows } from './page.ts';

/** Interface 2.2. */
export interface BillingAddress {
  readonly address1: string;
  readonly address2?: string | undefined;
  readonly city: string;
  readonly region: string;
  readonly postalCode: string;
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string;
}

/** A customer as it is stored (interface 2.2); contacts are records of their own. */
export interface Customer {
  readonly id: string;
  readonly name: string;
  readonly legalName: string | null;
  readonly externalCustomerId: string | null;
  readonly paymentProvider: string | null;
  /** Present exactly if `paymentProvider` is. */
  readonly paymentProviderId: string | null;
  readonly tags: readonly string[];
  readonly billingAddress: BillingAddress | null;
  readonly paymentMethodId: string | null;
  readonly paymentMethodType: string | null;
  /** When it was paused; `pausedUntil` and the day tell whether it still is. */
  readonly pausedAt: string | null;
  /** The pause ends at 00:00 UTC of this calendar date. */
  readonly pausedUntil: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const columns = [
  'id',
  'name',
  'legalName',
  'externalCustomerId',
  'paymentProvider',
  'paymentProviderId',
  'tags',
  'billingAddress',
  'paymentMethodId',
  'paymentMethodType',
  'pausedAt',
  'pausedUntil',
  'createdAt',
  'updatedAt',
] as const;

/** The customer with an id; undefined if the organization does not have it. */
export async function findCustomer(tx: Transaction, orgId: string, id: string): Promise<Customer | undefined> {
  const [row] = await customerOfId(tx, { orgId, id });
  return row === undefined ? undefined : toCustomer(row);
}

/** A query of its own: most calls read one customer, and a list of one takes longer to ask for. */
const customerOfId = prepared(
  (tx, { orgId, id }: OfOrganization<'id'>) =>
    tx.selectFrom('customers').select(columns).where('orgId', '=', orgId).where('id', '=', id),
  { name: 'customer', isOfEveryCall: true, of: () => [{ orgId: '', id: '' }] },
);

/** The customers among these ids, by id. */
export async function listCustomersOf(
  tx: Transaction,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Customer>> {
  const rows = await askedInParts(ids, (part) => customersOfIds(tx, { orgId, ids: part }));
  return new Map(rows.map((row) => [row.id, toCustomer(row)]));
}

const customersOfIds = prepared(
  (tx, { orgId, ids }: OfList<'ids'>) =>
    tx.selectFrom('customers').select(columns).where('orgId', '=', orgId).where('id', 'in', ids),
  { name: 'customers', isOfEveryCall: true, of: () => ofFew('ids') },
);

/** The customer with the caller's own id. */
export async function findCustomerByExternalId(
  tx: Transaction,
  orgId: string,
  externalCustomerId: string,
): Promise<Customer | undefined> {
  const [row] = await customerOfExternalId(tx, { orgId, externalCustomerId });
  return row === undefined ? undefined : toCustomer(row);
}

const customerOfExternalId = prepared(
  (tx, of: OfOrganization<'externalCustomerId'>) =>
    tx
      .selectFrom('customers')
      .select(columns)
      .where('orgId', '=', of.orgId)
      .where('externalCustomerId', '=', of.externalCustomerId),
  { name: 'customer of an external id', isOfEveryCall: true, of: () => [{ orgId: '', externalCustomerId: '' }] },
);

/** The customer that a payment processor knows by the given id. */
export async function findCustomerByPaymentProvider(
  tx: Transaction,
  orgId: string,
  link: { readonly paymentProvider: string; readonly paymentProviderId: string },
): Promise<Customer | undefined> {
  const row = await tx
    .selectFrom('customers')
    .select(columns)
    .where('orgId', '=', orgId)
    .where('paymentProvider', '=', link.paymentProvider)
    .where('paymentProviderId', '=', link.paymentProviderId)
    .executeTakeFirst();
  return row === undefined ? undefined : toCustomer(row);
}

/** A page of customers, newest first. */
export async function listCustomers(
  tx: Transaction,
  orgId: string,
  { externalCustomerId, limit, offset }: { readonly externalCustomerId?: string | undefined } & Page,
): Promise<Rows<Customer>> {
  const chosen = { orgId, externalCustomerId };
  const { rows, total } = await readPage(tx, {
    name: `customers ${JSON.stringify(chosen)}`,
    page: { limit, offset },
    read: async (start) => await pageOfCustomers(tx, { ...chosen, ...start }),
    count: async () => await customerCount(tx, chosen),
  });
  return { rows: rows.map(({ seq: _seq, ...row }) => toCustomer(row)), total };
}

interface Chosen {
  readonly orgId: string;
  readonly externalCustomerId: string | undefined;
}

const unfiltered = { orgId: '', externalCustomerId: undefined };

const pageOfCustomers = prepared(
  (tx, chosen: Chosen & PageStart) =>
    pageOf(customersAmong(tx, chosen).select([...columns, 'seq']), 'customers', chosen),
  { name: 'page of customers', isOfEveryCall: true, of: () => [{ ...unfiltered, ...firstPage }] },
);

const customerCount = prepared((tx, chosen: Chosen) => countOf(customersAmong(tx, chosen)), {
  name: 'number of customers',
  isOfEveryCall: true,
  of: () => [unfiltered],
});

function customersAmong(tx: Transaction, { orgId, externalCustomerId }: Chosen) {
  const query = tx.selectFrom('customers').where('orgId', '=', orgId);
  return externalCustomerId === undefined ? query : query.where('externalCustomerId', '=', externalCustomerId);
}

/** If another customer of the organization has a link of this one, this is a ConstraintViolation. */
export async function insertCustomer(tx: Transaction, orgId: string, customer: Customer): Promise<void> {
  const { tags, billingAddress, ...plain } = customer;
  await customerInsertion(tx, {
    ...plain,
    orgId,
    tags: JSON.stringify(tags),
    billingAddress: billingAddress && JSON.stringify(billingAddress),
  });
}

type CustomerRow = Omit<Selectable<CustomersTable>, 'seq'>;

const customerInsertion = prepared((tx, row: CustomerRow) => tx.insertInto('customers').values(row), {
  name: 'new customer',
  isOfEveryCall: true,
  of: () => [anyValues(['orgId', ...columns]) as CustomerRow],
});

/** Writes everything but the billing address, which stays as it was given. */
export async function updateCustomer(
  tx: Transaction,
  orgId: string,
  { tags, ...changes }: Omit<Customer, 'billingAddress' | 'createdAt'>,
): Promise<void> {
  await customerChange(tx, { ...changes, orgId, tags: JSON.stringify(tags) });
}

type ChangedCustomer = Omit<CustomerRow, 'billingAddress' | 'createdAt'>;

const customerChange = prepared(
  (tx, { orgId, id, ...changes }: ChangedCustomer) =>
    tx.updateTable('customers').set(changes).where('orgId', '=', orgId).where('id', '=', id),
  {
    name: 'changed customer',
    isOfEveryCall: true,
    of: () => {
      const changed = columns.filter((column) => column !== 'billingAddress' && column !== 'createdAt');
      return [anyValues(['orgId', ...changed]) as ChangedCustomer];
    },
  },
);

function toCustomer(row: Pick<Selectable<CustomersTable>, (typeof columns)[number]>): Customer {
  return {
    ...row,
    tags: JSON.parse(row.tags) as string[],
    billingAddress: row.billingAddress === null ? null : (JSON.parse(row.billingAddress) as BillingAddress),
  };
}
