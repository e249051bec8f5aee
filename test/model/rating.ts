/** From quantities to money: tiers, rate cards, and the lines of one invoice before credits (semantics 5 to 7). */

import { dayOf, dayOfInstant, midnight, periodStart } from './calendar.ts';
import {
  add,
  atLeastZero,
  compare,
  decimal,
  divide,
  halfUp,
  multiply,
  one,
  smaller,
  subtract,
  whole,
  zero,
} from './fraction.ts';
import type { Fraction } from './fraction.ts';
import { billedEvents, endOfService, quantities } from './metering.ts';
import type { Contract, Interval, Invoice, Item, Line, Rate, State, Tier } from './state.ts';

const hundred = whole(100n);

export const centsOf = (dollars: Fraction): bigint => halfUp(multiply(dollars, hundred));
export const dollarsOf = (cents: bigint): Fraction => divide(whole(cents), hundred);

/** What the tiers ask for a quantity. */
function tieredAmount(tiers: readonly Tier[], tiering: string, quantity: Fraction): Fraction {
  const [first] = tiers;
  if (first === undefined) throw new TypeError('a tiered price without tiers');
  if (quantity.n < 0n) return zero;
  if (quantity.n === 0n) return first.flat;
  if (tiering === 'VOLUME') {
    const holding = tiers.find((tier) => tier.to === undefined || compare(quantity, tier.to) <= 0) ?? first;
    return add(multiply(quantity, holding.unit), holding.flat);
  }
  let amount = zero;
  for (const tier of tiers) {
    if (compare(quantity, tier.from) <= 0) break;
    const top = tier.to === undefined ? quantity : smaller(quantity, tier.to);
    amount = add(amount, add(multiply(subtract(top, tier.from), tier.unit), tier.flat));
  }
  return amount;
}

/** The rate of the most dimensions that all hold; of equally many the first listed. */
function rateFor(rates: readonly Rate[], groups: Readonly<Record<string, string>>): Rate | undefined {
  let best: Rate | undefined;
  for (const rate of rates) {
    const dimensions = Object.entries(rate.dimensions);
    if (!dimensions.every(([key, value]) => groups[key] === value)) continue;
    if (best === undefined || dimensions.length > Object.keys(best.dimensions).length) best = rate;
  }
  return best;
}

export interface Priced {
  readonly amount: Fraction;
  readonly unit: Fraction;
}

/** What a metered quantity of one group costs by an item. */
export function priceUsage(item: Item, groups: Readonly<Record<string, string>>, quantity: Fraction): Priced {
  const unit = rateFor(item.rates, groups)?.unit ?? item.fallback;
  if (unit !== undefined) return { amount: multiply(atLeastZero(quantity), unit), unit };
  return priceQuantity(item, quantity);
}

/** What a quantity costs by an item's own price, without the flat amount that stands beside a unit price. */
function priceQuantity(item: Item, quantity: Fraction): Priced {
  if (item.tiers === undefined) {
    const unit = item.unit ?? zero;
    return { amount: multiply(atLeastZero(quantity), unit), unit };
  }
  const amount = tieredAmount(item.tiers, item.pricing.tiering, quantity);
  return { amount, unit: quantity.n > 0n ? divide(amount, quantity) : (item.tiers[0]?.unit ?? zero) };
}

/** Own periods of an item that reach into [from, to), in days; `end` is cut at the end of service, `whole` is not. */
function ownPeriods(contract: Contract, interval: Interval, from: number, to: number) {
  const end = endOfService(contract);
  const periods: { start: number; end: number; whole: number }[] = [];
  for (let k = 0; ; k += 1) {
    const start = periodStart(contract.start, interval, k);
    if (start >= to || (end !== undefined && start >= end)) return periods;
    const wholeEnd = periodStart(contract.start, interval, k + 1);
    if (wholeEnd > from)
      periods.push({ start, end: end === undefined ? wholeEnd : Math.min(end, wholeEnd), whole: wholeEnd });
  }
}

export interface UsageWindow {
  readonly item: Item;
  readonly from: number;
  readonly to: number;
}

/** What an invoice meters: usage items whose own period ends in the invoice's period. */
export function usageWindows(invoice: Pick<Invoice, 'contract' | 'index' | 'start' | 'end'>): UsageWindow[] {
  const { contract, start, end } = invoice;
  return windowsTouching(contract, start - 1, end).filter((own) => isBilledOn(invoice, dayOfInstant(own.to)));
}

/** Whether usage of an own period with this end is billed on an invoice. */
function isBilledOn(invoice: Pick<Invoice, 'contract' | 'index' | 'start' | 'end'>, end: number): boolean {
  const { closing } = invoice.contract;
  if (closing !== undefined && end === endOfService(invoice.contract)) return invoice.index === closing;
  return end > invoice.start && end <= invoice.end;
}

export const metersUsage = (contract: Contract): boolean =>
  contract.items.some(({ pricing }) => pricing.model === 'USAGE' && pricing.interval !== undefined);

/** Windows of usage items that reach into the days from `start` up to `end`. */
export function windowsTouching(contract: Contract, start: number, end: number): UsageWindow[] {
  return contract.items.flatMap((item) => {
    if (item.pricing.model !== 'USAGE' || item.pricing.interval === undefined) return [];
    return ownPeriods(contract, item.pricing.interval, start, end).map((own) => ({
      item,
      from: midnight(own.start),
      to: midnight(own.end),
    }));
  });
}

/** The metered lines of one window, counting events before `upTo` alone. */
export function meteredLines(state: State, contract: Contract, window: UsageWindow, upTo = Infinity): Line[] {
  const { item } = window;
  const { meter } = item.pricing;
  if (meter === undefined) throw new TypeError('a usage price without a meter');
  const read = quantities(meter, billedEvents(state, contract, meter, window.from, Math.min(window.to, upTo)));
  const isUsed = read.size > 0;
  if (!isUsed) read.set(JSON.stringify([]), zero);
  return [...read.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, read]) => {
      const quantity = atLeastZero(read);
      const groups = Object.fromEntries(JSON.parse(group) as [string, string][]);
      const { amount, unit } = priceUsage(item, groups, read);
      const key = `${contract.items.indexOf(item)} ${group}`;
      return {
        kind: 'metered',
        isUsed,
        key,
        item,
        groups,
        quantity,
        unit,
        amount,
        cents: centsOf(amount),
        from: window.from,
        to: window.to,
      };
    });
}

/** The lines of an invoice before credits, live: usage that lies ahead is not on it yet. */
export function linesOf(state: State, invoice: Invoice): Line[] {
  const { contract } = invoice;
  const metered = usageWindows(invoice).flatMap((window) =>
    meteredLines(state, contract, window, window.from > state.now ? window.from : window.to),
  );
  return [...fixedLines(invoice), ...metered, ...prepaidLines(invoice)];
}

function fixedLines(invoice: Invoice): Line[] {
  const { contract } = invoice;
  return contract.items.flatMap((item) => {
    if (item.pricing.interval === undefined) return onceLines(invoice, item);
    const isUsage = item.pricing.model === 'USAGE';
    if (isUsage && (item.flat === undefined || item.flat.n === 0n)) return [];
    return ownPeriods(contract, item.pricing.interval, invoice.start - 1, invoice.end)
      .filter((own) => (isUsage ? isBilledOn(invoice, own.end) : own.start >= invoice.start && own.start < invoice.end))
      .map((own) => {
        const part = divide(whole(BigInt(own.end - own.start)), whole(BigInt(own.whole - own.start)));
        return fixedLine(item, { part, from: own.start, to: own.end });
      });
  });
}

function onceLines(invoice: Invoice, item: Item): Line[] {
  return invoice.index === 0 ? [fixedLine(item, { part: one, from: invoice.start, to: invoice.end })] : [];
}

function fixedLine(item: Item, period: { part: Fraction; from: number; to: number }): Line {
  const isUsage = item.pricing.model === 'USAGE';
  const quantity = isUsage ? one : item.quantity;
  const priced = isUsage ? { amount: zero, unit: item.flat ?? zero } : priceQuantity(item, quantity);
  const flat = item.tiers === undefined ? (item.flat ?? zero) : zero;
  const owed = add(priced.amount, flat);
  const isCut = compare(period.part, one) < 0;
  const exact = multiply(owed, period.part);
  const amount = isCut ? { n: halfUp(exact, 12), d: 10n ** 12n } : exact;
  return {
    kind: 'fixed',
    key: '',
    item,
    groups: {},
    quantity,
    unit: isCut ? (quantity.n > 0n ? divide(amount, quantity) : zero) : priced.unit,
    amount,
    cents: centsOf(amount),
    from: midnight(period.from),
    to: midnight(period.to),
  };
}

function prepaidLines(invoice: Invoice): Line[] {
  const { prepaid } = invoice.contract;
  if (prepaid === undefined || invoice.index !== 0) return [];
  const amount = dollarsOf(prepaid.cents);
  const period = { from: midnight(invoice.start), to: midnight(invoice.end) };
  return [
    {
      kind: 'prepaid',
      key: '',
      item: undefined,
      groups: {},
      quantity: one,
      unit: amount,
      amount,
      cents: prepaid.cents,
      ...period,
    },
  ];
}

/**
 * Billing periods of a contract: all of a fixed term; of a rolling contract those that have begun by a day, but the first
 * at least, and the one that follows. What is owed once alone makes one period.
 */
export function gridPeriods(contract: Contract, today: number): { start: number; end: number }[] {
  const end = contract.end === undefined ? Infinity : dayOf(contract.end);
  if (contract.grid === undefined) {
    const start = dayOf(contract.start);
    const month = periodStart(contract.start, { unit: 'MONTH', count: 1 }, 1);
    return [{ start, end: contract.end === undefined ? month : end }];
  }
  const periods: { start: number; end: number }[] = [];
  for (let k = 0; ; k += 1) {
    const start = periodStart(contract.start, contract.grid, k);
    const last = periods.at(-1);
    const isAhead = last !== undefined && periods.length > 1 && last.start > today;
    if (start >= end || (end === Infinity && isAhead && start >= usageReach(contract, periods, today))) return periods;
    periods.push({ start, end: Math.min(end, periodStart(contract.start, contract.grid, k + 1)) });
  }
}

/** The end of the usage that goes on in the period of a day, or in the first. */
function usageReach(contract: Contract, periods: readonly { start: number; end: number }[], today: number): number {
  const current = periods.findLast((period) => period.start <= today) ?? periods[0];
  if (current === undefined) return 0;
  return Math.max(0, ...windowsTouching(contract, current.start, current.end).map((own) => dayOfInstant(own.to)));
}

/** Tiers as they are given, made contiguous; a problem in words when they are not (semantics 5). */
export function tiersOf(given: readonly Readonly<Record<string, string | undefined>>[]): Tier[] | string {
  const tiers: Tier[] = [];
  let from = zero;
  for (const [index, tier] of given.entries()) {
    const isLast = index === given.length - 1;
    const max = tier['maxQty'];
    if ((max === undefined || max === '') !== isLast) return `tier ${index} must ${isLast ? 'not ' : ''}have an end`;
    if (tier['minQty'] !== undefined) {
      const min = decimal(tier['minQty']);
      const isNext = index > 0 && min.n % min.d === 0n && compare(min, add(from, one)) === 0;
      if (compare(min, from) !== 0 && !isNext) return `tier ${index} does not begin where the last one ends`;
    }
    const to = max === undefined || max === '' ? undefined : decimal(max);
    if (to !== undefined && compare(to, from) <= 0) return `tier ${index} ends before it begins`;
    tiers.push({ from, to, unit: decimal(tier['unitAmount'] ?? '0'), flat: decimal(tier['flatAmount'] ?? '0') });
    from = to ?? from;
  }
  return tiers;
}

/** The shortest of the intervals when every other one is a multiple of it; undefined when they do not nest. */
export function gridOf(intervals: readonly Interval[]): Interval | undefined {
  const weeks = intervals.filter((interval) => interval.unit === 'WEEK');
  if (weeks.length > 0 && weeks.length < intervals.length) return undefined;
  const length = (interval: Interval) => interval.count * (interval.unit === 'YEAR' ? 12 : 1);
  const shortest = intervals.reduce((a, b) => (length(b) < length(a) ? b : a));
  return intervals.every((interval) => length(interval) % length(shortest) === 0) ? shortest : undefined;
}
