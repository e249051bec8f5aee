/**
 * The smallest parts of a metered line that credits and budgets can tell apart: cents by phase, event name and properties.
 * A phase ends where a grant expires, because a grant pays only for usage before its expiry (semantics 9).
 * The cents of a line's atoms add up to the line's cents exactly.
 */

import type { AggregationType } from '../operations/meters.ts';
import { compareText } from '../text-order.ts';
import { type Big, decimalOfInteger, divideHalfUp, maximum, minimum, zero } from './money.ts';
import type { ContractItem } from './rate-card.ts';
import { type GroupValues, groupKeyOf, type MeteredQuantity, type RatedLine, rateUsage } from './rating.ts';
import { combineReadings } from './aggregation.ts';

/** How the readings of a line's phases and event groups make one quantity. An SQL meter is read anew up to each phase end. */
export type Combination = AggregationType | 'SQL';

/** What a meter read from the events of one phase that share group values, event name and the properties that matter. */
export interface UsageReading {
  readonly groupValues: GroupValues;
  readonly eventName: string;
  /** Only the properties that a grant's specifiers or a budget ask about. */
  readonly properties: Readonly<Record<string, string>>;
  readonly quantity: Big;
  /** How many events gave the quantity a value; a reading of none is passed over. */
  readonly count: number;
}

/** A part of a usage window in which the same grants may pay (semantics 9). */
export interface UsagePhase {
  /** Exclusive. */
  readonly end: Temporal.Instant;
  /** Readings of the events from the end of the phase before to `end`; of an SQL meter, of all events before `end`. */
  readonly readings: readonly UsageReading[];
}

/** A metered line's usage on one invoice. */
export interface MeteredUsage {
  readonly item: ContractItem;
  readonly combination: Combination;
  /** Ascending, at least one; the last ends with the usage window. */
  readonly phases: readonly UsagePhase[];
}

/** The invoice that usage falls on. */
export interface InvoiceReference {
  readonly invoiceId: string;
  /** The invoice's place in the contract, which orders usage. */
  readonly periodIndex: number;
}

/** Cents of one line that come from one phase, event name and set of properties. */
export interface UsageAtom extends InvoiceReference {
  readonly lineKey: string;
  readonly meterId: string | undefined;
  readonly pricingId: string;
  readonly productId: string;
  readonly eventName: string;
  /** The line's group values, and the properties of the reading. */
  readonly properties: Readonly<Record<string, string>>;
  /** Above 0. */
  readonly cents: bigint;
  /** Exclusive: a grant pays when it expires then or later. */
  readonly phaseEnd: Temporal.Instant;
}

/** Where the phases of a usage window end: at each grant's expiry inside it, and at its end. Ascending, all different. */
export function phaseEndsOf(
  window: { readonly start: Temporal.Instant; readonly end: Temporal.Instant },
  grants: readonly { readonly expiresAt?: Temporal.Instant | undefined }[],
): Temporal.Instant[] {
  const inside = grants
    .map((grant) => grant.expiresAt?.epochMilliseconds)
    .filter((expiry) => expiry !== undefined)
    .filter((expiry) => expiry > window.start.epochMilliseconds && expiry < window.end.epochMilliseconds);
  if (inside.length === 0) return [window.end];
  const ends = [...new Set([...inside, window.end.epochMilliseconds])].toSorted((a, b) => a - b);
  return ends.map((end) => Temporal.Instant.fromEpochMilliseconds(end));
}

/** What the meter reads over all phases, for each combination of group values that had events. */
export function meteredQuantitiesOf(usage: MeteredUsage): MeteredQuantity[] {
  return quantitiesByPhase(usage, groupedPhases(usage)).at(-1) ?? [];
}

/** A metered item that is rated. */
export interface RatedUsageItem {
  readonly itemId: string;
  readonly lines: readonly RatedLine[];
  /** Of each line, in line order. */
  readonly atoms: readonly UsageAtom[];
}

/** The lines of a metered item with the atoms of each, in line order. */
export function rateMeteredUsage(usage: MeteredUsage, invoice: InvoiceReference): RatedUsageItem {
  const groups = groupedPhases(usage);
  const quantities = quantitiesByPhase(usage, groups);
  const lines = rateUsage(usage.item, quantities.at(-1) ?? []);
  // After the last phase a line owes all of it, however it came about.
  const costs = quantities.slice(0, -1).map((soFar) => costsOf(usage.item, soFar));
  const atoms = lines.flatMap((line) => atomsOfLine(line, usage, { invoice, groups, costs }));
  return { itemId: usage.item.id, lines, atoms };
}

/** Of each phase the readings that have a value, by combination of group values. */
type GroupedPhases = readonly ReadonlyMap<string, readonly UsageReading[]>[];

function groupedPhases({ phases }: MeteredUsage): GroupedPhases {
  return phases.map(({ readings }) =>
    Map.groupBy(
      readings.filter((reading) => reading.count > 0),
      (reading) => groupKeyOf(reading.groupValues),
    ),
  );
}

interface RatedPhases {
  readonly invoice: InvoiceReference;
  readonly groups: GroupedPhases;
  /** After each phase but the last, what each line owes so far. */
  readonly costs: readonly ReadonlyMap<string, bigint>[];
}

function atomsOfLine(line: RatedLine, usage: MeteredUsage, { invoice, groups, costs }: RatedPhases): UsageAtom[] {
  const atoms: UsageAtom[] = [];
  const key = groupKeyOf(line.groupValues);
  const readings = groups.map((phase) => phase.get(key) ?? []);
  let attributed = 0n;
  for (const [index, phase] of usage.phases.entries()) {
    const isLast = index === usage.phases.length - 1;
    const cost = costs[index]?.get(line.lineKey) ?? 0n;
    // A phase never takes back cents of an earlier one, nor more than the line will owe in the end (semantics 15.6).
    const upTo = isLast ? line.totalCents : maximum(attributed, minimum(cost, line.totalCents));
    const shares = sharesOf(usage.combination, readings.slice(0, index + 1), upTo - attributed);
    attributed = upTo;
    for (const share of shares) {
      if (share.cents === 0n) continue;
      atoms.push({
        ...invoice,
        lineKey: line.lineKey,
        meterId: line.meterId,
        pricingId: line.pricingId,
        productId: line.productId,
        eventName: share.eventName,
        properties: { ...line.groupValues, ...share.properties },
        cents: share.cents,
        phaseEnd: phase.end,
      });
    }
  }
  return atoms;
}

interface Share {
  readonly eventName: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly cents: bigint;
}

/**
 * How the cents of the last of these phases fall on its groups of events: by quantity for SUM and COUNT, on the one that sets
 * a MAX or MIN. `readings` are those of one line, phase by phase.
 */
function sharesOf(combination: Combination, readings: readonly (readonly UsageReading[])[], cents: bigint): Share[] {
  if (cents === 0n) return [];
  const isCumulative = combination === 'MAX' || combination === 'MIN';
  const ordered = (isCumulative ? readings.flat() : (readings.at(-1) ?? [])).toSorted(byDimension);
  if (combination === 'SQL' || ordered.length === 0) return [{ eventName: '', properties: {}, cents }];
  return isCumulative ? shareOfExtreme(ordered, combination, cents) : shareByQuantity(ordered, cents);
}

function shareOfExtreme(readings: readonly UsageReading[], type: AggregationType, cents: bigint): Share[] {
  const extreme = combineReadings(type, readings);
  const holder = readings.find((reading) => reading.quantity.eq(extreme));
  return holder === undefined ? [] : [{ eventName: holder.eventName, properties: holder.properties, cents }];
}

/** Running differences of rounded shares, so that the parts add up to the whole; negative quantities weigh nothing. */
function shareByQuantity(readings: readonly UsageReading[], cents: bigint): Share[] {
  const weights = readings.map((reading) => (reading.quantity.lt(zero) ? zero : reading.quantity));
  const whole = weights.reduce((sum, weight) => sum.plus(weight), zero);
  let weightSoFar = zero;
  let centsSoFar = 0n;
  return readings.map((reading, index) => {
    weightSoFar = weightSoFar.plus(weights[index] ?? zero);
    // Where nothing weighs anything, as for a flat amount owed at quantity 0, the first group takes all of it.
    const upTo = whole.eq(zero) ? cents : portion(cents, weightSoFar, whole);
    const share = { eventName: reading.eventName, properties: reading.properties, cents: upTo - centsSoFar };
    centsSoFar = upTo;
    return share;
  });
}

function portion(cents: bigint, part: Big, whole: Big): bigint {
  return BigInt(divideHalfUp(decimalOfInteger(cents).times(part), whole).toFixed(0));
}

/** The cents that each line owes for what was read so far; a combination without events by then owes nothing yet. */
function costsOf(item: ContractItem, quantities: readonly MeteredQuantity[]): ReadonlyMap<string, bigint> {
  if (quantities.length === 0) return new Map();
  return new Map(rateUsage(item, quantities).map((line) => [line.lineKey, line.totalCents]));
}

/** After each phase, what was read until its end: each goes on from the one before, since grants may make a thousand of them. */
function quantitiesByPhase({ combination }: MeteredUsage, groups: GroupedPhases): MeteredQuantity[][] {
  const isAnew = combination === 'SQL';
  const soFar = new Map<string, Pick<UsageReading, 'groupValues' | 'quantity' | 'count'>>();
  return groups.map((phase) => {
    if (isAnew) soFar.clear();
    for (const [key, own] of phase) {
      const before = soFar.get(key);
      const readings = before === undefined ? own : [before, ...own];
      const groupValues = readings[0]?.groupValues ?? {};
      soFar.set(key, { groupValues, quantity: combineReadings(isAnew ? 'SUM' : combination, readings), count: 1 });
    }
    return soFar.values().toArray();
  });
}

function byDimension(a: UsageReading, b: UsageReading): number {
  return compareText(dimensionsText(a), dimensionsText(b));
}

function dimensionsText({ eventName, properties }: UsageReading): string {
  return JSON.stringify([eventName, Object.entries(properties)]);
}
