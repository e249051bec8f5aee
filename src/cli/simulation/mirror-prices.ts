/** What a contract was billed by, read from its lines: an invoice shows each price, a mirror has no contract's terms. */

import { Big } from 'big.js';

import { compareText } from '../../text-order.ts';
import { saySame } from '../catalog/comparison.ts';
import type { HistoricContract } from './history.ts';
import type { GroupValues, MirroredPrice, PricedLine } from './mirror-lines.ts';

type Item = HistoricContract['contract']['terms']['items'][number];
type Rate = Item['rates'][number];

/** A price of a plan, with one contract's lines for it. */
export interface BilledPrice {
  readonly price: MirroredPrice;
  readonly quantity: string;
  readonly lines: readonly PricedLine[];
  /** The price of a unit without a rate, from the lines of any contract. */
  readonly usualUnitAmount: string | undefined;
}

/** The unit price in the newest line without group values. */
export function plainUnitAmount(lines: readonly PricedLine[]): string | undefined {
  return lines.findLast(({ kind, groups }) => kind === 'metered' && Object.keys(groups).length === 0)?.unitPrice;
}

/** Prices and quantities from whole periods; those of the plan if no line shows another. */
export function itemOf(billed: BilledPrice): Item {
  const { price, quantity, lines } = billed;
  const whole = lines.filter(isWhole);
  const fixed = whole.find(({ kind }) => kind === 'fixed');
  const flat = whole.find(({ kind }) => kind === 'flat amount');
  const isTiered = price.tiering !== 'NONE';
  const unitAmount = price.model === 'USAGE' ? baseOf(billed) : fixed?.unitPrice;
  return {
    pricingId: price.id,
    quantity: lines.find(({ kind }) => kind === 'fixed')?.quantity ?? quantity,
    unitAmount: (isTiered ? undefined : unitAmount) ?? price.unitAmount ?? null,
    flatAmount:
      flat?.unitPrice ?? (price.model === 'FLAT' ? besideUnits(fixed) : undefined) ?? price.flatAmount ?? null,
    pricingTiers: [...(price.pricingTiers ?? [])],
    meterId: price.meterId ?? null,
    rates: isTiered ? [] : ratesOf(billed),
    fallbackUnitAmount: null,
  };
}

/** What a line of a flat price charges beside its units. */
function besideUnits(line: PricedLine | undefined): string | undefined {
  if (line === undefined) return undefined;
  const amount = new Big(line.totalAmount).minus(new Big(line.quantity).times(line.unitPrice));
  return amount.lt(0) ? undefined : amount.toFixed();
}

/** Whether the line covers a whole period: the end of a contract prorates the last one, and the price shown in it. */
function isWhole({ price, start, end }: PricedLine): boolean {
  if (price.billingMode === 'ONE_TIME' || price.priceInterval === undefined) return true;
  const unit = { WEEK: 'weeks', MONTH: 'months', YEAR: 'years' } as const;
  const first = Temporal.PlainDate.from(start.slice(0, 10));
  const whole = first.add({ [unit[price.priceInterval]]: price.priceIntervalCount ?? 1 });
  return Temporal.PlainDate.compare(whole, Temporal.PlainDate.from(end.slice(0, 10))) <= 0;
}

/**
 * The price of a unit without a rate: from lines without values, else from all combinations if they agree, else from lines of
 * other contracts, else the price's own.
 */
function baseOf({ price, lines, usualUnitAmount }: BilledPrice): string {
  const plain = plainUnitAmount(lines);
  if (plain !== undefined) return plain;
  const [first, ...others] = lines.filter(({ kind }) => kind === 'metered');
  const areAlike = others.every((line) => sameAmount(line.unitPrice, first?.unitPrice ?? ''));
  if (first !== undefined && areAlike) return first.unitPrice;
  return usualUnitAmount ?? price.unitAmount ?? '0';
}

function ratesOf(billed: BilledPrice): Rate[] {
  const base = baseOf(billed);
  return combinationsOf(billed.lines).filter(({ unitAmount }) => !sameAmount(unitAmount, base));
}

function combinationsOf(lines: readonly PricedLine[]): Rate[] {
  const found = new Map<string, Rate>();
  for (const { groups, unitPrice } of lines) {
    if (Object.keys(groups).length > 0) found.set(keyOf(groups), { dimensions: { ...groups }, unitAmount: unitPrice });
  }
  return [...found.values()];
}

/**
 * The rates of a meter, as far as invoices show them: those by which every contract that shows the combination is billed. A
 * rate that only some of these contracts have was agreed on.
 */
export function cardOf(billed: readonly BilledPrice[]): Rate[] {
  const plain = billed.filter(({ price }) => price.tiering === 'NONE');
  const rates = new Map(plain.flatMap(ratesOf).map((rate) => [keyOf(rate.dimensions), rate]));
  const shownBy = countedBy(plain, ({ lines }) => combinationsOf(lines));
  const ratedBy = countedBy(plain, (each) => {
    const own = new Set(ratesOf(each).map(({ dimensions }) => keyOf(dimensions)));
    // Where all lines of a contract are billed by one rate, that looks like its price.
    return combinationsOf(each.lines).filter(({ dimensions, unitAmount }) => {
      const key = keyOf(dimensions);
      const rate = rates.get(key);
      return own.has(key) || (rate !== undefined && sameAmount(unitAmount, rate.unitAmount));
    });
  });
  return [...rates].flatMap(([key, rate]) => (ratedBy.get(key) === shownBy.get(key) ? [rate] : []));
}

/** How many of the prices have a rate for each combination. */
function countedBy(
  billed: readonly BilledPrice[],
  of: (each: BilledPrice) => readonly Rate[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { dimensions } of billed.flatMap(of)) {
    const key = keyOf(dimensions);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function keyOf(groups: GroupValues): string {
  return JSON.stringify(Object.entries(groups).toSorted(([one], [other]) => compareText(one, other)));
}

function sameAmount(one: string, other: string): boolean {
  return saySame({ unitAmount: one }, { unitAmount: other });
}
