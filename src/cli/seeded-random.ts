/** Choices that follow from a seed alone, the same on every machine. */

import { BillingError } from '../errors.ts';

/** The seed of `--seed`. Throws a usage error for anything but a whole number of at most nine digits. */
export function seedOfFlag(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new BillingError('usage', `--seed takes a whole number of at most 9 digits, not ${text}`);
}

/** A whole number from 0 up to a bound, exclusive. */
export type Random = (below: number) => number;

/** One of the things, each with a probability proportional to its weight. */
export function pick<T>(things: readonly T[], weights: readonly number[], random: Random): T {
  let left = random(weights.reduce((sum, weight) => sum + weight, 0));
  for (const [index, thing] of things.entries()) {
    left -= weights[index] ?? 0;
    if (left < 0) return thing;
  }
  throw new TypeError('there is nothing to pick from');
}

/** Whole numbers below a bound from a 32-bit linear congruential generator: good enough for a story, equal everywhere. */
export function createRandom(seed: number): Random {
  let state = BigInt(seed);
  return (below) => {
    state = (state * 1_664_525n + 1_013_904_223n) & 0xffff_ffffn;
    return Number((state * BigInt(below)) >> 32n);
  };
}
