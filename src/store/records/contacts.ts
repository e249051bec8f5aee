/** Contacts of customers, in the order in which they were added. */

import { type Selectable, sql } from 'kysely';

import type { ContactRole } from '../../operations/customers.ts';
import type { ContactsTable, Transaction } from '../database.ts';
import { anyValues, type OfOrganization, prepared, preparedRows } from '../prepared.ts';
import { askedInParts, ofFew, type OfList } from './padded.ts';

/** A person at a customer (interface 2.2); `Unreachable` after a demotion (interface 4.4). */
export interface Contact {
  readonly id: string;
  readonly customerId: string;
  /** Counted from 0 for each customer. */
  readonly position: number;
  readonly name: string;
  readonly email: string;
  readonly phone: string | null;
  readonly roles: readonly ContactRole[];
  readonly emailRecipientType: ContactsTable['emailRecipientType'];
  readonly status: ContactsTable['status'];
  readonly source: ContactsTable['source'];
  readonly createdAt: string;
  readonly updatedAt: string;
}

const columns = [
  'id',
  'customerId',
  'position',
  'name',
  'email',
  'phone',
  'roles',
  'emailRecipientType',
  'status',
  'source',
  'createdAt',
  'updatedAt',
] as const;

/** Who gets the invoices of a customer (interface 2.2). */
export type BillingContact = Pick<Contact, 'name' | 'email' | 'phone'>;

/** Contacts who get invoices and can be reached. The pattern is a literal: SQLite prepares a statement anew if one is bound to it. */
const forInvoices = (tx: Transaction, orgId: string) =>
  tx
    .selectFrom('contacts')
    .where('orgId', '=', orgId)
    .where('status', '=', 'Active')
    .where('roles', 'like', sql.lit('%"accounts_payable"%'));

/** The contacts of these customers who get invoices and can be reached, by customer id, each customer's in their order. */
export async function listBillingContacts(
  tx: Transaction,
  orgId: string,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, readonly BillingContact[]>> {
  const rows = await askedInParts(customerIds, (part) => billingContactsOf(tx, { orgId, customerIds: part }));
  const contacts = Map.groupBy(rows, ({ customerId }) => customerId);
  return new Map([...contacts].map(([id, own]) => [id, own.map(({ name, email, phone }) => ({ name, email, phone }))]));
}

const billingContactsOf = prepared(
  (tx, of: OfList<'customerIds'>) =>
    forInvoices(tx, of.orgId)
      .select(['customerId', 'name', 'email', 'phone'])
      .where('customerId', 'in', of.customerIds)
      .orderBy('customerId')
      .orderBy('position')
      .orderBy('seq'),
  { name: 'billing contacts', isOfEveryCall: true, of: () => ofFew('customerIds') },
);

/** The same for one customer, in a query of its own: a list of one takes longer to ask for. */
export async function listBillingContactsOf(
  tx: Transaction,
  orgId: string,
  customerId: string,
): Promise<readonly BillingContact[]> {
  return await billingContactsOfCustomer(tx, { orgId, customerId });
}

const billingContactsOfCustomer = prepared(
  (tx, of: OfOrganization<'customerId'>) =>
    forInvoices(tx, of.orgId)
      .select(['name', 'email', 'phone'])
      .where('customerId', '=', of.customerId)
      .orderBy('position')
      .orderBy('seq'),
  { name: 'billing contacts of a customer', isOfEveryCall: true, of: () => [{ orgId: '', customerId: '' }] },
);

/** All contacts of a customer, in their order. */
export async function listContactsOf(tx: Transaction, orgId: string, customerId: string): Promise<readonly Contact[]> {
  return (await contactsOfCustomer(tx, { orgId, customerId })).map(toContact);
}

const contactsOfCustomer = prepared(
  (tx, of: OfOrganization<'customerId'>) =>
    tx
      .selectFrom('contacts')
      .select(columns)
      .where('orgId', '=', of.orgId)
      .where('customerId', '=', of.customerId)
      .orderBy('position')
      .orderBy('seq'),
  { name: 'contacts of a customer', isOfEveryCall: true, of: () => [{ orgId: '', customerId: '' }] },
);

/** The caller numbers the positions. */
export async function insertContacts(tx: Transaction, orgId: string, contacts: readonly Contact[]): Promise<void> {
  await contactInsertion(
    tx,
    contacts.map((contact) => ({ ...contact, orgId, roles: JSON.stringify(contact.roles) })),
  );
}

type ContactRow = Omit<Contact, 'roles'> & OfOrganization<'roles'>;

const contactInsertion = preparedRows<ContactRow>((tx, rows) => tx.insertInto('contacts').values(rows), {
  name: 'new contact',
  isOfEveryCall: true,
  of: () => [anyValues(['orgId', ...columns]) as ContactRow],
});

/** Changes the given fields; nothing else about a contact ever changes. */
export async function updateContact(
  tx: Transaction,
  orgId: string,
  { id, ...changes }: Partial<Pick<Contact, 'name' | 'status'>> & Pick<Contact, 'id' | 'updatedAt'>,
): Promise<void> {
  await tx.updateTable('contacts').set(changes).where('orgId', '=', orgId).where('id', '=', id).execute();
}

function toContact(row: Pick<Selectable<ContactsTable>, (typeof columns)[number]>): Contact {
  return { ...row, position: Number(row.position), roles: JSON.parse(row.roles) as ContactRole[] };
}
