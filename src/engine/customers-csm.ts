/** Customer success managers by processor customer id (interface 4.4, semantics 4). */

import { onceEach } from '../once.ts';
import { processorCustomerIdField, providers } from '../operations/providers.ts';
import { insertContacts, listContactsOf, updateContact } from '../store/records/contacts.ts';
import type { Contact } from '../store/records/contacts.ts';
import { findCustomerByPaymentProvider } from '../store/records/customers.ts';
import type { CallContext } from './handler.ts';

interface Csm {
  readonly email: string;
  readonly name?: string | undefined;
}

type Assignment = { readonly [processorCustomerIdField]: string; readonly csm: Csm };

/** The managers of a customer, which every assignment changes. */
interface Managers {
  readonly customerId: string;
  /** By identity, the first contact of each. */
  readonly known: Map<string, Contact>;
  /** By id, contacts that an assignment made and none has replaced. */
  readonly replaceable: Map<string, Contact>;
  /** The position of the next new contact. */
  nextPosition: number;
}

type FindManagers = (processorCustomerId: string) => Promise<Managers | undefined>;

/**
 * Applies assignments in their order: a later one sees what an earlier one did, even to the same customer. `changedCustomerIds`
 * names the customers with a renamed billing contact.
 */
export async function assignCsm(context: CallContext, assignments: readonly Assignment[]) {
  // Read once: former managers stay among a customer's contacts, so there may be thousands of them.
  const find = onceEach(async (processorCustomerId: string) => await findManagers(context, processorCustomerId));
  const assigned: Awaited<ReturnType<typeof assignOne>>[] = [];
  for (const assignment of assignments) assigned.push(await assignOne(context, assignment, find));
  const results = assigned.map(({ result }) => result);
  const updated = results.filter((result) => result.status === 'updated').length;
  return {
    data: { updated, notFound: results.length - updated, results },
    changedCustomerIds: new Set(assigned.flatMap(({ changedCustomerId }) => changedCustomerId ?? [])),
  };
}

async function findManagers({ tx, orgId }: CallContext, processorCustomerId: string): Promise<Managers | undefined> {
  const customer = await findCustomerByPaymentProvider(tx, orgId, {
    paymentProvider: providers.paymentProcessor1,
    paymentProviderId: processorCustomerId,
  });
  if (customer === undefined) return undefined;
  const contacts = await listContactsOf(tx, orgId, customer.id);
  const managers = contacts.filter((contact) => contact.roles.includes('csm'));
  return {
    customerId: customer.id,
    known: new Map(managers.toReversed().map((manager) => [identityOf(manager.email), manager])),
    replaceable: new Map(managers.filter(isReplaceable).map((manager) => [manager.id, manager])),
    nextPosition: contacts.length,
  };
}

function isReplaceable({ source, status }: Contact): boolean {
  return source === 'imported' && status === 'Active';
}

async function assignOne(
  context: CallContext,
  { [processorCustomerIdField]: processorCustomerId, csm }: Assignment,
  find: FindManagers,
) {
  const managers = await find(processorCustomerId);
  if (managers === undefined) {
    return { result: { [processorCustomerIdField]: processorCustomerId, status: 'not_found' as const } };
  }
  const { customerId, known, replaceable } = managers;
  const identity = identityOf(csm.email);
  const demoted = [...replaceable.values()].filter((manager) => identityOf(manager.email) !== identity);
  for (const { id } of demoted) {
    await updateContact(context.tx, context.orgId, { id, status: 'Unreachable', updatedAt: context.timestamp });
    replaceable.delete(id);
  }
  const present = known.get(identity);
  const manager =
    present === undefined
      ? await addManager(context, csm, { customerId, position: managers.nextPosition })
      : await renewManager(context, csm, present);
  if (present === undefined) managers.nextPosition += 1;
  known.set(identity, manager);
  if (isReplaceable(manager)) replaceable.set(manager.id, manager);
  return {
    result: {
      [processorCustomerIdField]: processorCustomerId,
      status: 'updated' as const,
      customerId,
      csmContactId: manager.id,
      demotedCount: demoted.length,
    },
    changedCustomerId: present !== undefined && isShownRenamed(present, csm) ? customerId : undefined,
  };
}

/** Whether a manager who also receives invoices gets another name, which reading the customer shows. */
function isShownRenamed({ roles, name }: Contact, csm: Csm): boolean {
  return roles.includes('accounts_payable') && csm.name !== undefined && csm.name !== name;
}

/** Letters of ASCII alone are lowered: mail servers tell others apart, as İ and i (semantics 4; security 8, SEC-73). */
function identityOf(email: string): string {
  return email.normalize('NFC').replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

async function addManager(
  context: CallContext,
  csm: Csm,
  place: Pick<Contact, 'customerId' | 'position'>,
): Promise<Contact> {
  const contact: Contact = {
    ...place,
    id: context.newId(),
    name: csm.name ?? csm.email.slice(0, csm.email.indexOf('@')),
    email: csm.email,
    phone: null,
    roles: ['csm'],
    emailRecipientType: 'to',
    status: 'Active',
    source: 'imported',
    createdAt: context.timestamp,
    updatedAt: context.timestamp,
  };
  await insertContacts(context.tx, context.orgId, [contact]);
  return contact;
}

/** Keeps the source, and the known name where none is given. */
async function renewManager(context: CallContext, csm: Csm, manager: Contact): Promise<Contact> {
  const renewed = { name: csm.name ?? manager.name, status: 'Active', updatedAt: context.timestamp } as const;
  await updateContact(context.tx, context.orgId, { id: manager.id, ...renewed });
  return { ...manager, ...renewed };
}
