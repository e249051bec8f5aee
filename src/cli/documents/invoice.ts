/** The contents of an invoice: its lines, what credits paid of them, and what is due. Amounts add up to the cent. */

import type { ResponseBody } from '../../operations/index.ts';
import { centsOf } from '../wire/amounts.ts';
import { isTold } from './html.ts';
import type { Recipient } from './parties.ts';

export type Invoice = ResponseBody<'invoices.get'>['data'];
export type Line = NonNullable<Invoice['lineItems']>[number];

export interface InvoiceDocument extends Recipient {
  readonly invoice: Invoice;
  /** Who the invoice is from: name first, then the rest of the letterhead. */
  readonly sender: readonly string[];
}

export interface InvoiceSums {
  readonly charges: readonly Line[];
  /** Lines below zero: applied credits. */
  readonly credits: readonly Line[];
  readonly chargesCents: bigint;
  /** What a service adds to the total without a line for it. */
  readonly otherCents: bigint;
  readonly totalCents: bigint;
  /** What the customer still has to pay: 0 for a paid, void or refunded invoice. */
  readonly dueCents: bigint;
}

/** Charges, credits and the rest add up to the total. */
export function invoiceSums({ status, totalCents, lineItems }: Invoice): InvoiceSums {
  const lines = lineItems ?? [];
  const credits = lines.filter((line) => centsOf(line.totalAmountCents) < 0n);
  const charges = lines.filter((line) => centsOf(line.totalAmountCents) >= 0n);
  const total = centsOf(totalCents);
  return {
    charges,
    credits,
    chargesCents: sumOf(charges),
    otherCents: total - sumOf(lines),
    totalCents: total,
    dueCents: settledStatuses.has(status) ? 0n : total,
  };
}

const settledStatuses: ReadonlySet<string> = new Set(['Paid', 'Cancelled', 'Refunded'] satisfies Invoice['status'][]);

function sumOf(lines: readonly Line[]): bigint {
  return lines.reduce((sum, { totalAmountCents }) => sum + centsOf(totalAmountCents), 0n);
}

/** From the first start of a line's service to the last end, exclusive; undefined if no line tells it. */
export function servicePeriodOf({ lineItems }: Invoice): { start: string; end: string } | undefined {
  const periods = (lineItems ?? []).map(({ servicePeriod }) => servicePeriod).filter((period) => isTold(period?.end));
  const starts = periods.map(({ start }) => start).sort();
  const ends = periods.map(({ end }) => end).sort();
  const [start, end] = [starts[0], ends.at(-1)];
  return start === undefined || end === undefined ? undefined : { start, end };
}
