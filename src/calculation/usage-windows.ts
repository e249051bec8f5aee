/** The usage windows of a contract by time; `usageWindowsOf` gives them by invoice. */

import {
  dateOf,
  type Interval,
  intervalKey,
  periodAt,
  periodIndexContaining,
  type ServicePeriod,
  servicePeriodOf,
} from './billing-period.ts';
import {
  type BilledPeriod,
  type BillingTerms,
  invoicePeriodAt,
  invoicePeriodIndexContaining,
  type UsageWindow,
} from './invoice-periods.ts';

/**
 * Every usage window of a contract that shares an instant with `range`, whole, in the order of items and then of time: the
 * windows that its invoices meter, whichever invoice they end on.
 */
export function usageWindowsOver(terms: BillingTerms, range: ServicePeriod): UsageWindow[] {
  const known = new Map<string, readonly BilledPeriod[]>();
  return terms.items.flatMap((item) => {
    const { meterId, interval } = item;
    if (item.model !== 'USAGE' || meterId === undefined || interval === undefined) return [];
    const periods = known.getOrInsertComputed(intervalKey(interval), () => periodsOver(terms, interval, range));
    return periods.map(({ own, service: { start, end } }) => ({ item, meterId, period: own, start, end }));
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
  const isBegun = window.start.epochMilliseconds < range.start.epochMilliseconds;
  const goesOn = window.end.epochMilliseconds > range.end.epochMilliseconds;
  if (!isBegun && !goesOn) return window;
  return { ...window, start: isBegun ? range.start : window.start, end: goesOn ? range.end : window.end };
}

/** The periods of one interval, found once for all items that have it: a range may hold thousands, and a plan a hundred items. */
function periodsOver(terms: BillingTerms, interval: Interval, range: ServicePeriod): BilledPeriod[] {
  const periods: BilledPeriod[] = [];
  let index = Math.max(0, periodIndexContaining(terms.startDate, interval, dateOf(range.start)));
  for (;;) {
    const own = periodAt(terms, interval, index);
    if (own === undefined) return periods;
    const service = servicePeriodOf(own);
    if (service.start.epochMilliseconds >= range.end.epochMilliseconds) return periods;
    if (overlaps(service, range)) periods.push({ own, service });
    index += 1;
  }
}

function overlaps(a: ServicePeriod, b: ServicePeriod): boolean {
  const start = Math.max(a.start.epochMilliseconds, b.start.epochMilliseconds);
  return start < Math.min(a.end.epochMilliseconds, b.end.epochMilliseconds);
}
