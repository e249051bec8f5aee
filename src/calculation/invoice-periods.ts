/** Terms of a contract -> the periods of its invoices, and what each of them bills (semantics 6). */

import { assert } from '../assert.ts';
import {
  type BillingPeriod,
  type DateRange,
  type Interval,
  intervalKey,
  isBefore,
  nestingGrid,
  periodAt,
  periodIndexContaining,
  type ServicePeriod,
  servicePeriodOf,
} from './billing-period.ts';
import type { ContractItem } from './rate-card.ts';

/** What a contract is billed by. `endDate` is exclusive: the end date, or the earlier date of a cancellation. */
export interface BillingTerms extends DateRange {
  readonly items: readonly ContractItem[];
  /** The paid credits that the first invoice bills; absent or 0 for none. */
  readonly creditGrantCents?: bigint | undefined;
  /** What held before a cancellation; absent without one. */
  readonly uncancelled?: BillingTerms | undefined;
}

/** What to meter for an item of an invoice. */
export interface UsageWindow {
  readonly item: ContractItem;
  readonly meterId: string;
  readonly period: BillingPeriod;
  readonly start: Temporal.Instant;
  /** Exclusive. */
  readonly end: Temporal.Instant;
}

const monthly: Interval = { unit: 'MONTH', count: 1 };

/** What follows from the terms alone. Found once, because billing needs the same periods again and again. */
interface TermsPeriods {
  readonly grid: Interval | undefined;
  readonly closing: BillingPeriod | undefined;
  readonly periods: Map<number, BillingPeriod | undefined>;
  readonly billed: WeakMap<BillingPeriod, ReadonlyMap<ContractItem, BilledPeriod>>;
  readonly windows: WeakMap<BillingPeriod, readonly UsageWindow[]>;
}

const knownPeriods = new WeakMap<BillingTerms, TermsPeriods>();

function periodsOfTerms(terms: BillingTerms): TermsPeriods {
  return knownPeriods.getOrInsertComputed(terms, () => {
    const grid = gridOf(terms.items);
    const closing = grid && closingPeriod(terms, grid);
    return { grid, closing, periods: new Map(), billed: new WeakMap(), windows: new WeakMap() };
  });
}

/**
 * The end of the period that holds `date`: a cancellation on that day ends service there. Where nothing recurs, a fixed term
 * is one period, and a rolling contract has months (our choice).
 */
export function endOfPeriodAt(terms: BillingTerms, date: Temporal.PlainDate): Temporal.PlainDate {
  const { grid } = periodsOfTerms(terms);
  if (grid === undefined && terms.endDate !== undefined) return terms.endDate;
  const interval = grid ?? monthly;
  const period = periodAt(terms, interval, periodIndexContaining(terms.startDate, interval, date));
  assert(period !== undefined, 'a contract is cancelled while it is active');
  return period.end;
}

/** Which period of the contract's invoice grid holds `date`. */
export function invoicePeriodIndexContaining(terms: BillingTerms, date: Temporal.PlainDate): number {
  const { grid } = periodsOfTerms(terms);
  return grid === undefined ? 0 : periodIndexContaining(terms.startDate, grid, date);
}

/**
 * Period `index` of the invoice grid, which is the shortest interval of the contract's items (semantics 6); undefined once
 * the contract has ended. A contract whose items are all billed once has one invoice: for its whole term, or for its first
 * month when it rolls (our choice).
 */
export function invoicePeriodAt(terms: BillingTerms, index: number): BillingPeriod | undefined {
  const { grid, closing, periods } = periodsOfTerms(terms);
  if (closing?.index === index) return closing;
  return periods.getOrInsertComputed(index, () =>
    grid === undefined ? onlyPeriod(terms, index) : periodAt(terms, grid, index),
  );
}

/**
 * The period after a cancellation whose invoice bills, at the end of service, the usage that the cancellation cut short.
 * Undefined where the invoice of the last period of service bills usage anyway. An invoice of fixed prices alone cannot: it
 * was finalized at the start of its period.
 */
function closingPeriod({ startDate, endDate, uncancelled, items }: BillingTerms, grid: Interval) {
  if (uncancelled === undefined || endDate === undefined || !isBefore(startDate, endDate)) return undefined;
  if (!items.some((item) => item.model === 'USAGE')) return undefined;
  const index = periodIndexContaining(startDate, grid, endDate.subtract({ days: 1 }));
  const last = invoicePeriodAt(uncancelled, index);
  return last === undefined || usageWindowsOf(uncancelled, last).length > 0
    ? undefined
    : invoicePeriodAt(uncancelled, index + 1);
}

function onlyPeriod(terms: BillingTerms, index: number): BillingPeriod | undefined {
  const { startDate, endDate, uncancelled } = terms;
  if (index !== 0 || (endDate !== undefined && !isBefore(startDate, endDate))) return undefined;
  const first = periodAt({ startDate }, monthly, 0);
  assert(first !== undefined, 'a rolling period has no end to be cut at');
  // A cancellation, however late, leaves the one invoice as it was.
  const end = (uncancelled ?? terms).endDate ?? first.end;
  return { ...first, end, wholeEnd: end };
}

/** What to meter for an invoice: for every USAGE item, its own period, if that ends with the invoice's. */
export function usageWindowsOf(terms: BillingTerms, period: BillingPeriod): readonly UsageWindow[] {
  return periodsOfTerms(terms).windows.getOrInsertComputed(period, () =>
    [...billedPeriods(terms, period)].flatMap(([item, { own, service }]) => {
      const { model, meterId } = item;
      return model === 'USAGE' && meterId !== undefined ? [{ item, meterId, period: own, ...service }] : [];
    }),
  );
}

/** `usageWindowsOf` for the invoice of period `index`; none once the contract has ended. */
export function usageWindowsAt(terms: BillingTerms, index: number): readonly UsageWindow[] {
  const period = invoicePeriodAt(terms, index);
  return period === undefined ? [] : usageWindowsOf(terms, period);
}

/** The period's end where usage is billed; its start where only fixed prices are (semantics 7) or service has ended. */
export function invoiceDateOf(terms: BillingTerms, period: BillingPeriod): Temporal.PlainDate {
  if (period === periodsOfTerms(terms).closing) return period.start;
  return usageWindowsOf(terms, period).length > 0 ? period.end : period.start;
}

function gridOf(items: readonly ContractItem[]): Interval | undefined {
  const intervals = items.filter((item) => item.billingMode === 'RECURRING').map(intervalOf);
  const grid = nestingGrid(intervals);
  assert(
    grid !== undefined || intervals.length === 0,
    'the intervals of a plan nest: it is checked when a plan is made',
  );
  return grid;
}

function intervalOf(item: ContractItem): Interval {
  assert(item.interval !== undefined, 'a recurring price has an interval');
  return item.interval;
}

/** What an invoice is for as a whole: its period, or the service whose usage it bills after a cancellation. */
export function serviceOf(terms: BillingTerms, period: BillingPeriod): ServicePeriod {
  const [window] = period === periodsOfTerms(terms).closing ? usageWindowsOf(terms, period) : [];
  return window === undefined ? servicePeriodOf(period) : { start: window.start, end: window.end };
}

/** An item's own period, and its instants. */
export interface BilledPeriod {
  readonly own: BillingPeriod;
  readonly service: ServicePeriod;
}

/**
 * The own period of each item that this invoice bills: a fixed item's starts with the invoice's period, a metered item's
 * ends with it.
 */
export function billedPeriods(terms: BillingTerms, period: BillingPeriod): ReadonlyMap<ContractItem, BilledPeriod> {
  return periodsOfTerms(terms).billed.getOrInsertComputed(period, () => {
    const ofInterval = ownPeriods(terms, period);
    return new Map(
      terms.items.flatMap((item): [ContractItem, BilledPeriod][] => {
        const own = ofInterval(item.billingMode === 'ONE_TIME' ? undefined : intervalOf(item));
        return own !== undefined && isBilledWith(terms, period, item, own) ? [[item, own]] : [];
      }),
    );
  });
}

function isBilledWith(terms: BillingTerms, period: BillingPeriod, item: ContractItem, { own }: BilledPeriod): boolean {
  if (item.billingMode === 'ONE_TIME') return period.index === 0;
  if (item.model !== 'USAGE') return own.start.equals(period.start);
  const { closing } = periodsOfTerms(terms);
  return closing?.start.equals(own.end) === true ? period === closing : own.end.equals(period.end);
}

/** An interval's period at the start of the invoice's; found once for each interval. */
function ownPeriods(
  terms: BillingTerms,
  period: BillingPeriod,
): (interval: Interval | undefined) => BilledPeriod | undefined {
  const known = new Map<string, BilledPeriod | undefined>();
  const find = (interval: Interval | undefined): BilledPeriod | undefined => {
    const own =
      interval === undefined
        ? { ...period, wholeEnd: period.end }
        : periodAt(terms, interval, periodIndexContaining(terms.startDate, interval, period.start));
    return own && { own, service: servicePeriodOf(own) };
  };
  return (interval) => known.getOrInsertComputed(intervalKey(interval), () => find(interval));
}
