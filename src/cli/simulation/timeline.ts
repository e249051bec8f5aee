/** What happened when: events that webhooks would have sent, movements of credits, and steps. */

import { isExactNumber } from '../../exact-json.ts';
import type { ExactNumber } from '../../exact-json.ts';
import type { WebhookEventType } from '../../operations/wire-values.ts';
import { compareText } from '../../text-order.ts';
import { moneyText, valueAt, wireText } from '../wire/rows.ts';
import { contractIdOf } from './books.ts';
import type { Delivery, Invoice, LedgerEntry } from './books.ts';
import type { Step } from './steps.ts';

export interface TimelineRow extends Owner {
  readonly at: string;
  /** A webhook event type, `credit.grant` and the like for ledger entries, or `step`. */
  readonly what: string;
  readonly amountCents: ExactNumber | null;
  readonly detail: string;
}

/** Names in the scenario; ids where there are none. */
export interface Owner {
  readonly customer: string;
  readonly contract: string;
}

export type OwnerOf = (contractId: string | undefined, customerId?: unknown) => Owner;

export interface Told {
  readonly steps: readonly Step[];
  readonly deliveries: readonly Delivery[];
  readonly ledger: readonly (Owner & LedgerEntry)[];
  readonly invoices: readonly Invoice[];
  readonly own: OwnerOf;
}

/** In order of time; at one instant first new things, then steps, their movements of credits, and the events about them. */
export function timelineOf({ steps, deliveries, ledger, invoices, own }: Told): TimelineRow[] {
  const periods = new Map(invoices.map(({ id, period }) => [id, period?.start ?? '']));
  const ranked = [
    ...deliveries.map((delivery) => ({
      rank: delivery.eventType.endsWith('.created') ? 0 : 3,
      row: rowOfDelivery(delivery, periods, own),
    })),
    ...steps.flatMap(({ at, detail }) => (detail === undefined ? [] : [{ rank: 1, row: rowOfStep(at, detail) }])),
    ...ledger.map((entry) => ({ rank: 2, row: rowOfEntry(entry) })),
  ];
  return ranked
    .toSorted((one, other) => compareText(one.row.at, other.row.at) || one.rank - other.rank)
    .map(({ row }) => row);
}

function rowOfStep(at: string, detail: string): TimelineRow {
  return { at, what: 'step', customer: '', contract: '', amountCents: null, detail };
}

function rowOfEntry({
  createdAt,
  type,
  customer,
  contract,
  amountCents,
  description,
}: Owner & LedgerEntry): TimelineRow {
  return { at: createdAt, what: `credit.${type}`, customer, contract, amountCents, detail: description };
}

function rowOfDelivery(delivery: Delivery, periods: ReadonlyMap<string, string>, own: OwnerOf): TimelineRow {
  const { eventType, createdAt, payload } = delivery;
  const text = (path: string) => wireText(valueAt(payload, `data.${path}`));
  const isOfCustomer = eventType.startsWith('customer.');
  const { amount, detail } = telling[eventType](text, periods);
  const amountCents = amount === undefined ? null : valueAt(payload, `data.${amount}`);
  return {
    at: createdAt,
    what: eventType,
    ...own(contractIdOf(delivery), isOfCustomer ? valueAt(payload, 'data.id') : valueAt(payload, 'data.customerId')),
    amountCents: isExactNumber(amountCents) ? amountCents : null,
    detail,
  };
}

type Tell = (
  text: (path: string) => string,
  periods: ReadonlyMap<string, string>,
) => { readonly amount?: string; readonly detail: string };

const tellInvoice: Tell = (text, periods) => ({
  amount: 'totalCents',
  detail: `${text('invoiceNumber')}, from ${periods.get(text('id')) ?? '?'}: ${text('status')}`,
});
const tellName: Tell = (text) => ({ detail: text('name') });

const telling: Readonly<Record<WebhookEventType, Tell>> = {
  'invoice.created': tellInvoice,
  'invoice.updated': tellInvoice,
  'contract.created': tellName,
  'contract.updated': tellName,
  'contract.terminated': tellName,
  'customer.created': tellName,
  'customer.updated': (text) => ({ detail: text('isPaused') === 'true' ? `${text('name')}: paused` : text('name') }),
  'credit.threshold_crossed': (text) => ({
    amount: 'balanceCents',
    detail: `the balance fell to ${moneyText(text('thresholdCents'))} or less`,
  }),
  'credit.balance_depleted': () => ({ amount: 'balanceCents', detail: 'nothing is left' }),
  'credit.budget.exhausted': (text) => ({ amount: 'consumedCents', detail: `budget ${text('budget.label')}` }),
};
