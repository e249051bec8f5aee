/** How much is tried: a little whenever the tests run, much more with `npm run test:long`; and what a seed decides. */

import { createHash } from 'node:crypto';

const isLong = process.env['TALLY_LONG'] === '1';

/** What this tier does: a count, or a list. */
export function inTier<T>(usual: T, long: T): T {
  return isLong ? long : usual;
}

/** 1 to `count`: the seeds of a table of tests. */
export function seeds(count: number): number[] {
  return Array.from({ length: count }, (_value, index) => index + 1);
}

/** A whole number below `count` that the seed and the question decide: the same in every run and on every machine. */
export function drawn(seed: number, question: string, count: number): number {
  return createHash('sha256').update(`${seed} ${question}`).digest().readUInt32BE() % count;
}

/** The items in an order that the seed decides. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  return items
    .map((item, index) => [drawn(seed, `place ${index}`, 2 ** 32), item] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, item]) => item);
}
