/** What a refusal lists where many things are wrong: enough to mend them, and no more than a person reads. */

import { limits } from '../limits.ts';

/** The first ones, and how many more there are. */
export function listed<T>(all: readonly T[], rest: (words: string) => T): T[] {
  const more = all.length - limits.listedIssues;
  return more > 0 ? [...all.slice(0, limits.listedIssues), rest(`and ${more} more`)] : [...all];
}
