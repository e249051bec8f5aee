/**
 * Event values -> a meter's exact quantity, whatever their number, order or batches (semantics 8).
 * A sum of a million tenths is exact: values are scaled integers by the number of their decimals, never floats.
 */

import { limits } from '../limits.ts';
import { type Big, decimalOfInteger, scaledDecimal, zero } from './money.ts';
import type { PropertyValue } from './metering.ts';

export type AggregationType = 'SUM' | 'COUNT' | 'MAX' | 'MIN';

export interface AggregateReading {
  /** 0 when no event gave a value. */
  readonly quantity: Big;
  /** Events that gave the quantity a value. */
  readonly count: number;
  /** Events whose value is there but is no number, or is out of range. Events without the key are in neither count. */
  readonly skipped: number;
}

/** A running aggregation of one meter over one group of events. */
export interface Aggregate {
  /** Takes the value of the aggregation key; undefined where the event lacks it. COUNT counts every event. */
  readonly add: (value: PropertyValue | undefined) => void;
  readonly read: () => AggregateReading;
}
