/**
 * Contract snapshot + one period of its invoice grid + metered quantities -> the lines of an invoice, in order.
 * The lines of a draft and those frozen at finalization come from here alike (semantics 7).
 */

import { assert } from '../assert.ts';
import { limits } from '../limits.ts';
import {
  type BillingPeriod,
  type DateRange,
  type Interval,
  nestingGrid,
  periodAt,
  periodIndexContaining,
  type ServicePeriod,
  servicePeriodOf,
} from './billing-period.ts';
import type { Draw } from './burn-down.ts';
import type { GrantState } from './ledger.ts';
import { Big, centsOfDollars, decimal, divideHalfUp, dollarsOfCents, sumOf, zero } from './money.ts';
import { priceQuantity } from './pricing/index.ts';
import type { TierShare } from './pricing/pricing-model.ts';
import { prorate, type Proration, prorationOf } from './proration.ts';
import type { ContractItem } from './rate-card.ts';
import { type GroupValues, type RatedLine, rateUsage } from './rating.ts';

/** What a contract is billed by. `endDate` is exclusive: the end date, or the earlier date of a cancellation. */
export interface BillingTerms extends DateRange {
  readonly items: readonly ContractItem[];
  /** The paid credits that the first invoice bills; absent or 0 for none. */
  readonly creditGrantCents?: bigint | undefined;
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

/** `metered` lines are what credits may pay (interface 4.15 rule 4). */
export type LineKind = 'fixed' | 'metered' | 'prepaid' | 'credit';

/** A line of an invoice (interface 2.3), with what it came from. Amounts of a credit are negative. */
export interface InvoiceLine {
  /** Unique on its invoice, and the same on every reading. */
  readonly lineKey: string;
  readonly kind: LineKind;
  readonly name: string;
  readonly description: string;
  readonly quantity: Big;
  /** Dollars, exact; effective where tiers or proration made it. */
  readonly unitPrice: Big;
  /** Dollars before the rounding to cents. */
  readonly exactAmount: Big;
  /** Half-up of `exactAmount` (semantics 12). */
  readonly totalCents: bigint;
  /** Half-up of `unitPrice`; for display only. */
  readonly unitPriceCents: bigint;
  readonly servicePeriod: ServicePeriod;
  readonly itemId?: string | undefined;
  readonly pricingId?: string | undefined;
  readonly productId?: string | undefined;
  readonly meterId?: string | undefined;
  readonly groupValues?: GroupValues | undefined;
  readonly grantId?: string | undefined;
  readonly breakdown?: readonly TierShare[] | undefined;
  readonly proration?: Proration | undefined;
}

/** What the invoice of a period comes to; its credits are in it once `withCredits` has added them. */
export interface InvoiceDraft {
  readonly period: BillingPeriod;
  readonly invoiceDate: Temporal.PlainDate;
  readonly lines: readonly InvoiceLine[];
  /** Sum of all lines. */
  readonly totalCents: bigint;
  /** Sum of the metered lines: the most that credits may take off. */
  readonly meteredCents: bigint;
}

/** Rated lines by item id; an item without an entry has metered nothing. */
export type RatedUsage = ReadonlyMap<string, readonly RatedLine[]>;

const one = new Big(1);
const monthly: Interval = { unit: 'MONTH', count: 1 };

/** What follows from terms alone: found once, since billing asks for the same periods again and again. */
interface TermsPeriods {
  readonly grid: Interval | undefined;
  readonly periods: Map<number, BillingPeriod | undefined>;
  readonly billed: WeakMap<BillingPeriod, ReadonlyMap<ContractItem, BilledPeriod>>;
  readonly windows: WeakMap<BillingPeriod, readonly UsageWindow[]>;
}

const knownPeriods = new WeakMap<BillingTerms, TermsPeriods>();

function periodsOfTerms(terms: BillingTerms): TermsPeriods {
  let found = knownPeriods.get(terms);
  if (found === undefined) {
    found = { grid: gridOf(terms.items), periods: new Map(), billed: new WeakMap(), windows: new WeakMap() };
    knownPeriods.set(terms, found);
  }
  return found;
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
  const { grid, periods } = periodsOfTerms(terms);
  if (!periods.has(index))
    periods.set(index, grid === undefined ? onlyPeriod(terms, index) : periodAt(terms, grid, index));
  return periods.get(index);
}

function onlyPeriod(terms: BillingTerms, index: number): BillingPeriod | undefined {
  if (index !== 0) return undefined;
  const first = periodAt({ startDate: terms.startDate }, monthly, 0);
  assert(first !== undefined, 'a rolling period has no end to be cut at');
  const end = terms.endDate ?? first.end;
  return { ...first, end, wholeEnd: end };
}

/**
 * What to meter for an invoice: of every USAGE item, its own period that ends with the invoice's. An item that is billed
 * once is metered over the first invoice's period (our choice).
 */
export function usageWindowsOf(terms: BillingTerms, period: BillingPeriod): readonly UsageWindow[] {
  const { windows } = periodsOfTerms(terms);
  let found = windows.get(period);
  if (found === undefined) {
    found = [...billedPeriods(terms, period)].flatMap(([item, { own, service }]) => {
      const { model, meterId } = item;
      return model === 'USAGE' && meterId !== undefined ? [{ item, meterId, period: own, ...service }] : [];
    });
    windows.set(period, found);
  }
  return found;
}

/** The period's end where usage is billed, its start where fixed prices alone are (semantics 7). */
export function invoiceDateOf(terms: BillingTerms, period: BillingPeriod): Temporal.PlainDate {
  return usageWindowsOf(terms, period).length > 0 ? period.end : period.start;
}

/**
 * The invoice of a period before credits: lines in the order of the items, then the prepaid credits on the first.
 * Fixed items are billed in advance, on the invoice with which their own period starts, and prorated by days where the
 * contract's end cuts that period; usage is billed in arrears. The flat amount of a USAGE price is a fixed line beside its
 * usage, which credits cannot pay (semantics 5).
 */
export function draftInvoice(terms: BillingTerms, period: BillingPeriod, rated: RatedUsage = new Map()): InvoiceDraft {
  const lines = [...billedPeriods(terms, period)].flatMap(([item, billed]) => {
    if (item.model !== 'USAGE') return [fixedLine(item, billed)];
    return [...meteredLines(item, billed, rated.get(item.id) ?? rateUsage(item, [])), ...flatAmountLine(item, billed)];
  });
  return summed({
    period,
    invoiceDate: invoiceDateOf(terms, period),
    lines: [...lines, ...prepaidLine(terms, period)],
  });
}

/**
 * The invoice with its credits: one negative line for each grant that paid on it, in the order given. Draws of other
 * invoices are passed over. Credits never exceed the metered lines (interface 4.15 rule 4).
 */
export function withCredits(
  draft: InvoiceDraft,
  invoiceId: string,
  draws: readonly Draw[],
  grants: readonly GrantState[],
): InvoiceDraft {
  const applied = new Map<string, bigint>();
  for (const draw of draws) {
    if (draw.invoiceId !== invoiceId) continue;
    applied.set(draw.grantId, (applied.get(draw.grantId) ?? 0n) + draw.appliedCents);
  }
  const credits = grants.flatMap((grant) => {
    const appliedCents = applied.get(grant.grantId) ?? 0n;
    return appliedCents === 0n ? [] : [creditLine(draft.period, grant, appliedCents)];
  });
  const invoice = summed({ ...draft, lines: [...draft.lines, ...credits] });
  assert(draft.totalCents - invoice.totalCents <= draft.meteredCents, 'credits pay for metered lines alone');
  return invoice;
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

/** An item's own period, and its instants. */
interface BilledPeriod {
  readonly own: BillingPeriod;
  readonly service: ServicePeriod;
}

/**
 * Of each item that this invoice bills its own period: it starts with the invoice's period when fixed, ends with it when
 * metered.
 */
function billedPeriods(terms: BillingTerms, period: BillingPeriod): ReadonlyMap<ContractItem, BilledPeriod> {
  const { billed } = periodsOfTerms(terms);
  let found = billed.get(period);
  if (found === undefined) {
    const ofInterval = ownPeriods(terms, period);
    found = new Map(
      terms.items.flatMap((item): [ContractItem, BilledPeriod][] => {
        const own = ofInterval(item.billingMode === 'ONE_TIME' ? undefined : intervalOf(item));
        return own !== undefined && isBilledWith(period, item, own) ? [[item, own]] : [];
      }),
    );
    billed.set(period, found);
  }
  return found;
}

function isBilledWith(period: BillingPeriod, item: ContractItem, { own }: BilledPeriod): boolean {
  if (item.billingMode === 'ONE_TIME') return period.index === 0;
  return item.model === 'USAGE' ? own.end.equals(period.end) : own.start.equals(period.start);
}

/** An interval's period at the start of the invoice's, found once for all items of an interval. */
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
  return (interval) => {
    const key = interval === undefined ? '' : `${interval.count} ${interval.unit}`;
    if (!known.has(key)) known.set(key, find(interval));
    return known.get(key);
  };
}

function fixedLine(item: ContractItem, { own, service }: BilledPeriod): InvoiceLine {
  const priced = priceQuantity(item, decimal(item.quantity));
  const proration = prorationOf(own);
  const exactAmount = prorate(priced.exactAmount, proration);
  return {
    ...itemLine(item, service),
    lineKey: item.id,
    kind: 'fixed',
    description: item.description ?? item.productName,
    quantity: priced.quantity,
    ...(proration === undefined
      ? amounts(exactAmount, priced.unitPrice)
      : amounts(exactAmount, effectivePrice(exactAmount, priced.quantity))),
    breakdown: priced.breakdown,
    proration,
  };
}

function meteredLines(item: ContractItem, { service }: BilledPeriod, rated: readonly RatedLine[]): InvoiceLine[] {
  return rated.map((line) => ({
    ...itemLine(item, service),
    lineKey: line.lineKey,
    kind: 'metered',
    description: line.description,
    quantity: line.quantity,
    exactAmount: line.exactAmount,
    totalCents: line.totalCents,
    unitPrice: line.unitPrice,
    unitPriceCents: centsOfDollars(line.unitPrice),
    meterId: item.meterId,
    groupValues: line.groupValues,
    breakdown: line.breakdown,
  }));
}

function flatAmountLine(item: ContractItem, { own, service }: BilledPeriod): InvoiceLine[] {
  const flatAmount = decimal(item.flatAmount ?? '0');
  if (flatAmount.eq(zero)) return [];
  const proration = prorationOf(own);
  const exactAmount = prorate(flatAmount, proration);
  return [
    {
      ...itemLine(item, service),
      lineKey: `${item.id} flat`,
      kind: 'fixed',
      description: `${item.description ?? item.productName} (flat amount)`,
      quantity: one,
      ...amounts(exactAmount, exactAmount),
      proration,
    },
  ];
}

function prepaidLine(terms: BillingTerms, period: BillingPeriod): InvoiceLine[] {
  const grantCents = terms.creditGrantCents ?? 0n;
  if (period.index !== 0 || grantCents === 0n) return [];
  const amount = dollarsOfCents(grantCents);
  return [
    {
      lineKey: 'prepaid credits',
      kind: 'prepaid',
      name: 'Prepaid credits',
      description: 'Credits bought with this contract',
      quantity: one,
      ...amounts(amount, amount),
      servicePeriod: servicePeriodOf(period),
    },
  ];
}

function creditLine(period: BillingPeriod, grant: GrantState, appliedCents: bigint): InvoiceLine {
  const amount = dollarsOfCents(-appliedCents);
  return {
    lineKey: `credit ${grant.grantId}`,
    kind: 'credit',
    name: 'Credits applied',
    description: grant.description,
    quantity: one,
    ...amounts(amount, amount),
    servicePeriod: servicePeriodOf(period),
    grantId: grant.grantId,
  };
}

function itemLine(
  item: ContractItem,
  servicePeriod: ServicePeriod,
): Pick<InvoiceLine, 'name' | 'servicePeriod' | 'itemId' | 'pricingId' | 'productId'> {
  return {
    name: item.pricingName,
    servicePeriod,
    itemId: item.id,
    pricingId: item.pricingId,
    productId: item.productId,
  };
}

function amounts(
  exactAmount: Big,
  unitPrice: Big,
): Pick<InvoiceLine, 'exactAmount' | 'totalCents' | 'unitPrice' | 'unitPriceCents'> {
  return {
    exactAmount,
    totalCents: centsOfDollars(exactAmount),
    unitPrice,
    unitPriceCents: centsOfDollars(unitPrice),
  };
}

function effectivePrice(exactAmount: Big, quantity: Big): Big {
  return quantity.eq(zero) ? zero : divideHalfUp(exactAmount, quantity, limits.decimalFractionDigits);
}

function summed(invoice: Pick<InvoiceDraft, 'period' | 'invoiceDate' | 'lines'>): InvoiceDraft {
  return {
    ...invoice,
    totalCents: centsOfLines(invoice.lines),
    meteredCents: centsOfLines(invoice.lines.filter((line) => line.kind === 'metered')),
  };
}

/** What lines come to. */
export function centsOfLines(lines: readonly Pick<InvoiceLine, 'totalCents'>[]): bigint {
  return sumOf(lines.map((line) => line.totalCents));
}
