/**
 * Contract snapshot + one period of its invoice grid + metered quantities -> the lines of an invoice, in order.
 * Both the lines of a draft and those frozen at finalization come from here (semantics 7).
 */

import { assert } from '../assert.ts';
import { limits } from '../limits.ts';
import { type BillingPeriod, type ServicePeriod, servicePeriodOf } from './billing-period.ts';
import { billedPeriods, type BilledPeriod, type BillingTerms, serviceOf } from './invoice-periods.ts';
import type { Draw, GrantState } from './ledger.ts';
import { Big, centsOfDollars, decimal, divideHalfUp, dollarsOfCents, minimum, sumOf, zero } from './money.ts';
import { priceQuantity } from './pricing/index.ts';
import type { TierShare } from './pricing/pricing-model.ts';
import { prorate, type Proration, prorationOf } from './proration.ts';
import type { ContractItem } from './rate-card.ts';
import { descriptionOf, type GroupValues, type RatedLine, rateUsage } from './rating.ts';

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
  /** Dollars, exact; the effective price where tiers or proration made it. */
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

/** The invoice of a period; it holds its credits once `withCredits` has added them. */
export interface InvoiceDraft {
  /** The service period of its credit lines. */
  readonly service: ServicePeriod;
  readonly lines: readonly InvoiceLine[];
  /** Sum of all lines. */
  readonly totalCents: bigint;
  /** Sum of the metered lines: the most that credits may take off. */
  readonly meteredCents: bigint;
}

/** Rated lines by item id; an item without an entry has metered nothing. */
export type RatedUsage = ReadonlyMap<string, readonly RatedLine[]>;

const one = new Big(1);

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
    service: serviceOf(terms, period),
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
    return appliedCents === 0n ? [] : [creditLine(draft.service, grant, appliedCents)];
  });
  const invoice = summed({ ...draft, lines: [...draft.lines, ...credits] });
  assert(draft.totalCents - invoice.totalCents <= draft.meteredCents, 'credits pay for metered lines alone');
  return invoice;
}

function fixedLine(item: ContractItem, { own, service }: BilledPeriod): InvoiceLine {
  const priced = priceQuantity(item, decimal(item.quantity));
  const proration = prorationOf(own);
  const exactAmount = prorate(priced.exactAmount, proration);
  return {
    ...itemLine(item, service),
    lineKey: item.id,
    kind: 'fixed',
    description: descriptionOf(item),
    quantity: priced.quantity,
    ...amounts(exactAmount, proration === undefined ? priced.unitPrice : effectivePrice(exactAmount, priced.quantity)),
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
    unitPriceCents: unitPriceCentsOf(line.unitPrice),
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
      description: `${descriptionOf(item)} (flat amount)`,
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

function creditLine(servicePeriod: ServicePeriod, grant: GrantState, appliedCents: bigint): InvoiceLine {
  const amount = dollarsOfCents(-appliedCents);
  return {
    lineKey: `credit ${grant.grantId}`,
    kind: 'credit',
    name: 'Credits applied',
    description: grant.description,
    quantity: one,
    ...amounts(amount, amount),
    servicePeriod,
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
    unitPriceCents: unitPriceCentsOf(unitPrice),
  };
}

/**
 * Cents of a price, half-up, for display alone (semantics 12). Capped at the largest amount an invoice may have: a price
 * with that many digits is no reason not to bill.
 */
export function unitPriceCentsOf(unitPrice: Big): bigint {
  return minimum(centsOfDollars(unitPrice), limits.centsMaximum);
}

function effectivePrice(exactAmount: Big, quantity: Big): Big {
  return quantity.eq(zero) ? zero : divideHalfUp(exactAmount, quantity, limits.decimalFractionDigits);
}

function summed(invoice: Pick<InvoiceDraft, 'service' | 'lines'>): InvoiceDraft {
  return {
    ...invoice,
    totalCents: centsOfLines(invoice.lines),
    meteredCents: centsOfLines(invoice.lines.filter((line) => line.kind === 'metered')),
  };
}

/** The sum of these lines, in cents. */
export function centsOfLines(lines: readonly Pick<InvoiceLine, 'totalCents'>[]): bigint {
  return sumOf(lines.map((line) => line.totalCents));
}
