/** What may happen to an invoice: the table of semantics 7. */

import { ConflictError } from '../errors.ts';
import type { InvoiceStatus } from '../operations/invoices.ts';
import type { Invoice } from '../store/records/invoices.ts';

export type InvoiceAction = 'finalize' | 'cancel' | 'initiatePayment' | 'failPayment' | 'pay' | 'refund';

interface Transition {
  readonly from: readonly InvoiceStatus[];
  /** Where the action leads; an invoice that is there already stays as it is. */
  readonly to: readonly [InvoiceStatus, ...InvoiceStatus[]];
  /** `invoice is Paid; cannot …` */
  readonly words: string;
}

/** From a status that an action does not name it is a conflict, or done already. */
export const transitions: Readonly<Record<InvoiceAction, Transition>> = {
  finalize: { from: ['Drafted'], to: ['In Progress', 'Paid'], words: 'finalize' },
  cancel: { from: ['Drafted', 'In Progress'], to: ['Cancelled'], words: 'cancel' },
  initiatePayment: { from: ['In Progress'], to: ['In Transit'], words: 'begin a payment' },
  failPayment: { from: ['In Transit'], to: ['In Progress'], words: 'fail a payment' },
  pay: { from: ['In Progress', 'In Transit'], to: ['Paid'], words: 'pay' },
  refund: { from: ['Paid'], to: ['Refunded'], words: 'refund' },
};

/** Whether the action is still to be done: false where it was done before. Throws ConflictError where it may not be done. */
export function isDue(invoice: Pick<Invoice, 'status'>, action: InvoiceAction): boolean {
  const { from, to, words } = transitions[action];
  if (from.includes(invoice.status)) return true;
  if (to.includes(invoice.status)) return false;
  throw new ConflictError(`invoice is ${invoice.status}; cannot ${words}`);
}
