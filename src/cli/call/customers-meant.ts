/** Finds customers by what people know: their own id, a name, an e-mail address. */

import type { Billing, OperationName } from '../../operations/index.ts';
import { pagesOf } from '../every-row.ts';
import { say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { valueAt, wireText } from '../wire/rows.ts';

/** The search ends after this many rows of a list. */
const mostRows = 1_000;
/** More names would push the refusal itself out of sight. */
const mostNamed = 5;

interface Customer {
  readonly id: string;
  readonly name: string;
}

/** The customer with this external id. */
export async function withOwnId(id: string, billing: Billing): Promise<Customer | undefined> {
  const { body } = await billing.call('customers.list', { query: { externalCustomerId: id } });
  return body.data[0];
}

/**
 * The customers with this name or legal name, or with a contact at this address, ignoring case; else those whose name begins
 * with the text, else those whose name contains it.
 */
export async function customersCalled(text: string, billing: Billing): Promise<readonly Customer[]> {
  const wanted = caseless(text.trim());
  if (wanted === '') return [];
  const nameOf = (row: unknown) => caseless(valueAt(row, 'name'));
  const isExact = (row: unknown) => textsOf(row).includes(wanted);
  const found = await searched('customers.list', billing, (row) => isExact(row) || nameOf(row).includes(wanted));
  const exact = found.filter(isExact);
  const begun = found.filter((row) => nameOf(row).startsWith(wanted));
  const nearest = [exact, begun].find((rows) => rows.length > 0) ?? found;
  return nearest.map((row) => ({ id: wireText(valueAt(row, 'id')), name: wireText(valueAt(row, 'name')) }));
}

/** The customers by name, if they are few enough to choose from. */
export function choiceOf(customers: readonly Customer[]): SafeText {
  const named = customers.map(({ id, name }) => say`${name} ${id}`).join(', ');
  if (customers.length <= mostNamed) return say`that could be ${customers.length} customers: ${named}`;
  return say`that could be ${customers.length} customers: give more of the name`;
}

/** The matching rows of a list, among the first `mostRows`. */
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
  return [valueAt(row, 'name'), valueAt(row, 'legalName'), ...addresses].map(caseless);
}

/** The form that is compared, ignoring case. */
export function caseless(value: unknown): string {
  return wireText(value).normalize('NFC').toLowerCase();
}
