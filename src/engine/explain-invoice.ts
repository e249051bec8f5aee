/**
 * Every cent of an invoice, traced: line, rounding, price or tiers, quantity, the events behind it, and the grants that paid
 * and why in that order. For a finalized invoice, the frozen figures stand beside what events and prices give today.
 */

import { assert } from '../assert.ts';
import { decimal, decimalText, dollarsOfCents, sumOf } from '../calculation/money.ts';
import { type DeductionPlace, explainDeductionOrder } from '../calculation/deduction-order.ts';
import type { InvoiceLine } from '../calculation/invoice-draft.ts';
import type { GrantState } from '../calculation/ledger.ts';
import { type Drawn, explainLinePayments, type LinePayment } from '../calculation/line-payment.ts';
import type { TierShare } from '../calculation/pricing/pricing-model.ts';
import { type ContractItem, isSamePrice, rateFor, rateSourceOf } from '../calculation/rate-card.ts';
import { groupKeyOf } from '../calculation/rating.ts';
import { type GroupTrace, noEvents } from '../calculation/usage-trace.ts';
import { startOfDay } from '../calculation/billing-period.ts';
import { exactNumber } from '../exact-json.ts';
import type { ResponseBody } from '../operations/index.ts';
import { findPricings, type Pricing } from '../store/records/catalog.ts';
import type { FrozenLine, Invoice } from '../store/records/invoices.ts';
import { findMeters, type Meter } from '../store/records/meters.ts';
import { type BasisLine, type InvoiceBasis, readInvoiceBasis } from './explain-basis.ts';
import { disagreementsOf } from './explain-disagreements.ts';
import { countLateEvents } from './explain-meter.ts';
import { traceUsage, wireEventCounts, wireMeterFacts, wireTracedEvent } from './explain-usage.ts';
import type { CallContext } from './handler.ts';
import { priceSourceOf } from './price-source.ts';
import { droppedBefore, isDropped } from './usage-frozen.ts';
import { wireCents, wireCredits, wireDecimal, wireTimestamp } from './wire.ts';

export type ExplainedInvoice = ResponseBody<'invoices.explain'>['data'];
export type ExplainedLine = ExplainedInvoice['lines'][number];

/** The events of each usage window, by combination of group values, with the meter that read them; by item id. */
type Traces = ReadonlyMap<string, { readonly meter: Meter; readonly groups: ReadonlyMap<string, GroupTrace> }>;

interface Basis extends InvoiceBasis {
  /** What earlier invoices drew from each grant. */
  readonly drawnEarlier: ReadonlyMap<string, Drawn>;
  /** Draws on this invoice, by grant. */
  readonly drawsOfGrant: ReadonlyMap<string, InvoiceBasis['draws']>;
  /** Grants that had something for this invoice, or paid something on it. */
  readonly shown: readonly GrantState[];
  readonly ranks: ReadonlyMap<string, number>;
  readonly traces: Traces;
  /** Prices as the catalog has them, by id. A price never changes, so any difference was agreed on. */
  readonly pricings: ReadonlyMap<string, Pricing>;
}

/** The answer to `invoices.explain`, and its lines by their keys. */
export async function explainInvoice(
  context: CallContext,
  invoice: Invoice,
): Promise<{ readonly data: ExplainedInvoice; readonly lines: ReadonlyMap<string, ExplainedLine> }> {
  const read = await readInvoiceBasis(context, invoice);
  const drawnEarlier = withDraws(new Map(), read.earlierDraws);
  const drawsOfGrant = Map.groupBy(read.draws, (draw) => draw.grantId);
  const shown = read.grants.filter((grant) => drawsOfGrant.has(grant.grantId) || hasRest(leftOf(grant, drawnEarlier)));
  const order = explainDeductionOrder(shown);
  const basis: Basis = {
    ...read,
    drawnEarlier,
    drawsOfGrant,
    shown,
    ranks: new Map(order.map(({ grant, rank }) => [grant.grantId, rank])),
    traces: await traceWindows(context, read),
    pricings: await readPricings(context, read),
  };
  const lines = wireLines(basis);
  const range = { start: startOfDay(invoice.periodStart), end: startOfDay(invoice.periodEnd) };
  const isWhole = [range, ...read.windows].every(({ start }) => !isDropped(context, start));
  const mark = isWhole ? undefined : droppedBefore(context);
  const data: ExplainedInvoice = {
    invoiceId: invoice.id,
    invoiceNumber: invoice.number,
    status: invoice.status,
    customerId: invoice.customerId,
    contractId: invoice.contractId,
    basis: basis.basis,
    asOf: wireTimestamp(basis.asOf),
    period: { start: invoice.periodStart.toString(), end: invoice.periodEnd.toString() },
    totalCents: wireCents(basis.totalCents),
    lines: [...lines.values()],
    grants: order.map((place) => wireGrant(place, basis)),
    ...(mark === undefined
      ? { lateEventCount: await countLateEvents(context, { customerId: invoice.customerId, ...range }) }
      : { eventsDroppedBefore: wireTimestamp(mark) }),
    disagreements: disagreementsOf(invoice, basis),
  };
  return { data, lines };
}

function hasRest({ cents, micros }: { readonly cents: bigint; readonly micros: bigint }): boolean {
  return cents > 0n || micros > 0n;
}

function leftOf({ grantId, availableCents, availableMicros }: GrantState, drawn: Basis['drawnEarlier']) {
  const { amountCents, creditMicros } = drawn.get(grantId) ?? nothingDrawn;
  return { cents: availableCents - amountCents, micros: availableMicros - creditMicros };
}

const nothingDrawn: Drawn = { amountCents: 0n, creditMicros: 0n };

async function traceWindows(context: CallContext, { contract, windows }: InvoiceBasis): Promise<Traces> {
  const ids = [...new Set(windows.map((window) => window.meterId))];
  const meters = new Map((await findMeters(context.tx, context.orgId, ids)).map((meter) => [meter.id, meter]));
  const owner = { customerId: contract.customerId, contract };
  const traces = new Map<string, { meter: Meter; groups: Map<string, GroupTrace> }>();
  for (const { item, meterId, start, end } of windows.filter((window) => !isDropped(context, window.start))) {
    const meter = meters.get(meterId);
    assert(meter !== undefined, `the meter ${meterId} of a contract is stored`);
    const { groups } = await traceUsage(context, meter, { owner, range: { start, end } });
    traces.set(item.id, { meter, groups: new Map(groups.map((group) => [groupKeyOf(group.groupValues), group])) });
  }
  return traces;
}

async function readPricings(
  { tx, orgId }: CallContext,
  { contract }: InvoiceBasis,
): Promise<ReadonlyMap<string, Pricing>> {
  const ids = [...new Set(contract.items.map((item) => item.pricingId))];
  return new Map((await findPricings(tx, orgId, ids)).map((pricing) => [pricing.id, pricing]));
}

/** Lines by their keys, in order. */
function wireLines(basis: Basis): ReadonlyMap<string, ExplainedLine> {
  const drawsOf = Map.groupBy(basis.draws, (draw) => draw.lineKey);
  const atomsOf = Map.groupBy(basis.atoms, (atom) => atom.lineKey);
  const drawnBefore = new Map(basis.drawnEarlier);
  const drawnInAll = withDraws(new Map(basis.drawnEarlier), basis.draws);
  const lines = new Map<string, ExplainedLine>();
  for (const line of basis.lines) {
    const { lineKey } = line.billed;
    const draws = drawsOf.get(lineKey) ?? [];
    const atoms = atomsOf.get(lineKey) ?? [];
    lines.set(lineKey, wireLine(line, { draws, atoms, drawnBefore, drawnInAll }, basis));
    withDraws(drawnBefore, draws);
  }
  return lines;
}

/** Adds draws to `drawn`, which has one sum for each grant. */
function withDraws(drawn: Map<string, Drawn>, draws: InvoiceBasis['draws']): Map<string, Drawn> {
  for (const { grantId, amountCents, creditMicros } of draws) {
    const before = drawn.get(grantId) ?? nothingDrawn;
    drawn.set(grantId, {
      amountCents: before.amountCents + amountCents,
      creditMicros: before.creditMicros + creditMicros,
    });
  }
  return drawn;
}

/** What was paid on a line, and for which usage. */
interface Payment {
  readonly draws: Basis['draws'];
  readonly atoms: Basis['atoms'];
  /** What earlier lines and earlier invoices drew from each grant. */
  readonly drawnBefore: ReadonlyMap<string, Drawn>;
  readonly drawnInAll: ReadonlyMap<string, Drawn>;
}

function wireLine({ billed, computed }: BasisLine, payment: Payment, basis: Basis): ExplainedLine {
  const item = basis.contract.items.find((each) => each.id === computed?.itemId);
  const meteredQuantity = basis.rated.get(billed.lineKey)?.meteredQuantity;
  const { id, kind, name, description, groupValues = {}, grantId } = billed;
  return {
    id,
    kind,
    name,
    description,
    servicePeriod: { start: wireTimestamp(billed.serviceStart), end: wireTimestamp(billed.serviceEnd) },
    ...(Object.keys(groupValues).length === 0 ? {} : { dimensions: { ...groupValues } }),
    ...usageOf(billed, computed, basis.traces),
    ...(meteredQuantity === undefined ? {} : { meteredQuantity: wireDecimal(meteredQuantity) }),
    quantity: exactNumber(billed.quantity),
    ...priceOf(item, computed, basis),
    breakdown: (computed?.breakdown ?? []).map(wireTier),
    ...(computed?.proration === undefined ? {} : { proration: { ...computed.proration } }),
    unitPrice: billed.unitPrice,
    exactAmount: billed.totalAmount,
    roundingAmount: decimalText(dollarsOfCents(billed.totalCents).minus(decimal(billed.totalAmount))),
    totalAmountCents: wireCents(billed.totalCents),
    ...(kind === 'metered' ? paymentsOf(billed, payment, basis) : { grants: [] }),
    ...(grantId === undefined ? {} : { grantId }),
  };
}

function usageOf(billed: FrozenLine, computed: InvoiceLine | undefined, traces: Traces): Pick<ExplainedLine, 'usage'> {
  const traced = billed.kind === 'metered' ? traces.get(computed?.itemId ?? '') : undefined;
  if (traced === undefined) return {};
  const key = groupKeyOf(billed.groupValues ?? {});
  const group = traced.groups.get(key) ?? noEvents;
  return {
    usage: {
      ...wireMeterFacts(traced.meter),
      ...wireEventCounts(group),
      ...(group.decidedBy === undefined ? {} : { decidedBy: wireTracedEvent(group.decidedBy) }),
      sample: group.sample.map(wireTracedEvent),
    },
  };
}

/** The price that a line was rated by; the flat amount of a USAGE price is a line of its own (semantics 5). */
function priceOf(
  item: ContractItem | undefined,
  computed: InvoiceLine | undefined,
  { pricings }: Basis,
): Pick<ExplainedLine, 'price'> {
  if (item === undefined || computed === undefined) return {};
  const { pricingId, model } = item;
  const isMetered = computed.kind === 'metered';
  const isFlatAmount = model === 'USAGE' && !isMetered;
  const own = isAgreed(item, pricings.get(pricingId), isMetered) ? 'agreed' : 'price';
  if (isFlatAmount) {
    const { flatAmount } = item;
    return { price: { pricingId, source: own, model, tiering: 'NONE', ...(flatAmount && { flatAmount }) } };
  }
  const groupValues = computed.groupValues ?? {};
  const source = isMetered ? rateSourceOf(item, groupValues) : ({ source: 'price' } as const);
  const { tiering, unitAmount, flatAmount } = isMetered ? rateFor(item, groupValues) : item;
  return {
    price: {
      pricingId,
      source: source.source === 'price' ? own : source.source,
      ...(source.source === 'rate' ? { dimensions: { ...source.dimensions } } : {}),
      model,
      tiering,
      ...(unitAmount === undefined || tiering !== 'NONE' ? {} : { unitAmount }),
      ...(flatAmount === undefined || isMetered ? {} : { flatAmount }),
    },
  };
}

/** Whether the contract overrides what the line is rated by: the usage part of a USAGE price, or its flat amount. */
function isAgreed(item: ContractItem, pricing: Pricing | undefined, isMetered: boolean): boolean {
  assert(pricing !== undefined, `the price ${item.pricingId} of a contract is stored`);
  const [own, listed] = [item, priceSourceOf(pricing, undefined, item)].map((price) => {
    if (price.model !== 'USAGE') return price;
    return isMetered ? { ...price, flatAmount: undefined } : { flatAmount: price.flatAmount, tiers: [] };
  });
  return own !== undefined && listed !== undefined && !isSamePrice(own, listed);
}

function wireTier(share: TierShare): ExplainedLine['breakdown'][number] {
  return {
    from: wireDecimal(share.from),
    to: share.to === undefined ? null : wireDecimal(share.to),
    quantity: wireDecimal(share.quantity),
    unitAmount: decimalText(share.unitAmount),
    flatAmount: decimalText(share.flatAmount),
    amount: decimalText(share.exactAmount),
  };
}

function paymentsOf(
  billed: FrozenLine,
  payment: Payment,
  { shown, budgets, valuationRateCents, asOf, ranks }: Basis,
): Pick<ExplainedLine, 'creditCents' | 'overageCents' | 'grants' | 'unusedGrants'> {
  const { draws } = payment;
  const payments = explainLinePayments({ ...payment, grants: shown, budgets, valuationRateCents, asOf });
  const paid = payments.filter((each) => each.appliedCents > 0n);
  const unused = Map.groupBy(
    payments.filter((each) => each.appliedCents === 0n),
    (each) => each.why,
  );
  const creditCents = sumOf(draws.map((draw) => draw.appliedCents));
  return {
    creditCents: wireCents(creditCents),
    overageCents: wireCents(billed.totalCents - creditCents),
    grants: paid.map((each) => wirePayment(each, draws, ranks)),
    unusedGrants: [...unused].map(([why, grants]) => ({
      why,
      ranks: rangesOf(grants.map(({ grantId }) => rankOf(grantId, ranks))),
    })),
  };
}

/** Ascending whole numbers as ranges, both ends inclusive: in a long order, grants with the same reason stand together. */
function rangesOf(numbers: readonly number[]): { from: number; to: number }[] {
  const ranges: { from: number; to: number }[] = [];
  for (const each of numbers) {
    const last = ranges.at(-1);
    if (last?.to === each - 1) last.to = each;
    else ranges.push({ from: each, to: each });
  }
  return ranges;
}

function rankOf(grantId: string, ranks: Basis['ranks']): number {
  const rank = ranks.get(grantId);
  assert(rank !== undefined, 'every grant of an invoice has its place in the order');
  return rank;
}

function wirePayment(
  { grantId, appliedCents, creditMicros, why }: LinePayment,
  draws: Basis['draws'],
  ranks: Basis['ranks'],
) {
  return {
    grantId,
    rank: rankOf(grantId, ranks),
    appliedCents: wireCents(appliedCents),
    creditAmount: wireCredits(creditMicros),
    why,
    entryIds: draws.filter((draw) => draw.grantId === grantId).flatMap((draw) => draw.entryIds),
  };
}

function wireGrant(
  { grant, rank, reason }: DeductionPlace<GrantState>,
  basis: Basis,
): ExplainedInvoice['grants'][number] {
  const available = leftOf(grant, basis.drawnEarlier);
  const own = basis.drawsOfGrant.get(grant.grantId) ?? [];
  return {
    grantId: grant.grantId,
    rank,
    reason,
    description: grant.description,
    isPromotional: grant.isPromotional,
    purchaseRateCents: wireCents(grant.purchaseRateCents),
    expiresAt: grant.expiresAt === undefined ? null : wireTimestamp(grant.expiresAt),
    paysFor: { ...grant.specifiers },
    availableCents: wireCents(available.cents),
    availableCredits: wireCredits(available.micros),
    appliedCents: wireCents(sumOf(own.map((draw) => draw.appliedCents))),
    appliedCredits: wireCredits(sumOf(own.map((draw) => draw.creditMicros))),
  };
}
