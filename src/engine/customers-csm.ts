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

/** Applies assignments in their order: a later one sees what an earlier one did, also to the same customer. */
export async function assignCsm(
  context: CallContext,
  assignments: readonly { readonly [processorCustomerIdField]: string; readonly csm: Csm }[],
) {
  const results: Awaited<ReturnType<typeof assignOne>>[] = [];
  for (const assignment of assignments) {
    results.push(await assignOne(context, assignment[processorCustomerIdField], assignment.csm));
  }
  const updated = results.filter((result) => result.status === 'updated').length;
  return { updated, notFound: results.length - updated, results };
}

async function assignOne(context: CallContext, processorCustomerId: string, csm: Csm) {
  const customer = await findCustomerByPaymentProvider(context.tx, context.orgId, {
    paymentProvider: providers.paymentProcessor1,
    paymentProviderId: processorCustomerId,
  });
  if (customer === undefined) {
    return { [processorCustomerIdField]: processorCustomerId, status: 'not_found' as const };
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
    [processorCustomerIdField]: processorCustomerId,
    status: 'updated' as const,
    customerId: customer.id,
    csmContactId,
    demotedCount: demoted.length,
  };
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
