/**
 * Event values -> a meter's exact quantity, whatever their number, order or batches (semantics 8).
 * A sum of a million tenths is exact: values are added as integers, one sum for each number of decimals, never as floats.
 */

import { textOfNumber } from '../exact-json.ts';
import { limits } from '../limits.ts';
import type { AggregationType } from '../operations/wire-values.ts';
import { type Big, decimalOfInteger, scaledDecimal, zero } from './money.ts';
import type { PropertyValue } from './metering.ts';

/** What an aggregation has read so far; exact, whatever the order of the events (semantics 8). */
export interface AggregateReading {
  /** 0 when no event gave a value. */
  readonly quantity: Big;
  /** Events that gave the quantity a value. */
  readonly count: number;
  /** Events whose value is present but not a number, or out of range. Events without the key are in neither count. */
  readonly skipped: number;
}

/** A running aggregation of one meter over one group of events. */
export interface Aggregate {
  /** Takes the value of the aggregation key; undefined where the event lacks it. COUNT counts every event. */
  readonly add: (value: PropertyValue | undefined) => void;
  readonly read: () => AggregateReading;
}

/** A value as `coefficient / 10^scale`. */
export interface ScaledValue {
  readonly coefficient: bigint;
  readonly scale: number;
}

const numberPattern = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,9}))?$/;
/** Below this, JavaScript prints every integer exactly, and a sum of two of them is exact. */
const safeInteger = 2 ** 52;

/**
 * The exact value of a JSON number, or of a text that holds one (`"20"` is 20). Undefined for anything else, for 10^40 or
 * more, and for more than `limits.eventFractionDigits` decimals: a meter skips those (semantics 8; the bounds are our choice).
 */
export function quantityOf(value: PropertyValue): Big | undefined {
  const scaled = scaledValueOf(value);
  return scaled === undefined ? undefined : scaledDecimal(scaled.coefficient, scaled.scale);
}

/** What `quantityOf` gives, with its digits as an integer; `scale` is the fewest decimals that it needs. */
export function scaledValueOf(value: PropertyValue): ScaledValue | undefined {
  if (isSmallInteger(value)) return { coefficient: BigInt(value), scale: 0 };
  const text = numberTextOf(value);
  return text === undefined ? undefined : parseScaled(text);
}

/** Why a meter skips a value, in words that follow it; undefined for a value that it counts. */
export function skipReasonOf(value: PropertyValue): string | undefined {
  if (scaledValueOf(value) !== undefined) return undefined;
  const text = numberTextOf(value);
  if (text === undefined || !numberPattern.test(text)) return 'is not a number';
  return `is out of range: 1e${limits.eventIntegerDigits} or more, or more than ${limits.eventFractionDigits} decimals`;
}

/**
 * An empty aggregation. COUNT counts every event that the meter matches, the others read the value of its aggregation key
 * (interface 4.17); SUM, MAX and MIN of no value are 0 (semantics 8).
 */
export function createAggregate(type: AggregationType): Aggregate {
  return aggregates[type]();
}

/** The quantity of several readings that cover different events; readings of no value are passed over. */
export function combineReadings(type: AggregationType, readings: readonly Omit<AggregateReading, 'skipped'>[]): Big {
  const quantities = readings.filter((reading) => reading.count > 0).map((reading) => reading.quantity);
  const [first, ...rest] = quantities;
  return first === undefined ? zero : rest.reduce(combinations[type], first);
}

const combinations: Readonly<Record<AggregationType, (a: Big, b: Big) => Big>> = {
  SUM: (a, b) => a.plus(b),
  COUNT: (a, b) => a.plus(b),
  MAX: (a, b) => (b.gt(a) ? b : a),
  MIN: (a, b) => (b.lt(a) ? b : a),
};

const aggregates: Readonly<Record<AggregationType, () => Aggregate>> = {
  SUM: createSum,
  COUNT: createCount,
  MAX: () => createExtreme(combinations.MAX),
  MIN: () => createExtreme(combinations.MIN),
};

function createCount(): Aggregate {
  let count = 0;
  return {
    add: () => {
      count += 1;
    },
    read: () => ({ quantity: decimalOfInteger(BigInt(count)), count, skipped: 0 }),
  };
}

/** Whole numbers, which most events carry, are added as JavaScript integers and moved to a bigint before they lose a digit. */
function createSum(): Aggregate {
  let whole = 0;
  let count = 0;
  let skipped = 0;
  const sums: bigint[] = [];
  const addScaled = ({ coefficient, scale }: ScaledValue) => {
    sums[scale] = (sums[scale] ?? 0n) + coefficient;
  };
  return {
    add: (value) => {
      if (value === undefined) return;
      if (isSmallInteger(value)) {
        count += 1;
        whole += value;
        if (whole < safeInteger && whole > -safeInteger) return;
        addScaled({ coefficient: BigInt(whole), scale: 0 });
        whole = 0;
        return;
      }
      const scaled = scaledValueOf(value);
      if (scaled === undefined) {
        skipped += 1;
        return;
      }
      count += 1;
      addScaled(scaled);
    },
    read: () => {
      const quantity = sums.reduce(
        (sum, coefficient, scale) => sum.plus(scaledDecimal(coefficient, scale)),
        decimalOfInteger(BigInt(whole)),
      );
      return { quantity, count, skipped };
    },
  };
}

function createExtreme(pick: (a: Big, b: Big) => Big): Aggregate {
  let best: Big | undefined;
  let count = 0;
  let skipped = 0;
  return {
    add: (value) => {
      if (value === undefined) return;
      const quantity = quantityOf(value);
      if (quantity === undefined) {
        skipped += 1;
        return;
      }
      count += 1;
      best = best === undefined ? quantity : pick(best, quantity);
    },
    read: () => ({ quantity: best ?? zero, count, skipped }),
  };
}

function isSmallInteger(value: PropertyValue): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value < safeInteger && value > -safeInteger;
}

function numberTextOf(value: PropertyValue): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'boolean' || value === null ? undefined : textOfNumber(value);
}

/** Checks the size on the digits before making a bigint of them: `1e999999999` must cost nothing. */
function parseScaled(text: string): ScaledValue | undefined {
  const parts = numberPattern.exec(text);
  if (parts === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  const digits = trimZeros(`${whole}${fraction}`);
  if (digits.text === '') return { coefficient: 0n, scale: 0 };
  const scale = fraction.length - Number(exponent) - digits.trailing;
  if (scale > limits.eventFractionDigits || digits.text.length - scale > limits.eventIntegerDigits) return undefined;
  const coefficient = BigInt(`${sign}${digits.text}`);
  return scale >= 0 ? { coefficient, scale } : { coefficient: coefficient * 10n ** BigInt(-scale), scale: 0 };
}

function trimZeros(digits: string): { readonly text: string; readonly trailing: number } {
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === '0') start += 1;
  while (end > start && digits[end - 1] === '0') end -= 1;
  return { text: digits.slice(start, end), trailing: digits.length - end };
}
