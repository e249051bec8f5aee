/** What may happen to an invoice: the table of semantics 7. */

import { ConflictError } from '../errors.ts';
import type { InvoiceStatus } from '../operations/invoices.ts';
import type { Invoice } from '../store/records/invoices.ts';

export type InvoiceAction = 'finalize' | 'send' | 'cancel' | 'initiatePayment' | 'failPayment' | 'pay' | 'refund';

interface Transition {
  readonly from: readonly InvoiceStatus[];
  /** Where the action leads, unless the status stays; an invoice that is there already stays as it is. */
  readonly to: readonly InvoiceStatus[];
  /** `invoice is Paid; cannot …` */
  readonly words: string;
}

/** From a status that it does not name, an action is a conflict, or done already. */
export const transitions = {
  finalize: { from: ['Drafted'], to: ['In Progress', 'Paid'], words: 'finalize' },
  send: { from: ['In Progress', 'In Transit', 'Paid'], to: [], words: 'send' },
  cancel: { from: ['Drafted', 'In Progress'], to: ['Cancelled'], words: 'cancel' },
  initiatePayment: { from: ['In Progress'], to: ['In Transit'], words: 'begin a payment' },
  failPayment: { from: ['In Transit'], to: ['In Progress'], words: 'fail a payment' },
  pay: { from: ['In Progress', 'In Transit'], to: ['Paid'], words: 'pay' },
  refund: { from: ['Paid'], to: ['Refunded'], words: 'refund' },
} as const satisfies Record<InvoiceAction, Transition>;

/** Cancelled or refunded: no action leads out of it. */
export function isUndone({ status }: Pick<Invoice, 'status'>): boolean {
  return status === 'Cancelled' || status === 'Refunded';
}

/** What the caller probably needs instead, by status; nothing for a cancelled or refunded invoice, which stays so. */
const instead: Partial<Record<InvoiceStatus, Partial<Record<InvoiceAction, string>>>> = {
  Drafted: {
    send: 'finalize it first: tally invoices finalize ID',
    initiatePayment: 'finalize it first: tally invoices finalize ID',
    failPayment: 'finalize it first: tally invoices finalize ID',
    pay: 'finalize it first: tally invoices finalize ID',
    refund: 'nothing is paid yet; if it is not to be billed: tally invoices cancel ID',
  },
  'In Progress': {
    refund: 'nothing is paid yet; if it is not to be billed: tally invoices cancel ID',
  },
  'In Transit': {
    cancel: 'say first how the payment ended: tally invoices pay ID --status failed, or paid',
    refund: 'say first that the payment has come: tally invoices pay ID',
  },
  Paid: { cancel: 'it is paid; refund it with: tally invoices refund ID' },
};

/** Whether the action is still to be done: false where it was done before. Throws ConflictError where it may not be done. */
export function isDue({ id, status }: Pick<Invoice, 'id' | 'status'>, action: InvoiceAction): boolean {
  const { from, to, words }: Transition = transitions[action];
  if (from.includes(status)) return true;
  if (to.includes(status)) return false;
  const hint = instead[status]?.[action]?.replace('ID', id);
  throw new ConflictError(`invoice is ${status}; cannot ${words}`, hint === undefined ? {} : { hint });
}
