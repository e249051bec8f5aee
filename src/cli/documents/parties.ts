/** Who a document is from and for, as shown at its head. */

import type { ResponseBody } from '../../operations/index.ts';
import { foreign, isTold, markup } from './html.ts';
import type { Html } from './html.ts';

export type Customer = ResponseBody<'customers.get'>['data'];
export type Address = NonNullable<ResponseBody<'customers.billingAddress'>['data']>;

export interface Recipient {
  readonly customer: Customer;
  /** Absent if there is none, or the service does not show it. */
  readonly address?: Address | undefined;
}

/** The registered name, the display name if it differs, the address, and who pays. */
export function recipientBlock({ customer, address }: Recipient): Html {
  const { name, legalName, billingContacts, metadata } = customer;
  const externalId = metadata?.externalCustomerId;
  const lines = [
    ...((legalName ?? name) === name ? [] : [name]),
    ...(address === undefined ? [] : addressLines(address)),
    ...(billingContacts ?? []).map((contact) => [contact.name, contact.email].filter(isTold).join(', ')),
    ...(isTold(externalId) ? [`Customer ${externalId}`] : []),
  ];
  return markup`<p class="name">${foreign(legalName ?? name)}</p>
    ${lines.map((line) => markup`<p>${foreign(line)}</p>`)}`;
}

function addressLines({ address1, address2, city, region, postalCode, country }: Address): string[] {
  return [address1, ...(address2 === undefined ? [] : [address2]), `${city}, ${region} ${postalCode}`, country];
}

/** The lines of the sender, its name first; empty if there are none. */
export function senderBlock(lines: readonly string[]): Html {
  const [name, ...rest] = lines;
  if (name === undefined) return markup``;
  return markup`<address class="sender" aria-label="From">
    <b>${foreign(name)}</b>${rest.map((line) => markup`<br />${foreign(line)}`)}
  </address>`;
}
