/** Customers by what people know of them: an id of one's own, a name, an e-mail address. */

import type { Billing, OperationName } from '../../operations/index.ts';
import { pagesOf } from '../every-row.ts';
import { valueAt, wireText } from '../wire/rows.ts';

/** What is further down in a list than this is not looked for. */
const mostRows = 1_000;

interface Customer {
  readonly id: string;
  readonly name: string;
}

/** The customer who has this as your own id. */
export async function withOwnId(id: string, billing: Billing): Promise<Customer | undefined> {
  const { body } = await billing.call('customers.list', { query: { externalCustomerId: id } });
  return body.data[0];
}

/**
 * The only customer who has this name or legal name, or whose contacts have this address, in capitals or not; else the only
 * one whose name begins with it.
 */
export async function customerCalled(text: string, billing: Billing): Promise<Customer | undefined> {
  const wanted = folded(text);
  const isBegun = (row: unknown) => folded(valueAt(row, 'name')).startsWith(wanted);
  const found = await searched('customers.list', billing, (row) => isBegun(row) || textsOf(row).includes(wanted));
  const exact = found.filter((row) => textsOf(row).includes(wanted));
  const [only, ...others] = exact.length > 0 ? exact : found;
  if (only === undefined || others.length > 0) return undefined;
  return { id: wireText(valueAt(only, 'id')), name: wireText(valueAt(only, 'name')) };
}

/** The rows of a list that are meant, as far as it is looked through. */
export async function searched(
  operation: OperationName,
  billing: Billing,
  isMeant: (row: unknown) => boolean,
): Promise<unknown[]> {
  const found: unknown[] = [];
  let count = 0;
  for await (const { rows } of pagesOf(async (query) => (await billing.call(operation, { query })).body)) {
    found.push(...rows.filter(isMeant));
    count += rows.length;
    if (count >= mostRows) break;
  }
  return found;
}

function textsOf(row: unknown): string[] {
  const contacts = valueAt(row, 'billingContacts');
  const addresses = Array.isArray(contacts) ? contacts.map((contact) => valueAt(contact, 'email')) : [];
  return [valueAt(row, 'name'), valueAt(row, 'legalName'), ...addresses].map(folded);
}

/** As it is compared: in capitals or not. */
export function folded(value: unknown): string {
  return wireText(value).normalize('NFC').toLowerCase();
}
