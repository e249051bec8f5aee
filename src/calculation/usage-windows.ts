/** The usage windows of a contract by time, where `usageWindowsOf` gives them by invoice. */

import {
  type BillingPeriod,
  dateOf,
  periodAt,
  periodIndexContaining,
  type ServicePeriod,
  servicePeriodOf,
} from './billing-period.ts';
import {
  type BillingTerms,
  invoicePeriodAt,
  invoicePeriodIndexContaining,
  type UsageWindow,
} from './invoice-periods.ts';
import type { ContractItem } from './rate-card.ts';

/**
 * Every usage window of a contract that shares an instant with `range`, whole, in the order of items and then of time: the
 * windows that its invoices meter, whichever invoice they end on.
 */
export function usageWindowsOver(terms: BillingTerms, range: ServicePeriod): UsageWindow[] {
  return terms.items.flatMap((item) => {
    const { meterId } = item;
    if (item.model !== 'USAGE' || meterId === undefined) return [];
    return periodsOver(terms, item, range)
      .map((period) => ({ item, meterId, period, ...servicePeriodOf(period) }))
      .filter((window) => overlaps(window, range));
  });
}

/**
 * Index of the last invoice that bills usage of invoice period `index`: later than `index` where usage is billed over more
 * than one of them.
 */
export function usageInvoiceIndex(terms: BillingTerms, index: number): number {
  const period = invoicePeriodAt(terms, index);
  if (period === undefined) return index;
  const ends = usageWindowsOver(terms, servicePeriodOf(period)).map((window) =>
    invoicePeriodIndexContaining(terms, window.period.end.subtract({ days: 1 })),
  );
  return Math.max(index, ...ends);
}

/** The part of a window that lies in `range`; for windows that share an instant with it. */
export function cutWindow(window: UsageWindow, range: ServicePeriod): UsageWindow {
  return {
    ...window,
    start: Temporal.Instant.compare(window.start, range.start) < 0 ? range.start : window.start,
    end: Temporal.Instant.compare(window.end, range.end) > 0 ? range.end : window.end,
  };
}

function periodsOver(terms: BillingTerms, item: ContractItem, range: ServicePeriod): BillingPeriod[] {
  const { interval } = item;
  if (item.billingMode === 'ONE_TIME' || interval === undefined) {
    const first = invoicePeriodAt(terms, 0);
    return first === undefined ? [] : [{ ...first, wholeEnd: first.end }];
  }
  const periods: BillingPeriod[] = [];
  let index = Math.max(0, periodIndexContaining(terms.startDate, interval, dateOf(range.start)));
  let period = periodAt(terms, interval, index);
  while (period !== undefined && Temporal.Instant.compare(servicePeriodOf(period).start, range.end) < 0) {
    periods.push(period);
    index += 1;
    period = periodAt(terms, interval, index);
  }
  return periods;
}

function overlaps(a: ServicePeriod, b: ServicePeriod): boolean {
  const start = Math.max(a.start.epochMilliseconds, b.start.epochMilliseconds);
  return start < Math.min(a.end.epochMilliseconds, b.end.epochMilliseconds);
}
