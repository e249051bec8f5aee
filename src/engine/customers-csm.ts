/** Customer success managers by processor customer id (interface 4.4, semantics 4). */

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

/**
 * Applies assignments in their order: a later one sees what an earlier one did, also to the same customer. `changedCustomerIds`
 * are those whose billing contacts have another name now.
 */
export async function assignCsm(context: CallContext, assignments: readonly Assignment[]) {
  const assigned: Awaited<ReturnType<typeof assignOne>>[] = [];
  for (const assignment of assignments) assigned.push(await assignOne(context, assignment));
  const results = assigned.map(({ result }) => result);
  const updated = results.filter((result) => result.status === 'updated').length;
  return {
    data: { updated, notFound: results.length - updated, results },
    changedCustomerIds: new Set(assigned.flatMap(({ changedCustomerId }) => changedCustomerId ?? [])),
  };
}

async function assignOne(context: CallContext, { [processorCustomerIdField]: processorCustomerId, csm }: Assignment) {
  const customer = await findCustomerByPaymentProvider(context.tx, context.orgId, {
    paymentProvider: providers.paymentProcessor1,
    paymentProviderId: processorCustomerId,
  });
  if (customer === undefined) {
    return { result: { [processorCustomerIdField]: processorCustomerId, status: 'not_found' as const } };
  }
  const contacts = await listContactsOf(context.tx, context.orgId, customer.id);
  const managers = contacts.filter((contact) => contact.roles.includes('csm'));
  const demoted = managers.filter(
    (manager) => manager.source === 'imported' && manager.status === 'Active' && !isSamePerson(manager, csm),
  );
  for (const { id } of demoted) {
    await updateContact(context.tx, context.orgId, { id, status: 'Unreachable', updatedAt: context.timestamp });
  }
  const present = managers.find((manager) => isSamePerson(manager, csm));
  const csmContactId =
    present === undefined
      ? await addManager(context, csm, { customerId: customer.id, position: contacts.length })
      : await renewManager(context, csm, present);
  return {
    result: {
      [processorCustomerIdField]: processorCustomerId,
      status: 'updated' as const,
      customerId: customer.id,
      csmContactId,
      demotedCount: demoted.length,
    },
    changedCustomerId: present !== undefined && isShownRenamed(present, csm) ? customer.id : undefined,
  };
}

/** Whether a manager to whom invoices go as well is called otherwise from now on: reading the customer shows it. */
function isShownRenamed({ roles, name }: Contact, csm: Csm): boolean {
  return roles.includes('accounts_payable') && csm.name !== undefined && csm.name !== name;
}

function isSamePerson(contact: Contact, csm: Csm): boolean {
  return identityOf(contact.email) === identityOf(csm.email);
}

function identityOf(email: string): string {
  return email.normalize('NFC').toLowerCase();
}

async function addManager(
  context: CallContext,
  csm: Csm,
  place: Pick<Contact, 'customerId' | 'position'>,
): Promise<string> {
  const id = context.newId();
  const contact: Contact = {
    ...place,
    id,
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
  return id;
}

/** Keeps source, and the name that is known where none is given. */
async function renewManager(context: CallContext, csm: Csm, manager: Contact): Promise<string> {
  await updateContact(context.tx, context.orgId, {
    id: manager.id,
    name: csm.name ?? manager.name,
    status: 'Active',
    updatedAt: context.timestamp,
  });
  return manager.id;
}
