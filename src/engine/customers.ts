/** Customers, their links, contacts and pauses (interface 4.1 to 4.3, semantics 4). */

import { isDeepStrictEqual } from 'node:util';

import { dateOf } from '../calculation/billing-period.ts';
import { ConflictError } from '../errors.ts';
import type { InputIssue } from '../errors.ts';
import type { customerOperations } from '../operations/customers.ts';
import { providers } from '../operations/providers.ts';
import { insertContacts, listBillingContacts, listBillingContactsOf } from '../store/records/contacts.ts';
import type { BillingContact, Contact } from '../store/records/contacts.ts';
import {
  findCustomer,
  findCustomerByExternalId,
  findCustomerByPaymentProvider,
  insertCustomer,
  listCustomers,
  updateCustomer,
} from '../store/records/customers.ts';
import type { Customer } from '../store/records/customers.ts';
import { sendWaitingInvoices } from '../store/records/invoices.ts';
import { assignCsm } from './customers-csm.ts';
import type { CallContext, HandlersOf } from './handler.ts';
import { listBody, pageOf } from './listing.ts';
import { existing, refuse } from './refuse.ts';
import { emit } from './webhooks-emit.ts';

export const customerHandlers: HandlersOf<typeof customerOperations> = {
  'customers.create': async (context, { body }) => {
    const customer: Customer = {
      id: context.newId(),
      name: body.name,
      legalName: body.legalName ?? null,
      externalCustomerId: body.externalCustomerId ?? null,
      paymentProvider: body.provider ?? null,
      paymentProviderId: body.paymentProviderId ?? null,
      tags: body.tags ?? [],
      billingAddress: body.billingAddress ?? null,
      paymentMethodId: body.paymentMethodId ?? null,
      paymentMethodType: body.paymentMethodType ?? null,
      pausedAt: null,
      pausedUntil: null,
      createdAt: context.timestamp,
      updatedAt: context.timestamp,
    };
    refuse([...addressIssues(context, customer), ...paymentMethodIssues(context, customer)]);
    await checkIdentities(context, customer);
    await insertCustomer(context.tx, context.orgId, customer);
    const contacts = body.contacts.map((contact, position): Contact => ({
      ...contact,
      position,
      id: context.newId(),
      customerId: customer.id,
      phone: null,
      status: 'Active',
      source: 'manual',
      createdAt: context.timestamp,
      updatedAt: context.timestamp,
    }));
    await insertContacts(context.tx, context.orgId, contacts);
    const data = wireCustomer(customer, context);
    await emit(context, 'customer.created', async () => await wireWithLinks(context, customer));
    return { body: { data } };
  },

  'customers.get': async (context, { params }) => {
    const customer = await getCustomer(context, params.customerId);
    return { body: { data: await wireWithLinks(context, customer) } };
  },

  'customers.billingAddress': async (context, { params }) => {
    const { billingAddress } = await getCustomer(context, params.customerId);
    return { body: { data: billingAddress } };
  },

  'customers.list': async (context, { query }) => {
    const page = pageOf(query);
    const found = await listCustomers(context.tx, context.orgId, { ...query, ...page });
    const ids = found.rows.map(({ id }) => id);
    const contacts = await listBillingContacts(context.tx, context.orgId, ids);
    const data = found.rows.map((customer) => ({
      ...wireCustomer(customer, context),
      ...wireLinks(customer, contacts.get(customer.id) ?? []),
    }));
    return { body: listBody(found, page, data) };
  },

  'customers.update': async (context, { params, body }) => {
    const before = await getCustomer(context, params.customerId);
    // The processor and its id make one link, a payment method and its type one method: clearing half clears both.
    const isUnlinked = body.provider === null || body.paymentProviderId === null;
    const isWithoutMethod = body.paymentMethodId === null;
    const after: Customer = {
      ...before,
      name: body.name ?? before.name,
      tags: body.tags ?? before.tags,
      legalName: body.legalName === undefined ? before.legalName : body.legalName,
      externalCustomerId: body.externalCustomerId === undefined ? before.externalCustomerId : body.externalCustomerId,
      paymentProvider: isUnlinked ? null : (body.provider ?? before.paymentProvider),
      paymentProviderId: isUnlinked ? null : (body.paymentProviderId ?? before.paymentProviderId),
      paymentMethodId: isWithoutMethod ? null : (body.paymentMethodId ?? before.paymentMethodId),
      paymentMethodType: isWithoutMethod ? null : (body.paymentMethodType ?? before.paymentMethodType),
      updatedAt: context.timestamp,
    };
    if (typeof body.paymentMethodId === 'string') refuse(paymentMethodIssues(context, after));
    await checkIdentities(context, after);
    return await saveChanges(context, before, after);
  },

  'customers.pause': async (context, { params, body }) => {
    const customer = await getCustomer(context, params.customerId);
    const until = body.until ?? null;
    if (until !== null && until <= todayOf(context.now)) {
      refuse([{ path: 'until', message: 'must be after today (UTC)' }]);
    }
    const isPausedAlready = isPaused(customer, context);
    // What still waits from a pause that ended by itself goes out, as if a job had run in between.
    if (customer.pausedAt !== null && !isPausedAlready) await sendWaiting(context, customer);
    const pausedAt = isPausedAlready ? customer.pausedAt : context.timestamp;
    const paused: Customer = { ...customer, pausedAt, pausedUntil: until, updatedAt: context.timestamp };
    return await saveChanges(context, customer, paused);
  },

  'customers.resume': async (context, { params }) => {
    const customer = await getCustomer(context, params.customerId);
    if (isPaused(customer, context)) return await resume(context, customer);
    // Even after a pause that ended by itself, this sends the invoices that still wait from it.
    await sendWaiting(context, customer);
    return { body: { data: await wireWithLinks(context, customer) } };
  },

  'customers.assignCsm': async (context, { body }) => {
    const { data, changedCustomerIds } = await assignCsm(context, body.assignments);
    for (const id of changedCustomerIds) {
      await save(context, { ...(await getCustomer(context, id)), updatedAt: context.timestamp });
    }
    return { body: { data } };
  },
};

/** Ends a pause whose day has come; false where there is none, for example because another call has ended it. */
export async function endPause(context: CallContext, customerId: string): Promise<boolean> {
  const customer = await getCustomer(context, customerId);
  if (customer.pausedAt === null || isPaused(customer, context)) return false;
  await resume(context, customer);
  return true;
}

async function resume(context: CallContext, customer: Customer) {
  await sendWaiting(context, customer);
  return await save(context, { ...customer, pausedAt: null, pausedUntil: null, updatedAt: context.timestamp });
}

async function sendWaiting(context: CallContext, { id }: Customer): Promise<void> {
  const sent = await sendWaitingInvoices(context.tx, context.orgId, { customerId: id, sentAt: context.now });
  if (sent.length === 0) return;
  const { tellOfInvoices } = await import('./invoices-wire.ts');
  await tellOfInvoices(context, 'invoice.updated', sent);
}

/** Whether invoices to the customer wait. A pause with an end is over at 00:00 UTC of that date, whether or not a job ran. */
export function isPaused(customer: Customer, context: Pick<CallContext, 'now'>): boolean {
  if (customer.pausedAt === null) return false;
  return customer.pausedUntil === null || todayOf(context.now) < customer.pausedUntil;
}

function todayOf(now: Temporal.Instant): string {
  return dateOf(now).toString();
}

async function getCustomer({ tx, orgId }: CallContext, id: string): Promise<Customer> {
  return existing(await findCustomer(tx, orgId, id), 'customer', 'customers list');
}

/** What leaves everything as it was is neither written nor told, as with a resumption of what is not paused. */
async function saveChanges(context: CallContext, before: Customer, after: Customer) {
  const isUnchanged = isDeepStrictEqual({ ...after, updatedAt: before.updatedAt }, before);
  return isUnchanged ? { body: { data: await wireWithLinks(context, before) } } : await save(context, after);
}

async function save(context: CallContext, customer: Customer) {
  const { billingAddress: _billingAddress, createdAt: _createdAt, ...changes } = customer;
  await updateCustomer(context.tx, context.orgId, changes);
  const data = await wireWithLinks(context, customer);
  await emit(context, 'customer.updated', () => data);
  return { body: { data } };
}

function addressIssues(context: CallContext, customer: Customer): InputIssue[] {
  if (!context.organization.salesTaxEnabled || customer.billingAddress !== null) return [];
  return [{ path: 'billingAddress', message: 'is required: the organization collects sales tax' }];
}

function paymentMethodIssues(context: CallContext, customer: Customer): InputIssue[] {
  if (customer.paymentMethodId === null || context.organization.paymentProcessor !== null) return [];
  return [{ path: 'paymentMethodId', message: 'cannot be kept: the organization has no payment processor' }];
}

/** A customer's own id and its link to a processor belong to one customer each, compared to the byte (semantics 4). */
async function checkIdentities(context: CallContext, customer: Customer): Promise<void> {
  const { id, externalCustomerId, paymentProvider, paymentProviderId } = customer;
  if (externalCustomerId !== null) {
    const holder = await findCustomerByExternalId(context.tx, context.orgId, externalCustomerId);
    if (holder !== undefined && holder.id !== id) {
      throw new ConflictError(`externalCustomerId "${externalCustomerId}" belongs to customer ${holder.id} already`);
    }
  }
  if (paymentProvider !== null && paymentProviderId !== null) {
    const link = { paymentProvider, paymentProviderId };
    const holder = await findCustomerByPaymentProvider(context.tx, context.orgId, link);
    if (holder !== undefined && holder.id !== id) {
      throw new ConflictError(
        `${paymentProvider} customer "${paymentProviderId}" is linked to customer ${holder.id} already`,
      );
    }
  }
}

async function wireWithLinks(context: CallContext, customer: Customer) {
  const contacts = await listBillingContactsOf(context.tx, context.orgId, customer.id);
  return { ...wireCustomer(customer, context), ...wireLinks(customer, contacts) };
}

/** A pause that is over shows as none, as if somebody had ended it by hand. */
function wireCustomer(customer: Customer, context: CallContext) {
  const { id, name, legalName, externalCustomerId, createdAt, updatedAt } = customer;
  const isPausedNow = isPaused(customer, context);
  return {
    id,
    name,
    legalName,
    tags: [...customer.tags],
    isPaused: isPausedNow,
    pausedAt: isPausedNow ? customer.pausedAt : null,
    pausedUntil: isPausedNow ? customer.pausedUntil : null,
    metadata: { externalCustomerId, externalCompanyIds: [] },
    createdAt,
    updatedAt,
  };
}

/** What reading a customer shows beyond the answer of its creation (interface 2.2). */
function wireLinks({ paymentProviderId }: Customer, billingContacts: readonly BillingContact[]) {
  return {
    externalIds:
      paymentProviderId === null
        ? []
        : [{ provider: providers.paymentProcessor1, entityType: 'customer' as const, id: paymentProviderId }],
    billingContacts: [...billingContacts],
  };
}
