/**
 * Usage from invoices: a metered line becomes an event with its quantity, at the last instant of its period that had come when
 * it was pulled. Whole periods therefore cost what they cost, but days within them are not known. If credits lapsed within a
 * period, as much of its usage as they paid comes just before that.
 */

import { Big } from 'big.js';

import { limits } from '../../limits.ts';
import { midnightOf, timestampOf } from '../../operations/field-rules.ts';
import { centsOf } from '../wire/amounts.ts';
import type { Invoice, LedgerEntry } from './books.ts';
import type { HistoricEvent } from './history.ts';
import { quantityProperty } from './mirror-catalog.ts';
import type { PricedLine } from './mirror-lines.ts';
import type { BilledPrice } from './mirror-prices.ts';

export interface InvoicedUsage {
  readonly contract: { readonly id: string; readonly customerId: string };
  readonly billed: readonly BilledPrice[];
  readonly invoices: readonly Invoice[];
  readonly entries: readonly LedgerEntry[];
  readonly pulledAt: string;
}

/** Prices on one meter show the same usage: those with the shortest periods count. */
export function eventsOf(usage: InvoicedUsage): HistoricEvent[] {
  const byMeter = Map.groupBy(usage.billed, ({ price }) => price.meterId);
  const lines = [...byMeter].flatMap(([meterId, prices]) => {
    const [finest] = prices.toSorted((one, other) => periodsIn(other) - periodsIn(one));
    return meterId === undefined || finest === undefined ? [] : finest.lines.filter(isUsage);
  });
  return [...Map.groupBy(lines, ({ invoiceId }) => invoiceId)].flatMap(([invoiceId, own]) => {
    const lapse = lapseIn(invoiceId, usage);
    let paidCents = lapse?.paidCents ?? 0n;
    return own.flatMap((line, index) => {
      const before = partOf(line, paidCents);
      paidCents -= line.totalCents < paidCents ? line.totalCents : paidCents;
      const rest = new Big(line.quantity).minus(before);
      const event = eventOf(line, usage, `${invoiceId} ${index}`);
      return [
        ...(lapse === undefined || before.eq(0) ? [] : [event('before', before, lastInstantOf(line.start, lapse.at))]),
        ...(rest.eq(0)
          ? []
          : [event('rest', rest, lastInstantOf(line.start, line.end < usage.pulledAt ? line.end : usage.pulledAt))]),
      ];
    });
  });
}

export function isUsage({ kind, quantity }: PricedLine): boolean {
  return kind === 'metered' && !new Big(quantity).eq(0);
}

function eventOf({ price, groups }: PricedLine, { contract }: InvoicedUsage, key: string) {
  return (part: string, quantity: Big, timestamp: string): HistoricEvent => ({
    timestamp,
    eventName: price.meterId ?? '',
    customerId: contract.customerId,
    contractId: contract.id,
    idempotencyKey: `${key} ${part}`,
    // A value shown as empty was missing.
    properties: {
      ...Object.fromEntries(Object.entries(groups).filter(([, value]) => value !== '')),
      [quantityProperty]: quantity.toFixed(),
    },
  });
}

/** The part of a line's quantity that costs these cents, at the line's average price. */
function partOf({ quantity, totalCents }: PricedLine, cents: bigint): Big {
  if (cents <= 0n || totalCents <= 0n) return new Big(0);
  if (totalCents <= cents) return new Big(quantity);
  return new Big(quantity)
    .times(String(cents))
    .div(String(totalCents))
    .round(limits.decimalFractionDigits, Big.roundHalfUp);
}

/** When the last credits lapsed that paid on an invoice and no longer could at its end, and how much they had paid. */
function lapseIn(invoiceId: string, { invoices, entries }: InvoicedUsage) {
  const invoice = invoices.find(({ id }) => id === invoiceId);
  const grants = entries.filter((entry) => invoice !== undefined && hasLapsedIn(entry, invoice, entries));
  const at = grants
    .flatMap(({ expiresAt }) => expiresAt ?? [])
    .toSorted()
    .at(-1);
  if (at === undefined) return undefined;
  const ids = new Set<string | null>(grants.map(({ id }) => id));
  const movements = entries.filter((entry) => entry.invoiceId === invoiceId && ids.has(entry.grantEntryId));
  return { at, paidCents: movements.reduce((sum, { amountCents }) => sum - centsOf(amountCents), 0n) };
}

/** Whether the entry is a grant that paid on an invoice and expired within its period. */
export function hasLapsedIn(
  { id, type, expiresAt }: LedgerEntry,
  invoice: Invoice,
  entries: readonly LedgerEntry[],
): boolean {
  if (type !== 'grant' || expiresAt === null || invoice.period === undefined) return false;
  const { start, end } = invoice.period;
  if (expiresAt <= midnightOf(start) || expiresAt >= midnightOf(end)) return false;
  return entries.some(({ grantEntryId, invoiceId }) => grantEntryId === id && invoiceId === invoice.id);
}

function periodsIn({ lines }: BilledPrice): number {
  return new Set(lines.map(({ start }) => start)).size;
}

function lastInstantOf(start: string, end: string): string {
  const last = Temporal.Instant.from(end).subtract({ milliseconds: 1 });
  const first = Temporal.Instant.from(start);
  return timestampOf(Temporal.Instant.compare(last, first) < 0 ? first : last);
}
