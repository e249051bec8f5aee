/**
 * What the lines of invoices tell about a contract: how much of each price was billed in each period, and at which price. A
 * line names its price, and its description has the group values of its meter; nothing else says what the line is for.
 */

import { textOfNumber } from '../../exact-json.ts';
import type { ResponseBody } from '../../operations/index.ts';
import { centsOf } from '../wire/amounts.ts';
import type { Invoice } from './books.ts';

export type MirroredPrice = ResponseBody<'pricing.get'>['data'];
type Line = NonNullable<Invoice['lineItems']>[number];
export type GroupValues = Readonly<Record<string, string>>;

/** Name of the line for the credits that a contract began with. */
export const prepaid = 'Prepaid credits';

/** A line for a price of the plan. */
export interface PricedLine {
  readonly price: MirroredPrice;
  /** A line for the metered quantity of a price, for its flat amount, or for a fixed price. */
  readonly kind: 'metered' | 'flat amount' | 'fixed';
  readonly invoiceId: string;
  readonly totalCents: bigint;
  readonly totalAmount: string;
  readonly quantity: string;
  readonly unitPrice: string;
  /** In the order of the description; empty if the meter has no group keys, or has counted nothing. */
  readonly groups: GroupValues;
  readonly start: string;
  /** Exclusive. */
  readonly end: string;
}

/** The lines for prices of a plan, in the order of the invoices, and the names of lines for no price of the plan. */
export function linesOf(
  invoices: readonly Invoice[],
  prices: readonly MirroredPrice[],
): { readonly lines: readonly PricedLine[]; readonly unknown: readonly string[] } {
  const lines: PricedLine[] = [];
  const unknown = new Set<string>();
  for (const { invoiceId, line } of invoices.flatMap(({ id, lineItems = [] }) =>
    lineItems.map((each) => ({ invoiceId: id, line: each })),
  )) {
    const price = priceOf(line, prices);
    if (price !== undefined) lines.push({ invoiceId, ...pricedLine(line, price) });
    else if (centsOf(line.totalAmountCents) > 0n) unknown.add(line.name);
  }
  return { lines: regrouped(lines), unknown: [...unknown] };
}

/** The first day of an invoice's service, and the day after its last: those of its shortest line. */
export function periodOf({ lineItems = [] }: Invoice): { readonly start: string; readonly end: string } | undefined {
  const [shortest] = lineItems
    .map(({ servicePeriod }) => servicePeriod)
    .toSorted((one, other) => millisecondsIn(one) - millisecondsIn(other));
  return shortest === undefined ? undefined : { start: shortest.start.slice(0, 10), end: shortest.end.slice(0, 10) };
}

function millisecondsIn({ start, end }: Line['servicePeriod']): number {
  return Temporal.Instant.from(end).epochMilliseconds - Temporal.Instant.from(start).epochMilliseconds;
}

/** The price with the line's name; if two products have such a price, the one whose words begin the line's description. */
function priceOf(line: Line, prices: readonly MirroredPrice[]): MirroredPrice | undefined {
  const named = prices.filter(({ name }) => name === line.name);
  return named.find((price) => line.description.startsWith(wordsOf(price))) ?? named[0];
}

function wordsOf({ description, productName }: MirroredPrice): string {
  return description ?? productName;
}

function pricedLine(
  { description, quantity, unitPrice, totalAmount, totalAmountCents, servicePeriod }: Line,
  price: MirroredPrice,
): Omit<PricedLine, 'invoiceId'> {
  const shown = description.startsWith(wordsOf(price)) ? description.slice(wordsOf(price).length) : '';
  const isFlatAmount = price.model === 'USAGE' && shown === ' (flat amount)';
  const [, combination = ''] = /^ \((.*)\)$/s.exec(shown) ?? [];
  return {
    price,
    kind: isFlatAmount ? 'flat amount' : price.model === 'USAGE' ? 'metered' : 'fixed',
    totalCents: centsOf(totalAmountCents),
    totalAmount,
    quantity: textOfNumber(quantity),
    unitPrice,
    groups: price.model === 'USAGE' && !isFlatAmount ? groupsIn(combination) : {},
    ...servicePeriod,
  };
}

/** Reads `model=large, region=eu`, split where another name may begin. */
function groupsIn(combination: string): GroupValues {
  if (combination === '') return {};
  return Object.fromEntries(
    combination.split(/, (?=[^,=]+=)/).map((part) => {
      const at = part.indexOf('=');
      return [part.slice(0, at), part.slice(at + 1)];
    }),
  );
}

/** Corrects values that look like another name: a meter's names are those that all of its combinations have. */
function regrouped(lines: readonly PricedLine[]): PricedLine[] {
  const grouped = lines.filter(({ groups }) => Object.keys(groups).length > 0);
  const names = new Map(
    [...Map.groupBy(grouped, ({ price }) => price.meterId)].map(([meterId, own]) => {
      const common = own
        .map(({ groups }) => new Set(Object.keys(groups)))
        .reduce((known, each) => known.intersection(each));
      return [meterId, common] as const;
    }),
  );
  return lines.map((line) => {
    const known = names.get(line.price.meterId);
    if (known === undefined || Object.keys(line.groups).every((name) => known.has(name))) return line;
    const groups: Record<string, string> = {};
    let last = '';
    for (const [name, value] of Object.entries(line.groups)) {
      if (known.has(name)) groups[(last = name)] = value;
      else groups[last] = `${groups[last] ?? ''}, ${name}=${value}`;
    }
    return { ...line, groups };
  });
}
