/** What a grant has come to by its entries: what is left of it, and whether its day has come (semantics 9). */

import type { Contract, Entry } from './state.ts';

export interface Money {
  readonly cents: bigint;
  readonly micros: bigint;
}

export const nothing: Money = { cents: 0n, micros: 0n };

export const plus = (a: Money, b: Money): Money => ({ cents: a.cents + b.cents, micros: a.micros + b.micros });

export const grantsOf = (contract: Contract): Entry[] => contract.entries.filter((entry) => entry.type === 'grant');
export const isReversed = (contract: Contract, entry: Entry): boolean =>
  contract.entries.some((other) => other.target === entry);
/** Those that are not undone. */
export const standingGrants = (contract: Contract): Entry[] =>
  grantsOf(contract).filter((grant) => !isReversed(contract, grant));
export const isExpired = (grant: Entry, at: number): boolean => grant.expiresAt !== null && grant.expiresAt <= at;

function isEmpty(contract: Contract, grant: Entry): boolean {
  const rest = remainderOf(contract, grant);
  return rest.cents === 0n && rest.micros === 0n;
}

/** Expired and settled since: what it has paid is history, and usage that arrives later does not revive it. */
export const isClosed = (contract: Contract, grant: Entry): boolean =>
  contract.swept.has(grant) && isEmpty(contract, grant);

/** What is left of a grant by its entries alone. */
export function remainderOf(contract: Contract, grant: Entry): Money {
  return contract.entries.filter((entry) => entry === grant || entry.grant === grant).reduce<Money>(plus, nothing);
}

export const balanceOf = (contract: Contract): Money => contract.entries.reduce<Money>(plus, nothing);
