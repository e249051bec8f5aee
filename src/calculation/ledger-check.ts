/** What must hold in every ledger, whatever happened to it (reliability 5, invariants 1 to 6 and 10), entry by entry. */

import type { GrantTotals, LedgerEntry } from './ledger.ts';

/** The invariants of reliability 5, by the names that problems have. */
export type LedgerRule =
  | 'entry-signs'
  | 'grant-bounds'
  | 'balances'
  | 'no-dust'
  | 'grant-links'
  | 'conservation'
  | 'reversals';

/** One broken rule, in words that name the entry or the grant by its id. */
export interface LedgerProblem {
  readonly rule: LedgerRule;
  /** The entry that breaks the rule, or the grant that does. */
  readonly entryId: string;
  readonly problem: string;
}

/** The ledger as an entry finds it, and as the entry leaves it. */
export interface EntryPlace {
  /** The entry that it reverses, and whether an earlier entry has reversed that already. */
  readonly target: LedgerEntry | undefined;
  readonly isAgain: boolean;
  /** The grant that it moves, before and after. */
  readonly grant: GrantTotals | undefined;
  readonly moved: GrantTotals | undefined;
  /** Sums of all entries, this one included. */
  readonly cents: bigint;
  readonly micros: bigint;
}

type EntryRule = (entry: LedgerEntry, place: EntryPlace) => string | undefined;

const entryRules: Readonly<Record<Exclude<LedgerRule, 'no-dust' | 'grant-bounds'>, EntryRule>> = {
  'entry-signs': signProblem,
  balances: balanceProblem,
  'grant-links': linkProblem,
  reversals: reversalProblem,
  conservation: conservationProblem,
};
const entryRuleNames = Object.keys(entryRules) as (keyof typeof entryRules)[];

/** The rules that an entry breaks at its place. */
export function entryProblems(entry: LedgerEntry, place: EntryPlace): LedgerProblem[] {
  const problems: LedgerProblem[] = [];
  for (const rule of entryRuleNames) {
    const problem = entryRules[rule](entry, place);
    if (problem !== undefined) problems.push({ rule, entryId: entry.id, problem });
  }
  const { grant, moved } = place;
  // Reported once, for the entry that left the bounds.
  if (moved !== undefined && !isWithin(moved) && (grant === undefined || isWithin(grant))) {
    const { id } = moved.grant;
    problems.push({
      rule: 'grant-bounds',
      entryId: id,
      problem: `grant ${id} is out of bounds after entry ${entry.id}`,
    });
  }
  return problems;
}

/**
 * The last cent of a grant with a rate goes with its last credit. There is one exception: where usage took cents worth less
 * than half a millionth of a credit, a reversal gives back those cents and no credits.
 */
export function grantProblem(totals: GrantTotals): LedgerProblem | undefined {
  const { grant, remainingCents, remainingMicros, hasReturns } = totals;
  const isRated = grant.creditRateCents > 0n && grant.amountCents > 0n;
  const isDust = remainingCents === 0n ? remainingMicros !== 0n : remainingMicros === 0n && !hasReturns;
  if (!isRated || !isDust) return undefined;
  return {
    rule: 'no-dust',
    entryId: grant.id,
    problem: `grant ${grant.id} has cents left without credits, or credits without cents`,
  };
}

function signProblem(entry: LedgerEntry, { target }: EntryPlace): string | undefined {
  const { id, type, amountCents, creditMicros, appliedCents } = entry;
  const isPositive = amountCents >= 0n && creditMicros >= 0n;
  const isNegative = amountCents <= 0n && creditMicros <= 0n;
  if (type === 'grant' && !isPositive) return `grant ${id} is negative`;
  if ((type === 'usage' || type === 'expiration') && !isNegative) return `${type} ${id} is positive`;
  if (type !== 'reversal' || target === undefined) return undefined;
  const isOpposite =
    amountCents === -target.amountCents &&
    creditMicros === -target.creditMicros &&
    appliedCents === -target.appliedCents;
  return isOpposite ? undefined : `reversal ${id} is not the opposite of ${target.id}`;
}

function balanceProblem(entry: LedgerEntry, { cents, micros }: EntryPlace): string | undefined {
  const isSum = entry.balanceAfterCents === cents && entry.creditBalanceAfterMicros === micros;
  return isSum ? undefined : `the balance after entry ${entry.id} is not the sum of the entries`;
}

function linkProblem(entry: LedgerEntry, { grant }: EntryPlace): string | undefined {
  if (entry.type === 'grant' || entry.grantEntryId === undefined) return undefined;
  const isLinked = grant?.grant.contractId === entry.contractId && grant.grant.currency === entry.currency;
  return isLinked ? undefined : `${entry.type} ${entry.id} has no grant of its contract and currency before it`;
}

function reversalProblem(entry: LedgerEntry, { target, isAgain }: EntryPlace): string | undefined {
  if (entry.type !== 'reversal') return undefined;
  if (target === undefined || target.seq >= entry.seq) return `reversal ${entry.id} undoes no entry before it`;
  if (target.type === 'reversal' || target.type === 'expiration')
    return `reversal ${entry.id} undoes an entry of type ${target.type}`;
  return isAgain ? `entry ${target.id} is reversed twice` : undefined;
}

/** Every entry belongs to exactly one grant, so the wallet is the sum of its grants. */
function conservationProblem(entry: LedgerEntry, { grant }: EntryPlace): string | undefined {
  const isOwned = entry.type === 'grant' || (grant !== undefined && entry.grantEntryId !== undefined);
  return isOwned ? undefined : `entry ${entry.id} belongs to no grant, so cents are not conserved`;
}

/** A grant never falls below 0 or rises above what was granted. */
function isWithin({ grant, remainingCents, remainingMicros }: GrantTotals): boolean {
  return (
    remainingCents >= 0n &&
    remainingMicros >= 0n &&
    remainingCents <= grant.amountCents &&
    remainingMicros <= grant.creditMicros
  );
}
