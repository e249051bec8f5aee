/**
 * The smallest parts of a metered line that credits and budgets can tell apart: cents by phase, event name and properties.
 * A phase ends where a grant expires, because a grant pays only for usage before its expiry (semantics 9).
 * The cents of a line's atoms add up to the line's cents exactly.
 */

import type { AggregationType, Combination } from '../operations/wire-values.ts';
import { compareText } from '../text-order.ts';
import { type Big, centsOfDollars, decimalOfInteger, divideHalfUp, maximum, minimum, zero } from './money.ts';
import type { ContractItem } from './rate-card.ts';
import { type GroupValues, groupKeyOf, type MeteredQuantity, priceUsage, type RatedLine, rateUsage } from './rating.ts';
import { combineReadings } from './aggregation.ts';

/** What a meter read from the events of one phase that share group values, event name and the properties that matter. */
export interface UsageReading {
  readonly groupValues: GroupValues;
  readonly eventName: string;
  /** Only the properties that a grant's specifiers or a budget ask about. */
  readonly properties: Readonly<Record<string, string>>;
  readonly quantity: Big;
  /** How many events gave the quantity a value; a reading with none is ignored. */
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
  return finalQuantities(usage, phasesByCombination(usage));
}

/** A metered item, rated. */
export interface RatedUsageItem {
  readonly itemId: string;
  readonly lines: readonly RatedLine[];
  /** The atoms of each line, in line order. */
  readonly atoms: readonly UsageAtom[];
}

/** The lines of a metered item with the atoms of each, in line order. */
export function rateMeteredUsage(usage: MeteredUsage, invoice: InvoiceReference): RatedUsageItem {
  const phases = phasesByCombination(usage);
  const lines = rateUsage(usage.item, finalQuantities(usage, phases));
  const atoms = lines.flatMap((line) => {
    const own = phases.get(groupKeyOf(line.groupValues)) ?? [];
    return atomsOfLine(line, usage, { invoice, own });
  });
  return { itemId: usage.item.id, lines, atoms };
}

/** A phase with the readings of one combination of group values that have a value, and the quantity read up to its end. */
interface OwnPhase extends UsagePhase {
  readonly soFar: MeteredQuantity;
}

/**
 * The phases of each combination, ascending. A phase without readings of a combination changes nothing for it and is left
 * out: grants may make a thousand phases, and a meter may have thousands of combinations.
 */
function phasesByCombination({ combination, phases }: MeteredUsage): ReadonlyMap<string, readonly OwnPhase[]> {
  const found = new Map<string, OwnPhase[]>();
  for (const { end, readings } of phases) {
    const groups = Map.groupBy(
      readings.filter((reading) => reading.count > 0),
      (reading) => groupKeyOf(reading.groupValues),
    );
    for (const [key, own] of groups) {
      const before = found.getOrInsertComputed(key, () => []);
      before.push({ end, readings: own, soFar: quantityBehind(before.at(-1)?.soFar, own, combination) });
    }
  }
  return found;
}

/** Continues from what was read in earlier phases; an SQL meter reads all of them anew. */
function quantityBehind(
  before: MeteredQuantity | undefined,
  readings: readonly UsageReading[],
  combination: Combination,
): MeteredQuantity {
  const groupValues = readings[0]?.groupValues ?? {};
  if (combination === 'SQL') return { groupValues, quantity: combineReadings('SUM', readings) };
  const all = before === undefined ? readings : [{ quantity: before.quantity, count: 1 }, ...readings];
  return { groupValues, quantity: combineReadings(combination, all) };
}

function finalQuantities(
  { combination, phases }: MeteredUsage,
  byCombination: ReadonlyMap<string, readonly OwnPhase[]>,
): MeteredQuantity[] {
  const end = phases.at(-1)?.end;
  return [...byCombination.values()].flatMap((own) => {
    const last = own.at(-1);
    return last === undefined || (combination === 'SQL' && last.end !== end) ? [] : last.soFar;
  });
}

interface LinePhases {
  readonly invoice: InvoiceReference;
  readonly own: readonly OwnPhase[];
}

function atomsOfLine(
  line: RatedLine,
  { item, combination, phases }: MeteredUsage,
  { invoice, own }: LinePhases,
): UsageAtom[] {
  const atoms: UsageAtom[] = [];
  let attributed = 0n;
  // At the end of its window a line owes all of its cents, however they came about.
  const whole = phases.slice(-1).map(({ end }) => ({ end, readings: [], soFar: undefined }));
  for (const { end, readings, soFar } of [...own, ...whole]) {
    const cost = soFar === undefined ? line.totalCents : centsOfDollars(priceUsage(item, soFar).exactAmount);
    // A phase never takes back cents of an earlier one, nor more than the line will owe in the end (semantics 15.6).
    const upTo = maximum(attributed, minimum(cost, line.totalCents));
    const shares = upTo === attributed ? [] : sharesOf(combination, readings, upTo - attributed);
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
        phaseEnd: end,
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
 * How the cents that a phase adds to a line are split among its groups of events: by quantity for SUM and COUNT; all to the
 * group that sets a MAX or MIN, which is in this phase, because the line would cost no more otherwise.
 */
function sharesOf(combination: Combination, readings: readonly UsageReading[], cents: bigint): Share[] {
  const ordered = readings.toSorted(byDimension);
  if (ordered.length === 0) return [{ eventName: '', properties: {}, cents }];
  return combination === 'MAX' || combination === 'MIN'
    ? shareOfExtreme(ordered, combination, cents)
    : shareByQuantity(ordered, cents);
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
    // Where all weights are 0, as for a flat amount owed at quantity 0, the first group takes all of it.
    const upTo = whole.eq(zero) ? cents : portion(cents, weightSoFar, whole);
    const share = { eventName: reading.eventName, properties: reading.properties, cents: upTo - centsSoFar };
    centsSoFar = upTo;
    return share;
  });
}

function portion(cents: bigint, part: Big, whole: Big): bigint {
  return BigInt(divideHalfUp(decimalOfInteger(cents).times(part), whole).toFixed(0));
}

function byDimension(a: UsageReading, b: UsageReading): number {
  return compareText(dimensionsText(a), dimensionsText(b));
}

function dimensionsText({ eventName, properties }: UsageReading): string {
  return JSON.stringify([eventName, Object.entries(properties)]);
}
