/**
 * The smallest parts of a metered line that credits and budgets can tell apart: cents by phase, event name and properties.
 * A phase ends where a grant expires, because a grant pays only for usage before its expiry (semantics 9).
 * The cents of a line's atoms add up to the line's cents exactly.
 */

import { type Big, decimal, decimalOfInteger, divideHalfUp, maximum, minimum, zero } from './money.ts';
import type { ContractItem } from './rate-card.ts';
import { type GroupValues, groupKeyOf, type MeteredQuantity, type RatedLine, rateUsage } from './rating.ts';
import { type AggregationType, combineReadings } from './aggregation.ts';

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

export interface InvoiceReference {
  readonly invoiceId: string;
  /** The invoice's place in the contract, which orders usage. */
  readonly periodIndex: number;
}

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
